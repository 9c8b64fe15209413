"""A practice world of kind `objects`: YAML objects, actions declared as data, one copy a trial."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import Any

from seatrial.documents.world import ObjectsWorld
from seatrial.state import State
from seatrial.state.actions import Actions
from seatrial.state.difference import difference
from seatrial.state.scope import Trial
from seatrial.state.sight import Sight
from seatrial.tools import BeyondRights, Tool
from seatrial.trace import Answer, Change, Json


class ObjectsCopy:
    """One trial's world, served as one tool server; what it hands out cannot be used to change it."""

    def __init__(
        self, actions: Actions, *, run_token: str, seed: int, sight: Sight | None = None
    ) -> None:
        self._actions = actions
        self._trial = Trial(run=run_token, seed=seed, sight=sight)
        self._state = actions.start
        self._version = 0
        # An agent may call in parallel, from several threads where it runs in this process.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        return self._actions.world.id

    @property
    def instructions(self) -> str:
        """What the server tells agents about itself; may be empty."""
        return self._actions.world.instructions

    @property
    def version(self) -> int:
        """Rises by one with each call that changed something."""
        return self._version

    def tools(self) -> tuple[Tool, ...]:
        """The world's actions as tools, whatever a role may call."""
        return self._actions.tools

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Carry out an action; see `act`."""
        return self.act(tool, arguments)

    def act(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Carry out an action. What the agent did wrong is an answer that says what to do otherwise.

        Raises:
            WorldError: the action cannot do what the fixture says.
            BeyondRights: the call is beyond the rights of the role the copy was opened for.
        """
        with self._lock:
            outcome = self._actions.carry_out(tool, arguments, self._state, self._trial)
            if outcome.state is not self._state:
                self._state = outcome.state
                self._version += 1
        if outcome.beyond is not None:
            raise BeyondRights(outcome.beyond, outcome.answer)
        return outcome.answer

    def changes(self) -> tuple[Change, ...]:
        """The exact difference from the trial's start to now."""
        return difference(self._actions.start, self._state)

    async def captured(self) -> State:
        """Everything there is now."""
        return self._state

    async def difference(self) -> tuple[Change, ...]:
        """The same as `changes`, in the way that all kinds of worlds have."""
        return self.changes()

    def state(self) -> dict[str, Json]:
        """Everything there is now, frozen: `{"objects": {type: {key: {…}}}, "links": [{type, from, to}]}`."""
        return self._state.captured()


_ready: dict[int, tuple[weakref.ref[ObjectsWorld], Actions]] = {}
"""By the fixture's identity: its actions made ready, for as long as the fixture is in use."""


def open_world(
    fixture: ObjectsWorld,
    *,
    run_token: str,
    seed: int,
    role: str | None = None,
    purpose: str | None = None,
) -> ObjectsCopy:
    """A trial's own copy of a world. The first of a fixture costs its size, all further ones nothing.

    Args:
        fixture: the world.
        run_token: what `{{run}}` stands for.
        seed: what `{{new_id}}` is drawn from.
        role: the role that it serves, and whose sight and conditions hold; None: all is seen.
        purpose: the purpose that the role acts under.
    """
    sight = Sight(fixture, role, purpose) if role is not None else None
    return ObjectsCopy(_actions(fixture), run_token=run_token, seed=seed, sight=sight)


def _actions(fixture: ObjectsWorld) -> Actions:
    identity = id(fixture)
    known = _ready.get(identity)
    if known is not None and known[0]() is fixture:
        return known[1]
    # What is made ready must not keep the fixture alive, or it would never be forgotten.
    actions = Actions(fixture.model_copy())
    _ready[identity] = (weakref.ref(fixture, lambda _: _ready.pop(identity, None)), actions)
    return actions
