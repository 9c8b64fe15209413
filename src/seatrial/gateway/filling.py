"""What the placeholders of mocked answers stand for: the trial, the call, and what earlier calls left behind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import cached_property

from seatrial.documents import placeholders
from seatrial.state import MISSING, look_up
from seatrial.state.breaking import STALE_HOURS
from seatrial.state.chance import Chance
from seatrial.state.values import thaw
from seatrial.trace import Json


class Memory:
    """What the mocked answers of one trial have in common."""

    def __init__(self, state: Mapping[str, Json], lookup: Mapping[str, Json], seed: int) -> None:
        """Begin a trial.

        Args:
            state: what there is at the start.
            lookup: what the trial's own placeholders stand for.
            seed: what is drawn at random is drawn from it.
        """
        self.first_state = state
        """What there was when the trial began."""
        self.lookup = lookup
        self.chance = Chance(seed)

    @cached_property
    def state(self) -> dict[str, Json]:
        """What calls have left behind."""
        return dict(thaw(dict(self.first_state)))

    @cached_property
    def now(self) -> dt.datetime:
        """The trial's frozen clock."""
        return dt.datetime.fromisoformat(str(self.lookup["now"]))


class Scope:
    """What placeholders stand for in one call."""

    __slots__ = ("_age", "_arguments", "_memory", "_name")

    def __init__(
        self, memory: Memory, arguments: dict[str, Json], name: str, age: dt.timedelta | None = None
    ) -> None:
        self._memory = memory
        self._arguments = arguments
        self._name = name
        self._age = age

    def aged(self, hours: float | None) -> Scope:
        """The same call as it would have been answered before: with the state of the start, and an older clock."""
        age = dt.timedelta(hours=STALE_HOURS if hours is None else hours)
        return Scope(self._memory, self._arguments, self._name, age)

    def value(self, placeholder: str) -> Json:
        """What a placeholder stands for.

        Raises:
            NotGiven: an argument the agent left out, or state that there is not.
            KeyError: a name that stands for nothing; the loader refuses it.
        """
        if placeholder.startswith("args."):
            value = look_up(self._arguments, placeholder.removeprefix("args."))
        elif placeholder.startswith("state."):
            state = self._memory.state if self._age is None else self._memory.first_state
            value = look_up(state, placeholder.removeprefix("state."))
        elif placeholder == "uuid":
            return self._memory.chance.uuid(self._name)
        elif self._age is None and placeholder in self._memory.lookup:
            return self._memory.lookup[placeholder]
        else:
            return self._moment(placeholder)
        if value is MISSING:
            raise NotGiven
        return value

    def value_or_null(self, placeholder: str) -> Json:
        """What a placeholder stands for; null for what was not given."""
        try:
            return self.value(placeholder)
        except NotGiven:
            return None

    def _moment(self, placeholder: str) -> Json:
        if placeholder == "run":
            return self._memory.lookup[placeholder]
        now = self._memory.now
        if self._age is not None:
            now = max(now, dt.datetime.min.replace(tzinfo=now.tzinfo) + self._age) - self._age
        moment = placeholders.moved(placeholder, now)
        if moment is None:
            raise KeyError(placeholder)
        return moment


class NotGiven(Exception):
    """An argument that a placeholder names was left out of the call."""
