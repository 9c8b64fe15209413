"""The `http` arm against services that have a form of their own: JSON, events, and every way in which they fail."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from tests.servers import openai_chat
from tests.servers.openai_chat import Says
from tests.turn_services import TurnService, talk, turn_service

from seatrial.errors import ArmError

SSE = "text/event-stream"
THREADS: dict[str, Any] = {
    "request": {
        "input": {"role": "user", "content": "{{text}}"},
        "thread": "{{session}}",
        "first": "This is turn {{turn}} of {{run}} (seed {{seed}}).",
        "tools": {"url": "{{mcp.url}}", "token": "{{mcp.token}}", "all": "{{mcp}}"},
        "tone": "{{settings.tone}}",
        "settings": "{{settings}}",
        "day": "{{today}}",
        "fixed": [1, None, True, "{{turn}}", "{{session}}"],
    },
    "response": {
        "text": "$.output[?@.type == 'message'].text",
        "session": "$.thread",
        "model": "$.meta.model",
        "usage": {"input_tokens": "$.meta.in", "output_tokens": "$.meta.out"},
        "error": "$.error",
    },
}
DELTAS = (
    {"where": {"$.type": "start"}, "session": "$.id", "usage": {"input_tokens": "$.in"}},
    {"event": "delta", "add": "$.delta.text"},
    {"where": {"$.type": "stop"}, "usage": {"output_tokens": "$.out"}, "model": "$.model"},
    {"event": "error", "error": "$.message"},
    {"data": "ping"},
    {"data": "[DONE]", "end": True},
)


def test_each_turn_is_sent_in_the_form_that_the_arm_declares_and_read_by_its_paths():
    def answer(body: Any) -> Any:
        texts = [
            {"type": "thought", "text": "Hm."},
            *({"type": "message", "text": t} for t in "ab"),
        ]
        meta = {"model": "m-1", "in": 7, "out": 2}
        return 200, {"output": texts, "thread": 7, "meta": meta, "error": None}

    with turn_service(answer) as it:
        first, second = talk(it, 'Say "{{seed}}".', "Bye.", **THREADS)

    assert (first.text, first.served_model) == ("ab", "m-1")
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.output_tokens) == (7, 2)
    assert second == first
    assert it.received[0] == {
        # What a person says is never looked at again.
        "input": {"role": "user", "content": 'Say "{{seed}}".'},
        # There is no `thread` yet.
        "first": "This is turn 1 of t1 (seed 11).",
        "tools": {
            "url": "http://127.0.0.1:1/c/x",
            "token": "t0ken",
            "all": {"mcpServers": {"bike-shop": {"url": "…"}}},
        },
        "tone": ["kind"],
        "settings": {"tone": ["kind"]},
        "day": "2026-04-01",
        "fixed": [1, None, True, 1],
    }
    assert it.received[1]["thread"] == 7
    assert it.received[1]["fixed"] == [1, None, True, 2, 7]


def test_earlier_messages_are_sent_again_to_a_service_that_keeps_nothing():
    with turn_service(lambda _: (200, {"text": "ok"})) as it:
        talk(it, "One.", "Two.", request={"messages": "{{messages}}", "before": "{{history}}"})

    assert it.received[1] == {
        "messages": [
            {"role": "user", "content": "One."},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": "Two."},
        ],
        "before": [{"role": "user", "text": "One."}, {"role": "assistant", "text": "ok"}],
    }


def test_a_conversation_is_begun_once_and_named_in_the_address_of_each_turn():
    def answer(body: Any) -> Any:
        return 200, {"id": "a/../b?c"} if "new" in body else {"text": "ok"}

    with turn_service(answer) as it:
        begin = {"url": f"{it.url}s/{{{{run}}}}", "body": {"new": "{{run}}"}, "session": "$.id"}
        talk(
            it, "One.", "Two.", path="/{{session}}?n={{seed}}", method="PUT", begin=begin,
            headers={"X-Thread": "no. {{settings.tone}} {KEY}"}, pass_env=["KEY"],
        )  # fmt: skip

    # What a service says becomes one name in the address and no more of it.
    turn = "PUT /turn/a%2F..%2Fb%3Fc?n=11"
    assert it.asked == ["POST /turns/t1", turn, turn]
    assert it.received[0] == {"new": "t1"}
    assert it.headers[1]["X-Thread"] == 'no. ["kind"] s3cret'


def test_a_conversation_called_like_a_folder_stays_a_name_in_the_address():
    with turn_service(lambda body: (200, {"text": "ok", "id": ".."})) as it:
        talk(it, "One.", path="/{{session}}/x", begin={"url": it.url, "session": "$.id"})

    assert it.asked == ["POST /turn", "POST /turn/%2E%2E/x"]


def test_a_cookie_is_kept_within_its_conversation():
    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = json.dumps({"text": handler.headers.get("Cookie", "none")}).encode()
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nSet-Cookie: thread=7; Path=/; HttpOnly\r\n")
        handler.wfile.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    with turn_service(answer, raw=True) as it:
        first, second = talk(it, "One.", "Two.")

    assert (first.text, second.text) == ("none", "thread=7")


def test_variables_of_the_environment_reach_the_body_by_name():
    with turn_service(lambda _: (200, {"text": "ok"})) as it:
        talk(it, "One.", request={"text": "{{text}}", "key": "{{env.KEY}}"}, pass_env=["KEY"])

    assert it.received[0] == {"text": "One.", "key": "s3cret"}


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"output": []}, "sent nothing under `$.output[?@.type == 'message'].text`"),
        ([1], "sent nothing under `$.output"),
        ("text", "sent nothing under `$.output"),
        ({"output": [{"type": "message", "text": None}]}, "sent nothing under `$.output"),
        ({"output": [{"type": "message", "text": 5}]}, "sent a number under `$.output"),
        ({"error": "no\x1b[31m credit"}, "says that it failed (`$.error`): no\\x1b[31m credit"),
        ({"error": {"code": 5}}, "says that it failed (`$.error`): an object"),
        (b"\xff\xfe{}", "answered with what is no JSON: "),
        (b'{"output": ' + b"[" * 100_000, "answered with what is no JSON: "),
        ([[0] * 50_001], "sent nothing under"),
    ],
)
def test_an_answer_that_does_not_fit_the_declared_form_is_told_with_its_path(
    answer: Any, says: str
):
    with turn_service(lambda _: (200, answer)) as it, pytest.raises(ArmError) as failed:
        talk(it, "Hello.", **THREADS)

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.message.startswith(f"the agent at {it.url} {says}"), failed.value.message


MESSAGE = {"output": [{"type": "message", "text": "Hello"}]}


@pytest.mark.parametrize(
    ("beside", "says"),
    [
        ({"thread": True}, "true or false under `$.thread`"),
        ({"thread": ""}, "0 characters under `$.thread`"),
        ({"thread": "x" * 1001}, "1,001 characters under `$.thread`"),
        ({"meta": {"model": 5}}, "a number under `$.meta.model`"),
        ({"meta": {"in": "many"}}, "text under `usage.input_tokens`"),
        ({"meta": {"out": -1}}, "-1 under `usage.output_tokens`"),
    ],
)
def test_what_is_told_beside_the_reply_must_fit_as_well(beside: Any, says: str):
    with (
        turn_service(lambda _: (200, MESSAGE | beside)) as it,
        pytest.raises(ArmError, match=r"sent ") as failed,
    ):
        talk(it, "Hello.", **THREADS)

    assert says in failed.value.message


def test_a_path_that_would_take_too_long_is_given_up():
    with (
        turn_service(lambda _: (200, [[[]] * 60_000])) as it,
        pytest.raises(ArmError, match="more than 50,000 parts to look through"),
    ):
        talk(it, "Hello.", response={"text": "$..text"})


def test_events_come_to_a_reply():
    stream = told(
        ("start", {"type": "start", "id": "th-1", "in": 7}),
        ("delta", {"delta": {"text": None}}),
        ("delta", {"delta": {"text": "Hel"}}),
        ("delta", {"delta": {"text": "lo\u2028 🚲"}}),
        ("delta", "ping"),
        ("unknown", {"delta": {"text": "not this"}}),
        (None, {"type": "stop", "out": 2, "model": "m-1"}),
        (None, "[DONE]"),
        ("delta", {"delta": {"text": "too late"}}),
    )
    with turn_service(lambda _: (200, b": hi\n\n" + stream, f"{SSE}; charset=utf-8")) as it:
        request = {"text": "{{text}}", "thread": "{{session}}"}
        first, second = talk(it, "One.", "Two.", request=request, events=DELTAS)

    assert (first.text, first.served_model, first.tokens) == ("Hello\u2028 🚲", "m-1", 9)
    assert second == first
    assert it.received[1]["thread"] == "th-1"
    assert it.headers[0]["Accept"] == "text/event-stream, application/json"


def test_an_arm_may_say_itself_what_it_accepts():
    with turn_service(lambda _: (200, told((None, {"text": "ok"})), SSE)) as it:
        talk(it, "One.", events=[{"add": "$.text"}], headers={"accept": SSE})

    assert [value for name, value in it.headers[0].items() if name.lower() == "accept"] == [SSE]


def test_the_whole_reply_in_a_last_event_takes_the_place_of_its_pieces():
    events = [
        {"where": {"$.kind": "piece", "$.final": False}, "add": "$.text"},
        {"where": {"$.final": True}, "text": "$.text", "end": True},
    ]
    lines = [
        {"kind": "piece", "final": False, "text": "Hel"},
        {"kind": "piece", "final": 0, "text": "not this"},
        {"kind": "piece", "final": True, "text": "Hello."},
    ]
    body = b"\n".join(json.dumps(line).encode() for line in lines)

    with turn_service(lambda _: (200, b"\n" + body, "application/x-ndjson")) as it:
        (reply,) = talk(it, "One.", events=events)

    assert reply.text == "Hello."


def test_the_stream_of_an_openai_compatible_endpoint_is_read_by_two_rules():
    usage = {"input_tokens": "$.usage.prompt_tokens", "output_tokens": "$.usage.completion_tokens"}
    request = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
    with openai_chat.serving(lambda _: Says(text="Hello, you.")) as served:
        (reply,) = talk(
            TurnService(f"{served.url}/chat/completions"),
            "Hi.",
            request={**request, "messages": "{{messages}}"},
            events=[
                {"add": "$.choices[0].delta.content", "model": "$.model", "usage": usage},
                {"data": "[DONE]", "end": True},
            ],
        )

    assert (reply.text, reply.served_model) == ("Hello, you.", openai_chat.MODEL)
    assert reply.tokens > 0


def test_a_service_that_may_stream_may_answer_with_json_as_well():
    with turn_service(lambda _: (200, {"answer": "ok"}, "application/json")) as it:
        (reply,) = talk(it, "One.", events=DELTAS, response={"text": "$.answer"})

    assert reply.text == "ok"


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        ([("delta", {"delta": {"text": "Hel"}})], "sent no event that says that the reply is complete"),
        ([(None, "[DONE]")], "sent no event that brings the reply"),
        ([("error", {"message": "no credit"})], "says that it failed (`$.message`): no credit"),
        ([("delta", {"delta": {"text": ["Hel"]}})], "sent a list under `$.delta.text`, where text"),
        ([("delta", "Hel")], "sent an event that is no JSON: Hel"),
        ([("delta", b"\xff\xfe")], "sent an event that is no JSON: "),
        ([("delta", "[" * 5000)], "sent an event that is no JSON: [["),
        ([("delta", {"delta": {"text": "x" * 1_000_001}})], "sent a reply of more than 1,000,000"),
        ([], "sent no event that says that the reply is complete"),
    ],
)  # fmt: skip
def test_events_that_come_to_no_reply_are_told(stream: Any, says: str):
    with (
        turn_service(lambda _: (200, told(*stream), SSE)) as it,
        pytest.raises(ArmError) as failed,
    ):
        talk(it, "Hello.", events=DELTAS)

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.message.startswith(f"the agent at {it.url} {says}"), failed.value.message


@pytest.mark.parametrize(
    ("media_type", "piece", "bound"),
    [
        (SSE, b"data: {}\n\n", "50,000 events"),
        (SSE, b": ping\n\n", "8,000,000 bytes"),
        (SSE, b"data: xxxxxxxx", "8,000,000 bytes"),
        ("application/x-ndjson", b"xxxxxxxx", "8,000,000 bytes"),
    ],
)
def test_a_stream_that_never_ends_is_left(media_type: str, piece: bytes, bound: str):
    def flood(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n".encode())
        block = piece * (65536 // len(piece))
        try:
            while True:
                handler.wfile.write(block)
        except OSError:
            return  # it has been left

    with (
        turn_service(flood, raw=True) as it,
        pytest.raises(ArmError, match=f"more than {bound}") as failed,
    ):
        talk(it, "Hello.", events=DELTAS)

    assert failed.value.cause == "agent_unreachable"
    assert not failed.value.passing


def test_a_stream_that_breaks_off_may_go_away_by_itself():
    def break_off(handler: BaseHTTPRequestHandler) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {SSE}\r\nContent-Length: 1000\r\n\r\n"
        handler.wfile.write(head.encode() + told(("delta", {"delta": {"text": "Hel"}})))
        handler.close_connection = True

    with (
        turn_service(break_off, raw=True) as it,
        pytest.raises(ArmError, match="no answer from the agent") as failed,
    ):
        talk(it, "Hello.", events=DELTAS)

    assert failed.value.passing


def test_events_that_nobody_declared_are_told():
    with (
        turn_service(lambda _: (200, b"data: 1\n\n", SSE)) as it,
        pytest.raises(ArmError, match="say in `events` of the arm what they mean"),
    ):
        talk(it, "Hello.")


@pytest.mark.parametrize(
    ("adapter", "says"),
    [
        (
            {"headers": {"X-Thread": "{{settings.umlaut}}"}, "settings": {"umlaut": "ä"}},
            "header `X-Thread` would hold 'ä'",
        ),
        ({"request": {"text": "{{text}}", "url": "{{mcp.url.crm}}"}}, "there are: bike-shop"),
        (
            {"request": {"text": "{{text}}", "key": "{{env.BYTES}}"}, "pass_env": ["BYTES"]},
            "the environment variable BYTES holds bytes that are no UTF-8",
        ),
    ],
)
def test_what_a_trial_cannot_put_in_is_told(adapter: Any, says: str):
    with turn_service(lambda _: (200, {"text": "ok"})) as it, pytest.raises(ArmError, match=says):
        talk(it, "Hello.", **adapter)


@pytest.mark.parametrize("path", ["", "/{{session}}"])
def test_half_a_letter_in_the_name_of_a_conversation_hinders_no_turn(path: str):
    shape = {"text": "$.text", "session": "$.id"}
    begin: dict[str, Any] = {"session": "$.id"}

    with turn_service(lambda _: (200, b'{"text": "Yes.", "id": "c\\ud800"}')) as it:
        first, second = talk(
            it, "a", "b", path=path, begin=begin | {"url": it.url},
            request={"t": "{{text}}", "id": "{{session}}"}, response=shape,
        )  # fmt: skip

    assert (first.text, second.text) == ("Yes.", "Yes.")
    assert it.received[-1] == {"t": "b", "id": "c\ufffd"}


def test_a_stream_may_begin_with_a_byte_order_mark():
    stream = b"\xef\xbb\xbf" + told(
        (None, {"type": "start", "id": "c"}), ("delta", {"delta": {"text": "Yes."}})
    )

    with turn_service(lambda _: (200, stream + b"data: [DONE]\n\n", SSE)) as it:
        (reply,) = talk(it, "Hi.", request={"t": "{{text}}"}, events=DELTAS)

    assert reply.text == "Yes."


def test_a_stream_that_is_shorter_than_such_a_mark_is_no_reply():
    says = "no event that says that the reply is complete"

    with turn_service(lambda _: (200, b"\xef\xbb", SSE)) as it, pytest.raises(ArmError, match=says):
        talk(it, "Hi.", request={"t": "{{text}}"}, events=DELTAS)


def test_a_conversation_that_gets_no_name_is_not_begun():
    with (
        turn_service(lambda _: (200, {"id": None})) as it,
        pytest.raises(ArmError, match=r"nothing under `\$\.id`, where the conversation's name"),
    ):
        talk(it, "Hello.", begin={"url": it.url, "session": "$.id"})

    assert it.received == [{}]


def told(*events: tuple[str | None, Any]) -> bytes:
    def lines(name: str | None, data: Any) -> Iterator[bytes]:
        if name is not None:
            yield f"event: {name}\r\n".encode()
        text = data if isinstance(data, str | bytes) else json.dumps(data, ensure_ascii=False)
        yield b"data: " + (text if isinstance(text, bytes) else text.encode()) + b"\r\n\r\n"

    return b"".join(line for event in events for line in lines(*event))
