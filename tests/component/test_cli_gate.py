"""`seatrial compare` and `seatrial gate` on run folders on disk: output, exit codes, files."""

import gc
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.stored_runs import CASES, stored
from tests.work_trees import WorkTree

from seatrial import baseline
from seatrial.cli import main
from seatrial.compare import Comparison
from seatrial.gate import Ruling
from seatrial.git import Repository
from seatrial.store import RUNS
from seatrial.verdicts import Gate

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \u202eevil \x9b31m\r"
GOOD = dict.fromkeys(CASES, "p" * 12)
FINE = dict.fromkeys(CASES, "p" * 5)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.mark.parametrize(
    ("trials", "code", "word"),
    [
        (FINE, 0, "Open"),
        ({**FINE, "rent": "fffff"}, 1, "Closed"),
        ({**FINE, "rent": "pppf"}, 3, "Undecided"),
    ],
)
def test_ruling_is_the_exit_code(trials, code, word):
    stored("released", GOOD, "clerk-1")
    stored("candidate", trials)

    result = seatrial("gate", "candidate", "--baseline", "released")

    assert (result.exit_code, result.stderr) == (code, "")
    assert result.stdout.startswith(f"{word}: ")


def test_what_made_trials_invalid_is_told():
    stored("released", GOOD, "clerk-1")
    stored("candidate", {**FINE, "rent": "ppppi"})

    told = seatrial("gate", "candidate", "--baseline", "released").stdout

    assert "\nInvalid trials\n  1 × time\n" in told
    assert "Invalid trials" not in seatrial("gate", "released", "--baseline", "released").stdout


def test_cases_that_doing_nothing_passes_are_marked_and_carry_no_gate_alone():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE, weak=("rent", "refuse"))

    ruled = seatrial("gate", "candidate", "--baseline", "released")
    shown = seatrial("compare", "candidate", "--baseline", "released")
    told = seatrial("report", "candidate", "--baseline", "released", "--summary", "s.md")

    assert (ruled.exit_code, shown.exit_code) == (3, 0)
    assert (
        "an agent that does nothing passes every required case that ran: rent; refuse"
        in ruled.output
    )
    assert "rent (required, weak)" in shown.output
    assert "return (weak)" not in shown.output
    assert told.exit_code == 0
    summary = Path("s.md").read_text(encoding="utf-8")
    assert summary.startswith("## 🟡 Gate undecided: only weak required cases ran")
    assert ("</b> unchanged, required, weak:" in summary) or ("| yes, weak |" in summary)


def test_closed_gate_tells_the_grounds_and_where_it_went_wrong():
    stored("released", GOOD, "clerk-1")
    stored("candidate", {"rent": "fffff", "refuse": "ppxpp", "return": "ppppf"})

    result = seatrial("gate", "candidate", "--baseline", "released")

    lines = result.stdout.splitlines()
    assert (
        lines[0] == "Closed: forbidden action in refuse; rent regressed; suite worse by 46.7 points"
    )
    assert lines[1] == ("Suite all: clerk-2 2 (run candidate) against clerk-1 1 (released)")
    assert "closed    forbidden action in refuse (1 of 5 trials)" in lines
    at = lines.index("Where the candidate went wrong")
    assert lines[at + 1 : at + 11] == [
        "  1. refuse (regressed, required)",
        "     A bike is handed out",
        "     did something forbidden in 1 of 5 trials where the release did in none of 12",
        "     trial 3, turn 1, call 2: tool_not_called: trial 3 went wrong",
        "     cases/refuse.yaml:12:5",
        "  2. rent (regressed, required)",
        "     A bike is handed out",
        lines[at + 8],
        "     trial 1, turn 1, call 2: tool_called: trial 1 went wrong",
        "     cases/rent.yaml:12:5",
    ]
    assert lines[at + 8].startswith("     failed 5 of 5 where the release failed 0 of 12; 1 : ")
    assert "  3. return (undecided)" in lines
    assert not lines[-1].startswith("  and ")


def test_cases_beyond_the_three_worst_are_counted():
    stored("released", GOOD, "clerk-1")
    stored("candidate", dict.fromkeys((*CASES, "repair", "paint"), "fffff"))

    result = seatrial("gate", "candidate", "--baseline", "released")

    assert result.stdout.splitlines()[-1] == (
        "  and 2 more: `seatrial report candidate` shows them all"
    )


@pytest.mark.parametrize("command", ["gate", "compare"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_text_of_cases_and_agents_cannot_steer_the_terminal(command, form):
    stored("released", GOOD, "clerk-1")
    stored("candidate", {**FINE, "rent": "fffff"}, title=HOSTILE, reason=HOSTILE)

    result = seatrial(command, "candidate", "--baseline", "released", "--format", form)

    assert not set("\x1b\x07\x9b\r\u202e") & set(result.stdout)
    if (command, form) != ("compare", "text"):
        assert "owned" in result.stdout or command == "gate"


def test_json_is_the_ruling_on_stdout_and_in_the_file():
    stored("released", GOOD, "clerk-1")
    stored("candidate", {**FINE, "rent": "fffff"})

    result = seatrial(
        *("gate", "candidate", "--baseline", "released"),
        *("--format", "json", "--json", "ruling.json"),
    )

    ruling = Ruling.model_validate_json(result.stdout)
    assert (result.exit_code, ruling.ruling, ruling.profile) == (1, Gate.CLOSED, "pr")
    assert Ruling.model_validate_json(Path("ruling.json").read_text(encoding="utf-8")) == ruling


def test_file_that_cannot_be_written_is_no_ruling():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)

    result = seatrial("gate", "candidate", "--baseline", "released", "--json", "no/such/file")

    assert result.exit_code == 4
    assert result.stderr == "Error: no/such/file cannot be written: No such file or directory\n"


def test_release_profile_asks_for_more():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)

    assert seatrial("gate", "candidate", "--baseline", "released").exit_code == 0
    release = seatrial("gate", "candidate", "--baseline", "released", "--profile", "release")

    assert release.exit_code == 3
    assert "these trials can prove a margin of" in release.stdout


def test_loosened_policy_is_told_and_the_released_one_applied():
    stored("released", GOOD, "clerk-1", gate={"profile": "release"})
    stored("candidate", FINE, gate={"profile": "pr", "margin": 0.9})

    result = seatrial("gate", "candidate", "--baseline", "released")

    assert result.exit_code == 3
    assert (
        "warning   the change loosens the policy (profile, margin); the stricter one was applied"
        in result.stdout
    )


def test_newest_release_of_the_branch_is_the_baseline(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({".gitignore": ".seatrial/\n"})
    run = stored(tree.root / RUNS / "r1", GOOD, "clerk-1")
    stored(tree.root / RUNS / "r2", {**FINE, "rent": "fffff"})
    baseline.release(
        run,
        None,
        approver=baseline.Approver(name="Rita Releaser <rita@example.org>"),
        repository=Repository.find(tree.root),
        allow_dirty="a test",
        override="a test",
    )

    result = seatrial("gate", "latest", "--root", str(tree.root))

    assert result.exit_code == 1
    assert "against clerk-1 1 (seatrial-baselines at " in result.stdout
    assert ", approved by Rita Releaser <rita@example.org>)" in result.stdout


def test_nothing_released_yet_is_undecided_and_says_how_to_begin(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    stored(tree.root / RUNS / "r1", FINE)

    result = seatrial("gate", "r1", "--root", str(tree.root))

    assert result.exit_code == 3
    assert result.stdout.startswith("Undecided: no baseline\n")
    assert "release a run: seatrial release RUN --approved-by 'NAME <MAIL>'" in result.stdout


def test_without_a_repository_and_a_named_baseline_nothing_is_decided_and_the_first_run_can_be_seen():
    stored("candidate", FINE)

    result = seatrial("gate", "candidate")

    assert result.exit_code == 3
    assert result.stdout.startswith("Undecided: no baseline\n")
    assert "outside of a git repository there is no branch with baselines\n  → " in result.stdout
    assert seatrial("report", "candidate", "--site", "site").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gate", "nowhere"], "no run 'nowhere'"),
        (["gate", "candidate", "--baseline", "nowhere"], "there is no folder 'nowhere'"),
        (["gate", "candidate", "--arm", "clerk-9", "--baseline", "released"], "no arm 'clerk-9'"),
        (["compare", "two", "--baseline", "released"], "run two has 2 arms"),
    ],
)
def test_wrong_names_are_usage_errors_with_what_to_type(words, message):
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)
    stored("two", FINE, "clerk-2", "clerk-3")

    result = seatrial(*words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "\n  → " in result.stderr


def test_damaged_journal_is_told_and_nothing_is_ruled():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)
    journal = Path("candidate/journal.jsonl")
    journal.write_text("garbage\n" + journal.read_text(encoding="utf-8"), encoding="utf-8")

    result = seatrial("gate", "candidate", "--baseline", "released")

    assert (result.exit_code, result.stdout) == (4, "")
    assert "journal.jsonl is not what the run left there" in result.stderr


def test_verdicts_that_were_turned_by_hand_are_told_and_nothing_is_ruled():
    stored("released", GOOD, "clerk-1")
    stored("candidate", {**FINE, "rent": "fffff"})
    journal = Path("candidate/journal.jsonl")
    turned = journal.read_text(encoding="utf-8").replace('"failed"', '"passed"')
    journal.write_text(turned, encoding="utf-8")

    for words in (
        ("gate", "candidate", "--baseline", "released"),
        ("gate", "released", "--baseline", "candidate"),
        ("compare", "candidate", "--baseline", "released"),
        ("report", "candidate", "--baseline", "released"),
        ("release", "candidate", "--approved-by", "Ann <ann@example.org>", "--to", "to"),
    ):
        result = seatrial(*words)

        assert (result.exit_code, result.stdout) == (4, "")
        assert "journal.jsonl is not what the run left there" in result.stderr


def test_run_whose_last_trial_is_stored_but_which_was_killed_is_undecided():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)
    Path("candidate/seal.json").unlink()

    result = seatrial("gate", "candidate", "--baseline", "released")

    assert result.exit_code == 3
    assert "Undecided: the run has not ended" in result.stdout


def test_run_that_is_still_going_is_never_open():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)
    journal = Path("candidate/journal.jsonl")
    Path("candidate/seal.json").unlink()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])

    result = seatrial("gate", "candidate", "--baseline", "released")

    assert result.exit_code == 3
    assert "1 of 15 planned trials have no record" in result.stdout


def test_compare_tells_every_case_with_counts_and_intervals():
    stored("released", GOOD, "clerk-1")
    stored("candidate", {**FINE, "rent": "fffff"})

    result = seatrial("compare", "candidate", "--baseline", "released")

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[2:4] == [
        "regressed    rent (required)",
        "             released 12/12 [0.76, 1.00]   candidate 0/5 [0.00, 0.43]",
    ]
    assert lines[5:8] == [
        "unchanged    refuse (required)",
        "             released 12/12 [0.76, 1.00]   candidate 5/5 [0.57, 1.00]",
        "             passed 5 of 5, the release 12 of 12",
    ]
    assert "2 unchanged, 1 regressed" in lines
    assert any(line.startswith("pass^k of the candidate: k=1 0.67 [") for line in lines)


def test_compare_as_json_is_the_whole_comparison():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)

    result = seatrial("compare", "candidate", "--baseline", "released", "--format", "json")

    comparison = Comparison.model_validate_json(result.stdout)
    assert [c.case for c in comparison.cases] == list(CASES)
    assert json.loads(result.stdout)["baseline"]["reason"] == (
        "named by --baseline; nobody has released it"
    )


def test_ruling_can_be_redone_from_the_folders_alone():
    """No network, no git, no document but those in the folders; twice the same to the byte."""
    stored("released", GOOD, "clerk-1")
    stored("candidate", {**FINE, "rent": "ppfpf"})
    words = ("gate", "candidate", "--baseline", "released", "--format", "json")

    assert seatrial(*words).stdout == seatrial(*words).stdout


def test_comparison_shows_the_suite_in_parts_and_its_ties():
    stored("released", GOOD, "clerk-1", must_tie=("return",))
    stored("candidate", {**FINE, "return": "fffff"})

    lines = seatrial("compare", "candidate", "--baseline", "released").stdout.splitlines()

    at = lines.index(next(line for line in lines if line.startswith("by category")))
    assert [line.split() for line in lines[at : at + 3]] == [
        ["by", "category", "cases", "released", "candidate", "drop", "at", "most"],
        ["required", "2", "1.00", "[0.21,", "1.00]", "1.00", "[0.21,", "1.00]", "0.000", "0.000"],
        ["not", "required", "1", "1.00", "[0.21,", "1.00]", "0.00", "[0.00,", "0.79]", "1.000", "1.000"],
    ]  # fmt: skip
    assert lines[-1].startswith("1 case must tie: 1 moved; their mean moved (drop 1.000, p ")
    gate = seatrial("gate", "candidate", "--baseline", "released").stdout
    assert "warning   1 case that must tie moved: return (0 of 5 against 12 of 12; p " in gate


def test_garbage_is_collected_again_after_a_comparison_and_after_one_that_failed():
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)
    assert seatrial("gate", "candidate", "--baseline", "released").exit_code == 0
    assert gc.isenabled()
    (Path("candidate") / "journal.jsonl").write_bytes(b"no record\n")

    assert seatrial("gate", "candidate", "--baseline", "released").exit_code == 4
    assert gc.isenabled()
