"""Two trajectories set side by side."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.report.alignment import Row, align, distance, first_divergence
from seatrial.report.steps import Step, trajectory
from seatrial.trace import Answer, Called, Event, Listed, Noted, Replied, Said, Trace


def test_trials_that_did_the_same_differ_nowhere():
    rows = _aligned(["said", "find", "pay", "replied"], ["said", "find", "pay", "replied"])

    assert [row.kind for row in rows] == ["same"] * 4
    assert first_divergence(rows) is None
    assert distance(rows) == 0


def test_step_that_was_left_out_stands_alone_and_the_rest_stays_aligned():
    rows = _aligned(["said", "find", "verify", "pay"], ["said", "find", "pay"])

    assert rows == (
        Row(0, 0, "same"),
        Row(1, 1, "same"),
        Row(2, None, "baseline_only"),
        Row(3, 2, "same"),
    )
    assert first_divergence(rows) == 2


def test_other_arguments_are_named_by_their_paths():
    old = {"order": "A", "lines": [{"sku": "X", "count": 1}], "note": None}
    new = {"order": "A", "lines": [{"sku": "X", "count": 2}], "reason": "late"}

    (row,) = _aligned([("pay", old)], [("pay", new)])

    assert row.kind == "arguments"
    assert row.paths == ("lines[0].count", "note", "reason")


def test_same_call_with_another_answer_is_told_apart_from_other_arguments():
    old, new = _call("find", answer="one"), _call("find", answer="two")

    assert align(_steps([old]), _steps([new])) == (Row(0, 0, "answer"),)


def test_refused_call_is_not_the_same_as_one_that_was_carried_out():
    old, new = _call("close"), _call("close").model_copy(update={"refused": "role support"})

    (row,) = align(_steps([old]), _steps([new]))

    assert row.kind == "answer"


def test_calls_of_the_same_tool_pair_by_likeness_and_not_by_order():
    old = [("pay", {"order": "A", "amount": 1})]
    new = [("pay", {"order": "Z", "amount": 9}), ("pay", {"order": "A", "amount": 1})]

    rows = _aligned(old, new)

    assert rows == (Row(None, 0, "candidate_only"), Row(0, 1, "same"))


def test_calls_of_different_tools_never_pair():
    rows = _aligned(["find"], ["close"])

    assert [row.kind for row in rows] == ["baseline_only", "candidate_only"]


def test_other_wording_is_a_divergence_only_when_nothing_else_is():
    worded = _aligned([("replied", "Yes.")], [("replied", "Sure.")])
    both = _aligned([("replied", "Yes."), "t2", "pay"], [("replied", "Sure."), "t2", "close"])

    assert worded[0].kind == "wording"
    assert first_divergence(worded) == 0
    assert distance(worded) == 0
    assert both[first_divergence(both) or 0].kind == "baseline_only"


def test_turns_stay_apart():
    rows = _aligned(["said", "find", "t2", "said"], ["said", "t2", "said", "find"])

    assert [row.kind for row in rows] == ["same", "baseline_only", "same", "candidate_only"]


def test_token_and_clock_of_a_trial_are_no_difference():
    old = _call("pay", {"note": "ref r-1 on 2026-03-02"}, answer="paid r-1")
    new = _call("pay", {"note": "ref r-2 on 2026-04-09"}, answer="paid r-2")

    rows = align(
        _steps([old], run_token="r-1", now="2026-03-02T09:00:00+00:00"),
        _steps([new], run_token="r-2", now="2026-04-09T09:00:00+00:00"),
    )

    assert rows == (Row(0, 0, "same"),)


def test_what_the_harness_noted_belongs_to_the_step_before_it():
    noted = [Noted(turn=1, text=text) for text in ("early", "late", "later")]
    listed = Listed(turn=1, server="shop", tools=("find",))

    found = trajectory(
        _trace([noted[0], Said(turn=1, text="Hi"), listed, *noted[1:], _call("find")])
    )

    assert found.opening == ("early",)
    assert [step.remarks for step in found.steps] == [("late", "later"), ()]
    assert [step.anchor for step in found.steps] == ["t1", "c1"]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["find", "pay", "close"]),
        st.dictionaries(st.sampled_from("ab"), st.integers(0, 2), max_size=2),
    ),
    max_size=7,
)


@given(STEPS, STEPS)
def test_every_step_of_both_stands_in_one_row_in_its_order(old: Any, new: Any):
    rows = _aligned(old, new)

    assert [row.baseline for row in rows if row.baseline is not None] == list(range(len(old)))
    assert [row.candidate for row in rows if row.candidate is not None] == list(range(len(new)))


@given(STEPS)
def test_a_trajectory_beside_itself_is_the_same_throughout(steps: Any):
    assert {row.kind for row in _aligned(steps, steps)} <= {"same"}


@given(STEPS, STEPS)
def test_sides_can_be_exchanged(old: Any, new: Any):
    assert distance(_aligned(old, new)) == distance(_aligned(new, old))


@pytest.mark.parametrize("length", [400])
def test_two_long_trajectories_with_nothing_in_common_align(length: int):
    rows = _aligned([("find", {"n": n}) for n in range(length)], ["close"] * length)

    assert distance(rows) == 2 * length


def _aligned(old: Iterable[Any], new: Iterable[Any]) -> tuple[Row, ...]:
    return align(_steps(_events(old)), _steps(_events(new)))


def _events(given: Iterable[Any]) -> list[Event]:
    """`said`, `replied`, `t2` (turn 2 begins), names of tools, or pairs with a text or arguments."""
    events: list[Event] = []
    turn = 1
    for entry in given:
        name, more = entry if isinstance(entry, tuple) else (entry, None)
        if name == "t2":
            turn = 2
        elif name == "said":
            events.append(Said(turn=turn, text=more or "Hi"))
        elif name == "replied":
            events.append(Replied(turn=turn, text=more or "Done"))
        else:
            events.append(_call(name, more, number=len(events) + 1, turn=turn))
    return events


def _call(
    tool: str, arguments: Any = None, *, number: int = 1, turn: int = 1, answer: str = "ok"
) -> Called:
    return Called(
        turn=turn,
        number=number,
        server="shop",
        tool=tool,
        arguments=arguments or {},
        answer=Answer.of_text(answer),
        answered_by="world",
    )


def _steps(events: Iterable[Event], **more: Any) -> tuple[Step, ...]:
    return trajectory(_trace(events, **more)).steps


def _trace(events: Iterable[Event], **more: Any) -> Trace:
    return Trace(case="refund", arm="released", number=1, events=tuple(events), **more)
