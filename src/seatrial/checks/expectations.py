"""What conditions ask of values, and the words for what falls short of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seatrial.documents.conditions import Condition, Conditions
from seatrial.state import MISSING, fulfils, look_up
from seatrial.state.operators import told
from seatrial.state.values import shown


@dataclass(frozen=True, slots=True)
class Miss:
    """One condition that does not hold."""

    path: str
    found: Any
    """The value, or `MISSING`."""
    condition: Condition


def misses(conditions: Conditions, values: Any) -> tuple[Miss, ...]:
    """The conditions over paths of `values` that do not hold, in their order."""
    return tuple(
        Miss(path, found, condition)
        for path, condition in conditions.items()
        if not fulfils(condition, found := look_up(values, path))
    )


def found_in(missed: Iterable[Miss]) -> str:
    """`amount 75, no note`."""
    return ", ".join(
        f"no {m.path}" if m.found is MISSING else f"{m.path} {shown(m.found)}" for m in missed
    )


def expected_in(missed: Iterable[Miss]) -> str:
    """`amount lte 50, note present true`."""
    return ", ".join(f"{m.path} {told(m.condition)}" for m in missed)


def told_all(conditions: Conditions) -> str:
    """`amount lte 50, order equals "o-1"`."""
    return ", ".join(f"{path} {told(condition)}" for path, condition in conditions.items())
