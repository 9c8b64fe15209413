"""The clients of one real server in one trial: what it says reaches them, and what it asks, one of them answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import anyio

from seatrial.gateway import jsonrpc
from seatrial.gateway.calls import Asking, Line, Session
from seatrial.gateway.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND
from seatrial.trace import Asked, Json

if TYPE_CHECKING:
    from seatrial.gateway.channel import Channel

MOST_TOLD = 16_000_000
"""Bytes that a server may say of its own accord in one trial; more is a flood, and is not passed on."""

_CAPABILITY = {
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
}
"""Request of a server → what its client must have declared."""
_LOG = "notifications/message"


class Clients:
    """Whoever is connected to one real server in one trial."""

    def __init__(self, channel: Channel, line: Line) -> None:
        self._channel = channel
        self._line = line
        self._told = 0
        self._numbers = 0

    def told(self, message: dict[str, Json]) -> None:
        """Pass on a notification that is not about one request.

        It goes to the streams that clients listen to; a client that listens to none hears a log before the
        answer to its newest request, when there is one.
        """
        if self._channel.closed or self._told > MOST_TOLD:
            return
        self._told += len(jsonrpc.encode(message))
        if self._told > MOST_TOLD:
            assert self._line.real is not None
            self._line.real.abandon(f"said more than {MOST_TOLD:,} bytes of its own accord")
            return
        method = str(message["method"])
        for feed in self._line.subscriptions:
            if feed.wants(message):
                feed.tell(message)
        for session in (self._line.sessionless, *self._line.sessions.values()):
            if session.feed is not None:
                session.feed.tell(message)
            elif session.replies and method == _LOG:
                session.replies[-1].tell(message)

    async def asked(
        self, message: dict[str, Json], given: dict[str, Json] | None
    ) -> dict[str, Json]:
        """The answer to a request of the server, of the fixture or of a client; recorded."""
        at_ms = self._channel.now()
        answer, by = given, "fixture"
        try:
            if answer is None:
                answer, by = await self._of_a_client(message)
        finally:
            self._record(message, answer, by if answer is not None else "gateway", at_ms)
        return answer

    async def _of_a_client(self, message: dict[str, Json]) -> tuple[dict[str, Json], str]:
        method = message["method"]
        for session in self._able(_CAPABILITY.get(method, "")):
            self._numbers += 1
            number = self._numbers
            request = {**message, "id": number}
            if session.replies:
                session.replies[-1].tell(request)
            elif session.feed is not None:
                session.feed.tell(request)
            else:
                continue
            session.asked[number] = asking = Asking()
            assert self._line.real is not None
            try:
                with anyio.move_on_after(self._line.real.seconds):
                    await asking.done.wait()
            finally:
                del session.asked[number]
            if asking.answer is None:
                return _failure(INTERNAL_ERROR, f"The client did not answer {method}"), "gateway"
            return asking.answer, "agent"
        return _failure(METHOD_NOT_FOUND, f"The client cannot be asked for {method}"), "gateway"

    def _able(self, capability: str) -> Iterator[Session]:
        """Sessions whose clients can do this, those with a request under way first, the newest of them first."""
        able = [s for s in self._line.sessions.values() if capability in s.capabilities]
        able.reverse()
        yield from (session for session in able if session.replies)
        yield from (session for session in able if not session.replies)

    def _record(
        self, message: dict[str, Json], answer: dict[str, Json] | None, by: str, at_ms: float
    ) -> None:
        params = message.get("params")
        answer = answer or _failure(INTERNAL_ERROR, "it was given up")
        error = answer.get("error")
        self._channel.note(
            Asked.model_validate(
                {
                    "turn": self._channel.turn,
                    "server": self._line.server.name,
                    "method": str(message["method"]),
                    "params": params if isinstance(params, dict) else {},
                    "result": answer.get("result"),
                    "error": None if error is None else _told_of(error),
                    "answered_by": by,
                    "at_ms": at_ms,
                    "took_ms": self._channel.now() - at_ms,
                }
            )
        )


def answered(session: Session, message: Mapping[str, Json]) -> None:
    """Take the answer of a client to what it was asked; an answer to nothing is left alone."""
    id = message.get("id")
    asking = session.asked.get(id) if type(id) is int else None
    if asking is not None and asking.answer is None:
        key = "error" if "error" in message else "result"
        asking.answer = {key: message[key]}
        asking.done.set()


def _failure(code: int, message: str) -> dict[str, Json]:
    return {"error": {"code": code, "message": message}}


def _told_of(error: Json) -> str:
    if isinstance(error, dict):
        return f"{error.get('message', '')} ({error.get('code', '')})"
    return "an error that says nothing"
