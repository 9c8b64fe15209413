"""From a case and a trace to findings, and from findings to a verdict."""

from __future__ import annotations

import pytest
from tests import bike_shop
from tests.traces import called, changed, replied, said, trace

from seatrial import checks
from seatrial.documents import Prices
from seatrial.verdicts import Cause, Finding, Verdict

LENT = changed("bike", "b-1", "status", "free", "rented")


def case(*of_the_case, turns=None, **more):
    instruction = {"turns": turns, "task": None} if turns else {}
    return bike_shop.case("lend", checks=list(of_the_case), **instruction, **more)


def outcome(case, trace):
    findings = checks.grade(case, trace)
    return checks.verdict(findings, trace)


def test_findings_name_path_severity_turn_and_call_and_stand_in_the_order_of_the_document():
    lend = case(
        {"check": "no_violation", "severity": "warning"},
        {"check": "end_state", "changed": [{"type": "bike", "key": "b-1",
                                            "properties": {"status": "rented"}}]},
        turns=[
            {"say": "Is b-1 free?", "checks": [{"check": "tool_not_called", "tool": "rent"}]},
            {"say": "Lend it.", "checks": [{"check": "tool_called", "tool": "rent"}]},
        ],
    )  # fmt: skip
    events = [said(), called("get_bike"), replied(), said(), called("rent"), replied()]

    findings = checks.grade(lend, trace(*events, changes=[LENT]))

    assert [(f.path, f.check, f.severity, f.status.value, f.turn, f.call) for f in findings] == [
        ("turns[0].checks[0]", "tool_not_called", "critical", "passed", 1, None),
        ("turns[1].checks[0]", "tool_called", "critical", "passed", 2, 2),
        ("checks[0]", "no_violation", "warning", "passed", None, None),
        ("checks[1]", "end_state", "critical", "passed", None, None),
    ]


def test_a_secret_that_nobody_could_look_for_makes_the_trial_invalid_whatever_else_passed():
    lend = case({"check": "not_disclosed"}, CALLED)

    assert outcome(lend, trace(said(), called("rent"), replied("Done."))) == (
        Verdict.INVALID,
        Cause.NO_EVIDENCE,
        "not_disclosed: what is locked in this world is not known here",
    )


def test_a_failed_prohibition_is_a_forbidden_action_only_where_it_is_critical():
    prohibitions = [
        {"check": kind, "severity": severity, **more}
        for severity in ("critical", "warning")
        for kind, more in (("tool_not_called", {"tool": "scrap"}), ("no_violation", {}))
    ]
    events = [said(), called("scrap", refused="clerk may not scrap"), replied()]

    findings = checks.grade(case(*prohibitions), trace(*events))

    assert [(f.status.value, f.forbidden) for f in findings] == [
        ("failed", True),
        ("failed", True),
        ("failed", False),
        ("failed", False),
    ]


def test_what_failed_without_being_a_prohibition_is_not_forbidden():
    findings = checks.grade(
        case({"check": "tool_called", "tool": "rent"}), trace(said(), replied())
    )

    assert [(f.status.value, f.forbidden) for f in findings] == [("failed", False)]


CALLED = {"check": "tool_called", "tool": "rent"}
REPLY = {"check": "reply_contains", "text": "rented"}


@pytest.mark.parametrize(
    ("asked", "events", "expected"),
    [
        ([CALLED, REPLY], [called("rent"), replied("It is rented.")], (Verdict.PASSED, None, "")),
        (
            [CALLED, REPLY],
            [replied("It is rented.")],
            (Verdict.FAILED, None, "tool_called: rent was never called (0 calls in all)"),
        ),
        (
            [CALLED, REPLY],
            [replied("No.")],
            (
                Verdict.FAILED,
                None,
                "tool_called: rent was never called (0 calls in all) (and 1 more)",
            ),
        ),
        (
            [CALLED, {**REPLY, "severity": "warning"}],
            [called("rent"), replied("No.")],
            (Verdict.PASSED, None, ""),
        ),
        (
            [REPLY],
            [called("rent")],
            (
                Verdict.INVALID,
                Cause.NO_EVIDENCE,
                "every critical check was skipped: reply_contains: the agent gave no reply, "
                "so nothing can be looked for in it",
            ),
        ),
        ([CALLED, REPLY], [called("rent")], (Verdict.PASSED, None, "")),
        (
            [{**CALLED, "severity": "info"}, REPLY],
            [called("rent")],
            (
                Verdict.INVALID,
                Cause.NO_EVIDENCE,
                "every critical check was skipped: reply_contains: the agent gave no reply, "
                "so nothing can be looked for in it",
            ),
        ),
    ],
)
def test_verdict(asked, events, expected):
    assert outcome(case(*asked), trace(said(), *events)) == expected


@pytest.mark.parametrize(
    ("ended", "limits", "path", "reason"),
    [
        (
            "call_limit",
            {"calls": 1},
            "limits.calls",
            "the trial ended at its limit of 1 tool calls",
        ),
        ("call_limit", {}, "limits.calls", "the trial ended at its limit of tool calls"),
        ("step_limit", {}, "limits", "the trial ended at its limit of steps"),
    ],
)
def test_a_trial_that_ended_at_a_limit_failed_whatever_else_it_did(ended, limits, path, reason):
    lend = case(CALLED, limits=limits)
    recorded = trace(said(), called("get_bike"), called("rent"), replied(), ended=ended)

    findings = checks.grade(lend, recorded)

    assert findings[-1].model_dump(exclude_defaults=True) == {
        "check": "limit",
        "path": path,
        "status": "failed",
        "reason": reason,
        "turn": 1,
        "call": 2,
    }
    assert checks.verdict(findings, recorded)[0] is Verdict.FAILED


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"input_tokens": 6, "output_tokens": 4}, (Verdict.PASSED, None)),
        ({"input_tokens": 6, "output_tokens": 5}, (Verdict.FAILED, None)),
        (None, (Verdict.INVALID, Cause.NO_EVIDENCE)),
    ],
)
def test_a_limit_of_tokens_is_held_against_what_the_agent_reports(usage, told):
    rents = case({"check": "tool_called", "tool": "rent"}, limits={"tokens": 10})
    recorded = trace(said(), called("rent"), {"event": "replied", "text": "Done.", "usage": usage})

    findings = checks.grade(rents, recorded)

    assert checks.verdict(findings, recorded)[:2] == told


@pytest.mark.parametrize(
    ("usage", "currency", "told", "reason"),
    [
        ({"input_tokens": 600, "output_tokens": 200}, "EUR", (Verdict.PASSED, None), None),
        (
            {"input_tokens": 600, "output_tokens": 201},
            "EUR",
            (Verdict.FAILED, None),
            "the agent took 0.0010 EUR, and may take 0.0010 EUR",
        ),
        (
            None,
            "EUR",
            (Verdict.INVALID, Cause.NO_EVIDENCE),
            "the agent reports no tokens, and may take 0.0010 EUR",
        ),
        (
            {"input_tokens": 6, "output_tokens": 2},
            "USD",
            (Verdict.INVALID, Cause.NO_EVIDENCE),
            "the arm has no prices in EUR, and the agent may take 0.0010 EUR",
        ),
    ],
)
def test_a_limit_of_cost_is_held_against_what_the_agent_reports_by_the_prices_of_its_arm(
    usage, currency, told, reason
):
    rents = case({"check": "tool_called", "tool": "rent"}, limits={"cost": "0.001 EUR"})
    recorded = trace(said(), called("rent"), {"event": "replied", "text": "Done.", "usage": usage})
    background = checks.Background(prices=Prices(input=1.0, output=2.0, currency=currency))

    findings = checks.grade(rents, recorded, background)

    assert checks.verdict(findings, recorded)[:2] == told
    assert next((f.reason for f in findings if f.path == "limits.cost"), None) == reason


def test_a_trace_that_broke_off_is_invalid_and_still_shows_what_was_forbidden():
    events = [said(), called("scrap")]
    broken = trace(*events, ended="broken", changes=None)

    findings = checks.grade(case({"check": "tool_not_called", "tool": "scrap"}), broken)

    assert [f.forbidden for f in findings] == [True]
    assert checks.verdict(findings, broken)[:2] == (Verdict.INVALID, Cause.INTERNAL)


def test_a_trace_without_any_event_proves_nothing():
    empty = trace(changes=None)

    assert outcome(
        case({"check": "tool_not_called", "tool": "scrap"}, {"check": "end_state"}), empty
    )[:2] == (Verdict.INVALID, Cause.NO_EVIDENCE)


def test_a_state_that_nobody_captured_is_no_pass_whatever_else_passed():
    checked = (
        {"check": "tool_not_called", "tool": "scrap"},
        {"check": "tool_called", "tool": "rent"},
    )
    recorded = trace(said(), called("rent"), replied(), changes=None)
    created_there = {"check": "object_exists", "type": "bike", "created_during_trial": True}
    invalid = (Verdict.INVALID, Cause.NO_EVIDENCE)

    assert outcome(case(*checked), recorded)[0] is Verdict.PASSED
    for of_the_state in (
        {"check": "end_state"},
        created_there,
        created_there | {"check": "object_absent"},
    ):
        assert outcome(case(*checked, of_the_state), recorded)[:2] == invalid
        softer = of_the_state | {"severity": "warning"}
        assert outcome(case(*checked, softer), recorded)[0] is Verdict.PASSED
        failing = {"check": "tool_not_called", "tool": "rent"}
        assert outcome(case(failing, of_the_state), recorded)[0] is Verdict.FAILED


def test_what_an_agent_writes_cannot_blow_up_or_break_a_reason():
    noise = "\x1b[31m" + "x" * 100_000 + "\u202e\n"
    findings = checks.grade(
        case({"check": "no_violation"}),
        trace(said(), called(noise, refused="unknown tool"), replied()),
    )

    assert findings[0].reason.isprintable()
    assert len(findings[0].reason) < 1300


def test_findings_survive_the_journal():
    recorded = trace(said(), called("rent"), replied(), changes=[LENT])
    findings = checks.grade(case({"check": "end_state"}, CALLED), recorded)

    assert tuple(Finding.model_validate_json(f.model_dump_json()) for f in findings) == findings
