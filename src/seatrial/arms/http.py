"""The agent is a service: one request per turn, answered with one JSON value or with a stream of events.

In Seatrial's own form, or in one that the arm declares (`begin`, `request`, `response`, `events`).
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

import httpx
from httpx_sse import EventSource

from seatrial.arms.connections import Connections
from seatrial.arms.filling import Filling
from seatrial.arms.replies import EXAMPLE, excerpt, parse_json, reply_of, wrong
from seatrial.arms.seat import Reply, Seat
from seatrial.arms.shaped import Events, Heard, Session, heard, session_in
from seatrial.chat import PASSING, Unanswered
from seatrial.chat.pace import retry_after
from seatrial.documents import ArmLimits, Http
from seatrial.errors import ArmError

MOST_BYTES = 8_000_000
"""The largest answer that is read, be it a stream."""

_SSE = "text/event-stream"
_LINES = frozenset({
    "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
    "application/json-lines", "application/stream+json",
})  # fmt: skip

T = TypeVar("T")


class Conversation:
    """One trial's conversation with a service that runs already."""

    def __init__(
        self, adapter: Http, seat: Seat, shared: Connections, limits: ArmLimits | None = None
    ) -> None:
        self.notes: list[str] = []
        self._adapter = adapter
        self._seat = seat
        self._shared = shared
        self._pace = shared.pace(adapter.url, limits or ArmLimits())
        self._filling = Filling(seat)
        self._begun = adapter.begin is None
        self._url = adapter.url
        self._cookies = httpx.Cookies()
        self._events: Events | None = None

    @property
    def meanwhile(self) -> str:
        """The last of the events that have not come to a reply."""
        return "" if self._events is None else self._events.meanwhile

    @property
    def _who(self) -> str:
        return f"the agent at {self._url}"

    async def reply(self, turn: int, text: str) -> Reply:
        """Send the turn and read the answer."""
        self._events = None
        adapter, filling = self._adapter, self._filling
        if not self._begun:
            filling.session = await self._begin()
            self._begun = True
        filling.say(turn, text)
        found = await self._asked(
            adapter.method,
            adapter.url,
            self._own(turn, text) if adapter.request is None else filling.body(adapter.request),
            self._reply_in,
            lambda found: found.reply.tokens,
        )
        filling.hear(found.reply.text, found.session)
        return found.reply

    async def _begin(self) -> Session:
        begin = self._adapter.begin
        assert begin is not None

        async def session(response: httpx.Response) -> Session:
            found = session_in(await self._json(response), begin.session, self._who)
            if found is None:
                raise wrong(
                    self._who,
                    f"nothing under `{begin.session}`, where the conversation's name belongs",
                )
            return found

        return await self._asked(
            "POST", begin.url, self._filling.body(begin.body), session, lambda _: 0
        )

    def _own(self, turn: int, text: str) -> dict[str, Any]:
        """What is sent to an agent that speaks Seatrial's own form."""
        seat = self._seat
        return {
            "turn": turn,
            "text": text,
            "history": self._filling.history,
            "conversation": seat.trial,
            "now": seat.now,
            "seed": seat.seed,
            "settings": seat.settings,
            "mcp": seat.config,
        }

    async def _asked(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any],
        read: Callable[[httpx.Response], Awaitable[T]],
        used: Callable[[T], int],
    ) -> T:
        """What is read of the answer to a request.

        Never sent twice: the agent may have acted already. A trial begins again, in a fresh world.
        """
        self._url = self._filling.address(url)
        headers = httpx.Headers(self._filling.headers(self._adapter.headers))
        if self._adapter.events is not None:
            headers.setdefault("Accept", f"{_SSE}, application/json")
        try:
            return await self._pace.ask(
                lambda: self._sent(method, body, headers, read),
                retries=0,
                used=used,
                waiting=self._seat.waiting,
            )
        except Unanswered as error:
            raise ArmError("agent_unreachable", error.message, passing=error.passing) from error

    async def _sent(
        self,
        method: str,
        body: Mapping[str, Any],
        headers: httpx.Headers,
        read: Callable[[httpx.Response], Awaitable[T]],
    ) -> T:
        try:
            async with self._response(method, body, headers) as response:
                status = response.status_code
                if not 200 <= status < 300:
                    shown = _shown(await self._body(response))
                    raise Unanswered(
                        f"{self._who} answered with status {status}: {shown}",
                        passing=status in PASSING,
                        busy=status == 429,
                        retry_after=retry_after(response.headers),
                    )
                return await read(response)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            why = str(error) or type(error).__name__
            raise Unanswered(
                f"no answer from {self._who} ({why}); is the service running?",
                passing=isinstance(error, httpx.TransportError),
            ) from error

    @asynccontextmanager
    async def _response(
        self, method: str, body: Mapping[str, Any], headers: httpx.Headers
    ) -> AsyncIterator[httpx.Response]:
        client = self._shared.client
        request = client.build_request(method, self._url, json=body, headers=headers)
        self._cookies.set_cookie_header(request)
        response = await client.send(request, stream=True)
        try:
            self._cookies.extract_cookies(response)
            yield response
        finally:
            await response.aclose()

    async def _reply_in(self, response: httpx.Response) -> Heard:
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self._adapter.events is not None and media_type in (_SSE, *_LINES):
            return await self._heard_of_events(response, media_type)
        if media_type == _SSE:
            raise ArmError(
                "agent_unreachable",
                f"{self._who} answered with a stream of events; say in `events` of the arm what they mean",
            )
        value = await self._json(response)
        if self._adapter.response is not None:
            return heard(value, self._adapter.response, who=self._who)
        return Heard(reply_of(value, who=self._who))

    async def _heard_of_events(self, response: httpx.Response, media_type: str) -> Heard:
        assert self._adapter.events is not None
        events = self._events = Events(self._adapter.events, who=self._who)
        read = self._of_sse if media_type == _SSE else self._of_lines
        async with aclosing(read(response)) as told:
            async for name, data in told:
                events.take(data, name)
                if events.ended:
                    break
        return events.heard()

    async def _of_sse(self, response: httpx.Response) -> AsyncGenerator[tuple[str, str], None]:
        source = EventSource(
            httpx.Response(
                200,
                headers={"content-type": _SSE},
                stream=_Bounded(_unmarked(self._bytes(response))),
            )
        )
        async with aclosing(source.aiter_sse()) as told:
            async for event in told:
                if event.data or event.event != "message":  # else nothing was told
                    yield event.event, event.data

    async def _of_lines(self, response: httpx.Response) -> AsyncGenerator[tuple[str, str], None]:
        unread: list[bytes] = []
        async for received in self._bytes(response):
            unread.append(received)
            if b"\n" in received:
                *lines, rest = b"".join(unread).split(b"\n")
                unread = [rest]
                for line in filter(bytes.strip, lines):
                    yield "message", line.decode("utf-8", "replace")
        if last := b"".join(unread).strip():
            yield "message", last.decode("utf-8", "replace")

    async def _json(self, response: httpx.Response) -> Any:
        body = await self._body(response)
        try:
            return parse_json(body)
        except ValueError as error:
            own = self._adapter.response is None
            wanted = f" ({EXAMPLE} belongs there)" if own else ""
            raise ArmError(
                "agent_unreachable",
                f"{self._who} answered with what is no JSON{wanted}: {_shown(body)}",
            ) from error

    async def _body(self, response: httpx.Response) -> bytes:
        return b"".join([received async for received in self._bytes(response)])

    async def _bytes(self, response: httpx.Response) -> AsyncIterator[bytes]:
        size = 0
        async for received in response.aiter_bytes():
            size += len(received)
            if size > MOST_BYTES:
                raise ArmError(
                    "agent_unreachable", f"{self._who} answered with more than {MOST_BYTES:,} bytes"
                )
            yield received


class _Bounded(httpx.AsyncByteStream):
    """Bytes that are counted already, for a reader that would read on for ever."""

    def __init__(self, received: AsyncIterator[bytes]) -> None:
        self._received = received

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._received


async def _unmarked(received: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Without the byte order mark that a stream of events may begin with, as its standard has it."""
    begun = b""
    async for piece in received:
        begun += piece
        if len(begun) >= len(BOM_UTF8) or not BOM_UTF8.startswith(begun):
            yield begun.removeprefix(BOM_UTF8)
            break
    else:
        yield begun
    async for piece in received:
        yield piece


def _shown(body: bytes) -> str:
    return excerpt(body) or "an empty body"
