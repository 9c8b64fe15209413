"""`python`: a function of the repository answers; what it raises is never held against the agent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests import bike_shop
from tests.traces import called, created, replied, said, trace

from seatrial import checks
from seatrial.checks import Background
from seatrial.verdicts import Cause, Status, Verdict

NAME = "checks.rent:fair"
EVENTS = (said(), called("rent", bike="b-1"), replied("Rented."))


def graded(function: Any, *more: dict[str, Any], severity="critical", turns=None, **asked):
    own = {"check": "python", "function": NAME, "severity": severity, **asked}
    case = (
        bike_shop.case(turns=[{"say": "Hi", "checks": [own]}, {"say": "Now"}], checks=[*more])
        if turns
        else bike_shop.case(checks=[own, *more])
    )
    recorded = trace(*EVENTS, said(), replied("Bye."), changes=[created("bike", "b-9")])
    functions = {} if function is None else {NAME: function}
    findings = checks.grade(case, recorded, Background(functions=functions))
    return findings[0], checks.verdict(findings, recorded)


CHANGED = {"check": "tool_called", "tool": "rent"}
NEVER = {"check": "tool_not_called", "tool": "rent"}


def test_a_function_answers_with_a_status_and_a_reason():
    def fair(trace, most):
        rents = [c for c in trace.calls if c.tool == "rent"]
        return (
            ("passed" if len(rents) <= most else "failed"),
            f"{len(rents)} rented",
            rents[0].number,
        )

    finding, (verdict, _, _) = graded(fair, arguments={"most": 1})
    assert (finding.status, finding.reason, finding.turn, finding.call) == (
        Status.PASSED,
        "1 rented",
        1,
        1,
    )
    assert verdict is Verdict.PASSED

    finding, (verdict, _, detail) = graded(fair, arguments={"most": 0})
    assert finding.status is Status.FAILED
    assert (verdict, detail) == (Verdict.FAILED, "python: 1 rented")


def test_a_function_may_have_no_answer():
    finding, (verdict, cause, _) = graded(lambda trace: ("skipped", "nothing to look at"))

    assert finding.status is Status.SKIPPED
    assert finding.cause is None
    assert (verdict, cause) == (Verdict.INVALID, Cause.NO_EVIDENCE)
    assert graded(lambda trace: ("skipped", "no"), CHANGED)[1][0] is Verdict.PASSED


def raises(trace):
    raise KeyError("no such thing")


def leaves(trace):
    raise SystemExit(3)


def gives_up(trace):
    raise asyncio.CancelledError("its own")


class Odd(str):
    def __eq__(self, other):
        raise RuntimeError("odd")

    __hash__ = str.__hash__


async def later(trace):
    return "passed", "later"


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (raises, "checks.rent:fair raised KeyError: 'no such thing' (test_checks_python.py:"),
        (leaves, "checks.rent:fair raised SystemExit: 3 (test_"),
        (gives_up, "checks.rent:fair raised CancelledError: its own (test_"),
        (lambda trace: (Odd("passed"), "so"), "checks.rent:fair raised RuntimeError: odd (test_"),
        (later, "checks.rent:fair is an async function; write it as a plain one"),
        (lambda trace: True, "checks.rent:fair answered bool; it must answer"),
        (lambda trace: None, "checks.rent:fair answered NoneType; it must answer"),
        (lambda trace: ("fine", "so"), "checks.rent:fair answered 'fine'; it must answer"),
        (lambda trace: ("failed", " "), "checks.rent:fair answered failed without a reason"),
        (lambda trace: ("failed", "so", 7), "checks.rent:fair names call 7, which is not there"),
        (lambda: ("passed", "so"), "checks.rent:fair raised TypeError: "),
    ],
)
def test_a_function_that_breaks_makes_the_trial_invalid_and_never_failed(function, says):
    finding, (verdict, cause, detail) = graded(function, CHANGED)

    assert finding.status is Status.SKIPPED
    assert finding.reason.startswith(says)
    assert (verdict, cause) == (Verdict.INVALID, Cause.INTERNAL)
    assert detail == f"python: {finding.reason}"


def test_what_failed_otherwise_stays_failed():
    assert graded(raises, NEVER)[1][0] is Verdict.FAILED


def test_a_broken_check_that_does_not_count_breaks_nothing():
    finding, (verdict, _, _) = graded(raises, CHANGED, severity="warning")

    assert finding.cause is Cause.INTERNAL
    assert verdict is Verdict.PASSED


def test_graded_where_the_function_is_not_at_hand_the_trial_is_no_evidence():
    finding, (verdict, cause, _) = graded(None, CHANGED)

    assert finding.reason == "checks.rent:fair is not at hand, so nobody knows what it would find"
    assert (verdict, cause) == (Verdict.INVALID, Cause.NO_EVIDENCE)


def test_what_a_function_does_to_its_trace_and_arguments_reaches_nobody():
    def spoils(trace, names):
        trace.calls[0].arguments["bike"] = "b-2"
        trace.calls[0].answer.content[0]["text"] = "no"
        names.append("x")
        return "passed", f"{len(names)} names"

    own = {"check": "python", "function": NAME, "arguments": {"names": ["a"]}}
    case = bike_shop.case(checks=[own, own])
    recorded = trace(*EVENTS)
    before = recorded.model_dump_json()

    findings = checks.grade(case, recorded, Background(functions={NAME: spoils}))

    assert [f.reason for f in findings] == ["2 names", "2 names"]
    assert recorded.model_dump_json() == before


def test_under_a_turn_a_function_sees_that_turn_alone():
    seen = []

    def look(trace):
        seen.append(([e.event for e in trace.events], trace.changes))
        return "passed", "seen"

    graded(look, CHANGED, turns=True)
    graded(look)

    assert seen == [
        (["said", "called", "replied"], None),
        (["said", "called", "replied", "said", "replied"], (created("bike", "b-9"),)),
    ]
