"""Inside a changed property: the smallest parts that differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from seatrial.state import MISSING, same
from seatrial.trace import Json

Path = tuple[str, ...]
"""Keys of mappings and indexes of lists, both as text."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part that differs; `MISSING` on the side that does not have it."""

    path: Path
    old: Any
    new: Any


def leaves(old: Json, new: Json, path: Path = ()) -> Iterator[Leaf]:
    """The parts in which two values differ, in the order of the new value.

    Mappings are gone into by key and lists by index; of anything else the whole value differs. Nothing
    comes of two values that are the same typed value.
    """
    # A stack in place of recursion: how deep a value goes is up to whoever wrote it.
    pending: list[tuple[Path, Any, Any]] = [(path, old, new)]
    while pending:
        at, before, after = pending.pop()
        if isinstance(before, dict) and isinstance(after, dict):
            keys = [*after, *(key for key in before if key not in after)]
            parts = [
                ((*at, key), before.get(key, MISSING), after.get(key, MISSING)) for key in keys
            ]
        elif isinstance(before, list) and isinstance(after, list):
            parts = [
                ((*at, str(i)), _item(before, i), _item(after, i))
                for i in range(max(len(before), len(after)))
            ]
        else:
            if not same(before, after):
                yield Leaf(at, before, after)
            continue
        pending.extend(reversed(parts))


def covers(path: Path, other: Path) -> bool:
    """`other` is at `path` or below it."""
    return other[: len(path)] == path


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else MISSING
