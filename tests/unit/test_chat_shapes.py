"""Answers in the shapes that endpoints give them, whole and in pieces."""

from typing import Any

import pytest

from seatrial.chat import Unanswered, Wish
from seatrial.chat.completions import completion_of
from seatrial.chat.pace import retry_after
from seatrial.chat.pieces import Pieces
from seatrial.trace import Usage


def put_together(*deltas: dict[str, Any], **last: Any) -> Any:
    pieces = Pieces()
    for delta in deltas:
        pieces.add({"model": "m-1", "choices": [{"index": 0, "delta": delta}]})
    pieces.add({"choices": [{"delta": {}, "finish_reason": "stop"}], **last})
    return completion_of(pieces.whole(), "it")


def call(index: int | None = None, id: str | None = None, **function: Any) -> dict[str, Any]:
    named = {"index": index, "id": id}
    return {**{k: v for k, v in named.items() if v is not None}, "function": function}


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        pytest.param(
            [
                [call(0, "a", name="rent", arguments="")],
                [call(0, arguments='{"bi')],
                [call(1, "b", name="find", arguments="{}")],
                [call(0, arguments='ke": 1}')],
            ],
            [("rent", '{"bike": 1}'), ("find", "{}")],
            id="by index, as OpenAI and vLLM",
        ),
        pytest.param(
            [
                [call(0, "a", name="rent", arguments="{}")],
                [call(0, "b", name="find", arguments="{}")],
            ],
            [("rent", "{}"), ("find", "{}")],
            id="all of index 0, told apart by id, as Ollama",
        ),
        pytest.param(
            [
                [
                    call(0, "x", name="rent", arguments="{}"),
                    call(1, "x", name="find", arguments="{}"),
                ]
            ],
            [("rent", "{}"), ("find", "{}")],
            id="one id twice",
        ),
        pytest.param(
            [[call(None, name="rent", arguments={"bike": 1})], [call(None, name="find")]],
            [("rent", '{"bike": 1}'), ("find", "")],
            id="no index, no id, arguments as an object",
        ),
        pytest.param(
            [
                [call(None, "a", name="rent", arguments='{"b')],
                [call(None, "a", name="rent", arguments='": 1}')],
            ],
            [("rent", '{"b": 1}')],
            id="name and id repeated with every piece",
        ),
        pytest.param(
            [[call(0, "", name="rent", arguments="{")], [call(0, "", name="rent", arguments="}")]],
            [("rent", "{}")],
            id="empty ids",
        ),
    ],
)
def test_calls_are_put_together_from_their_pieces(
    pieces: list[list[dict[str, Any]]], calls: list[tuple[str, str]]
):
    found = put_together(*({"tool_calls": piece} for piece in pieces))

    assert found.calls == tuple(Wish(*one) for one in calls)


def test_pieces_without_a_choice_are_passed_over_but_for_what_they_count():
    pieces = Pieces()
    pieces.add({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]})
    pieces.add({"choices": [{"delta": {"content": "Hel"}}]})
    pieces.add({"choices": [{"delta": {"content": "lo", "reasoning": "Hm"}}]})
    pieces.add({"choices": [{"delta": {}, "finish_reason": "stop"}], "model": "m-2"})
    pieces.add({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})

    found = completion_of(pieces.whole(), "it")

    assert (found.text, found.reasoning, found.model, found.finish) == (
        "Hello",
        "Hm",
        "m-2",
        "stop",
    )
    assert found.usage == Usage(input_tokens=3, output_tokens=2)


def whole(message: Any, **more: Any) -> Any:
    return completion_of({"choices": [{"message": message}], **more}, "it")


def test_text_may_come_in_parts_and_a_refusal_is_a_reply():
    parts = [{"type": "text", "text": "Hel"}, {"type": "image"}, {"type": "text", "text": "lo"}]

    assert whole({"content": parts}).text == "Hello"
    assert whole({"content": None, "refusal": "I cannot."}).text == "I cannot."
    assert whole({"content": "\ud83d"}).text == "\ufffd"


@pytest.mark.parametrize(
    ("counted", "usage"),
    [
        (None, None),
        ({}, None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": "many", "completion_tokens": -4}, None),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 12},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(input_tokens=9, output_tokens=5, cached_input_tokens=9, reasoning_tokens=5),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
            Usage(input_tokens=9, output_tokens=2),
        ),
    ],
)
def test_tokens_are_read_as_far_as_they_can_be(counted: Any, usage: Usage | None):
    assert whole({"content": "x"}, usage=counted).usage == usage


@pytest.mark.parametrize(
    "value",
    [
        {"error": {"message": "overloaded"}},
        {"error": "overloaded"},
        {"choices": [{"message": {"tool_calls": {"name": "x"}}}]},
        {"choices": [{"message": {"tool_calls": [{"name": "x"}]}}]},
        {"choices": [{"message": {"tool_calls": [{"function": {}}] * 200}}]},
    ],
)
def test_what_cannot_be_read_is_no_answer(value: Any):
    with pytest.raises(Unanswered):
        completion_of(value, "it")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, 0.0),
    ],
)
def test_when_to_ask_again_is_read_from_the_headers(headers: dict[str, str], seconds: float | None):
    assert retry_after(headers) == seconds
