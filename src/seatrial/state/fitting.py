"""Whether calls that nobody held against a schema when they were made fit the actions of a world."""

from __future__ import annotations

from collections.abc import Mapping

from seatrial.documents.world import ObjectsWorld, World
from seatrial.state.actions import tool
from seatrial.state.schemas import validator
from seatrial.trace import Json


def misfits(world: World, action: str, arguments: Mapping[str, Json]) -> tuple[str, ...] | None:
    """Why the arguments do not fit the action's schema, empty when they do; None without such an action."""
    declared = world.actions.get(action) if isinstance(world, ObjectsWorld) else None
    if declared is None:
        return None
    schema = tool(action, declared).input_schema
    return tuple(validator(schema).misfits(arguments, lambda path: path or "the object"))
