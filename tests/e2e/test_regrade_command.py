"""`seatrial regrade`, and a gate that grades its baseline again: on runs of the example help desk."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import help_desk
from tests.help_desk import ASK, REFUND, TRACK
from tests.shell import seatrial
from tests.work_trees import WorkTree

from seatrial.store import Run


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    for name, value in help_desk.NO_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    return help_desk.repository(tmp_path / "repo", REFUND, ASK, trials=5)


def does(tree: WorkTree, *words: str, code: int = 0) -> str:
    status, out, err = seatrial(tree.root, *words)
    assert status == code, (out, err)
    return out


def records(run: Run) -> list[dict[str, Any]]:
    return [r.model_dump() for r in run.records()]


def grounds(tree: WorkTree, *words: str, code: int) -> dict[str, dict[str, Any]]:
    found = json.loads(does(tree, "gate", "latest", *words, "--format", "json", code=code))
    return {ground["kind"]: ground for ground in found["grounds"]}


def expecting(tree: WorkTree, case: str, *checks: dict[str, Any]) -> None:
    changed = help_desk.document(tree, help_desk.case_file(case))
    changed["checks"] = list(checks)
    help_desk.rewrite(tree, help_desk.case_file(case), changed)


NEVER_SAID = {"check": "reply_contains", "text": "never said"}
QUESTION = {"check": "reply_contains", "text": "which order"}


def test_grading_again_by_the_same_checks_changes_nothing_but_says_where_it_comes_from(
    tree: WorkTree,
):
    does(tree, "run", "-s", "small", "--trials", "2")
    first = help_desk.newest(tree)

    out = does(tree, "regrade", "latest")

    again = help_desk.newest(tree)
    assert out == (
        f"4 trials of run {first.manifest.run} graded again: no verdicts changed\n"
        f"Run: {tree.root}/.seatrial/runs/{again.manifest.run}\n"
    )
    assert records(again) == records(first)
    assert [again.trace(r) for r in again.records()] == [first.trace(r) for r in first.records()]
    assert again.catalog == first.catalog
    assert again.manifest.regraded is not None
    assert again.manifest.regraded.run == first.manifest.run != again.manifest.run
    assert again.manifest.regraded.revision == tree.head()
    told = {"run", "regraded"}
    assert again.manifest.model_dump(exclude=told) == first.manifest.model_dump(exclude=told)
    assert {entry.case: entry.weak for entry in again.manifest.plan} == {REFUND: False, ASK: False}


def test_a_case_whose_changed_checks_doing_nothing_passes_is_weak_from_then_on(tree: WorkTree):
    does(tree, "run", "-s", "small", "--trials", "1")
    expecting(tree, ASK, {"check": "end_state"})

    does(tree, "regrade", "latest")

    plan = help_desk.newest(tree).manifest.plan
    assert {entry.case: entry.weak for entry in plan} == {REFUND: False, ASK: True}


def test_changed_checks_grade_the_same_traces_anew_in_a_run_of_its_own(tree: WorkTree):
    does(tree, "run", "-s", "small", "--trials", "2")
    first = help_desk.newest(tree)
    before = records(first)
    expecting(tree, ASK, NEVER_SAID)

    out = does(tree, "regrade", first.manifest.run, "--out", "graded")

    again = Run.open(tree.root / "graded")
    assert f"  {ASK} by desk: 2 passed before, failed now\n" in out
    assert {(r.case, r.verdict.value) for r in again.records()} == {
        (REFUND, "passed"),
        (ASK, "failed"),
    }
    failed = next(r for r in again.records() if r.case == ASK)
    written = (tree.root / help_desk.case_file(ASK)).read_text(encoding="utf-8").splitlines()
    line = written.index("- check: reply_contains") + 1
    assert failed.findings[0].place == f"{help_desk.case_file(ASK)}:{line}:3"
    assert records(first) == before


def test_case_that_changed_in_more_than_its_checks_keeps_its_findings(tree: WorkTree):
    does(tree, "run", "-s", "small", "--trials", "1")
    expecting(tree, ASK, NEVER_SAID)
    changed = help_desk.document(tree, help_desk.case_file(ASK))
    help_desk.rewrite(tree, help_desk.case_file(ASK), {**changed, "task": "Where is my parcel?"})
    tree.write({help_desk.case_file(REFUND): None})
    small = help_desk.document(tree, "suites/small.yaml")
    help_desk.rewrite(tree, "suites/small.yaml", {**small, "cases": [ASK]})

    out = does(tree, "regrade", "latest")

    assert "graded again: no verdicts changed\n" in out
    assert f"  {ASK} keeps its findings: its case changed since it was run\n" in out
    assert f"  {REFUND} keeps its findings: the case is no longer there\n" in out


def test_run_that_was_graded_again_is_never_gone_on_with(tree: WorkTree):
    does(tree, "run", "-s", "small", "--trials", "1")
    first = help_desk.newest(tree).manifest.run
    does(tree, "regrade", "latest")

    status, _, err = seatrial(tree.root, "run", "--resume", "latest")

    assert status == 2
    assert f"is run {first}, graded again" in err
    assert f"seatrial run --resume {first}, then seatrial regrade" in err


def test_recordings_are_graded_again_like_trials_that_were_carried_out(tree: WorkTree):
    line = {
        "case": ASK,
        "trial": 1,
        "messages": [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Which order, please?"},
        ],
        "changes": [],
    }
    tree.write({"talks.jsonl": json.dumps(line) + "\n"})
    arm = help_desk.document(tree, help_desk.ARM)
    arm = {key: value for key, value in arm.items() if key != "sources"}
    arm |= {"id": "talks", "adapter": {"type": "recorded", "files": "talks.jsonl"}}
    help_desk.rewrite(tree, "arms/talks.yaml", arm)
    expecting(tree, ASK, NEVER_SAID)
    does(tree, "run", "-s", "small", "-a", "talks", "-c", ASK, "--trials", "1")
    expecting(tree, ASK, {"check": "reply_contains", "text": "Which order"})

    out = does(tree, "regrade", "latest")

    assert f"  {ASK} by talks: 1 failed before, passed now\n" in out


# --- the gate ---


def test_gate_grades_the_baseline_again_where_only_the_checks_changed(tree: WorkTree):
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    # What the case always meant, written otherwise; and the release was never held to it.
    expecting(tree, ASK, QUESTION, {"check": "reply_contains", "text": "Which order"})
    tree.commit({}, "Ask for more")
    does(tree, "run", "-s", "small")

    found = grounds(tree, code=0)

    assert found["baseline_regraded"]["text"] == (
        f"baseline graded again with the changed checks in 1 case: {ASK}"
    )
    assert found["baseline_regraded"]["effect"] == "note"
    assert "incomparable" not in found


def test_stricter_checks_are_held_against_the_release_as_well(tree: WorkTree):
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    expecting(tree, REFUND, NEVER_SAID)
    tree.commit({}, "Ask for the impossible")
    does(tree, "run", "-s", "small")

    compared = json.loads(does(tree, "compare", "latest", "--format", "json"))

    (case,) = [c for c in compared["cases"] if c["case"] == REFUND]
    assert (case["baseline"]["passed"], case["candidate"]["passed"]) == (0, 0)
    # Neither side ever passes: there is nothing to drop from.
    assert (case["outcome"], case["regraded"]) == ("unchanged", True)


def test_change_that_passes_because_it_loosens_its_own_checks_is_undecided(tree: WorkTree):
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    help_desk.rules(tree, verify_before_refund=False)
    expecting(tree, REFUND, {"check": "tool_called", "tool": "issue_refund"})
    tree.commit({}, "Refund at once, and call it right")
    does(tree, "run", "-s", "small")

    found = grounds(tree, code=3)

    assert found["required_checks_loosened"]["cases"] == [REFUND]
    assert (
        "(5 of 5 passes fail by the release's checks)" in found["required_checks_loosened"]["text"]
    )


@pytest.mark.parametrize("altered", ["journal.jsonl", "traces.jsonl", "documents.json"])
def test_run_that_was_altered_is_not_graded_again_into_one_that_looks_whole(
    tree: WorkTree, altered: str
):
    does(tree, "run", "-s", "small")
    file = next((tree.root / ".seatrial" / "runs").iterdir()) / altered
    file.write_text(file.read_text(encoding="utf-8").replace("refund", "refunt", 1), "utf-8")

    status, out, err = seatrial(tree.root, "regrade", "latest")

    assert (status, out) == (4, "")
    assert f"{altered} is not what the run left there" in err
    assert len(list((tree.root / ".seatrial" / "runs").iterdir())) == 1


def test_gate_of_a_run_that_was_graded_again_says_so(tree: WorkTree):
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    first = help_desk.newest(tree).manifest.run
    does(tree, "regrade", "latest")

    out = does(tree, "gate", "latest", code=3)  # against the very traces it was made from

    assert f", graded again from {first}) against desk 1.4.0" in out


def test_checks_that_no_commit_holds_are_not_released(tree: WorkTree):
    does(tree, "run", "-s", "small")
    expecting(tree, ASK, QUESTION)
    does(tree, "regrade", "latest")

    status, _, err = seatrial(tree.root, "release", "latest", *help_desk.APPROVED)

    assert status == 2
    assert "no commit says by which checks it was graded again" in err


def test_nothing_is_graded_again_where_the_world_changed_too(tree: WorkTree):
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    world = help_desk.document(tree, help_desk.WORLD)
    world["objects"]["order"][0]["total"] = 36
    help_desk.rewrite(tree, help_desk.WORLD, world)
    expecting(tree, ASK, QUESTION)
    tree.commit({}, "Raise a price")
    does(tree, "run", "-s", "small")

    compared = json.loads(does(tree, "compare", "latest", "--format", "json"))

    told = {c["case"]: (c["outcome"], c["component"]) for c in compared["cases"]}
    assert told == {
        REFUND: ("incomparable", "world"),
        ASK: ("incomparable", "checks"),
    }
    (ask,) = [c for c in compared["cases"] if c["case"] == ASK]
    assert "its checks and world are not what they were" in ask["sentence"]
    assert TRACK not in told
