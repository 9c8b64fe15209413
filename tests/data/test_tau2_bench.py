"""120 recorded runs of two real agents: the end state and the verdict that were published, run by run."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.data import shared, tau2_bench

from seatrial import checks
from seatrial.verdicts import Status, Verdict


@pytest.fixture(scope="module", params=tau2_bench.DOMAINS)
def domain(request) -> tau2_bench.Domain:
    return tau2_bench.Domain(shared.folder("tau2-bench"), request.param)


def graded(domain: tau2_bench.Domain, arm: str):
    """Each run with its findings and its verdict."""
    cases = {id: domain.case(task) for id, task in domain.tasks.items()}
    for run in domain.runs(arm):
        trace = domain.trace(run)
        findings = checks.grade(cases[run["task_id"]], trace)
        yield run, findings, checks.verdict(findings, trace)[0]


@pytest.mark.parametrize("arm", [tau2_bench.BASE, tau2_bench.TUNED])
def test_the_recorded_changes_lead_to_the_recorded_end_state(domain, arm):
    wrong = [
        run["task_id"]
        for run in domain.runs(arm)
        if domain.digest(domain.changes(run["state"]["diff"])) != run["state"]["after_sha256"]
    ]

    assert wrong == []


@pytest.mark.parametrize("arm", [tau2_bench.BASE, tau2_bench.TUNED])
def test_the_end_state_alone_is_right_exactly_where_the_benchmark_says_so(domain, arm):
    found = {
        run["task_id"]: (findings[0].status is Status.PASSED, run["info"]["db_match"])
        for run, findings, _ in graded(domain, arm)
    }

    assert len(found) == len(domain.tasks) == {"airline": 20, "retail": 40}[domain.name]
    assert {task: pair for task, pair in found.items() if pair[0] is not pair[1]} == {}


def test_each_run_gets_its_published_verdict_and_the_two_agents_differ_as_published(domain):
    verdicts = {}
    for arm in (tau2_bench.BASE, tau2_bench.TUNED):
        for run, _, verdict in graded(domain, arm):
            assert (verdict is Verdict.PASSED) is (run["reward"] == 1.0), (arm, run["task_id"])
            verdicts[run["task_id"], arm] = verdict is Verdict.PASSED

    pairs = Counter(
        (verdicts[task, tau2_bench.BASE], verdicts[task, tau2_bench.TUNED]) for task in domain.tasks
    )

    only_base, only_tuned = {"airline": (3, 6), "retail": (6, 6)}[domain.name]
    assert (pairs[True, False], pairs[False, True]) == (only_base, only_tuned)


def test_a_right_end_state_with_a_text_left_unsaid_is_no_pass(domain):
    unsaid = [
        run["task_id"]
        for run, findings, verdict in graded(domain, tau2_bench.TUNED)
        if findings[0].status is Status.PASSED and verdict is not Verdict.PASSED
    ]

    assert len(unsaid) == {"airline": 1, "retail": 0}[domain.name]


def test_every_wrong_end_state_is_explained_in_a_line_that_names_a_difference(domain):
    reasons = [
        findings[0].reason
        for arm in (tau2_bench.BASE, tau2_bench.TUNED)
        for _, findings, _ in graded(domain, arm)
        if findings[0].status is Status.FAILED
    ]

    assert len(reasons) == {"airline": 16, "retail": 12}[domain.name]
    assert all(reason.startswith(("missing: ", "unexpected: ")) for reason in reasons)
    assert max(map(len, reasons)) < 1300
