"""A call or another request under way, and the line to the server it goes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import anyio

from seatrial.documents import ShownTool
from seatrial.documents.behaviour import Wire
from seatrial.documents.world import Denial
from seatrial.gateway.decisions import Decided
from seatrial.gateway.offers import Offered
from seatrial.gateway.servers import ToolServer, is_real
from seatrial.gateway.streams import Feed, Interim
from seatrial.state.presenting import presented
from seatrial.tools import Tool
from seatrial.trace import Answer, Json
from seatrial.upstream import Response

Tell = Callable[[dict[str, Json]], None]
"""Is handed what a server says of a request before it answers it."""


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
    """The answer, when it does not come from the server, and what a mock makes of the call; it may still have to
    wait."""
    waited_ms: float = 0.0
    """How long a mock has made it wait."""
    misfits: tuple[str, ...] | None = None
    """Why it fits no tool or not its schema; empty when it fits."""
    answer: Answer | None = None
    """What was answered; the call is over."""
    wire: Wire | None = None
    """What goes wrong on the wire when the answer is sent."""
    failed: bool = False
    """The answer says that the server failed, not the tool."""
    params: dict[str, Json] | None = None
    """Everything that came with it, for a real server."""
    tell: Tell | None = None
    response: Response | None = None
    """What a real server answered, as it came."""
    scope: anyio.CancelScope | None = None
    cut_short: str = ""
    """Why it was stopped before its end."""

    @property
    def is_over(self) -> bool:
        """It has been answered."""
        return self.answer is not None

    def stop(self, why: str) -> None:
        """End it where it waits; a call that is over stays as it ended."""
        if self.answer is not None:
            return
        self.cut_short = self.cut_short or why
        if self.scope is not None:
            self.scope.cancel()


@dataclass(slots=True, eq=False, kw_only=True)
class Errand:
    """A request of a client that is no tool call and goes to a real server."""

    line: Line
    method: str
    params: dict[str, Json]
    turn: int
    at_ms: float
    place: int
    """Where its event stands among the channel's."""
    tell: Tell | None = None
    response: Response | None = None
    """What the server answered."""
    is_over: bool = False
    failed: bool = False
    """The server failed."""
    scope: anyio.CancelScope | None = None
    cut_short: str = ""
    """Why it was stopped before its end."""

    def stop(self, why: str) -> None:
        """End it where it waits; one that is over stays as it ended."""
        if self.is_over:
            return
        self.cut_short = self.cut_short or why
        if self.scope is not None:
            self.scope.cancel()


@dataclass(slots=True, eq=False)
class Session:
    """What one client has agreed on with one server."""

    version: str
    capabilities: Mapping[str, Json] = field(default_factory=dict)
    """What the client can be asked."""
    calls: dict[str | int, Call | Errand] = field(default_factory=dict)
    """Requests under way, by their id."""
    feed: Feed | None = None
    """The stream it listens to."""
    replies: list[Interim] = field(default_factory=list)
    """To its requests under way, in order."""
    asked: dict[int, Asking] = field(default_factory=dict)
    """What it is being asked, by id."""


@dataclass(slots=True, eq=False)
class Asking:
    """A request of a server that a client is to answer."""

    done: anyio.Event = field(default_factory=anyio.Event)
    answer: dict[str, Json] | None = None


class Line:
    """One server of a trial, with its tools by name and the sessions clients have with it."""

    __slots__ = (
        "_by_name", "_own_words", "_tools", "denials", "real", "server", "sessionless", "sessions",
        "streams", "subscriptions",
    )  # fmt: skip

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
        self.real = server if is_real(server) else None
        """The server, where it is a real one."""
        self.sessions: dict[str, Session] = {}
        self.sessionless = Session(version="")
        """Of clients that name no session."""
        self.streams = 0
        """Subscriptions held open."""
        self.subscriptions: list[Feed] = []
        """Of them, what those of clients without a session are told on."""
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
