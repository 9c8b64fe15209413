"""A change is judged by what its base asks, also where the base asks more than the last release did."""

import json
import os
from pathlib import Path

import pytest
import yaml
from tests import bike_shop
from tests.shell import ROOT, seatrial
from tests.work_trees import WorkTree

from seatrial.documents import Suite

NEW = "cases/new.yaml"
SUITE = "suites/all.yaml"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkTree:
    """A required case that was there at the release, and one that joined later; the agent fails neither."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    tree = WorkTree.init(tmp_path / "repo")
    agents = (ROOT / "tests" / "agents" / "shop_agents.py").read_text(encoding="utf-8")
    rents = bike_shop.arm("rents", {"type": "python", "target": "shop_agents:rents"})
    old = bike_shop.case("old", required=True)
    bike_shop.write_tree(tree.root, bike_shop.catalog(old, _suite("old"), rents))
    tree.commit({"shop_agents.py": agents, ".gitignore": ".seatrial/\n__pycache__/\n"})
    _does(tree, "run", "--suite", "all", "--trials", "5")
    _does(tree, "release", "latest", "--approved-by", "Rita <rita@example.org>")
    new = bike_shop.case("new", required=True)
    bike_shop.write_tree(tree.root, bike_shop.catalog(old, new, _suite("old", "new"), rents))
    tree.commit({}, "Require one more case")
    tree.git("switch", "-qc", "change")
    return tree


def _suite(*cases: str) -> Suite:
    return bike_shop.suite([bike_shop.case(id) for id in cases])


def _does(tree: WorkTree, *words: str, code: int = 0) -> str:
    status, out, err = seatrial(tree.root, *words)
    assert status == code, (words, status, out, err)
    return out


def _rewritten(tree: WorkTree, path: str, **changed: object) -> None:
    document = yaml.safe_load((tree.root / path).read_text(encoding="utf-8"))
    tree.commit({path: yaml.safe_dump({**document, **changed}, sort_keys=False)}, "Change")


def _ruled(tree: WorkTree, base: str, code: int) -> dict[str, list[str]]:
    _does(tree, "run", "--suite", "all", "--arm", "rents", "--trials", "5", "--base", base)
    ruling = json.loads(_does(tree, "gate", "latest", "--format", "json", code=code))
    return {ground["kind"]: ground["cases"] for ground in ruling["grounds"]}


def test_case_that_is_required_at_the_base_stays_so_when_the_change_takes_its_mark(tree: WorkTree):
    case = yaml.safe_load((tree.root / NEW).read_text(encoding="utf-8"))
    asks_more = [*case["checks"], {"check": "reply_contains", "text": "never said"}]
    _rewritten(tree, NEW, required=False, checks=asks_more)

    found = _ruled(tree, "main", 3)

    assert found["required_new_unproven"] == ["new"]
    assert found["required_loosened"] == ["new"]
    assert "required at main (" in _does(tree, "plan", "-s", "all", "--base", "main")


def test_case_that_the_change_gives_to_another_agent_is_taken_away(tree: WorkTree):
    arm = yaml.safe_load((tree.root / "arms/rents.yaml").read_text(encoding="utf-8"))
    other = {**arm, "id": "other", "agent": "somebody-else"}
    tree.write({"arms/other.yaml": yaml.safe_dump(other, sort_keys=False)})
    _rewritten(tree, NEW, agent="somebody-else")

    assert _ruled(tree, "main", 1)["required_removed"] == ["new"]


def test_case_that_the_change_gives_to_nobody_stops_the_run(tree: WorkTree):
    _rewritten(tree, NEW, agent="somebody-else")

    _does(tree, "run", "--suite", "all", "--arm", "rents", "--base", "main", code=2)


def test_case_that_the_change_deletes_is_taken_away(tree: WorkTree):
    (tree.root / NEW).unlink()
    _rewritten(tree, SUITE, cases=["old"])

    assert _ruled(tree, "main", 1)["required_removed"] == ["new"]


def test_policy_that_the_base_tightened_cannot_be_loosened_again(tree: WorkTree):
    _rewritten(tree, SUITE, gate={"profile": "release", "margin": 0.01})
    tree.git("switch", "-qc", "loosens")
    _rewritten(tree, SUITE, gate={"profile": "pr", "margin": 0.5})

    found = _ruled(tree, "change", 3)

    assert "margin_not_shown" in found
    assert "policy_loosened" in found
