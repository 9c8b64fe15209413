"""What a change can touch is run, the rest is carried from the baseline: on the example help desk."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import help_desk
from tests.help_desk import ASK, REFUND, TRACK
from tests.shell import seatrial
from tests.work_trees import WorkTree

CARRIED = "carried, not run: nothing it leans on changed since"


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    for name, value in help_desk.NO_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    """A released repository whose suite goes by the tools that cases called."""
    tree = help_desk.repository(tmp_path / "repo", trials=2, select={"tools": "called"})
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    return tree


def does(tree: WorkTree, *words: str, code: int = 0) -> str:
    status, out, err = seatrial(tree.root, *words)
    assert status == code, (out, err)
    return out


def planned(tree: WorkTree, *words: str) -> dict[str, tuple[bool, str]]:
    found = json.loads(
        does(
            tree, "plan", "-s", "small", "-a", "desk", "--base", "HEAD", *words, "--format", "json"
        )
    )
    return {case["case"]: (case["selected"], case["reasons"][-1]) for case in found["cases"]}


def describe(tree: WorkTree, tool: str, words: str) -> None:
    world = help_desk.document(tree, help_desk.WORLD)
    world["actions"][tool]["description"] = words
    help_desk.rewrite(tree, help_desk.WORLD, world)


def choose(tree: WorkTree, tools: str) -> None:
    suite = help_desk.document(tree, "suites/small.yaml")
    help_desk.rewrite(tree, "suites/small.yaml", {**suite, "select": {"tools": tools}})
    tree.commit({}, "Choose")


def test_changed_tool_runs_the_cases_that_called_it_and_carries_the_others(tree: WorkTree):
    describe(tree, "track_parcel", "Say where a parcel is, or is thought to be.")

    found = planned(tree)

    assert found[TRACK] == (True, "tool track_parcel changed (description), which it called")
    assert found[REFUND] == (True, "required")
    assert found[ASK] == (False, "it never called track_parcel, which changed")


def test_by_the_other_choice_every_case_that_could_list_it_is_run(tree: WorkTree):
    choose(tree, "listed")
    describe(tree, "track_parcel", "Say where a parcel is, or is thought to be.")

    found = planned(tree)

    why = "tool track_parcel changed (description), which it can list"
    assert found == {REFUND: (True, why), TRACK: (True, why), ASK: (True, why)}


def test_carried_cases_are_said_to_be_so_and_never_count_as_run(tree: WorkTree):
    describe(tree, "track_parcel", "Say where a parcel is, or is thought to be.")
    tree.commit({}, "Describe a tool")

    does(tree, "run", "-s", "small", "-a", "desk", "--base", "HEAD^", "--trials", "4")

    run = help_desk.newest(tree)
    assert [(c.case, c.carried) for c in run.manifest.plan if not c.selected] == [(ASK, True)]
    assert {record.case for record in run.records()} == {REFUND, TRACK}
    compared = json.loads(does(tree, "compare", "latest", "--format", "json"))
    cases = {case["case"]: case for case in compared["cases"]}
    assert cases[ASK]["outcome"] == "carried"
    assert cases[ASK]["candidate"] is None
    assert cases[ASK]["sentence"] == "carried, not run; the release passed 2 of 2"
    assert compared["overall"]["cases"] == 2
    assert "1 case carried from the baseline, not run" in does(tree, "gate", "latest")


def test_run_of_which_every_case_is_carried_is_never_open(tree: WorkTree):
    case = help_desk.document(tree, help_desk.case_file(REFUND))
    help_desk.rewrite(tree, help_desk.case_file(REFUND), {**case, "required": False})
    tree.commit({}, "Require nothing")
    does(tree, "run", "-s", "small", "-a", "desk", "--base", "HEAD")

    out = does(tree, "gate", "latest", code=3)

    assert "no trial was run" in out


@pytest.mark.parametrize("what", ["comment", "order", "title"])
def test_what_no_agent_and_no_check_reads_runs_nothing_more(tree: WorkTree, what: str):
    path = help_desk.WORLD
    world = help_desk.document(tree, path)
    if what == "comment":
        written = (tree.root / path).read_text(encoding="utf-8")
        tree.write({path: f"# Only for people.\n{written}"})
    elif what == "order":
        help_desk.rewrite(tree, path, dict(reversed(world.items())))
    else:
        help_desk.rewrite(tree, path, {**world, "title": "Another title"})

    found = planned(tree)

    assert {case: selected for case, (selected, _) in found.items()} == {
        REFUND: True,
        TRACK: False,
        ASK: False,
    }
    assert found[TRACK][1].startswith(CARRIED)


def test_changed_object_runs_every_case_of_its_world(tree: WorkTree):
    world = help_desk.document(tree, help_desk.WORLD)
    world["objects"]["ticket"].pop()
    help_desk.rewrite(tree, help_desk.WORLD, world)

    found = planned(tree)

    assert {reason for _, reason in found.values()} == {"fixture helpdesk changed (objects)"}


def test_changed_rule_and_unknown_file_of_the_arm_run_everything(tree: WorkTree):
    help_desk.rules(tree, refund_days=1)
    assert all(selected for selected, _ in planned(tree).values())
    tree.git("checkout", "-q", "--", help_desk.RULES)
    arm = help_desk.document(tree, help_desk.ARM)
    help_desk.rewrite(
        tree, help_desk.ARM, {**arm, "sources": {**arm["sources"], "code": "agent/*.py"}}
    )
    tree.commit({}, "Name the code by a pattern")
    tree.write({"agent/later.py": ""})

    found = planned(tree)

    why = "arm desk changed (code: agent/later.py)"
    assert {reason for _, reason in found.values()} == {why}


def test_without_a_baseline_everything_is_run(tree: WorkTree):
    tree.git("branch", "-D", "seatrial-baselines")

    assert all(selected for selected, _ in planned(tree).values())


def test_case_that_the_baseline_was_recorded_for_under_other_conditions_is_run(tree: WorkTree):
    case = help_desk.document(tree, help_desk.case_file(ASK))
    help_desk.rewrite(tree, help_desk.case_file(ASK), {**case, "task": "I want my money back."})
    tree.commit({}, "Ask otherwise")

    found = planned(tree)

    assert found[ASK] == (True, "the baseline cannot stand for it (case)")
    assert found[TRACK][0] is False


def test_named_baseline_is_the_one_that_is_recalled(tree: WorkTree, tmp_path: Path):
    folder = str(tmp_path / "baselines")
    does(tree, "release", help_desk.newest(tree).manifest.run, *help_desk.APPROVED, "--to", folder)
    tree.git("branch", "-D", "seatrial-baselines")

    found = planned(tree, "--baseline", folder)

    assert found[ASK][0] is False
    status, _, err = seatrial(
        tree.root, *("plan", "-s", "small", "--base", "HEAD", "--baseline", "nowhere")
    )
    assert status == 2
    assert "'nowhere'" in err


def test_dependency_record_can_be_looked_at(tree: WorkTree):
    (shown,) = json.loads(does(tree, "baseline", "show", "--format", "json"))

    cases: dict[str, Any] = {case["case"]: case for case in shown["cases"]}
    assert cases[TRACK]["called"] == ["helpdesk/track_parcel"]
    assert "helpdesk/issue_refund" in cases[REFUND]["called"]
    assert cases[ASK]["called"] == []
    assert len(cases[ASK]["listed"]) > 5
    assert {"world", "source:rules", "source:code", "tool:issue_refund"} <= set(
        cases[TRACK]["components"]
    )
    assert "answers" in cases[TRACK]["components"]
    assert "answers" not in cases[ASK]["components"]
