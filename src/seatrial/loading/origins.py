"""Values put together from several documents, each part with the document that wrote it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.loading.places import Part, Places, Steps, Woven


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written, and where the parts of it that were written elsewhere."""

    places: Places
    """Of the document that wrote it."""
    steps: Steps = ()
    """Where it stands there."""
    parts: Mapping[str | int, Origin] = field(default_factory=dict)
    """The origin of its parts, where it does not follow from its own."""

    def of(self, step: str | int) -> Origin:
        """The origin of a part."""
        return self.parts.get(step) or Origin(self.places, (*self.steps, step))

    def woven(self, own: Places) -> Places:
        """The places of a document that has this origin and stands where `own` says."""
        return Woven(own, self._part) if self.parts else own

    def _part(self) -> Part:
        written = self.places.top.within(self.steps)
        if not self.parts:
            return written
        children = written.children | {step: part._part() for step, part in self.parts.items()}
        return Part(written.place, written.key, children, written.file)


@dataclass(frozen=True, slots=True)
class Layer:
    """A value with its origin."""

    value: Any
    origin: Origin

    def of(self, step: str | int) -> Layer:
        """A part of it."""
        return Layer(self.value[step], self.origin.of(step))

    def without(self, keys: Collection[str], holes: dict[int, Any]) -> Layer:
        """A mapping without these keys; among `holes` if it was one of them."""
        if not any(key in self.value for key in keys):
            return self
        kept = {key: value for key, value in self.value.items() if key not in keys}
        if id(self.value) in holes:
            holes[id(kept)] = kept
        return Layer(kept, self.origin)


def merged(below: Layer, above: Layer, holes: dict[int, Any]) -> Layer:
    """What `above` says, and where it says nothing, what `below` says.

    Mappings are merged key by key; a `null` takes the key below away. Everything else is replaced, and so is a
    mapping that says another `type` than the one below: its other keys would be of that other type.

    Args:
        below: what is inherited.
        above: what inherits it.
        holes: mappings that lost a key when they were read, by identity; what is merged of one is added.
    """
    under, over = below.value, above.value
    if not (isinstance(under, dict) and isinstance(over, dict)) or _of_other_type(under, over):
        return above
    value, parts = dict(under), {key: below.origin.of(key) for key in under}
    for key, own in over.items():
        if key not in under:
            value[key], parts[key] = own, above.origin.of(key)
        elif own is None:
            del value[key], parts[key]
        else:
            inner = merged(below.of(key), above.of(key), holes)
            value[key], parts[key] = inner.value, inner.origin
    if id(under) in holes or id(over) in holes:
        holes[id(value)] = value
    return Layer(value, Origin(above.origin.places, above.origin.steps, parts))


def _of_other_type(under: Mapping[str, Any], over: Mapping[str, Any]) -> bool:
    return "type" in under and over.get("type", under["type"]) != under["type"]


def weight(value: Any, most: int) -> int:
    """How many values a value holds, itself included; a long text counts for several. Beyond `most` nobody counts."""
    found, waiting = 0, [value]
    while waiting and found <= most:
        part = waiting.pop()
        found += 1 + len(part) // 200 if isinstance(part, str) else 1
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return found
