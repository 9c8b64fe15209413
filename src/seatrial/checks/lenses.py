"""What makes no difference between two values of a world: `ignore` and `normalize` at their paths.

A lens is what the check says about one place in an object. Going into a part of the value gives the
lens of that part: what holds at a place holds for everything below it.
"""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.checks.assignment import assign
from seatrial.checks.leaves import Leaf, Path
from seatrial.documents.checks import Normalization
from seatrial.documents.conditions import Condition
from seatrial.state import MISSING, fulfils, judged, same
from seatrial.state.values import as_decimal, is_number

MOST_PAIRED = 300
"""Items of two lists that are paired off one by one where order is ignored and numbers have a
tolerance; the items of longer ones are compared in sorted order."""

Patterns = tuple[tuple[str, Normalization], ...]
"""What is left of each path, and what holds there."""


def matches(pattern: str, path: Sequence[str]) -> bool:
    """Whether a dotted pattern (`items.*.price`) stands for a path, or for a place above it."""
    rest: list[str] = [pattern]
    for step in path:
        rest = [after for pattern in rest for after in _after(pattern, step)]
        if "" in rest:
            return True
    return False


def ignored(type: str, path: Path, ignore: Iterable[str]) -> bool:
    """Whether a difference at `path` of an object of this type lies within what is ignored."""
    for entry in ignore:
        name, _, rest = entry.partition(".")
        if name == type and (not rest or matches(rest, path)):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Lens:
    """How values are compared at one place."""

    case: bool = False
    """Upper and lower case make no difference, and so on."""
    whitespace: bool = False
    order: bool = False
    tolerance: float = 0
    time: str | None = None
    below: Patterns = ()
    """What further holds in parts of the value."""

    @classmethod
    def of(cls, type: str, normalize: Mapping[str, Normalization]) -> Lens:
        """The lens of whole objects of a type."""
        lens = cls()
        below = []
        for entry, normalization in normalize.items():
            name, _, rest = entry.partition(".")
            if name == type and rest:
                below.append((rest, normalization))
            elif name == type:
                lens = lens._with(normalization)
        return lens._over(tuple(below))

    def into(self, step: str) -> Lens:
        """The lens of a part: of a property, of a key of a mapping, of an item by its index or as `*`."""
        if not self.below:
            return self
        lens, below = self, []
        for pattern, normalization in self.below:
            for rest in _after(pattern, step):
                if rest:
                    below.append((rest, normalization))
                else:
                    lens = lens._with(normalization)
        return lens._over(tuple(below))

    def at(self, path: Iterable[str]) -> Lens:
        """The lens at the end of a path."""
        lens = self
        for step in path:
            lens = lens.into(step)
        return lens

    @property
    def plain(self) -> bool:
        """Values are compared as they are."""
        return self == _PLAIN

    def alike(self, a: Any, b: Any) -> bool:
        """Whether two values are the same but for what makes no difference."""
        if self.plain:
            return same(a, b)
        if isinstance(a, dict) and isinstance(b, dict):
            return len(a) == len(b) and all(
                key in b and self.into(key).alike(value, b[key]) for key, value in a.items()
            )
        if isinstance(a, list | tuple) and isinstance(b, list | tuple):
            if len(a) != len(b):
                return False
            if self.order:
                return not any(self._unpaired(a, b))
            return all(
                self.into(str(at)).alike(x, y) for at, (x, y) in enumerate(zip(a, b, strict=True))
            )
        if self.tolerance and is_number(a) and is_number(b):
            return abs(as_decimal(a) - as_decimal(b)) <= as_decimal(self.tolerance)
        if isinstance(a, str) and isinstance(b, str):
            return self._text(a) == self._text(b)
        return same(a, b)

    def differing(self, old: Any, new: Any, path: Path = ()) -> Iterator[Leaf]:
        """The parts in which two values differ and it matters, in the order of the new value."""
        pending: list[tuple[Lens, Path, Any, Any]] = [(self, path, old, new)]
        while pending:
            lens, at, before, after = pending.pop()
            parts: list[tuple[Lens, Path, Any, Any]]
            if isinstance(before, dict) and isinstance(after, dict):
                keys = [*after, *(key for key in before if key not in after)]
                parts = [
                    (lens.into(k), (*at, k), before.get(k, MISSING), after.get(k, MISSING))
                    for k in keys
                ]
            elif isinstance(before, list) and isinstance(after, list):
                parts = lens._differing_items(before, after, at)
            else:
                if not lens.alike(before, after):
                    yield Leaf(at, before, after)
                continue
            pending.extend(reversed(parts))

    def fulfils(self, condition: Condition, value: Any) -> bool:
        """Whether a value fulfils a condition, but for what makes no difference.

        Patterns and schemas see the value as it is.

        Raises:
            Unjudged: the value is too long or too deep for them.
        """
        if self.plain:
            return judged(condition, value)
        return all(self.holds(name, operand, value) for name, operand in condition.operators)

    def holds(self, name: str, operand: Any, value: Any) -> bool:
        """Whether one operator holds; an operand that is MISSING is never fulfilled."""
        if operand is MISSING:
            return False
        match name:
            case "equals":
                return self.alike(operand, value)
            case "not_equals":
                return not self.alike(operand, value)
            case "one_of":
                return any(self.alike(item, value) for item in operand)
            case "contains" | "not_contains" if isinstance(value, list | tuple):
                found = any(self.into("*").alike(operand, item) for item in value)
                return found is (name == "contains")
            case "contains" | "not_contains" if isinstance(value, dict):
                return fulfils(((name, operand),), value)
            case "matches" | "schema":
                return judged(((name, operand),), value)
            case "between":  # its bounds are no list of the world's, and have an order
                low, high = operand
                return self.holds("gte", low, value) and self.holds("lte", high, value)
            case _:
                return fulfils(((name, self._canonical(operand)),), self._canonical(value))

    def _differing_items(
        self, before: list[Any], after: list[Any], at: Path
    ) -> list[tuple[Lens, Path, Any, Any]]:
        if not self.order:
            return [
                (self.into(str(i)), (*at, str(i)), _item(before, i), _item(after, i))
                for i in range(max(len(before), len(after)))
            ]
        gone, come = self._unpaired(before, after)
        # What stays unpaired on both sides differs as a whole: which belongs to which is not known.
        return [
            (_PLAIN, (*at, "*"), _item(gone, i), _item(come, i))
            for i in range(max(len(gone), len(come)))
        ]

    def _unpaired(self, a: Sequence[Any], b: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The items of two lists that have no like in the other, whatever their order."""
        item = self.into("*")
        # With a tolerance two pairs of a chain may be alike and its ends not: only pairing off tells.
        if not item._tolerant() or max(len(a), len(b)) > MOST_PAIRED:
            left, right = Counter(map(item._key, a)), Counter(map(item._key, b))
            return _beyond(a, right, item), _beyond(b, left, item)
        options = [[j for j, y in enumerate(b) if item.alike(x, y)] for x in a]
        given = assign(options)
        return (
            [x for x, taken in zip(a, given, strict=True) if taken is None],
            [y for j, y in enumerate(b) if j not in given],
        )

    def _tolerant(self) -> bool:
        return bool(self.tolerance or any(n.tolerance for _, n in self.below))

    def _key(self, value: Any) -> str:
        return json.dumps(self._canonical(value), sort_keys=True, default=str)

    def _canonical(self, value: Any) -> Any:
        """The value in the form in which values that are alike are equal; tolerances left aside."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {key: self.into(key)._canonical(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            if self.order:
                item = self.into("*")
                return sorted((item._canonical(i) for i in value), key=_sortable)
            return [self.into(str(at))._canonical(i) for at, i in enumerate(value)]
        if isinstance(value, float) and value.is_integer():
            return int(value)  # 1 and 1.0 are the same number and must be written alike
        return value

    def _text(self, text: str) -> str:
        if self.time is not None:
            text = _cut(text, self.time)
        if self.case:
            text = text.casefold()
        return " ".join(text.split()) if self.whitespace else text

    def _with(self, more: Normalization) -> Lens:
        return Lens(
            case=self.case or more.case is not None,
            whitespace=self.whitespace or more.whitespace is not None,
            order=self.order or more.order is not None,
            tolerance=max(self.tolerance, more.tolerance or 0),
            time=_coarser(self.time, more.time),
            below=self.below,
        )

    def _over(self, below: Patterns) -> Lens:
        return Lens(self.case, self.whitespace, self.order, self.tolerance, self.time, below)


_PLAIN = Lens()
_UNITS = ("second", "minute", "hour", "day")


def _coarser(a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return a or b
    return max(a, b, key=_UNITS.index)


def _after(pattern: str, step: str) -> Iterator[str]:
    """What is left of a pattern after a step; empty when that was all. A key may itself hold dots."""
    if pattern == step:
        yield ""
        return
    if pattern.startswith(step + "."):
        yield pattern[len(step) + 1 :]
    if step != "*":
        if pattern == "*":
            yield ""
        elif pattern.startswith("*."):
            yield pattern[2:]


def _beyond(items: Sequence[Any], there: Counter[str], item: Lens) -> list[Any]:
    """The items that the other list has not, or not so often."""
    left = Counter(there)
    beyond = []
    for one in items:
        key = item._key(one)
        if left[key] > 0:
            left[key] -= 1
        else:
            beyond.append(one)
    return beyond


def _item(items: Sequence[Any], index: int) -> Any:
    return items[index] if index < len(items) else MISSING


def _sortable(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _cut(text: str, unit: str) -> str:
    """A moment, cut to a unit of time; any other text as it is."""
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return text
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(dt.UTC)
        except OverflowError:
            return text
    moment = moment.replace(microsecond=0)
    if unit != "second":
        moment = moment.replace(second=0)
    if unit in ("hour", "day"):
        moment = moment.replace(minute=0)
    return (moment.replace(hour=0) if unit == "day" else moment).isoformat()
