"""What the gateway serves: tool servers and real MCP servers, written here because the gateway is their user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeGuard

from seatrial.tools import Tool
from seatrial.trace import Answer, Json
from seatrial.upstream import Response


class ToolServer(Protocol):
    """Something with tools behind one address of a trial: a practice world, or a real MCP server.

    A tool server serves one trial, and its names do not change while it does.
    """

    @property
    def name(self) -> str:
        """The server's name: a part of its address, and what the agent's tools are prefixed with."""
        ...

    @property
    def instructions(self) -> str:
        """What the server tells a client about itself when it connects; empty when nothing."""
        ...

    @property
    def version(self) -> int:
        """A number that is another one after every change of what stands behind the tools."""
        ...

    def tools(self) -> Sequence[Tool]:
        """The tools there are. The same sequence object while they are the same.

        Raises:
            ToolServerError: they cannot be had.
        """
        ...

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """What the tool gives back; `arguments` fit its input schema and are the server's to keep.

        What the tool refuses or cannot do is an answer with `is_error`.

        Raises:
            ToolServerError: the server itself died, hung, or answered garbage.
            BeyondRights: the call is beyond the rights of the role that the server serves.
        """
        ...


class RealServer(ToolServer, Protocol):
    """A real MCP server: whatever a client asks of it reaches it, and whatever it answers reaches the client."""

    @property
    def about(self) -> Mapping[str, Json]:
        """What it says of itself when a session begins: `serverInfo`, `capabilities`, `instructions`."""
        ...

    @property
    def asks_agents(self) -> bool:
        """Agents may be asked what it asks its client."""
        ...

    @property
    def seconds(self) -> float:
        """How long any answer may take."""
        ...

    def attach(self, front: Front) -> None:
        """Let it know who hears what it says of its own accord."""
        ...

    def hides(self, tool: str) -> bool:
        """Whether agents must not reach a tool that it may have."""
        ...

    async def refresh(self) -> None:
        """See to it that `tools` are those that it has now.

        Raises:
            ToolServerError: it does not say.
        """
        ...

    async def exchange(
        self, method: str, params: dict[str, Json], tell: Callable[[dict[str, Json]], None] | None
    ) -> Response:
        """Its answer to a request, be it a result or an error; `tell` is handed the progress until then.

        Raises:
            ToolServerError: it died, hung, or answered garbage.
        """
        ...

    async def notify(self, method: str, params: Mapping[str, Json] | None) -> None:
        """Tell it something."""
        ...

    def abandon(self, why: str) -> None:
        """Speak with it no more, for this reason: whoever waits for it is told so."""
        ...


def is_real(server: ToolServer) -> TypeGuard[RealServer]:
    """Whether it is a real server. Its class tells: what its properties do, or raise, is none of this question's."""
    return callable(getattr(type(server), "exchange", None))


class Front(Protocol):
    """The clients of a real server, as it sees them."""

    def told(self, message: dict[str, Json]) -> None:
        """Take a notification that is not about one request."""
        ...

    async def asked(
        self, message: dict[str, Json], given: dict[str, Json] | None
    ) -> dict[str, Json]:
        """The answer to a request of the server, an object with `result` or `error`; recorded.

        Args:
            message: the request.
            given: the answer of the fixture; None when a client is to be asked.
        """
        ...


class Rights(Protocol):
    """What a role may do; the rules for it stand in `seatrial.state`."""

    def refusal(self, action: str, arguments: dict[str, Json]) -> str | None:
        """The rule that forbids the call; None when it is allowed."""
        ...

    def visible(self, action: str) -> bool:
        """Whether the tool is listed at all."""
        ...
