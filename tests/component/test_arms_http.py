"""The `http` arm against a real service on loopback: what is posted, and every way in which it fails."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests import bike_shop

from seatrial import arms
from seatrial.errors import ArmError
from seatrial.trace import Answer


def test_each_turn_is_posted_with_its_history_and_the_way_to_the_tools():
    with _service(lambda body: (200, {"text": f"You said {body['text']}", "model": "m-1"})) as it:
        replies = _talk(it, "Hello.", "Bye.")

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
    with _service(lambda _: (200, {"text": "ok"})) as it:
        _talk(it, "Hello.", headers={"X-Key": "Bearer {KEY}", "X-Odd": "{}"}, pass_env=["KEY"])

    assert it.headers[0]["X-Key"] == "Bearer s3cret"
    assert it.headers[0]["X-Odd"] == "{}"


def test_conversations_share_connections():
    with _service(lambda _: (200, {"text": "ok"})) as it:
        _talk(it, *["Hello."] * 5)

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
    with _service(lambda _: answer) as it, pytest.raises(ArmError) as failed:
        _talk(it, "Hello.")

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.message.startswith(f"the agent at {it.url} {says}"), failed.value.message


def test_service_that_is_not_there_is_named_with_its_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/turn"

        with pytest.raises(ArmError, match="is the service running\\?") as failed:
            _talk(_Service(url), "Hello.")

    assert failed.value.cause == "agent_unreachable"
    assert url in failed.value.message


def test_service_that_hangs_up_in_the_middle_is_unreachable():
    def hang_up(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        handler.close_connection = True

    with (
        _service(hang_up, raw=True) as it,
        pytest.raises(ArmError, match="no answer from the agent"),
    ):
        _talk(it, "Hello.")


class _Service:
    def __init__(self, url: str) -> None:
        self.url = url
        self.received: list[Any] = []
        self.headers: list[Any] = []
        self.clients: set[Any] = set()


@contextmanager
def _service(answer: Any, *, raw: bool = False) -> Iterator[_Service]:
    """A service that answers each body with what `answer` makes of it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            it.received.append(body)
            it.headers.append(dict(self.headers))
            it.clients.add(self.client_address)
            if raw:
                answer(self)
                return
            status, content = answer(body)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            try:
                self.wfile.write(data)
            except OSError:  # the client has had enough
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    it = _Service(f"http://127.0.0.1:{server.server_address[1]}/turn")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield it
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def _talk(it: _Service, *texts: str, **adapter: Any) -> list[arms.Reply]:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        raise AssertionError("a service calls over the network")

    seat = arms.Seat(
        run="r1",
        trial="t1",
        root=Path("/"),
        now="2026-04-01T10:00:00Z",
        seed=11,
        settings={"tone": ["kind"]},
        url="http://127.0.0.1:1/c/x",
        urls={},
        token="t0ken",
        config={"mcpServers": {"bike-shop": {"url": "…"}}},
        call=call,
        environ={"KEY": "s3cret"},
    )
    arm = bike_shop.arm("x", {"type": "http", "url": it.url, **adapter})

    async def talk() -> list[arms.Reply]:
        with anyio.fail_after(30):
            async with arms.connections() as shared, arms.open(arm, seat, shared) as conversation:
                return [await conversation.reply(n, t) for n, t in enumerate(texts, 1)]

    return anyio.run(talk)
