"""A call under way, and the line to the server it goes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import anyio

from seatrial.documents import ShownTool
from seatrial.documents.world import Denial
from seatrial.gateway.decisions import Decided
from seatrial.gateway.offers import Offered
from seatrial.gateway.servers import ToolServer
from seatrial.state.presenting import presented
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

    __slots__ = ("_by_name", "_own_words", "_tools", "denials", "server", "sessionless", "sessions",
                 "streams")  # fmt: skip

    def __init__(
        self,
        server: ToolServer,
        denials: Sequence[Denial] = (),
        shown: Mapping[str, ShownTool] = MappingProxyType({}),
    ) -> None:
        """A line to a server.

        Args:
            server: where calls go.
            denials: by which of its errors it refuses a call.
            shown: tools that the agent is shown under other descriptions than the server's.
        """
        self.server = server
        self.denials = denials
        self._own_words = shown
        self.sessions: dict[str, Session] = {}
        self.sessionless = Session(version="")
        """Of clients that name no session."""
        self.streams = 0
        """Subscriptions held open."""
        self._tools: Sequence[Tool] = ()
        self._by_name: dict[str, Offered] = {}

    def tools(self) -> Mapping[str, Offered]:
        """The server's tools by name.

        Raises:
            ValueError: an argument is described that its tool does not have.
        """
        tools = self.server.tools()
        if tools is not self._tools:
            by_name = {t.name: Offered(t, self._presented(t)) for t in tools}
            self._tools, self._by_name = tools, by_name
        return self._by_name

    def _presented(self, tool: Tool) -> Tool:
        own = self._own_words.get(tool.name)
        return tool if own is None else presented(tool, own)
