"""A server that is not started: fixtures answer for all of its tools."""

from __future__ import annotations

from collections.abc import Collection

from seatrial.documents import Server
from seatrial.errors import ToolServerError
from seatrial.state.values import freeze
from seatrial.tools import Tool
from seatrial.trace import Answer, Json


class DeclaredServer:
    """The tools of a server as its fixture describes them, as far as they are mocked."""

    instructions = ""
    version = 0

    def __init__(self, document: Server, mocked: Collection[str]) -> None:
        self._document = document
        self._tools = tuple(
            Tool(
                name=name,
                description=tool.description,
                input_schema=freeze(tool.parameters),
                output_schema=freeze(tool.output),
                read_only=tool.read_only,
                destructive=tool.destructive,
                leaves_world=tool.leaves_world,
                title=tool.title,
            )
            for name, tool in document.declared().items()
            if name in mocked and name not in document.hide
        )

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        return self._document.id

    def tools(self) -> tuple[Tool, ...]:
        """The tools that are mocked."""
        return self._tools

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Nothing is carried out here: fixtures answer.

        Raises:
            ToolServerError: always.
        """
        raise ToolServerError(f"server {self.name!r} is not started, and {tool} is not mocked")
