"""What one role, acting under one purpose, may see of a world's state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.documents.world import Lock, ObjectsWorld, World
from seatrial.state.objects import LinkKey, Properties, State
from seatrial.state.operators import judged
from seatrial.state.schemas import Unjudged
from seatrial.state.values import MISSING, FrozenDict, Missing, look_up, quoted


class BeyondSight(Exception):
    """A call needs what the role may not see, or writes it; the message names role, thing and rule."""


@dataclass(frozen=True, slots=True)
class Closed:
    """A lock that this role cannot open under this purpose."""

    lock: Lock
    rule: str
    """Its place in the document: `locks[2]`."""
    why: str
    """What the role lacks."""

    def covers(self, key: str, properties: Properties) -> bool:
        """Whether it lies on this object, or on properties of it."""
        lock = self.lock
        if lock.keys and key not in lock.keys:
            return False
        try:
            return all(judged(one, look_up(properties, path)) for path, one in lock.where.items())
        except Unjudged:  # a text too long to be searched must not open a lock
            return True


class Sight:
    """The locks of a world that are closed to a role acting under a purpose."""

    __slots__ = ("_closed", "_links", "_types", "refuses", "role")

    def __init__(self, world: ObjectsWorld, role: str | None, purpose: str | None) -> None:
        """Take a role and a purpose that the loader has checked; a role of None sees everything."""
        self.role = role
        self.refuses = world.hidden == "refused"
        """Needing what is hidden is refused, and not answered as if it did not exist."""
        self._closed: dict[str, tuple[Closed, ...]] = {}
        if role is not None:
            cleared = frozenset(world.roles[role].clearances)
            for number, lock in enumerate(world.locks):
                why = _lacking(lock, cleared, purpose)
                if why:
                    closed = Closed(lock, f"locks[{number}]", why)
                    self._closed[lock.type] = (*self._closed.get(lock.type, ()), closed)
        self._links = {name: (kind.source, kind.target) for name, kind in world.links.items()}
        self._types = world.types

    @property
    def unlimited(self) -> bool:
        """Nothing is hidden."""
        return not self._closed

    def of_object(self, type: str, key: str, properties: Properties | Missing) -> Closed | None:
        """The lock that hides an object; None when it may be seen, or is not there."""
        if properties is MISSING:
            return None
        for closed in self._closed.get(type, ()):
            if not closed.lock.properties and closed.covers(key, properties):
                return closed
        return None

    def of_property(
        self, type: str, key: str, properties: Properties | Missing, name: str
    ) -> Closed | None:
        """The lock that hides a property of an object, whether the object has it or not."""
        for closed in self._closed.get(type, ()):
            hides = name in closed.lock.properties
            if hides and properties is not MISSING and closed.covers(key, properties):
                return closed
        return None

    def of_all(self, type: str, name: str) -> Closed | None:
        """The lock that hides a property of every object of a type."""
        for closed in self._closed.get(type, ()):
            lock = closed.lock
            if name in lock.properties and not lock.keys and not lock.where:
                return closed
        return None

    def against_writing(
        self, type: str, key: str, properties: Properties | Missing, name: str
    ) -> Closed | None:
        """The lock that keeps a property from being written.

        It hides the property, or hangs on it: who could write that could open the lock.
        """
        found = self.of_property(type, key, properties, name)
        if found is not None or properties is MISSING:
            return found
        for closed in self._closed.get(type, ()):
            grounds = {path.partition(".")[0] for path in closed.lock.where}
            if name in grounds and closed.covers(key, properties):
                return closed
        return None

    def seen(self, type: str, key: str, properties: Properties | Missing) -> Properties | Missing:
        """An object without its hidden properties; MISSING when it is hidden itself."""
        closed = self._closed.get(type)
        if not closed or properties is MISSING:
            return properties
        hidden: set[str] = set()
        for one in closed:
            if one.covers(key, properties):
                if not one.lock.properties:
                    return MISSING
                hidden.update(one.lock.properties)
        if hidden.isdisjoint(properties):
            return properties
        return FrozenDict({n: value for n, value in properties.items() if n not in hidden})

    def link_seen(self, link: LinkKey, state: State) -> bool:
        """Whether both ends of a link may be seen."""
        ends = zip(self._links[link[0]], link[1:], strict=True)
        return all(
            self.of_object(type, key, state.get(type, key)) is None
            for type, key in ends
            if type in self._closed
        )

    def beyond(self, verb: str, what: str, closed: Closed) -> str:
        """The sentence that says what is beyond the role's rights, and by which rule."""
        return f"role {self.role!r} may not {verb} {what}: {closed.why} ({closed.rule})"


class View:
    """A state as a role sees it: without hidden objects, hidden properties, and links to either."""

    __slots__ = ("sight", "whole")

    def __init__(self, whole: State, sight: Sight) -> None:
        self.whole = whole
        """The state with everything in it; it moves on when it is a draft's."""
        self.sight = sight

    def get(self, type: str, key: str) -> Properties | Missing:
        """As `State.get`; MISSING also for an object that is hidden."""
        return self.sight.seen(type, key, self.whole.get(type, key))

    def objects(self, type: str) -> Iterator[tuple[str, Properties]]:
        """As `State.objects`."""
        for key, properties in self.whole.objects(type):
            seen = self.sight.seen(type, key, properties)
            if seen is not MISSING:
                yield key, seen

    def links_at(self, type: str, key: str) -> Iterator[LinkKey]:
        """As `State.links_at`."""
        for link in self.whole.links_at(type, key):
            if self.sight.link_seen(link, self.whole):
                yield link

    def hides(self, type: str, key: str) -> Closed | None:
        """The lock that hides an object that is there."""
        return self.sight.of_object(type, key, self.whole.get(type, key))

    def hides_property(self, type: str, key: str, name: str) -> Closed | None:
        """The lock that hides a property of an object that may itself be seen."""
        return self.sight.of_property(type, key, self.whole.get(type, key), name)

    def over(self, whole: State) -> View:
        """The same sight of another state."""
        return View(whole, self.sight)


def _lacking(lock: Lock, cleared: frozenset[str], purpose: str | None) -> str:
    """What a role lacks to open a lock; empty when nothing."""
    lacking = [name for name in lock.markings if name not in cleared]
    reasons = [f"it is marked {', '.join(lacking)}"] if lacking else []
    if lock.purposes and purpose not in lock.purposes:
        under = f"not {purpose}" if purpose is not None else "and there is none"
        reasons.append(f"it is read only for {' or '.join(lock.purposes)}, {under}")
    return " and ".join(reasons)


def held_by_world(world: World, role: str | None, purpose: str | None) -> frozenset[str]:
    """Actions whose calls must be held against the state to know whether they are within the role's rights."""
    if not isinstance(world, ObjectsWorld) or role is None:
        return frozenset()
    if not Sight(world, role, purpose).unlimited:
        return frozenset(world.actions)
    return frozenset(world.roles[role].where)


def written_out(type: str, key: str, property: str = "") -> str:
    """`customer 'c-1'`, or `customer.email of 'c-1'`."""
    return f"{type}.{property[:80]} of {quoted(key)}" if property else f"{type} {quoted(key)}"
