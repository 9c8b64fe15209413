"""The state of a world: objects by type and key, and typed links between them.

A `State` never changes; a `Draft` makes the next one. It is a shared start plus what was written
since, so that a trial's copy costs nothing, a thousand trials share one start, and a difference looks
only at what was written. All values in it are frozen: whatever is handed out cannot change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from seatrial.documents.world import ObjectsWorld
from seatrial.state.values import (
    MISSING,
    FrozenDict,
    FrozenList,
    Missing,
    as_text,
    freeze,
    same,
    thaw,
)
from seatrial.trace import Json

Properties = FrozenDict
"""An object's properties, frozen."""

ObjectKey = tuple[str, str]
"""Type and key of an object."""

LinkKey = tuple[str, str, str]
"""Link type, key of the object it starts from, key of the object it leads to."""


class Start:
    """What all states of one world have in common: read, and never written."""

    def __init__(
        self, objects: Mapping[str, Mapping[str, Properties]], links: Iterable[LinkKey]
    ) -> None:
        self.objects = {type: dict(keyed) for type, keyed in objects.items()}
        self.links = dict.fromkeys(links)

    @cached_property
    def links_by_end(self) -> Mapping[ObjectKey, tuple[LinkKey, ...]]:
        """Link type and key of either end → the links there."""
        found: dict[ObjectKey, dict[LinkKey, None]] = {}
        for link in self.links:
            type, source, target = link
            found.setdefault((type, source), {})[link] = None
            found.setdefault((type, target), {})[link] = None
        return {end: tuple(links) for end, links in found.items()}


class State:
    """Objects and links at one moment. Two states are equal when nothing differs."""

    __slots__ = ("_made", "_start", "_wired", "_written")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, start: Start) -> None:
        self._start = start
        self._written: dict[ObjectKey, Properties | None] = {}
        """What was created or changed since the start; None: deleted."""
        self._wired: dict[LinkKey, bool] = {}
        """Links made (true) or cut (false) since the start."""
        self._made: dict[str, int] = {}
        """How many ids were drawn for each type; no part of what is compared."""

    def copy(self) -> State:
        """A state of its own; it costs what was written, not what there is."""
        copy = State(self._start)
        copy._written.update(self._written)
        copy._wired.update(self._wired)
        copy._made.update(self._made)
        return copy

    def get(self, type: str, key: str) -> Properties | Missing:
        """An object's properties, frozen; MISSING when there is no such object."""
        found = self._written.get((type, key), MISSING)
        if found is MISSING:
            return self._start.objects.get(type, {}).get(key, MISSING)
        return MISSING if found is None else found

    def known(self, type: str, key: str) -> bool:
        """Whether there is or ever was an object of this key."""
        return (type, key) in self._written or key in self._start.objects.get(type, {})

    def types(self) -> tuple[str, ...]:
        """The types of which there are objects, sorted."""
        named = {*self._start.objects, *(type for type, _ in self._written)}
        return tuple(sorted(type for type in named if next(self.objects(type), None) is not None))

    def objects(self, type: str) -> Iterator[tuple[str, Properties]]:
        """The objects of a type with their keys: first those of the start in their order, then new ones."""
        start = self._start.objects.get(type, {})
        for key, properties in start.items():
            now = self._written.get((type, key), properties)
            if now is not None:
                yield key, now
        for (its_type, key), created in self._written.items():
            if its_type == type and created is not None and key not in start:
                yield key, created

    def keyed(self, type: str) -> dict[str, Properties]:
        """The objects of a type by key, in a mapping of its own."""
        found = dict(self._start.objects.get(type, {}))
        for (its_type, key), now in self._written.items():
            if its_type == type:
                if now is None:
                    found.pop(key, None)
                else:
                    found[key] = now
        return found

    def links(self) -> Iterator[LinkKey]:
        """All links: first those of the start in their order, then new ones."""
        yield from (link for link in self._start.links if self._wired.get(link, True))
        yield from (
            link for link, there in self._wired.items() if there and link not in self._start.links
        )

    def linked(self, link: LinkKey) -> bool:
        """Whether there is this link."""
        return self._wired.get(link, link in self._start.links)

    def links_at(self, type: str, key: str) -> Iterator[LinkKey]:
        """The links of a link type that start from or lead to an object's key."""
        for link in self._start.links_by_end.get((type, key), ()):
            if self._wired.get(link, True):
                yield link
        for link, there in self._wired.items():
            if there and link[0] == type and key in link[1:] and link not in self._start.links:
                yield link

    def drawn(self, type: str) -> int:
        """How many ids were drawn for objects of a type."""
        return self._made.get(type, 0)

    def shares_start(self, other: State) -> bool:
        """Whether both grew from the same start, so that only what was written can differ."""
        return self._start is other._start

    def touched(self) -> tuple[Iterable[ObjectKey], Iterable[LinkKey]]:
        """Objects and links written since the start; they may be again what they were."""
        return self._written.keys(), self._wired.keys()

    def to_json(self) -> dict[str, dict[str, dict[str, Json]]]:
        """`{type: {key: {property: value}}}`, a copy that its holder may change."""
        return {
            type: {key: thaw(properties) for key, properties in self.objects(type)}
            for type in self.types()
        }

    def links_to_json(self) -> list[dict[str, str]]:
        """`[{type, from, to}]`, sorted."""
        return [{"type": t, "from": source, "to": to} for t, source, to in sorted(self.links())]

    def captured(self) -> FrozenDict:
        """Everything there is, frozen and shared with the state: `{"objects": …, "links": …}`, as JSON."""
        objects = {type: FrozenDict(self.objects(type)) for type in self.types()}
        return FrozenDict(
            objects=FrozenDict(objects), links=FrozenList(map(FrozenDict, self.links_to_json()))
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if not self.shares_start(other):
            return same(self.to_json(), other.to_json()) and set(self.links()) == set(other.links())
        mine, theirs = self.touched(), other.touched()
        return all(same(self.get(*k), other.get(*k)) for k in {*mine[0], *theirs[0]}) and all(
            self.linked(link) == other.linked(link) for link in {*mine[1], *theirs[1]}
        )

    def __repr__(self) -> str:
        return f"State({len(self._written)} objects and {len(self._wired)} links written)"


class Draft:
    """Changes to a state that are made together or not at all: `state()` is the state with them."""

    def __init__(self, before: State) -> None:
        self._before = before
        self.now = before.copy()
        """The state as it would be; it moves on with every change made here."""
        self.objects_written: dict[ObjectKey, None] = {}
        """Objects put or deleted in this draft, in order."""

    def put(self, type: str, key: str, properties: Mapping[str, Any]) -> None:
        """Create an object, or give it these properties and no others."""
        self._write((type, key), FrozenDict({k: freeze(v) for k, v in properties.items()}))

    def delete(self, type: str, key: str) -> None:
        """Remove an object; its links are the caller's to cut."""
        self._write((type, key), None)

    def link(self, link: LinkKey, there: bool) -> None:
        """Make a link, or cut it."""
        self.now._wired[link] = there

    def draw(self, type: str) -> int:
        """The number of the next id of a type, from 0; it is then used up."""
        number = self.now.drawn(type)
        self.now._made[type] = number + 1
        return number

    def state(self) -> State:
        """The state with the changes; the very same state when nothing is different after them."""
        return self._before if self.now == self._before else self.now.copy()

    def _write(self, key: ObjectKey, properties: Properties | None) -> None:
        self.now._written[key] = properties
        self.objects_written[key] = None


def state_from_json(
    objects: Mapping[str, Mapping[str, Mapping[str, Json]]], links: Iterable[LinkKey] = ()
) -> State:
    """A state from `{type: {key: {property: value}}}`, for example one that another tool recorded.

    Raises:
        TypeError: something on the way to the properties is no mapping, or a value is no JSON.
    """
    keyed: dict[str, dict[str, Properties]] = {}
    for type, by_key in objects.items():
        if not isinstance(by_key, Mapping):
            raise TypeError(f"{type!r} must map keys to objects, not be a {_kind(by_key)}")
        keyed[type] = {}
        for key, properties in by_key.items():
            if not isinstance(properties, Mapping):
                raise TypeError(
                    f"{type!r} {key!r} must map properties, not be a {_kind(properties)}"
                )
            keyed[type][key] = freeze(dict(properties))
    return State(Start(keyed, links))


def start_state(world: ObjectsWorld) -> State:
    """The starting state of a world (see `validate.world_problems` for what it must hold to)."""
    keyed = {
        name: {
            as_text(properties[world.types[name].key]): freeze(properties) for properties in objects
        }
        for name, objects in world.objects.items()
    }
    return State(Start(keyed, [(link.type, link.source, link.target) for link in world.linked]))


def _kind(value: object) -> str:
    return type(value).__name__
