"""Two lists of checks → what is no longer asked, asked less severely, or asked otherwise.

A check is found again by what it asks, then by its kind within the same turn. Where a key differs, a table says when
the new value asks at least as much; what the table does not know counts as *changed*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.documents import Case
from seatrial.documents.checks import Check
from seatrial.records import Loosening

_SEVERITIES = ("info", "warning", "critical")
_OF_NO_WEIGHT = frozenset({"check", "severity", "because"})


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that a check no longer asks, or asks otherwise."""

    kind: str
    text: str
    path: str
    new_path: str
    old: Any
    new: Any
    effect: Loosening = "loosened"


@dataclass(frozen=True, slots=True)
class _Placed:
    path: str
    turn: int | None
    check: Check
    asks: Mapping[str, Any]
    """What is written, without what has no weight."""

    @property
    def name(self) -> str:
        tool = getattr(self.check, "tool", None)
        return f"`{self.check.check}`" + (f" of {tool}" if isinstance(tool, str) else "")


def between(old: Case, new: Case) -> Iterator[Difference]:
    """What the checks of a case no longer ask."""
    before, after = _placed(old), _placed(new)
    left: list[_Placed] = []
    for one in before:
        same = next((o for o in after if _same_kind(one, o) and o.asks == one.asks), None)
        if same is None:
            left.append(one)
        else:
            after.remove(same)
            yield from _severity(one, same)
    for one in left:
        alike = [o for o in after if _same_kind(one, o)]
        if not alike:
            yield Difference(
                "check_removed", f"{one.name} is no longer asked", one.path, "", one.check, None
            )
            continue
        nearest = max(alike, key=lambda o: _shared(one, o))
        after.remove(nearest)
        yield from _severity(one, nearest)
        yield from _keys(one, nearest)


def _placed(case: Case) -> list[_Placed]:
    return [
        _Placed(
            path,
            turn,
            check,
            {
                key: value
                for key, value in check.model_dump(mode="json", by_alias=True).items()
                if key not in _OF_NO_WEIGHT
            },
        )
        for path, turn, check in case.placed_checks()
    ]


def _same_kind(one: _Placed, other: _Placed) -> bool:
    return (one.turn, one.check.check) == (other.turn, other.check.check)


def _shared(one: _Placed, other: _Placed) -> int:
    return sum(other.asks.get(key) == value for key, value in one.asks.items())


def _severity(one: _Placed, other: _Placed) -> Iterator[Difference]:
    was, now = one.check.severity, other.check.severity
    if _SEVERITIES.index(now) < _SEVERITIES.index(was):
        text = f"{one.name} is {now} instead of {was}"
        yield Difference(
            "check_severity_lowered",
            text,
            f"{one.path}.severity",
            f"{other.path}.severity",
            was,
            now,
        )


def _keys(one: _Placed, other: _Placed) -> Iterator[Difference]:
    for key in one.asks:
        was, now = one.asks[key], other.asks[key]  # of one kind: the same keys
        if was == now:
            continue
        asks_as_much = _TABLE.get((one.check.check, key)) or _ANYWHERE.get(key)
        wholly = one.check.check == "not_disclosed" and not (
            one.asks["values"] or one.asks["objects"]
        )
        if wholly and key in ("values", "objects"):
            asks_as_much = None  # without either everything counts, and with one only what it names
        if asks_as_much is not None and asks_as_much(was, now):
            continue
        looser = asks_as_much is not None and asks_as_much(now, was)
        kind = {"ignore": "ignore_added", "normalize": "normalize_added"}.get(key, "check_changed")
        if (one.check.check, key) == ("not_disclosed", "values"):
            # What must not be told does not belong into comments either.
            yield Difference(
                "secret_removed",
                f"{one.name} looks for {len(now)} values of its own instead of {len(was)}, and not for all of these",
                f"{one.path}.{key}", f"{other.path}.{key}", f"{len(was)} values", f"{len(now)} values",
                "loosened" if looser else "changed",
            )  # fmt: skip
            continue
        how = "asks less" if looser else "asks something else"
        yield Difference(
            kind,
            f"{one.name} {how} (`{key}`)",
            f"{one.path}.{key}",
            f"{other.path}.{key}",
            was,
            now,
            "loosened" if looser else "changed",
        )


AsMuch = Callable[[Any, Any], bool]
"""Whether the second value asks at least as much as the first."""


def _more(old: Sequence[Any], new: Sequence[Any]) -> bool:
    return all(item in new for item in old)


def _fewer(old: Sequence[Any], new: Sequence[Any]) -> bool:
    return _more(new, old)


def _fewer_alternatives(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Of no alternatives none is asked for, so that any is more."""
    return not old or (bool(new) and _fewer(old, new))


def _more_conditions(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return all(key in new and new[key] == value for key, value in old.items())


def _fewer_conditions(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return _more_conditions(new, old)


def _least(old: Any, new: Any) -> bool:
    return bool(new <= old)


def _most(old: Any, new: Any) -> bool:
    return bool(new >= old)


def _rising(*order: Any) -> AsMuch:
    """Values from the one that asks least."""
    return lambda old, new: order.index(new) >= order.index(old)


_ANYWHERE: Mapping[str, AsMuch] = {"ignore": _fewer, "normalize": _fewer_conditions}
_TABLE: Mapping[tuple[str, str], AsMuch] = {
    ("at_most", "times"): _least,
    ("at_most", "arguments"): _fewer_conditions,
    ("at_least", "times"): _most,
    ("at_least", "arguments"): _more_conditions,
    ("tool_called", "arguments"): _more_conditions,
    ("tool_called", "attempted"): _rising(True, False),
    ("tool_not_called", "arguments"): _fewer_conditions,
    ("tool_arguments", "arguments"): _more_conditions,
    ("no_write_before", "attempted"): _rising(False, True),
    ("sequence", "order"): _rising("any_order", "in_order", "strict"),
    ("end_state", "others"): _rising("allowed", "forbidden"),
    ("not_disclosed", "values"): _more,
    ("not_disclosed", "shortest"): _least,
    ("not_disclosed", "calls"): _rising("none", "leaving", "every"),
    ("asks_back", "where"): _rising("anywhere", "end"),
    ("reply_contains", "text"): _more,
    ("reply_contains", "any_of"): _fewer_alternatives,
    ("reply_contains", "ignore_case"): _rising(True, False),
    ("reply_not_contains", "text"): _more,
    ("reply_not_contains", "ignore_case"): _rising(False, True),
    ("reply_number", "tolerance"): _least,
}
