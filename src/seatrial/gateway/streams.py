"""What a client is sent beside the answer to its request: events of a stream, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import anyio

from seatrial.gateway import jsonrpc

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
]
STILL_HERE = b": still here\n\n"


def event(message: dict[str, Any] | bytes) -> bytes:
    """A message as an event of a stream."""
    data = message if isinstance(message, bytes) else jsonrpc.encode(message)
    return b"event: message\ndata: " + data + b"\n\n"


async def begin(send: Send) -> None:
    """Begin a reply that is a stream."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})


async def part(send: Send, data: bytes, *, last: bool = False) -> None:
    """Send a part of a reply that is a stream."""
    await send({"type": "http.response.body", "body": data, "more_body": not last})


class Feed:
    """A stream that a client listens to until the trial ends or it goes away."""

    def __init__(
        self,
        wants: Callable[[Mapping[str, Any]], bool] = lambda message: True,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a feed.

        Args:
            wants: which notifications it tells.
            meta: what every message says of the subscription.
        """
        self.wants = wants
        self._meta = meta
        self._events: deque[bytes] = deque()
        self._filled = anyio.Event()

    def tell(self, message: dict[str, Any]) -> None:
        """Let the client know."""
        if self._meta is not None:
            params = message.get("params") or {}
            meta = {**params.get("_meta", {}), **self._meta}
            message = {**message, "params": {**params, "_meta": meta}}
        self._events.append(event(message))
        self._filled.set()

    async def follow(self, send: Send, over: anyio.Event, *, every: float) -> None:
        """Send what there is, as it comes, until it is over; a sign of life where nothing comes for so long."""
        while True:
            while self._events:
                await part(send, self._events.popleft())
            if over.is_set():
                return
            self._filled = anyio.Event()
            with anyio.move_on_after(every) as scope:
                await _either(self._filled, over)
            if scope.cancelled_caught:
                await part(send, STILL_HERE)


class Interim:
    """The reply to one request: plain JSON, unless something has to be told before the answer."""

    def __init__(self, send: Send, start: Callable[[Callable[[], Awaitable[None]]], None]) -> None:
        """Take the reply over.

        Args:
            send: of the request.
            start: starts a task that outlives the request where it must.
        """
        self._send = send
        self._start = start
        self._events: deque[bytes] = deque()
        self._idle: anyio.Event | None = None
        self._begun = False
        self.is_stream = False
        """Something was told: the answer has to be an event too."""

    def tell(self, message: dict[str, Any]) -> None:
        """Let the client know, before the answer."""
        self.is_stream = True
        self._events.append(event(message))
        if self._idle is None or self._idle.is_set():
            self._idle = anyio.Event()
            self._start(self._write)

    async def end(self, answer: bytes) -> None:
        """Send the answer as the last event."""
        if self._idle is not None:
            await self._idle.wait()
        await part(self._send, event(answer), last=True)

    async def _write(self) -> None:
        assert self._idle is not None
        try:
            if not self._begun:
                self._begun = True
                await begin(self._send)
            while self._events:
                await part(self._send, self._events.popleft())
        finally:
            self._idle.set()


async def _either(one: anyio.Event, other: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(wait, one)
        tasks.start_soon(wait, other)
