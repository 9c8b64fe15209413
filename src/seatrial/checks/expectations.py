"""What conditions ask of values, and the words for what falls short of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.checks.lenses import Lens
from seatrial.documents.checks import Bindable
from seatrial.documents.conditions import Condition
from seatrial.state import MISSING, Unjudged, fulfils, judged, look_up
from seatrial.state.operators import told
from seatrial.state.values import shown

_LISTED = 4
"""Things of one sort that a reason names; the number of the others follows."""
_PLAIN = Lens()


@dataclass(frozen=True, slots=True)
class Miss:
    """One condition that does not hold."""

    path: str
    found: Any
    """The value, or `MISSING`."""
    condition: Condition


def hold(conditions: Mapping[str, Condition], values: Any) -> bool:
    """Whether every condition over paths of `values` holds.

    Raises:
        Unjudged: that cannot be told; where one condition does not hold, it can.
    """
    unjudged: Unjudged | None = None
    for path, condition in conditions.items():
        try:
            if not judged(condition, look_up(values, path)):
                return False
        except Unjudged as error:
            unjudged = error
    if unjudged is not None:
        raise unjudged
    return True


def misses(conditions: Mapping[str, Condition], values: Any) -> tuple[Miss, ...]:
    """The conditions over paths of `values` that do not hold, in their order (see `inside`)."""
    return tuple(
        miss
        for path, condition in conditions.items()
        if not fulfils(condition, found := look_up(values, path))
        for miss in inside(Miss(path, found, condition))
    )


def inside(miss: Miss, lens: Lens = _PLAIN) -> Iterator[Miss]:
    """The same miss told of the parts that differ, where a whole mapping or list was expected."""
    operators = miss.condition.operators
    if len(operators) == 1 and operators[0][0] == "equals":
        wanted = operators[0][1]
        if (isinstance(wanted, dict) and isinstance(miss.found, dict)) or (
            isinstance(wanted, list) and isinstance(miss.found, list)
        ):
            for leaf in lens.differing(miss.found, wanted, (miss.path,)):
                expected = (
                    Condition(absent=True) if leaf.new is MISSING else Condition(equals=leaf.new)
                )
                yield Miss(".".join(leaf.path), leaf.old, expected)
            return
    yield miss


def no_link(type: str) -> Miss:
    """The miss of a link that an object does not have."""
    return Miss(f"link {type}", MISSING, Condition(present=True))


def found_in(missed: Sequence[Miss]) -> str:
    """`amount 75, no note`."""
    return listed([_found(m) for m in missed])


def expected_in(missed: Sequence[Miss]) -> str:
    """`amount lte 50, note present`."""
    return listed([f"{m.path} {asked(m.condition)}" for m in missed])


def held_against(missed: Sequence[Miss]) -> str:
    """`amount 75 (expected lte 50), no note (expected present)`."""
    return listed([f"{_found(m)} (expected {asked(m.condition)})" for m in missed])


def asked(condition: Condition) -> str:
    """What a condition asks, with the name its value is bound to: `equals "r-9" (new_refund)`."""
    if not isinstance(condition, Bindable) or condition.bind is None:
        return told(condition)
    known = [(n, o) for n, o in condition.operators if o is not MISSING]
    return f"{told(known)} ({condition.bind})" if known else f"bound as {condition.bind}"


def told_all(conditions: Mapping[str, Condition]) -> str:
    """`amount lte 50, order equals "o-1"`."""
    return listed([f"{path} {asked(condition)}" for path, condition in conditions.items()])


def listed(texts: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    rest = f", and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return ", ".join(texts[:_LISTED]) + rest


def _found(miss: Miss) -> str:
    return f"no {miss.path}" if miss.found is MISSING else f"{miss.path} {shown(miss.found)}"
