"""What every trial's copy of a world can do, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from seatrial.state import State
from seatrial.tools import Tool
from seatrial.trace import Answer, Change, Json


class WorldCopy(Protocol):
    """One trial's own copy of a world: a tool server, and what has become of it.

    What the agent does wrong is an answer with `is_error`. A ToolServerError says that the world itself
    died, hung, answered garbage, or cannot do what its document says.
    """

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        ...

    @property
    def instructions(self) -> str:
        """What the server tells agents about itself; may be empty."""
        ...

    @property
    def version(self) -> int:
        """Rises with each call that changed something."""
        ...

    def tools(self) -> Sequence[Tool]:
        """The tools there are, whatever a role may call; the same object every time."""
        ...

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Carry out a tool.

        Raises:
            ToolServerError: the world itself failed.
            BeyondRights: the call is beyond the rights of the role the copy was opened for.
        """
        ...

    async def captured(self) -> State:
        """Everything there is now.

        Raises:
            ToolServerError: it cannot be read.
        """
        ...

    async def difference(self) -> tuple[Change, ...]:
        """The exact difference from the trial's start to now.

        Raises:
            ToolServerError: the state cannot be read.
        """
        ...
