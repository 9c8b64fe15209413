"""`seatrial run --rerun-baseline`: the released arm beside the candidate, as it was released."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import help_desk
from tests.help_desk import ASK, REFUND
from tests.shell import ROOT, seatrial
from tests.work_trees import WorkTree

from seatrial.store import Run

RERUN = ("run", "-s", "small", "-a", "desk", "--rerun-baseline")


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    for name, value in help_desk.NO_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    """A repository whose only arm has been released."""
    tree = help_desk.repository(tmp_path / "repo", REFUND, ASK, trials=5)
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    return tree


def does(tree: WorkTree, *words: str, code: int = 0) -> str:
    status, out, err = seatrial(tree.root, *words)
    assert status == code, (out, err)
    return out


def refused(tree: WorkTree, *words: str) -> str:
    status, _, err = seatrial(tree.root, *words)
    assert status == 2
    return err


def cases(tree: WorkTree) -> dict[str, dict[str, Any]]:
    compared = json.loads(does(tree, "compare", "latest", "--format", "json"))
    return {case["case"]: case for case in compared["cases"]}


def raise_a_price(tree: WorkTree) -> None:
    world = help_desk.document(tree, help_desk.WORLD)
    world["objects"]["order"][1]["total"] = 61
    help_desk.rewrite(tree, help_desk.WORLD, world)


def describe(tree: WorkTree, tool: str, words: str) -> None:
    world = help_desk.document(tree, help_desk.WORLD)
    world["actions"][tool]["description"] = words
    help_desk.rewrite(tree, help_desk.WORLD, world)


def passed(run: Run, arm: str) -> tuple[int, int]:
    found = [r for r in run.records(arm) if r.case == REFUND]
    return sum(r.verdict == "passed" for r in found), len(found)


def test_released_arm_runs_with_its_own_files_in_the_world_of_today(tree: WorkTree):
    help_desk.rules(tree, verify_before_refund=False)
    raise_a_price(tree)
    tree.commit({}, "Refund at once, and raise a price")
    does(tree, "run", "-s", "small")
    assert cases(tree)[REFUND]["component"] == "world"

    does(tree, *RERUN)

    run = help_desk.newest(tree)
    assert run.manifest.arms == ("desk", "desk.released")
    assert run.manifest.rerun is not None
    assert (run.manifest.rerun.arm, run.manifest.rerun.released_arm) == ("desk.released", "desk")
    assert passed(run, "desk") == (0, 5)
    assert passed(run, "desk.released") == (5, 5)
    found = cases(tree)[REFUND]
    assert (found["baseline"]["passed"], found["baseline"]["valid"]) == (5, 5)
    assert (found["rerun"], found["batches"], found["component"]) == (True, 0, "")
    assert "source:rules" in found["changed"]
    assert tree.git("worktree", "list").count("\n") == 0
    assert tree.git("status", "--porcelain") == ""


def test_where_stored_trials_can_be_compared_those_run_again_confirm_them(tree: WorkTree):
    help_desk.rules(tree, verify_before_refund=False)
    tree.commit({}, "Refund at once")

    does(tree, *RERUN)

    out = does(tree, "gate", "latest", code=1)
    found = cases(tree)[REFUND]
    assert (found["baseline"]["valid"], found["live"]["valid"]) == (5, 5)
    assert (found["outcome"], found["rerun"]) == ("regressed", False)
    assert out.startswith("Closed: refund-damaged-lamp regressed")


def test_released_arm_is_shown_the_tools_as_they_were_released(tree: WorkTree):
    then = help_desk.newest(tree)
    describe(tree, "issue_refund", "Pay, whoever asks.")
    tree.commit({}, "Describe a tool")

    does(tree, *RERUN, "--trials", "1", "-c", REFUND)

    run = help_desk.newest(tree)
    shown = [run.manifest.fingerprints[f"{REFUND}@{arm}"]["tools"] for arm in run.manifest.arms]
    assert shown[1] == then.manifest.fingerprints[f"{REFUND}@desk"]["tools"] != shown[0]
    world = run.catalog.world("helpdesk", "desk.released")
    assert world == then.catalog.world("helpdesk") != run.catalog.world("helpdesk")
    assert cases(tree)[REFUND]["changed"] == ["tool:issue_refund"]


def test_case_whose_tools_and_world_both_changed_is_not_run_again_and_stays_incomparable(
    tree: WorkTree,
):
    describe(tree, "issue_refund", "Pay, whoever asks.")
    raise_a_price(tree)
    tree.commit({}, "Describe a tool, and raise a price")

    does(tree, *RERUN, "--trials", "1")

    run = help_desk.newest(tree)
    assert run.manifest.rerun is not None
    assert run.manifest.rerun.left_out[REFUND] == (
        "world helpdesk changed, and so did what agents read of issue_refund"
    )
    assert list(run.records("desk.released")) == []
    assert cases(tree)[REFUND]["outcome"] == "incomparable"


def test_checks_that_the_release_cannot_be_held_to_any_more_are_a_warning(tree: WorkTree):
    raise_a_price(tree)
    case = help_desk.document(tree, help_desk.case_file(ASK))
    checks = [{"check": "reply_contains", "text": "order"}]
    help_desk.rewrite(tree, help_desk.case_file(ASK), {**case, "checks": checks})
    tree.commit({}, "Raise a price, and ask for less")

    does(tree, *RERUN, "--trials", "5")

    ruling = json.loads(does(tree, "gate", "latest", "--format", "json"))
    (ground,) = [g for g in ruling["grounds"] if g["kind"] == "checks_changed"]
    assert (ground["effect"], ground["cases"]) == ("warning", [ASK])
    assert cases(tree)[REFUND]["sentence"].endswith("; the release was run again beside it")


def test_run_that_was_stopped_goes_on_with_both_arms(tree: WorkTree):
    help_desk.rules(tree, verify_before_refund=False)
    tree.commit({}, "Refund at once")
    out = tree.root / "stopped"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [sys.executable, "-m", "seatrial", *RERUN, "--at-once", "1", "--out", str(out)],
        cwd=tree.root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stderr is not None
        journal = out / "journal.jsonl"
        while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
            assert running.poll() is None
        running.send_signal(signal.SIGKILL)
    before = journal.read_bytes().count(b"\n")
    assert before < 20

    does(tree, "run", "--resume", str(out))

    run = Run.open(out)
    assert len(list(run.records())) == 20
    assert (passed(run, "desk"), passed(run, "desk.released")) == ((0, 5), (5, 5))
    assert tree.git("worktree", "list").count("\n") == 0


def test_arm_is_found_in_the_baseline_even_where_its_document_is_gone(tree: WorkTree):
    arm = help_desk.document(tree, help_desk.ARM)
    help_desk.rewrite(tree, "arms/fresh.yaml", {**arm, "id": "fresh", "version": "2.0.0"})
    tree.write({help_desk.ARM: None})
    tree.commit({}, "A new arm in place of the old one")

    does(tree, "run", "-s", "small", "-a", "fresh", "--rerun-baseline", "--trials", "1")

    assert help_desk.newest(tree).manifest.arms == ("fresh", "desk")


def test_candidate_of_a_run_is_never_the_arm_that_was_run_again(tree: WorkTree):
    does(tree, *RERUN, "--trials", "1")

    does(tree, "compare", "latest")
    assert "has no arm 'desk.released'" in refused(tree, "gate", "latest", "--arm", "desk.released")
    assert "desk.released is the released arm itself" in refused(
        tree, "release", "latest", "--arm", "desk.released", *help_desk.APPROVED
    )


def test_trials_beside_the_candidate_count_for_no_other_release(tree: WorkTree):
    does(tree, "run", "-s", "small")
    other = help_desk.newest(tree).manifest.run
    does(tree, *RERUN)
    beside = help_desk.newest(tree).manifest.run
    does(tree, "release", other, *help_desk.APPROVED)

    compared = json.loads(does(tree, "compare", beside, "--format", "json"))

    assert all(case["live"] is None and not case["rerun"] for case in compared["cases"])
    assert "is another release and was left out" in compared["baseline"]["reason"]


# --- refusals ---


def test_without_a_baseline_there_is_nothing_to_run_again(tmp_path: Path):
    tree = help_desk.repository(tmp_path / "other", ASK)

    assert "nothing is released here" in refused(tree, *RERUN)


def test_files_that_are_neither_here_nor_in_the_commit_are_told(tmp_path: Path):
    tree = help_desk.repository(tmp_path / "other", ASK)
    help_desk.rules(tree, refund_days=1)
    does(tree, "run", "-s", "small", "--trials", "1")
    does(tree, "release", "latest", *help_desk.APPROVED, "--allow-dirty", "in a hurry")
    help_desk.rules(tree, refund_days=2)

    err = refused(tree, *RERUN)

    assert "the files of the released arm desk are neither those of this folder nor those of" in err
    assert not list((tree.root / ".seatrial" / "runs").glob("*/journal.jsonl"))[1:]


def test_function_whose_module_changed_cannot_run_beside_itself(tmp_path: Path):
    tree = help_desk.repository(tmp_path / "other", ASK)
    arm = help_desk.document(tree, help_desk.ARM)
    arm |= {"adapter": {"type": "python", "target": "answers:reply"}, "sources": {}}
    help_desk.rewrite(tree, help_desk.ARM, arm)
    tree.commit({"answers.py": "def reply(text, seat):\n    return 'Which order?'\n"})
    does(tree, "run", "-s", "small", "--trials", "1")
    does(tree, "release", "latest", *help_desk.APPROVED)
    does(tree, *RERUN, "--trials", "1")
    tree.write({"answers.py": "def reply(text, seat):\n    return 'What?'\n"})

    err = refused(tree, *RERUN)

    assert "two revisions of one Python module cannot be loaded side by side" in err


def test_clone_without_the_released_commit_says_what_to_fetch(tree: WorkTree, tmp_path: Path):
    help_desk.rules(tree, refund_days=1)
    tree.commit({}, "Shorten")
    clone = tree.clone(tmp_path / "clone", "--depth", "1", "--branch", "main")
    clone.git("fetch", "-q", "origin", "seatrial-baselines:refs/remotes/origin/seatrial-baselines")

    err = refused(clone, *RERUN)

    assert "git fetch" in err
