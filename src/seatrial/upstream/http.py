"""An MCP server over streamable HTTP, without an SDK: each message is posted, answers are JSON or events.

What it says of its own accord it says on the stream of a request, or on one that is held open for that
where it offers one. Redirects are not followed and proxies not asked: what is sent with each request
reaches this server alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import httpx

from seatrial.upstream.session import (
    EXIT_SECONDS,
    MOST_LINE,
    Client,
    Session,
    Waiting,
    alone,
    excerpt,
)

CONNECT_SECONDS = 10.0
MOST_RECONNECTED = 5
"""How often the stream of what it says of its own accord is opened again after it has ended."""
RECONNECT_SECONDS = 1.0
_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_MOST_SHOWN = 2_000


_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses of what may go away by itself."""


class _Broken(Exception):
    """Why there is no answer to a request."""

    passing = False
    """It may go away by itself."""


class HttpServer(Session):
    """A service that a session has begun with."""

    speaks_while_written_to = True

    def __init__(
        self,
        http: httpx.AsyncClient,
        url: str,
        tasks: anyio.abc.TaskGroup,
        *,
        who: str,
        client: Client | None = None,
    ) -> None:
        super().__init__(tasks, who=who, client=client)
        self._http = http
        self._url = url
        self._id: str | None = None

    async def listen(self) -> None:
        """Hear what it says of its own accord, where it offers a stream for that."""
        for _ in range(MOST_RECONNECTED):
            try:
                async with self._http.stream(
                    "GET", self._url, headers={**self._headers(), "accept": "text/event-stream"}
                ) as reply:
                    if reply.status_code != 200 or _media_type(reply) != "text/event-stream":
                        return
                    await self._events(reply)
            except (httpx.HTTPError, _Broken):
                pass  # what matters of a service that is gone is noticed by the next request
            if self._gone:
                return
            await anyio.sleep(RECONNECT_SECONDS)

    async def leave(self) -> None:
        """End the session."""
        if self._id is None:
            return
        with anyio.move_on_after(EXIT_SECONDS):
            try:
                await self._http.delete(self._url, headers=self._headers())
            except httpx.HTTPError:
                return  # it is gone, and its session with it

    # --- within ---

    def _headers(self) -> dict[str, str]:
        headers = {"mcp-protocol-version": self.version} if self.version else {}
        return headers if self._id is None else {**headers, "mcp-session-id": self._id}

    async def _write(self, line: bytes, waiting: Waiting | None) -> None:
        try:
            async with self._http.stream(
                "POST", self._url, content=line, headers={**_ACCEPT, **self._headers()}
            ) as reply:
                await self._replied(reply)
        except _Broken as error:
            if waiting is not None and waiting.response is None:
                waiting.failed, waiting.passing = str(error), error.passing
        except httpx.HTTPError as error:
            if waiting is not None and waiting.response is None:
                waiting.passing = isinstance(error, httpx.TransportError)
                waiting.failed = f"cannot be reached: {excerpt(_why(error).encode())}"

    async def _replied(self, reply: httpx.Response) -> None:
        self._id = self._id or reply.headers.get("mcp-session-id")
        media_type = _media_type(reply)
        if media_type == "text/event-stream" and reply.status_code == 200:
            await self._events(reply)
            return
        body = await _body(reply)
        # Errors of the protocol come under other statuses too.
        if media_type == "application/json" and body and self._take(body):
            if reply.status_code < 400:
                return
        elif reply.status_code in (200, 202, 204) and not body:
            return
        if reply.status_code == 404 and self._id is not None:
            self._lose("has ended the session (HTTP status 404)")
            return
        shown = f": {excerpt(body[:_MOST_SHOWN])}" if body else ""
        if reply.status_code != 200:
            broken = _Broken(f"answered with HTTP status {reply.status_code}{shown}")
            broken.passing = reply.status_code in _PASSING
            raise broken
        raise _Broken(f"answered with what is no JSON ({media_type or 'no type'}){shown}")

    async def _events(self, reply: httpx.Response) -> None:
        unread, data = bytearray(), list[bytes]()
        size = 0
        async for received in reply.aiter_bytes():
            start = len(unread)
            unread += received
            while (cut := unread.find(b"\n", start)) >= 0:
                line = bytes(unread[:cut]).rstrip(b"\r")
                del unread[: cut + 1]
                start = 0
                if line.startswith(b"data:"):
                    data.append(line[5:].removeprefix(b" "))
                    size += len(line)
                elif not line and data:
                    event = b"\n".join(data)
                    data, size = [], 0
                    if event and not self._take(event):
                        raise _Broken(f"answered with an event that is no JSON: {excerpt(event)}")
            if len(unread) + size > MOST_LINE:
                raise _Broken(f"answered with a message of more than {MOST_LINE:,} bytes")


@asynccontextmanager
async def connected(
    url: str,
    *,
    who: str,
    headers: Mapping[str, str],
    seconds: float,
    client: Client | None = None,
    capabilities: Mapping[str, Any] | None = None,
) -> AsyncIterator[HttpServer]:
    """Begin a session with a service; it is ended when the block is left.

    Args:
        url: where it is.
        who: what messages call it.
        headers: sent with each request.
        seconds: how long the handshake may take.
        client: hears what it says of its own accord.
        capabilities: what it is told that its client can do.

    Raises:
        ToolServerError: it cannot be reached, or does not begin a session.
    """
    try:
        async with (
            httpx.AsyncClient(
                headers=dict(headers),
                timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
                limits=httpx.Limits(max_connections=None),
                trust_env=False,
            ) as http,
            anyio.create_task_group() as tasks,
        ):
            server = HttpServer(http, url, tasks, who=who, client=client)
            try:
                await server.shake_hands(seconds=seconds, capabilities=capabilities)
                tasks.start_soon(server.listen)
                yield server
            finally:
                with anyio.CancelScope(shield=True):
                    await server.leave()
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # Our own tasks raise nothing: what is in the group came out of the block.
        if (error := alone(group)) is not group:
            raise error from error.__cause__
        raise


def _media_type(reply: httpx.Response) -> str:
    return str(reply.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def _body(reply: httpx.Response) -> bytes:
    body = bytearray()
    async for received in reply.aiter_bytes():
        body += received
        if len(body) > MOST_LINE:
            raise _Broken(f"answered with more than {MOST_LINE:,} bytes")
    return bytes(body)


def _why(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
