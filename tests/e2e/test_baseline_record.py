"""`seatrial baseline record` and `show`: the ledger of a release grows by whole batches and is read with it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import help_desk
from tests.help_desk import ASK, REFUND
from tests.shell import ROOT, seatrial
from tests.work_trees import WorkTree

RECORD = ("baseline", "record", "-s", "small")
LEDGER = "suites/small/helpdesk"


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    for name, value in help_desk.NO_SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    """A repository whose only arm has been released with two trials of each case."""
    tree = help_desk.repository(tmp_path / "repo", REFUND, ASK, trials=2)
    does(tree, "run", "-s", "small")
    does(tree, "release", "latest", *help_desk.APPROVED)
    return tree


def does(tree: WorkTree, *words: str, code: int = 0) -> str:
    status, out, err = seatrial(tree.root, *words)
    assert status == code, (out, err)
    return out


def refused(tree: WorkTree, *words: str) -> str:
    status, _, err = seatrial(tree.root, *words)
    assert status == 2, err
    return err


def files(tree: WorkTree) -> list[str]:
    listed = tree.git("ls-tree", "-r", "--name-only", "seatrial-baselines", LEDGER)
    return [path.removeprefix(f"{LEDGER}/") for path in listed.splitlines()]


def shown(tree: WorkTree, *words: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(
        does(tree, "baseline", "show", *words, "--format", "json")
    )
    (entry,) = found
    return entry


def trials(tree: WorkTree, *words: str) -> dict[str, tuple[int, int]]:
    return {case["case"]: (case["valid"], case["batches"]) for case in shown(tree, *words)["cases"]}


def compared(tree: WorkTree, *words: str) -> dict[str, dict[str, Any]]:
    found = json.loads(does(tree, "compare", "latest", *words, "--format", "json"))
    return {case["case"]: case for case in found["cases"]}


def test_batch_lands_beside_the_release_and_counts_with_it(tree: WorkTree):
    out = does(tree, *RECORD, "--trials", "3")

    run = help_desk.newest(tree).manifest.run
    tip = tree.git("rev-parse", "--short=12", "seatrial-baselines")
    assert out.splitlines()[-2:] == [
        "Added to the ledger of helpdesk 1.4.0, suite small: 6 trials of 2 cases",
        f"Baseline: seatrial-baselines at {tip}",
    ]
    assert [path for path in files(tree) if path.startswith("ledger/")] == [
        f"ledger/{run}/{name}"
        for name in (
            "batch.json",
            "documents.json",
            "journal.jsonl",
            "run.json",
            f"traces/{REFUND}.jsonl",
            f"traces/{ASK}.jsonl",
        )
    ]
    assert "release.json" in files(tree)
    assert tree.git("status", "--porcelain") == ""

    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "1")
    case = compared(tree)[REFUND]
    assert (case["baseline"]["valid"], case["batches"]) == (5, 2)


def test_batch_whose_budget_did_not_suffice_is_not_added(tree: WorkTree):
    before = tree.git("rev-parse", "seatrial-baselines")

    status, out, err = seatrial(tree.root, *RECORD, "--trials", "2", "--budget", "9 tokens")

    # The agent of the help desk tells no tokens, so that after its first trial no budget can be held.
    assert (status, "3 trials were not begun" in err) == (3, True), (out, err)
    assert help_desk.newest(tree).manifest.budget == "9 tokens"
    assert tree.git("rev-parse", "seatrial-baselines") == before
    assert "needs the prices of each arm in EUR" in refused(tree, *RECORD, "--budget", "1 EUR")
    assert "leave out --budget" in refused(
        tree, "baseline", "record", "--run", "latest", "--budget", "1 EUR"
    )


def test_batch_file_says_of_which_release_and_run_it_is_and_how_it_went(tree: WorkTree):
    does(tree, *RECORD, "--trials", "3")
    run = help_desk.newest(tree).manifest

    raw = tree.git("show", f"seatrial-baselines:{LEDGER}/ledger/{run.run}/batch.json")
    batch = json.loads(raw)

    release = json.loads(tree.git("show", f"seatrial-baselines:{LEDGER}/release.json"))
    assert (batch["kind"], batch["release"], batch["arm"]) == ("baseline", release["run"], "desk")
    assert (batch["run"], batch["run_at"], batch["revision"]) == (
        run.run,
        run.created_at,
        tree.head(),
    )
    assert batch["tallies"] == {REFUND: [3, 0, 0], ASK: [3, 0, 0]}


def test_cases_grow_up_to_the_target_and_no_further(tree: WorkTree):
    does(tree, *RECORD, "--trials", "3", "--target", "6")
    assert trials(tree) == {REFUND: (5, 2), ASK: (5, 2)}

    does(tree, *RECORD, "--trials", "3", "--target", "6")
    assert trials(tree) == {REFUND: (6, 3), ASK: (6, 3)}

    before = tree.git("rev-parse", "seatrial-baselines")
    out = does(tree, *RECORD, "--trials", "3", "--target", "6")
    assert out == "Nothing to record: every case has 6 valid trials or more.\n"
    assert tree.git("rev-parse", "seatrial-baselines") == before


def test_show_tells_for_each_case_how_often_it_was_run_and_how_often_it_failed(tree: WorkTree):
    does(tree, *RECORD, "--trials", "3")
    run = help_desk.newest(tree).manifest

    out = does(tree, "baseline", "show")

    day = run.created_at[:10]
    assert out.splitlines()[-5:] == [
        f"  ledger       1 batch, the last one run {run.created_at} ({run.run})",
        "",
        "  case                         trials  failed  flake rate, 95 % interval  last run",
        f"  refund-damaged-lamp               5       0  0.000 [0.000, 0.434]       {day} (required)",
        f"  refund-without-order-number       5       0  0.000 [0.000, 0.434]       {day}",
    ]


def test_released_arm_is_recorded_as_it_was_released_whatever_lies_in_the_work_tree(
    tree: WorkTree,
):
    help_desk.rules(tree, verify_before_refund=False)
    tree.commit({}, "Refund at once")

    does(tree, *RECORD, "--trials", "2")

    assert [case["failed"] for case in shown(tree)["cases"]] == [0, 0]
    err = refused(tree, *RECORD, "--arm", "desk")
    assert "desk is not what was released (desk 1.4.0): source:rules differs" in err
    assert "leave out --arm" in err


def test_arm_in_the_work_tree_that_is_the_released_one_may_be_named(tree: WorkTree):
    arm = help_desk.document(tree, help_desk.ARM)
    help_desk.rewrite(tree, "arms/twin.yaml", {**arm, "id": "twin", "title": "The same agent"})

    does(tree, *RECORD, "--arm", "twin", "--trials", "1")

    assert trials(tree)[ASK] == (3, 2)


def test_next_release_begins_an_empty_ledger_and_the_old_one_stays_in_the_history(tree: WorkTree):
    does(tree, *RECORD, "--trials", "1")
    before = tree.git("rev-parse", "seatrial-baselines")
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "2")
    does(tree, "release", "latest", *help_desk.APPROVED, "--override", "a small one")

    assert trials(tree) == {REFUND: (2, 1), ASK: (2, 1)}
    assert trials(tree, "--baseline", before) == {REFUND: (3, 2), ASK: (3, 2)}


def test_batch_that_was_recorded_for_an_earlier_release_is_refused(tree: WorkTree):
    does(tree, *RECORD, "--trials", "1", "--target", "3")
    batch = help_desk.newest(tree).manifest.run
    first = tree.git("rev-parse", "seatrial-baselines^")
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "2")
    does(tree, "release", "latest", *help_desk.APPROVED, "--override", "a small one")

    err = refused(tree, "baseline", "record", "--run", batch)

    assert "which is no longer in force" in err
    assert "is no release in force, so nothing can be added" in refused(
        tree, "baseline", "record", "--run", batch, "--baseline", first
    )


def test_ledger_in_a_folder_works_like_that_on_the_branch(tree: WorkTree, tmp_path: Path):
    folder = str(tmp_path / "baselines")
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "2")
    does(tree, "release", "latest", *help_desk.APPROVED, "--to", folder)

    does(tree, *RECORD, "--trials", "1", "--baseline", folder)
    does(tree, *RECORD, "--trials", "1", "--baseline", f"{folder}/{LEDGER}")

    assert trials(tree, "--baseline", folder) == {REFUND: (4, 3), ASK: (4, 3)}
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "1")
    assert compared(tree, "--baseline", folder)[ASK]["baseline"]["valid"] == 4
    assert trials(tree) == {REFUND: (2, 1), ASK: (2, 1)}


# --- runs that are there already ---


def test_scheduled_run_of_the_released_arm_can_be_added_once(tree: WorkTree):
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "2", "--seed", "7")
    run = help_desk.newest(tree).manifest.run

    does(tree, "baseline", "record", "--run", run)

    assert trials(tree) == {REFUND: (4, 2), ASK: (4, 2)}
    err = refused(tree, "baseline", "record", "--run", run)
    assert err == (
        f"Error: run {run} cannot be added to the ledger of desk 1.4.0:\n"
        "  - its trials are in the baseline already\n"
    )


def test_two_batches_that_are_added_at_once_both_land(tree: WorkTree):
    names = []
    for _ in range(2):
        does(tree, "run", "-s", "small", "-a", "desk", "--trials", "1")
        names.append(help_desk.newest(tree).manifest.run)
    words = [sys.executable, "-m", "seatrial", "baseline", "record", "--run"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    adding = [
        subprocess.Popen([*words, name], cwd=tree.root, env=environment, stdout=subprocess.DEVNULL)
        for name in names
    ]

    assert [process.wait(timeout=60) for process in adding] == [0, 0]
    assert trials(tree) == {REFUND: (4, 3), ASK: (4, 3)}


def test_recording_that_was_stopped_is_gone_on_with_and_then_added(tree: WorkTree):
    does(tree, *RECORD, "--trials", "2")
    stored = help_desk.newest(tree)
    tree.git("update-ref", "refs/heads/seatrial-baselines", "seatrial-baselines^")
    path = Path(stored.where) / "journal.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    path.with_name("seal.json").unlink()  # a run that was killed has none
    name = stored.manifest.run

    assert "has not ended" in refused(tree, "baseline", "record", "--run", name)
    does(tree, "run", "--resume", name)
    does(tree, "baseline", "record", "--run", name)

    assert trials(tree) == {REFUND: (4, 2), ASK: (4, 2)}


def test_what_must_not_be_in_a_ledger_is_refused_with_every_reason(tree: WorkTree):
    release = help_desk.newest(tree).manifest.run
    help_desk.rules(tree, verify_before_refund=False)
    tree.commit({}, "Refund at once")
    does(tree, "run", "-s", "small", "-a", "desk", "-c", ASK, "--trials", "1")

    err = refused(tree, "baseline", "record", "--run", "latest")

    assert "desk is not what was released: source:rules differs. A ledger is pinned" in err
    assert f"{ASK} was asked for by --case" in err
    assert "its trials are in the baseline already" in refused(
        tree, "baseline", "record", "--run", release
    )
    does(tree, "regrade", release)
    assert f"its trials are those of run {release}, graded again" in refused(
        tree, "baseline", "record", "--run", "latest"
    )


def test_batch_that_is_not_whole_is_refused(tree: WorkTree):
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "2")
    journal = help_desk.newest(tree)
    path = Path(journal.where) / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    path.with_name("seal.json").unlink()  # a run that was killed has none

    err = refused(tree, "baseline", "record", "--run", "latest")

    assert "has not ended" in err
    assert f"seatrial run --resume {journal.where}" in err


def test_trials_beside_a_candidate_are_refused(tree: WorkTree):
    does(tree, "run", "-s", "small", "-a", "desk", "--rerun-baseline", "--trials", "1")

    err = refused(tree, "baseline", "record", "--run", "latest", "--arm", "desk.released")

    assert "was run beside a candidate, where its trials may be run on suspicion" in err


def test_later_version_is_watched_and_never_counts_as_the_release(tree: WorkTree):
    help_desk.rules(tree, verify_before_refund=False)
    arm = help_desk.document(tree, help_desk.ARM)
    help_desk.rewrite(tree, help_desk.ARM, {**arm, "version": "1.5.0"})
    tree.commit({}, "Refund at once")
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "2")
    run = help_desk.newest(tree).manifest.run

    out = does(tree, "baseline", "record", "--run", "latest", "--watch")

    assert "Kept to be watched of helpdesk 1.4.0, suite small: 4 trials of 2 cases\n" in out
    assert f"watch/{run}/batch.json" in files(tree)
    assert trials(tree) == {REFUND: (2, 1), ASK: (2, 1)}
    (batch,) = shown(tree)["batches"]
    assert (batch["kind"], batch["version"], batch["tallies"][REFUND]) == (
        "watch",
        "1.5.0",
        [0, 2, 0],
    )
    assert compared(tree)[REFUND]["batches"] == 1


# --- what lies there must be what was put there ---


def test_altered_batch_is_refused(tree: WorkTree, tmp_path: Path):
    folder = tmp_path / "baselines"
    does(tree, "release", "latest", *help_desk.APPROVED, "--to", str(folder))
    does(tree, *RECORD, "--trials", "1", "--baseline", str(folder))
    (journal,) = folder.glob("suites/*/*/ledger/*/journal.jsonl")
    journal.write_text(journal.read_text("utf-8").replace("passed", "failed"), encoding="utf-8")

    status, _, err = seatrial(
        tree.root, "compare", "latest", "--arm", "desk", "--baseline", str(folder)
    )

    assert status == 2
    assert "journal.jsonl is not what was released" in err


def test_batch_of_another_release_beside_this_one_is_refused(tree: WorkTree, tmp_path: Path):
    folder = tmp_path / "baselines"
    does(tree, "release", "latest", *help_desk.APPROVED, "--to", str(folder))
    does(tree, *RECORD, "--trials", "1", "--baseline", str(folder))
    (batch,) = folder.glob("suites/*/*/ledger/*/batch.json")
    raw = json.loads(batch.read_text("utf-8"))
    batch.write_text(json.dumps({**raw, "release_digest": "0" * 64}), encoding="utf-8")

    err = refused(tree, "baseline", "show", "--baseline", str(folder))

    assert "is no batch of the release beside it" in err


def test_case_that_changed_on_main_is_recorded_anew_and_then_can_be_compared(tree: WorkTree):
    changed = help_desk.document(tree, help_desk.case_file(ASK))
    changed["task"] = "Hello, this is Mara, customer c-101, code 4417. I want my money back."
    help_desk.rewrite(tree, help_desk.case_file(ASK), changed)
    tree.commit({}, "Greet otherwise")
    does(tree, "run", "-s", "small", "-a", "desk", "--trials", "4")
    assert compared(tree)[ASK]["component"] == "case"
    run = help_desk.newest(tree).manifest.run

    does(tree, *RECORD, "--trials", "5")

    found = json.loads(does(tree, "compare", run, "--format", "json"))
    (case,) = [c for c in found["cases"] if c["case"] == ASK]
    assert (case["outcome"], case["baseline"]["valid"], case["batches"]) == ("unchanged", 5, 1)
    (ask,) = [c for c in shown(tree)["cases"] if c["case"] == ASK]
    assert (ask["valid"], ask["elsewhere"]) == (5, 2)


def test_two_words_that_do_not_go_together_are_told(tree: WorkTree):
    assert "leave out --suite" in refused(tree, *RECORD, "--run", "latest")
    assert "--run RUN" in refused(tree, *RECORD, "--watch")
    assert "there is no remote to push to" in refused(
        tree, "baseline", "record", "--run", "latest", "--push"
    )
    assert "which suite?" in refused(tree, "baseline", "record")
