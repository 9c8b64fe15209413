"""What a role may do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from seatrial.documents.world import ObjectsWorld, World
from seatrial.state.access import allows, listed
from seatrial.state.actions import tool, with_defaults
from seatrial.state.operators import all_fulfilled
from seatrial.state.schemas import validator
from seatrial.tools import Tool
from seatrial.trace import Json


class Rights:
    """The rights of one role in one world; in a world without roles everything is allowed."""

    def __init__(
        self,
        world: World,
        role: str | None,
        tools: Iterable[Tool] | None = None,
        *,
        see_refused: bool | None = None,
    ) -> None:
        """Take a role that the loader has checked.

        Args:
            world: the world.
            role: one of its roles; None in a world without any.
            tools: what the world offers. Those of `objects` are known without; of other kinds, the
                conditions of a role hold for whatever arguments there are.
            see_refused: whether what the role may not call is listed; as the role says when None.

        Raises:
            ValueError: the world has roles and this is none of them, or has none and one is named.
        """
        if role is None and world.roles:
            raise ValueError(f"world {world.id!r} has roles ({', '.join(world.roles)}): name one")
        if role is not None and role not in world.roles:
            raise ValueError(f"world {world.id!r} has no role {role!r}")
        self._world = world
        self._tools = None if tools is None else {offered.name: offered for offered in tools}
        self._name = role
        self._role = None if role is None else world.roles[role]
        self._see_refused = see_refused

    def refusal(self, action: str, arguments: Mapping[str, Json]) -> str | None:
        """Why a call is beyond the role's rights, naming role and rule; None when it is not.

        Arguments that do not fit the action's schema are no matter of rights: the action will not
        be carried out with them, whoever calls.
        """
        if self._role is None:
            return None
        if not allows(self._role, action):
            return (
                f"role {self._name!r} may not call {action}: it is not in roles.{self._name}.allow"
            )
        conditions = self._role.when.get(action)
        if not conditions:
            return None
        known = self._tool(action)
        if known is not None and not validator(known.input_schema).fits(arguments):
            return None
        schema = known.input_schema if known is not None else {}
        misses = all_fulfilled(conditions, with_defaults(schema, arguments))
        if not misses:
            return None
        rule = f"roles.{self._name}.when.{action}"
        return f"role {self._name!r} may not call {action} like this: {'; '.join(misses)} ({rule})"

    def _tool(self, name: str) -> Tool | None:
        if self._tools is not None:
            return self._tools.get(name)
        action = self._world.actions.get(name) if isinstance(self._world, ObjectsWorld) else None
        return None if action is None else tool(name, action)

    def visible(self, action: str) -> bool:
        """Whether the action is listed for the role."""
        return self._role is None or listed(self._role, action, self._see_refused)
