"""`sequence`: strict, in order or in any order; calls that overlap in time form a set."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from tests.traces import called, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.documents import Check

READ: TypeAdapter[Check] = TypeAdapter(Check)


def answer(*events, **asked):
    check = READ.validate_python({"check": "sequence", **asked})
    found = checks.find(check, Scope(trace=trace(said(), *events)))
    return found.status.value, found.reason


def of(calls: str, **each):
    """Calls one after the other, a letter each."""
    return [called(tool, at_ms=10 * n, took_ms=5, **each) for n, tool in enumerate(calls)]


def test_in_order_other_calls_may_lie_anywhere():
    assert answer(*of("xayxbz"), calls=["a", "b"]) == (
        "passed",
        "called in order: a (call 2, turn 1), b (call 5, turn 1)",
    )
    assert answer(*of("xbyxaz"), calls=["a", "b"]) == (
        "failed",
        "b was called too early (call 2, turn 1), before a (call 5, turn 1); expected a → b",
    )
    assert answer(*of("ab"), calls=["a", "b", "c"]) == (
        "failed",
        "c was never called; expected a → b → c",
    )


def test_strict_there_are_no_other_calls_not_even_in_vain():
    strict = {"calls": ["a", "b"], "order": "strict"}

    assert answer(*of("ab"), **strict)[0] == "passed"
    assert answer(*of("axb"), **strict) == (
        "failed",
        "3 calls were made, x among them (call 2, turn 1); expected exactly a → b and no other calls",
    )
    assert answer(*of("a"), called("a", error=True), *of("b"), **strict)[0] == "failed"
    assert answer(*of("ba"), **strict)[0] == "failed"
    assert answer(*of("aab"), **strict)[0] == "failed"


def test_in_any_order_each_step_needs_a_call_of_its_own():
    free = {"order": "any_order"}

    assert answer(*of("bxa"), calls=["a", "b"], **free) == (
        "passed",
        "called in any order: a (call 3, turn 1), b (call 1, turn 1)",
    )
    assert answer(*of("ba"), calls=["a", "a", "b"], **free) == (
        "failed",
        "a was called 1 time, too few for 2 steps; expected a, a, b",
    )


def test_a_call_in_vain_is_no_step():
    assert answer(called("a", error=True), *of("b"), calls=["a", "b"]) == (
        "failed",
        "a was called in vain only, answered with an error the last time (call 1, turn 1); "
        "expected a → b",
    )
    assert answer(called("a", refused="not yours"), *of("b"), calls=["a", "b"])[1].startswith(
        "a was called in vain only, beyond the role's rights the last time"
    )


def test_steps_may_ask_for_arguments_and_for_any_of_several_calls():
    steps = [
        {"any_of": ["find", {"tool": "list", "arguments": {"of": "orders"}}]},
        {"tool": "pay", "arguments": {"amount": {"lte": 50}}},
    ]

    assert answer(called("list", of="orders"), called("pay", amount=40), calls=steps)[0] == "passed"
    assert answer(called("list", of="cats"), called("pay", amount=40), calls=steps) == (
        "failed",
        'find or list with of equals "orders" was called with of "cats" at the nearest '
        '(call 1, turn 1); expected find or list with of equals "orders" → pay with amount lte 50',
    )
    assert answer(called("find"), called("pay", amount=60), calls=steps)[1].startswith(
        "pay with amount lte 50 was called with amount 60 at the nearest (call 2, turn 1)"
    )


def test_of_calls_that_overlap_neither_is_before_the_other():
    together = [
        called("b", at_ms=0, took_ms=50),
        called("a", at_ms=10, took_ms=10),
        called("c", at_ms=60, took_ms=10),
    ]
    after_each_other = [
        called("b", at_ms=0, took_ms=10),
        called("a", at_ms=10, took_ms=10),
        called("c", at_ms=60, took_ms=10),
    ]

    for order in ("in_order", "strict"):
        for calls in (["a", "b", "c"], ["b", "a", "c"]):
            assert answer(*together, calls=calls, order=order)[0] == "passed"
        assert answer(*together, calls=["a", "c", "b"], order=order)[0] == "failed"
        assert answer(*after_each_other, calls=["a", "b", "c"], order=order)[0] == "failed"


def test_a_long_call_can_stand_where_a_short_one_of_the_same_tool_cannot():
    calls = [
        called("a", at_ms=0, took_ms=100),
        called("a", at_ms=5, took_ms=5),
        called("z", at_ms=50, took_ms=5),
    ]

    assert answer(*calls, calls=["a", "z", "a"])[0] == "passed"
    assert answer(*calls, calls=["z", "a", "a"])[0] == "failed"


def test_many_overlapping_calls_do_not_hold_the_check_up():
    calls = [called("a", at_ms=n, took_ms=1000) for n in range(60)]
    last = called("z", at_ms=5000, took_ms=1)

    status, _ = answer(*calls, last, calls=["a"] * 30 + ["z"])
    assert status == "passed"
    status, reason = answer(*calls, last, calls=["z", *["a"] * 30])
    assert status in ("failed", "skipped"), reason


def _possible(calls, wanted, *, strict):
    """Whether some order in which the calls may have been made holds the tools as asked."""
    for order in permutations(range(len(calls))):
        in_time = all(
            not (b < a and calls[b]["at_ms"] + calls[b]["took_ms"] <= calls[a]["at_ms"])
            for i, a in enumerate(order)
            for b in order[i + 1 :]
        )
        tools = [calls[at]["tool"] for at in order]
        if in_time and (tools == wanted if strict else _holds(wanted, tools)):
            return True
    return False


def _holds(wanted, tools):
    rest = iter(tools)
    return all(tool in rest for tool in wanted)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6), st.integers(0, 6)), max_size=5),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
    st.booleans(),
)
def test_the_order_is_possible_exactly_when_trying_all_orders_finds_one(made, wanted, strict):
    made = sorted(made, key=lambda one: one[1])
    calls = [called(tool, at_ms=at, took_ms=took) for tool, at, took in made]

    status, _ = answer(*calls, calls=wanted, order="strict" if strict else "in_order")

    assert (status == "passed") is _possible(calls, wanted, strict=strict)
