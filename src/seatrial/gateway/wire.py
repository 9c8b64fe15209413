"""What goes wrong on the wire on purpose: a reply that never comes, or not as it should."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio

from seatrial.documents.behaviour import Wire
from seatrial.state.breaking import HTML

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

STATUS = 503
BYTES_PER_SECOND = 100
_DROPS_PER_SECOND = 10
_MOST_SECONDS_TO_CLOSE = 5

_HTML_HEADERS = [(b"content-type", b"text/html; charset=utf-8")]
_JSON_HEADERS = [(b"content-type", b"application/json")]


class Connection:
    """The connection that a request came on, as far as it can be broken."""

    __slots__ = ("_lost", "_on_lost", "close", "send", "sleep")

    def __init__(
        self,
        send: Send,
        close: Callable[[], None],
        on_lost: set[Callable[[], None]],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """Take a connection.

        Args:
            send: writes a part of the response (ASGI).
            close: closes it, after what was written.
            on_lost: what is called when it is lost.
            sleep: lets so many seconds pass.
        """
        self.send = send
        self.close = close
        self.sleep = sleep
        self._on_lost = on_lost
        self._lost = anyio.Event()

    async def until_lost(self) -> None:
        """Wait until it is gone."""
        self._on_lost.add(self._lost.set)
        await self._lost.wait()

    async def end(self) -> None:
        """Close it, and wait until it is gone: what comes after would be taken for the response."""
        self.close()
        with anyio.move_on_after(_MOST_SECONDS_TO_CLOSE):
            await self.until_lost()


async def misbehave(
    wire: Wire, body: bytes, connection: Connection, over: anyio.Event, *, is_begun: bool = False
) -> None:
    """Send what the client gets in place of a proper response.

    Args:
        wire: what goes wrong.
        body: the response as it should be.
        connection: where it is sent.
        over: set when the trial ends; nothing drops any more then.
        is_begun: the body is the end of a stream that has begun; only what may befall an answer of a server can
            befall it (`cut_off`, `trickle`).
    """
    match wire.how:
        case "status":
            headers = list(_HTML_HEADERS)
            if wire.retry_after is not None:
                headers.append((b"retry-after", str(wire.retry_after).encode()))
            await _respond(connection, wire.status or STATUS, headers, HTML.encode())
        case "html":
            await _respond(connection, 200, _HTML_HEADERS, HTML.encode())
        case "empty":
            await _respond(connection, 200, _JSON_HEADERS, b"")
        case "dropped":
            await connection.end()
        case "cut_off":
            if not is_begun:
                await _begin(connection, len(body))
            half = body[: len(body) // 2]
            await connection.send({"type": "http.response.body", "body": half, "more_body": True})
            await connection.end()
        case "trickle":
            if not is_begun:
                await _begin(connection, len(body))
            await _trickle(wire.bytes_per_second or BYTES_PER_SECOND, body, connection, over)
        case "rpc_error":
            raise AssertionError("an error of the protocol is a proper response")


async def _trickle(rate: int, body: bytes, connection: Connection, over: anyio.Event) -> None:
    size = max(1, rate // _DROPS_PER_SECOND)
    async with anyio.create_task_group() as tasks:

        async def stop_when(wait: Callable[[], Awaitable[object]]) -> None:
            await wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(stop_when, connection.until_lost)
        tasks.start_soon(stop_when, over.wait)
        for at in range(0, len(body), size):
            await connection.sleep(size / rate)
            more = at + size < len(body)
            drop = {"type": "http.response.body", "body": body[at : at + size], "more_body": more}
            await connection.send(drop)
        tasks.cancel_scope.cancel()


async def _respond(
    connection: Connection, status: int, headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await connection.send(
        {"type": "http.response.start", "status": status, "headers": [length, *headers]}
    )
    await connection.send({"type": "http.response.body", "body": body})


async def _begin(connection: Connection, length: int) -> None:
    headers = [(b"content-length", str(length).encode()), *_JSON_HEADERS]
    await connection.send({"type": "http.response.start", "status": 200, "headers": headers})
