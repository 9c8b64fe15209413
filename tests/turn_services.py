"""A service on loopback that answers turns, and a conversation with it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
from tests import bike_shop

from seatrial import arms
from seatrial.trace import Answer


class TurnService:
    def __init__(self, url: str) -> None:
        self.url = url
        self.received: list[Any] = []
        self.asked: list[str] = []
        self.headers: list[Any] = []
        self.clients: set[Any] = set()


@contextmanager
def turn_service(answer: Any, *, raw: bool = False) -> Iterator[TurnService]:
    """A service that answers each body with what `answer` makes of it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            it.received.append(body)
            it.asked.append(f"{self.command} {self.path}")
            it.headers.append(dict(self.headers))
            it.clients.add(self.client_address)
            if raw:
                answer(self)
                return
            status, content, *kind = answer(body)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            for media_type in kind:
                self.send_header("Content-Type", media_type)
            self.end_headers()
            try:
                self.wfile.write(data)
            except OSError:  # the client has had enough
                self.close_connection = True

        do_PUT = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    it = TurnService(f"http://127.0.0.1:{server.server_address[1]}/turn")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield it
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def talk(
    it: TurnService, *texts: str, settings: dict[str, Any] | None = None, **adapter: Any
) -> list[arms.Reply]:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        raise AssertionError("a service calls over the network")

    seat = arms.Seat(
        run="r1",
        trial="t1",
        root=Path("/"),
        now="2026-04-01T10:00:00Z",
        seed=11,
        settings={"tone": ["kind"]} | (settings or {}),
        url="http://127.0.0.1:1/c/x",
        urls={"bike-shop": "http://127.0.0.1:1/c/x/bike-shop/mcp"},
        token="t0ken",
        config={"mcpServers": {"bike-shop": {"url": "…"}}},
        call=call,
        environ={"KEY": "s3cret", "BYTES": "\udcff"},
    )
    url = it.url + adapter.pop("path", "")
    arm = bike_shop.arm("x", {"type": "http", "url": url, **adapter})

    async def talking() -> list[arms.Reply]:
        with anyio.fail_after(30):
            async with arms.connections() as shared, arms.open(arm, seat, shared) as conversation:
                return [await conversation.reply(n, t) for n, t in enumerate(texts, 1)]

    return anyio.run(talking)
