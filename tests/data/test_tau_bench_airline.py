"""200 recorded runs of a real agent: the recorded reward, the published figures, and no false alarm.

The runs take the way that every user's runs take: documents on disk, `seatrial run` with a recorded arm,
`seatrial gate`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.data import shared, tau_bench
from tests.shell import seatrial

from seatrial.errors import ExitCode
from seatrial.records import TrialRecord
from seatrial.stats.passk import mean_pass_k
from seatrial.store import Run
from seatrial.verdicts import Status, Verdict

ALL, FIRST, SECOND = (0, 1, 2, 3), (0, 1), (2, 3)


@pytest.fixture(scope="module")
def airline() -> tau_bench.Airline:
    return tau_bench.Airline(shared.folder("tau-bench"))


@pytest.fixture(scope="module")
def repository(airline, tmp_path_factory) -> Path:
    """The airline with an arm per choice of trials, each run once."""
    root: Path = tmp_path_factory.mktemp("airline")
    airline.write_repository(root, {"all": ALL, "first-half": FIRST, "second-half": SECOND})
    airline.write_arm(root, "out-of-steps", SECOND, ended="step_limit")
    for arm, trials in (("all", 4), ("first-half", 2), ("second-half", 2), ("out-of-steps", 2)):
        code, _, error = seatrial(
            root, "run", "--suite", "airline", "--arm", arm, "--trials", str(trials), "--out", f"runs/{arm}"
        )  # fmt: skip
        assert (code, error.partition("Error")[1]) == (ExitCode.OPEN, "")
    return root


@pytest.fixture(scope="module")
def records(repository) -> Mapping[tuple[str, int], TrialRecord]:
    return {(r.case, r.number): r for r in Run.open(repository / "runs" / "all").records()}


def test_the_recorded_changes_lead_from_the_start_state_to_the_recorded_end_state(airline):
    assert {run["state"]["before_sha256"] for run in airline.runs} == {airline.digest()}

    wrong = [
        (run["task_id"], run["trial"])
        for run in airline.runs
        if airline.digest(run["state"]["diff"]) != run["state"]["after_sha256"]
    ]

    assert wrong == []


def test_the_expected_changes_lead_to_the_expected_end_state(airline):
    wrong = [
        task["task_id"]
        for task in airline.tasks
        if airline.digest(task["expected_state_diff"]) != task["expected_state_sha256"]
    ]

    assert wrong == []


def test_each_of_the_200_runs_gets_the_verdict_of_its_recorded_reward(airline, records):
    recorded = {
        (tau_bench.case_of(run), run["trial"] + 1): Verdict.PASSED
        if run["reward"] == 1.0
        else Verdict.FAILED
        for run in airline.runs
    }

    assert len(recorded) == 200
    assert {trial: record.verdict for trial, record in records.items()} == recorded


def test_the_end_state_alone_is_right_exactly_where_its_digest_is(airline, records):
    """The reward adds two rules to it: the step limit, and in four tasks a number that must be said."""
    expected = {task["task_id"]: task["expected_state_sha256"] for task in airline.tasks}
    by_digest = {
        (tau_bench.case_of(run), run["trial"] + 1): run["state"]["after_sha256"]
        == expected[run["task_id"]]
        for run in airline.runs
    }

    by_check = {
        trial: next(f.status for f in record.findings if f.check == "end_state") is Status.PASSED
        for trial, record in records.items()
    }

    assert by_check == by_digest
    assert Counter(by_check.values()) == {True: 88, False: 112}


def test_a_run_out_of_steps_fails_even_with_the_right_end_state(records):
    ended = [
        {f.check: f.status for f in record.findings}
        for record in records.values()
        if record.findings[-1].check == "limit"
    ]

    assert Counter(statuses["end_state"] for statuses in ended) == {
        Status.FAILED: 3,
        Status.PASSED: 2,
    }


def test_pass_k_is_what_was_published(records):
    passed = Counter(case for (case, _), r in records.items() if r.verdict is Verdict.PASSED)
    cases = [(passed[f"airline-{number:02}"], 4) for number in range(50)]

    found = [mean_pass_k(cases, k) for k in (1, 2, 3, 4)]

    assert [mean and round(mean.value, 3) for mean in found] == [0.420, 0.273, 0.220, 0.200]


def ruling(repository: Path, candidate: str):
    """Exit code and ruling of the gate, with the first half of the trials as the baseline."""
    code, out, _ = seatrial(
        repository, "gate", f"runs/{candidate}", "--baseline", "runs/first-half", "--format", "json"
    )
    return code, json.loads(out)


@pytest.mark.parametrize("required", [False, True])
def test_two_halves_of_one_and_the_same_agent_never_close_the_gate(airline, repository, required):
    if required:
        repository = every_case_required(airline, repository)

    code, found = ruling(repository, "second-half")

    assert code in (ExitCode.OPEN, ExitCode.UNDECIDED)
    assert [g["text"] for g in found["grounds"] if g["effect"] == "closed"] == []


def test_the_same_agent_does_close_it_when_it_never_gets_to_an_end(repository):
    code, found = ruling(repository, "out-of-steps")

    assert code == ExitCode.CLOSED
    assert [g["kind"] for g in found["grounds"] if g["effect"] == "closed"] == ["suite_worse"]


def every_case_required(airline: tau_bench.Airline, beside: Path) -> Path:
    """The airline once more, where a drop of any one case counts."""
    root = beside.parent / f"{beside.name}-required"
    root.mkdir()
    airline.write_repository(root, {"first-half": FIRST, "second-half": SECOND}, required=True)
    for arm in ("first-half", "second-half"):
        words = ("run", "--suite", "airline", "--arm", arm, "--trials", "2", "--out", f"runs/{arm}")
        assert seatrial(root, *words)[0] == ExitCode.OPEN
    return root
