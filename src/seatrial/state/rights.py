"""What a role may do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from seatrial.documents import Server
from seatrial.documents.conditions import Conditions
from seatrial.documents.world import ObjectsWorld, World
from seatrial.state.access import beyond, listed
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
        purpose: str | None = None,
    ) -> None:
        """Take a role that the loader has checked.

        Args:
            world: the world.
            role: one of its roles; None in a world without any.
            tools: what the world offers. Those of `objects` are known without; of other kinds, the
                conditions of a role hold for whatever arguments there are.
            see_refused: whether what the role may not call is listed; as the role says when None.
            purpose: the purpose that the role acts under.

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
        self._purpose = purpose

    def refusal(self, action: str, arguments: Mapping[str, Json]) -> str | None:
        """Why a call is beyond the role's rights, naming role and rule; None when it is not.

        Arguments that do not fit the action's schema are no matter of rights: the action will not
        be carried out with them, whoever calls.
        """
        if self._role is None:
            return None
        why = beyond(str(self._name), self._role, action, self._purpose)
        if why is not None:
            return why
        conditions = self._role.when.get(action)
        if not conditions:
            return None
        known = self._tool(action)
        if known is not None and not validator(known.input_schema).fits(arguments):
            return None
        schema = known.input_schema if known is not None else {}
        return _missed(str(self._name), action, conditions, with_defaults(schema, arguments))

    def _tool(self, name: str) -> Tool | None:
        if self._tools is not None:
            return self._tools.get(name)
        action = self._world.actions.get(name) if isinstance(self._world, ObjectsWorld) else None
        return None if action is None else tool(name, action)

    def visible(self, action: str) -> bool:
        """Whether the action is listed for the role."""
        role = self._role
        return role is None or listed(role, action, self._see_refused, self._purpose)


class ServerRights:
    """What a role may call on a real server, whose own rules are its own matter.

    Unlike in a world, arguments that do not fit the schema are held against the conditions too: the server
    is given them, and may make something of them.
    """

    def __init__(
        self,
        server: Server,
        role: str | None,
        tools: Iterable[Tool],
        *,
        see_refused: bool | None = None,
        purpose: str | None = None,
    ) -> None:
        """Take a server's fixture.

        Args:
            server: the fixture; without `roles` everything may be called.
            role: the role of the case; one that the server does not name may call nothing.
            tools: what the server offers.
            see_refused: whether what the role may not call is listed; as the role says when None.
            purpose: the purpose that the role acts under.
        """
        self._server = server.id
        self._all = not server.roles
        self._name = role
        self._role = server.roles.get(role) if role is not None else None
        self._schemas = {tool.name: tool.input_schema for tool in tools}
        self._see_refused = see_refused
        self._purpose = purpose

    def refusal(self, action: str, arguments: Mapping[str, Json]) -> str | None:
        """Why a call is beyond the role's rights, naming role and rule; None when it is not."""
        if self._all:
            return None
        if self._role is None:
            who = f"role {self._name!r}" if self._name is not None else "no role"
            return (
                f"server {self._server!r} names {who} under its `roles`: it may call nothing there"
            )
        why = beyond(str(self._name), self._role, action, self._purpose)
        conditions = self._role.when.get(action)
        if why is None and conditions:
            given = with_defaults(self._schemas.get(action, {}), arguments)
            why = _missed(str(self._name), action, conditions, given)
        return None if why is None else f"{why} of server {self._server!r}"

    def visible(self, action: str) -> bool:
        """Whether the tool is listed for the role."""
        if self._all:
            return True
        if self._role is None:
            return self._see_refused is True
        return listed(self._role, action, self._see_refused, self._purpose)


def _missed(
    name: str, action: str, conditions: Conditions, given: Mapping[str, Json]
) -> str | None:
    misses = all_fulfilled(conditions, given)
    if not misses:
        return None
    rule = f"roles.{name}.when.{action}"
    return f"role {name!r} may not call {action} like this: {'; '.join(misses)} ({rule})"
