"""Tools that only a running world knows, held against what its document says of them."""

from __future__ import annotations

from collections.abc import Iterable

from seatrial.documents.world import DeclaredTool, World
from seatrial.errors import WorldError
from seatrial.state.validate import role_problems
from seatrial.tools import Tool


def check_roles(world: World, tools: Iterable[Tool]) -> None:
    """Hold the roles of a world against its tools.

    Raises:
        WorldError: a role names a tool or an argument that there is not; it would never be allowed, or
            never refused.
    """
    known = {tool.name: DeclaredTool(tool.input_schema, tool.read_only) for tool in tools}
    for path, message in role_problems(world, known):
        raise WorldError(f"world {world.id!r}: {path}: {message}")
