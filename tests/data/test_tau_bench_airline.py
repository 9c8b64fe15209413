"""200 recorded runs of a real agent: the recorded reward, the published figures, and no false alarm."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from tests.data import shared, tau_bench

from seatrial import arms, checks
from seatrial.documents import Arm, Case
from seatrial.stats.passk import mean_pass_k
from seatrial.verdicts import Status, Verdict

ARMS = {"all": (0, 1, 2, 3), "first-half": (0, 1), "second-half": (2, 3)}


@pytest.fixture(scope="module")
def airline() -> tau_bench.Airline:
    return tau_bench.Airline(shared.folder("tau-bench"))


@pytest.fixture(scope="module")
def repository(airline, tmp_path_factory) -> Path:
    root: Path = tmp_path_factory.mktemp("airline")
    airline.write_repository(root, ARMS)
    return root


def graded(repository: Path, arm: str):
    """Verdict and findings of every recorded trial, by case and number."""
    documents = yaml.safe_load_all(
        (repository / "cases" / "airline.yaml").read_text(encoding="utf-8")
    )
    written = yaml.safe_load((repository / "arms" / f"{arm}.yaml").read_text(encoding="utf-8"))
    recordings = arms.recordings(Arm.model_validate(written), repository)
    results = {}
    for case in map(Case.model_validate, documents):
        for number in recordings.numbers(case.id):
            trace = recordings.trace(case.id, number)
            findings = checks.grade(case, trace)
            results[case.id, number] = (*checks.verdict(findings, trace), findings)
    return results


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


def test_each_of_the_200_runs_gets_the_verdict_of_its_recorded_reward(airline, repository):
    recorded = {
        (tau_bench.case_of(run), run["trial"] + 1): Verdict.PASSED
        if run["reward"] == 1.0
        else Verdict.FAILED
        for run in airline.runs
    }

    results = graded(repository, "all")

    assert len(recorded) == 200
    assert {trial: result[0] for trial, result in results.items()} == recorded


def test_a_run_out_of_steps_fails_even_with_the_right_end_state(airline, repository):
    results = graded(repository, "all")
    ended = {
        trial: {f.check: f.status for f in findings}
        for trial, (_, _, _, findings) in results.items()
        if findings[-1].check == "limit"
    }

    assert Counter(statuses["end_state"] for statuses in ended.values()) == {
        Status.FAILED: 3,
        Status.PASSED: 2,
    }
    assert {results[trial][0] for trial in ended} == {Verdict.FAILED}


def test_pass_k_is_what_was_published(repository):
    tallies = Counter(
        case
        for (case, _), result in graded(repository, "all").items()
        if result[0] is Verdict.PASSED
    )
    cases = [(tallies[f"airline-{number:02}"], 4) for number in range(50)]

    found = [mean_pass_k(cases, k) for k in (1, 2, 3, 4)]

    assert [mean and round(mean.value, 3) for mean in found] == [0.420, 0.273, 0.220, 0.200]
