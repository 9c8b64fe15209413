"""What cases inherit, in real repositories: which of them a change selects, and what stays as it was."""

import json
import os
from pathlib import Path

import pytest
import yaml
from tests import bike_shop, recall
from tests.shell import seatrial
from tests.work_trees import WorkTree

from seatrial.workspace import Workspace

SUITE = "kind: suite\nid: all\ncases: [rent, again, alone]\ntrials: 1\n"
DEFAULTS = "kind: defaults\ncase:\n  agent: clerk\n  limits: {calls: 9}\n"
AGAIN = """\
kind: case
id: again
extends: rent
title: Once more
matrix: {renter: [ada, bo]}
task: I am {{matrix.renter}}. I would like bike b-1.
checks:
  - check: tool_called
    tool: rent
    arguments: {bike: b-1, renter: "{{matrix.renter}}"}
"""
EXPANSIONS = ("again--renter.ada", "again--renter.bo")


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.init(tmp_path / "repo")
    arm = bike_shop.arm("clerk-1", {"type": "command", "command": ["{python}", "agent.py"]})
    bike_shop.write_tree(tree.root, bike_shop.catalog(bike_shop.case("alone"), arm))
    rent = bike_shop.case("rent").model_dump(mode="json", by_alias=True, exclude_unset=True)
    del rent["agent"]
    tree.commit(
        {
            "agent.py": "",
            "cases/desk/defaults.yaml": DEFAULTS,
            "cases/desk/rent.yaml": yaml.safe_dump(rent, sort_keys=False),
            "cases/desk/again.yaml": AGAIN,
            "suites/all.yaml": SUITE,
        }
    )
    return tree


def reasons(root: Path) -> dict[str, str]:
    workspace = Workspace.find(root)
    selection = workspace.select("all", base="HEAD", recall=recall.everything(workspace))
    return {c.case: "; ".join(c.reasons) for c in selection.cases if c.selected}


def edited(tree: WorkTree, path: str, old: str, new: str) -> None:
    text = (tree.root / path).read_text(encoding="utf-8")
    assert old in text
    tree.write({path: text.replace(old, new)})


def test_without_a_change_nothing_is_selected(tree: WorkTree):
    assert reasons(tree.root) == {}


def test_a_change_of_a_parent_selects_what_inherits_from_it(tree: WorkTree):
    edited(tree, "cases/desk/rent.yaml", "role: clerk", "role: clerk\ntags: [bike]")

    assert reasons(tree.root) == {
        "rent": "case changed (tags)",
        **dict.fromkeys(EXPANSIONS, "case changed (tags: cases/desk/rent.yaml)"),
    }


def test_a_change_of_the_defaults_selects_the_cases_of_the_folder(tree: WorkTree):
    edited(tree, "cases/desk/defaults.yaml", "calls: 9", "calls: 8")

    told = "case changed (limits: cases/desk/defaults.yaml)"
    assert reasons(tree.root) == dict.fromkeys(("rent", *EXPANSIONS), told)


def test_a_value_that_moves_into_the_defaults_selects_nothing(tree: WorkTree):
    edited(tree, "cases/desk/rent.yaml", "role: clerk\n", "")
    edited(tree, "cases/desk/defaults.yaml", "agent: clerk\n", "agent: clerk\n  role: clerk\n")

    assert reasons(tree.root) == {}


def test_one_more_value_selects_the_new_expansion_alone(tree: WorkTree):
    edited(tree, "cases/desk/again.yaml", "[ada, bo]", "[ada, bo, cy]")

    assert reasons(tree.root) == {"again--renter.cy": "new case"}


def test_the_commands_take_expansions_by_their_ids(tree: WorkTree):
    code, out, err = seatrial(tree.root, "list", "cases", "--format", "json")
    assert (code, err) == (0, "")
    assert [row["id"] for row in json.loads(out)] == ["alone", *EXPANSIONS, "rent"]

    for id, cases in (("again", 2), (EXPANSIONS[0], 1)):
        code, out, err = seatrial(tree.root, "check", "--prove", "--case", id)
        assert code == 0, out + err
        assert f"{cases} case{'s' * (cases > 1)}: {cases} proved" in out, out

    code, out, err = seatrial(
        tree.root, "fmt", "--check", "cases/desk/again.yaml", "cases/desk/defaults.yaml"
    )
    assert (code, err) == (0, ""), out
