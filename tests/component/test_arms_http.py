"""The `http` arm against a real service on loopback: what is posted, and every way in which it fails."""

import socket
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from tests.turn_services import TurnService, talk, turn_service

from seatrial.errors import ArmError


def test_each_turn_is_posted_with_its_history_and_the_way_to_the_tools():
    with turn_service(
        lambda body: (200, {"text": f"You said {body['text']}", "model": "m-1"})
    ) as it:
        replies = talk(it, "Hello.", "Bye.")

    assert [r.text for r in replies] == ["You said Hello.", "You said Bye."]
    assert replies[0].served_model == "m-1"
    assert it.received[1] == {
        "turn": 2,
        "text": "Bye.",
        "history": [
            {"role": "user", "text": "Hello."},
            {"role": "assistant", "text": "You said Hello."},
        ],
        "conversation": "t1",
        "now": "2026-04-01T10:00:00Z",
        "seed": 11,
        "settings": {"tone": ["kind"]},
        "mcp": {"mcpServers": {"bike-shop": {"url": "…"}}},
    }


def test_header_takes_its_secret_from_the_environment():
    with turn_service(lambda _: (200, {"text": "ok"})) as it:
        talk(it, "Hello.", headers={"X-Key": "Bearer {KEY}", "X-Odd": "{}"}, pass_env=["KEY"])

    assert it.headers[0]["X-Key"] == "Bearer s3cret"
    assert it.headers[0]["X-Odd"] == "{}"


def test_conversations_share_connections():
    with turn_service(lambda _: (200, {"text": "ok"})) as it:
        talk(it, *["Hello."] * 5)

    assert len(it.clients) == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((503, b"<h1>Busy</h1>\x1b[31m"), "answered with status 503: <h1>Busy</h1>\\x1b[31m"),
        ((302, b""), "answered with status 302: an empty body"),
        ((200, b"Hello"), 'answered with what is no JSON ({"text": "…"} belongs there): Hello'),
        ((200, b"[" * 200_000), "answered with what is no JSON"),
        ((200, ["Hello"]), "sent a list where an object like"),
        ((200, {"answer": "Hello"}), "sent nothing under `text`, where text belongs"),
        (
            (200, {"text": "x" * 1_000_001}),
            "sent a reply of 1,000,001 characters; at most 1,000,000",
        ),
        ((200, {"text": "x", "model": 5}), "sent a number under `model`, where text belongs"),
        ((200, {"text": "x", "usage": [1]}), "sent a list under `usage`, where an object belongs"),
        ((200, {"text": "x", "usage": {"cost": -1}}), "sent -1 under `usage.cost`"),
        (
            (200, {"text": "x", "usage": {"input_tokens": 5, "cached_input_tokens": 6}}),
            "sent more `usage.cached_input_tokens` (6) than `usage.input_tokens` (5)",
        ),
        ((200, b" " * 9_000_000), "answered with more than 8,000,000 bytes"),
    ],
)
def test_answer_that_is_no_reply_makes_the_agent_unreachable_and_is_shown(answer: Any, says: str):
    with turn_service(lambda _: answer) as it, pytest.raises(ArmError) as failed:
        talk(it, "Hello.")

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.message.startswith(f"the agent at {it.url} {says}"), failed.value.message


def test_service_that_is_not_there_is_named_with_its_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/turn"

        with pytest.raises(ArmError, match="is the service running\\?") as failed:
            talk(TurnService(url), "Hello.")

    assert failed.value.cause == "agent_unreachable"
    assert url in failed.value.message


def test_service_that_hangs_up_in_the_middle_is_unreachable():
    def hang_up(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        handler.close_connection = True

    with (
        turn_service(hang_up, raw=True) as it,
        pytest.raises(ArmError, match="no answer from the agent"),
    ):
        talk(it, "Hello.")
