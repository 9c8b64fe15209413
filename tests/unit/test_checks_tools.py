"""The checks of tool calls, one table per kind: a check, a trace, and the whole answer."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter
from tests.traces import called, replied, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.documents import Check

READ: TypeAdapter[Check] = TypeAdapter(Check)


def answer(check, *events, turn=None, **more):
    """Status, reason, turn and call of what the check finds."""
    found = checks.find(READ.validate_python(check), Scope(trace=trace(*events, **more), turn=turn))
    return found.status.value, found.reason, found.turn, found.call


REFUND = {"check": "tool_called", "tool": "issue_refund"}
AT_MOST_50 = {**REFUND, "arguments": {"amount": {"lte": 50}}}


@pytest.mark.parametrize(
    ("check", "events", "expected"),
    [
        (
            REFUND,
            [called("find_order"), called("issue_refund", amount=75), called("issue_refund")],
            ("passed", "issue_refund was called (call 2, turn 1)", 1, 2),
        ),
        (
            {**REFUND, "tool": "shop/issue_refund"},
            [called("issue_refund"), called("issue_refund", server="bank")],
            ("passed", "shop/issue_refund was called (call 1, turn 1)", 1, 1),
        ),
        (
            {**REFUND, "tool": "bank/issue_refund"},
            [called("issue_refund")],
            ("failed", "bank/issue_refund was never called (1 call in all)", None, None),
        ),
        (
            AT_MOST_50,
            [said(), called("a"), called("b"), called("issue_refund", amount=75)],
            (
                "failed",
                "issue_refund was called with amount 75; expected amount lte 50 (call 3, turn 1)",
                1,
                3,
            ),
        ),
        (
            {**REFUND, "arguments": {"amount": {"gte": 1, "lte": 50}, "order": "o-1"}},
            [
                called("issue_refund", amount=75, order="o-2"),
                said(),
                called("issue_refund", order="o-1"),
            ],
            (
                "failed",
                "issue_refund was called 2 times, the nearest with no amount; "
                "expected amount gte 1 and lte 50 (call 2, turn 2)",
                2,
                2,
            ),
        ),
        (
            REFUND,
            [called("issue_refund", refused="support may not")],
            (
                "failed",
                "issue_refund was called in vain only: 1 attempt, beyond the role's rights (call 1, turn 1)",
                1,
                1,
            ),
        ),
        (
            REFUND,
            [called("issue_refund", refused="no"), called("issue_refund", error=True)],
            (
                "failed",
                "issue_refund was called in vain only: 2 attempts, "
                "answered with an error the last time (call 2, turn 1)",
                1,
                2,
            ),
        ),
        (
            REFUND,
            [called("issue_refund", error=True)],
            (
                "failed",
                "issue_refund was called in vain only: "
                "1 attempt, answered with an error (call 1, turn 1)",
                1,
                1,
            ),
        ),
        (
            {**REFUND, "attempted": True},
            [called("issue_refund", error=True)],
            ("passed", "issue_refund was called (call 1, turn 1)", 1, 1),
        ),
        (
            {**AT_MOST_50, "times": 1},
            [called("issue_refund", amount=20), called("issue_refund", amount=30)],
            (
                "failed",
                "issue_refund with amount lte 50 was called 2 times "
                "(call 1, turn 1; call 2, turn 1); expected times equals 1",
                1,
                2,
            ),
        ),
        (
            {**REFUND, "times": {"lte": 1}},
            [called("find_order")],
            ("passed", "issue_refund was called 0 times", None, None),
        ),
    ],
)
def test_tool_called(check, events, expected):
    events = events if events[0]["event"] == "said" else [said(), *events]

    assert answer(check, *events) == expected


BANNED = {"check": "tool_not_called", "tool": "export"}


@pytest.mark.parametrize(
    ("check", "events", "expected"),
    [
        (
            BANNED,
            [called("find_order")],
            ("passed", "export was never called (1 call in all)", None, None),
        ),
        (
            BANNED,
            [called("find_order"), called("export", what="all")],
            (
                "failed",
                'export was called with {"what": "all"} (call 2, turn 1); it must not be called',
                1,
                2,
            ),
        ),
        (
            BANNED,
            [called("export", refused="support may not"), called("export", error=True)],
            (
                "failed",
                "export was called 2 times, first with {}, beyond the role's rights (call 1, turn 1); "
                "it must not be called",
                1,
                1,
            ),
        ),
        (
            {**BANNED, "arguments": {"what": {"not_equals": "own"}}},
            [called("export", what="own")],
            ("passed", 'export was called 1 time, never with what not_equals "own"', 1, 1),
        ),
        (
            {**BANNED, "arguments": {"what": {"not_equals": "own"}}},
            [called("export", what="own"), called("export", error=True)],
            (
                "failed",
                "export was called with {}, in vain (call 2, turn 1); "
                'it must not be called with what not_equals "own"',
                1,
                2,
            ),
        ),
    ],
)
def test_tool_not_called(check, events, expected):
    assert answer(check, said(), *events) == expected


ORDER = {"check": "tool_order", "tools": ["verify", "shop/find", "refund"]}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (
            [called("verify"), called("look"), called("find"), called("verify"), called("refund")],
            (
                "passed",
                "called in order: verify (call 1, turn 1), shop/find (call 3, turn 1), "
                "refund (call 5, turn 1)",
                1,
                5,
            ),
        ),
        (
            [called("verify"), called("find")],
            (
                "failed",
                "refund was never called; expected it after shop/find (call 2, turn 1), "
                "in the order verify → shop/find → refund",
                None,
                None,
            ),
        ),
        (
            [called("find"), called("refund")],
            (
                "failed",
                "verify was never called; expected it, in the order verify → shop/find → refund",
                None,
                None,
            ),
        ),
        (
            [called("find"), called("verify"), called("refund")],
            (
                "failed",
                "shop/find was called too early (call 1, turn 1), before verify (call 2, turn 1); "
                "expected the order verify → shop/find → refund",
                1,
                1,
            ),
        ),
        (
            [called("verify", error=True), called("find"), called("refund")],
            (
                "failed",
                "verify was called in vain only (the last time it was answered with an error, "
                "call 1, turn 1); expected the order verify → shop/find → refund",
                1,
                1,
            ),
        ),
        (
            [called("verify"), called("find", refused="no"), called("refund")],
            (
                "failed",
                "shop/find was called in vain only (the last time it was beyond the role's rights, "
                "call 2, turn 1); expected the order verify → shop/find → refund",
                1,
                2,
            ),
        ),
    ],
)
def test_tool_order(events, expected):
    assert answer(ORDER, said(), *events) == expected


def test_a_tool_that_must_come_twice_is_not_found_in_its_first_call():
    check = {"check": "tool_order", "tools": ["look", "write", "look"]}

    assert answer(check, said(), called("look"), called("write")) == (
        "failed",
        "look was not called again after write (call 2, turn 1); "
        "expected the order look → write → look",
        1,
        2,
    )


ARGUMENTS = {"check": "tool_arguments", "tool": "pay", "arguments": {"amount": {"lte": 50}}}
PAYMENTS = [called("pay", amount=10), called("pay", amount=99, error=True), called("pay", amount=7)]


@pytest.mark.parametrize(
    ("which", "events", "expected"),
    [
        (
            "every",
            PAYMENTS,
            (
                "failed",
                "pay was called with amount 99; expected amount lte 50 "
                "(call 2, turn 1; 1 of 3 calls falls short)",
                1,
                2,
            ),
        ),
        (
            "any",
            PAYMENTS,
            ("passed", "pay was called with amount lte 50 (call 1, turn 1, and 1 more)", 1, 1),
        ),
        ("first", PAYMENTS, ("passed", "pay was called with amount lte 50 (call 1, turn 1)", 1, 1)),
        ("last", PAYMENTS, ("passed", "pay was called with amount lte 50 (call 3, turn 1)", 1, 3)),
        (
            "last",
            PAYMENTS[:2],
            (
                "failed",
                "pay was last called with amount 99; expected amount lte 50 (call 2, turn 1)",
                1,
                2,
            ),
        ),
        (
            "any",
            [called("pay", amount=60), called("pay", amount="7")],
            (
                "failed",
                "pay was called with amount 60; expected amount lte 50 "
                "(call 1, turn 1; the nearest of 2 calls)",
                1,
                1,
            ),
        ),
        (
            "any",
            [called("pay"), called("pay", amount=60)],
            (
                "failed",
                "pay was called with no amount; expected amount lte 50 "
                "(call 1, turn 1; the nearest of 2 calls)",
                1,
                1,
            ),
        ),
        (
            "any",
            [called("pay", amount=60)],
            (
                "failed",
                "pay was called with amount 60; expected amount lte 50 (call 1, turn 1)",
                1,
                1,
            ),
        ),
        (
            "every",
            [called("look")],
            ("skipped", "pay was never called, so there are no arguments to look at", None, None),
        ),
    ],
)
def test_tool_arguments(which, events, expected):
    assert answer({**ARGUMENTS, "which": which}, said(), *events) == expected


@pytest.mark.parametrize(("which", "call"), [("any", 2), ("every", 1)])
def test_the_nearest_of_several_choices_is_shown_and_else_the_first_wrong_call(which, call):
    check = {
        "check": "tool_arguments",
        "tool": "pay",
        "which": which,
        "arguments": {"amount": {"lte": 50}, "to": "me"},
    }

    assert answer(check, said(), called("pay"), called("pay", to="me"))[3] == call


def test_the_last_of_several_calls_that_came_too_early_or_in_vain_is_named():
    early = [called("find"), called("find"), called("verify"), called("refund")]
    in_vain = [called("verify", error=True), called("verify", refused="no")]

    assert answer(ORDER, said(), *early)[3] == 2
    assert answer(ORDER, said(), *in_vain)[3] == 2


def test_a_refused_call_is_a_violation_even_though_nothing_changed():
    events = [said(), called("look"), called("erase", refused="support may not erase")]

    assert answer({"check": "no_violation"}, *events) == (
        "failed",
        "1 call beyond the role's rights: erase: support may not erase (call 2, turn 1)",
        1,
        2,
    )


def test_calls_within_the_rights_are_no_violation_even_when_they_fail():
    assert answer({"check": "no_violation"}, said(), called("look", error=True)) == (
        "passed",
        "1 call, none beyond the role's rights",
        None,
        None,
    )


def test_many_violations_are_counted_and_only_some_are_told():
    events = [called("erase", refused="no") for _ in range(5)]

    _, reason, _, call = answer({"check": "no_violation"}, said(), *events)

    assert call == 1
    assert "more" not in answer({"check": "no_violation"}, said(), *events[:3])[1]
    assert reason.startswith("5 calls beyond the role's rights: ")
    assert reason.endswith("erase: no (call 3, turn 1); and 2 more")


def test_a_check_of_a_turn_sees_the_calls_of_that_turn_alone():
    events = [said(), called("a"), replied(), said(), called("b"), replied()]
    not_b = {"check": "tool_not_called", "tool": "b"}

    assert answer(not_b, *events, turn=1)[0] == "passed"
    assert answer(not_b, *events, turn=2)[0] == "failed"
    assert answer({"check": "tool_called", "tool": "a"}, *events, turn=2)[0] == "failed"


@pytest.mark.parametrize(
    "check",
    [REFUND, BANNED, ORDER, ARGUMENTS, {"check": "no_violation"},
     {"check": "reply_contains", "text": "x"}, {"check": "reply_not_contains", "text": "x"}],
    ids=lambda check: check["check"],
)  # fmt: skip
def test_a_turn_that_never_took_place_is_neither_passed_nor_failed(check):
    assert answer(check, said(), replied(), turn=2) == (
        "skipped",
        "nothing was recorded of turn 2",
        None,
        None,
    )
