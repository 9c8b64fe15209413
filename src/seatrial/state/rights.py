"""What a role may do."""

from __future__ import annotations

from collections.abc import Mapping

from seatrial.documents.world import Role, World
from seatrial.state.actions import tool, with_defaults
from seatrial.state.operators import all_fulfilled
from seatrial.state.schemas import validator
from seatrial.trace import Json


class Rights:
    """The rights of one role in one world; in a world without roles everything is allowed."""

    def __init__(self, world: World, role: str | None) -> None:
        """Take a role that the loader has checked.

        Raises:
            ValueError: the world has roles and this is none of them, or has none and one is named.
        """
        if role is None and world.roles:
            raise ValueError(f"world {world.id!r} has roles ({', '.join(world.roles)}): name one")
        if role is not None and role not in world.roles:
            raise ValueError(f"world {world.id!r} has no role {role!r}")
        self._world = world
        self._name = role
        self._role = None if role is None else world.roles[role]

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
        declared = self._world.actions.get(action)
        if not conditions or declared is None:
            return None
        if not validator(tool(action, declared).input_schema).fits(arguments):
            return None
        misses = all_fulfilled(conditions, with_defaults(declared.parameters, arguments))
        if not misses:
            return None
        rule = f"roles.{self._name}.when.{action}"
        return f"role {self._name!r} may not call {action} like this: {'; '.join(misses)} ({rule})"

    def visible(self, action: str) -> bool:
        """Whether the action is listed for the role; what it may not call is listed unless the role says so."""
        return self._role is None or self._role.see_refused or allows(self._role, action)


def allows(role: Role, action: str) -> bool:
    """Whether the role's `allow` names the action."""
    return any(covers(entry, action) for entry in role.allow)


def covers(entry: str, action: str) -> bool:
    """Whether one entry of `allow` names the action: itself, or the start of it before a `*`."""
    return action.startswith(entry[:-1]) if entry.endswith("*") else action == entry
