"""Whatever an agent sends, reading it by a declared form comes to a reply or to an ArmError, and to nothing else."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.arms.shaped import Events, Heard, heard
from seatrial.documents.answer_shapes import AnswerShape, EventRule
from seatrial.errors import ArmError

PARTS = {"text": "$..text", "session": "$.a", "model": "$.b", "error": "$.e"}
USAGE = {key: f"$..{key}" for key in ("input_tokens", "output_tokens", "cost")}
SHAPE = AnswerShape.model_validate({**PARTS, "usage": USAGE})
RULES = [
    EventRule.model_validate(rule)
    for rule in (
        {"add": "$..text", "session": "$.a", "model": "$.b", "error": "$.e", "usage": USAGE},
        {"where": {"$.a": 1, "$..text": "x"}, "text": "$.b"},
        {"event": "a", "end": True},
        {"data": "[DONE]", "end": True},
    )
]
KEYS = st.sampled_from(["text", "a", "b", "e", *USAGE])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_any_answer_comes_to_a_reply_or_to_an_error_of_the_agent(value: Any):
    assert comes_to_something(lambda: heard(value, SHAPE, who="the agent"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["message", "a"]), JSON.map(json.dumps) | st.text())))
def test_any_events_come_to_a_reply_or_to_an_error_of_the_agent(told: list[tuple[str, str]]):
    events = Events(RULES, who="the agent")

    def read() -> Heard:
        for name, data in told:
            events.take(data, name)
        return events.heard()

    assert comes_to_something(read)


def comes_to_something(read: Callable[[], Heard]) -> bool:
    try:
        reply = read().reply
    except ArmError as error:
        return error.cause == "agent_unreachable" and bool(error.message)
    return isinstance(reply.text.encode(), bytes)  # it can be written


@pytest.mark.parametrize("number", ["1" + "0" * 400, "-1", "1e999", "NaN", "1e308"])
def test_numbers_that_cannot_be_added_up_are_told(number: str):
    value = json.loads(f'{{"text": "x", "more": [{{"cost": {number}}}, {{"cost": 0.5}}]}}')

    with pytest.raises(ArmError, match=r"under `usage\.cost`"):
        heard(value, SHAPE, who="the agent")
