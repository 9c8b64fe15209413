"""One trial's state, and the functions that are called with it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from seatrial.documents.world import PythonWorld
from seatrial.errors import WorldError
from seatrial.functions import told as told_of
from seatrial.printed import Printed, diverted, listening
from seatrial.state import State, difference
from seatrial.state.answers import tool_answer
from seatrial.threads import in_thread
from seatrial.tools import Tool
from seatrial.trace import Answer, Change, Json
from seatrial.worlds.python.drafts import WorkingCopy
from seatrial.worlds.python.reading import Start, loaded
from seatrial.worlds.python.signatures import TRIAL, Function
from seatrial.worlds.templates import Templates
from seatrial.worlds.told import Told


@dataclass(slots=True)
class Trial:
    """What a function with a parameter `trial` is given."""

    now: dt.datetime
    """The frozen clock."""
    run: str
    """A token that no other trial has."""
    random: random.Random
    """Chance that comes out the same in every trial of this seed."""
    _drawn: set[str] = field(default_factory=set, repr=False)

    def new_id(self, type: str) -> str:
        """A key that this trial has not given before: `order-1f6b3c2a`."""
        while True:
            found = f"{type}-{self.random.getrandbits(32):08x}"
            if found not in self._drawn:
                self._drawn.add(found)
                return found


@asynccontextmanager
async def opened(
    world: PythonWorld, root: Path, templates: Templates, *, run_token: str, seed: int
) -> AsyncIterator[PythonCopy]:
    """A trial's own state, until the block ends.

    Raises:
        WorldError: a function cannot be loaded, or the start is no state.
    """
    with diverted():
        start = await templates.of(world, partial(loaded, world, root))
        yield PythonCopy(world, start, Trial(world.now, run_token, random.Random(seed)))


class PythonCopy:
    """One trial's state, served as one tool server."""

    def __init__(self, world: PythonWorld, start: Start, trial: Trial) -> None:
        self._world = world
        self._start = start
        self._trial = trial
        self._tools = tuple(function.tool for function in start.functions.values())
        self._state = start.state
        self._version = 0
        self._lock = anyio.Lock()

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        return self._world.id

    @property
    def instructions(self) -> str:
        """What the server tells agents about itself; may be empty."""
        return self._world.instructions

    @property
    def version(self) -> int:
        """Rises by one with each call that changed something."""
        return self._version

    def tools(self) -> tuple[Tool, ...]:
        """The tools of the fixture, in its order."""
        return self._tools

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Call a function. What it refuses is an answer, and leaves the state as it was.

        Raises:
            WorldError: the function failed, took too long, or left what is no state.
        """
        function = self._start.functions.get(tool)
        if function is None:
            return Answer.of_text(f"there is no such tool: {tool[:80]}", is_error=True)
        # One after the other: a call works on the state that the one before has left.
        async with self._lock:
            working = WorkingCopy(self._state, self._start.types)
            try:
                values = function.values(arguments)
                given = await self._given(tool, function, working.state, values)
            except Told as told:
                return Answer.of_text(f"{tool}: {told}.", is_error=True)
            except self._start.refusals as error:
                return Answer.of_text(str(error) or type(error).__name__, is_error=True)
            try:
                value = function.as_json(given)
                state = working.collected()
            except (TypeError, ValueError, WorldError) as error:
                raise self._fault(tool, f"left what cannot be kept: {error}") from error
            if state is not self._state:
                if function.tool.read_only:
                    raise self._fault(tool, "is `read_only`, and has changed the state")
                self._state = state
                self._version += 1
            return tool_answer(
                "done" if value is None else value,
                function.output,
                world=self._world.id,
                tool=f"tools.{tool}",
            )

    async def captured(self) -> State:
        """Everything there is now."""
        return self._state

    async def difference(self) -> tuple[Change, ...]:
        """The exact difference from the trial's start to now."""
        return difference(self._start.state, self._state)

    async def _given(
        self, tool: str, function: Function, state: dict[str, Any], values: dict[str, Any]
    ) -> Any:
        """What the function gives; a call that takes too long is left to itself, and works on for nobody."""
        if function.takes_trial:
            values[TRIAL] = self._trial
        call = partial(function.call, state, **values)
        with listening(Printed()):
            try:
                with anyio.fail_after(self._world.seconds):
                    if function.is_async:
                        return await call()
                    return await in_thread(call, "seatrial world")
            except TimeoutError as error:
                if TimeoutError in self._start.refusals:
                    raise
                raise self._fault(tool, f"took more than {self._world.seconds:g} s") from error
            except self._start.refusals:
                raise
            except (Exception, SystemExit) as error:
                raise self._fault(tool, f"raised {told_of(error)}") from error

    def _fault(self, tool: str, what: str) -> WorldError:
        return WorldError(f"world {self._world.id!r}: tools.{tool} {what}")
