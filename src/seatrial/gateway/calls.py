"""A call under way, and the line to the server it goes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from seatrial.gateway.decisions import Decided
from seatrial.gateway.offers import Offered
from seatrial.gateway.servers import ToolServer
from seatrial.tools import Tool
from seatrial.trace import Answer, Json


@dataclass(slots=True, eq=False, kw_only=True)
class Call:
    """One call, from the moment the gateway saw it."""

    line: Line
    name: str
    offered: Offered | None
    """The tool; None when the server has none of this name."""
    arguments: dict[str, Json]
    number: int
    turn: int
    at_ms: float
    place: int
    """Where its event stands among the channel's."""
    version: int | None = None
    """The server's before the call; None when it was not handed to the server."""
    decided: Decided | None = None
    """The answer, when it does not come from the server; it may still have to wait."""
    misfits: tuple[str, ...] | None = None
    """Why it fits no tool or not its schema; empty when it fits."""
    answer: Answer | None = None
    """What was answered; the call is over."""
    failed: bool = False
    """The answer says that the server failed, not the tool."""
    scope: anyio.CancelScope | None = None
    cut_short: str = ""
    """Why it was stopped before its end."""

    def stop(self, why: str) -> None:
        """End it where it waits; a call that is over stays as it ended."""
        if self.answer is not None:
            return
        self.cut_short = self.cut_short or why
        if self.scope is not None:
            self.scope.cancel()


@dataclass(slots=True, eq=False)
class Session:
    """What one client has agreed on with one server."""

    version: str
    calls: dict[str | int, Call] = field(default_factory=dict)
    """Calls under way, by the id of their request."""


class Line:
    """One server of a trial, with its tools by name and the sessions clients have with it."""

    __slots__ = ("_by_name", "_tools", "server", "sessionless", "sessions", "streams")

    def __init__(self, server: ToolServer) -> None:
        self.server = server
        self.sessions: dict[str, Session] = {}
        self.sessionless = Session(version="")
        """Of clients that name no session."""
        self.streams = 0
        """Subscriptions held open."""
        self._tools: Sequence[Tool] = ()
        self._by_name: dict[str, Offered] = {}

    def tools(self) -> Mapping[str, Offered]:
        """The server's tools by name."""
        tools = self.server.tools()
        if tools is not self._tools:
            self._tools, self._by_name = tools, {t.name: Offered(t) for t in tools}
        return self._by_name
