"""What the gateway serves: a tool server, written here because the gateway is its user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from seatrial.tools import Tool
from seatrial.trace import Answer, Json


class ToolServer(Protocol):
    """Something with tools behind one address of a trial: a practice world, later a real MCP server.

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
        """The tools there are. The same sequence object while they are the same."""
        ...

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """What the tool gives back; `arguments` fit its input schema and are the server's to keep.

        What the tool refuses or cannot do is an answer with `is_error`.

        Raises:
            ToolServerError: the server itself died, hung, or answered garbage.
            BeyondRights: the call is beyond the rights of the role that the server serves.
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
