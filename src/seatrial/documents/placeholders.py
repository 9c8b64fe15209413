"""`{{name}}` in the texts of documents: a lookup of a fixed set of names, not a template engine."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")

TRIAL_NAMES = frozenset({"run", "today", "now"})
"""What any text of a case may name: a token unique to the trial, and its frozen clock."""


def of_trial(run: str, now: dt.datetime) -> dict[str, str]:
    """What `TRIAL_NAMES` stand for in a trial with this token, at this moment of its world.

    Moment and day are written in the time zone in which the world gives its clock.
    """
    return {"run": run, "now": _written(now), "today": now.date().isoformat()}


MATRIX = "matrix."
"""What the names of an expansion's values begin with."""


def of_matrix(values: Mapping[str, Any], begin: str = MATRIX) -> dict[str, Any]:
    """What `matrix.NAME` stands for, and `matrix.NAME.KEY` inside of mappings."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found[begin + name] = value
        if isinstance(value, dict):
            found |= of_matrix(value, f"{begin}{name}.")
    return found


_MOMENT = re.compile(
    r"(?P<name>now|today)(?:\s*(?P<sign>[+-])\s*(?P<count>[0-9]{1,5})\s*(?P<unit>minute|hour|day|week)s?)?"
)


def moved(name: str, now: dt.datetime) -> str | None:
    """What `now` (`2026-03-16T09:00:00Z`) and `today` (`2026-03-16`) stand for.

    Either may be moved: `now + 2 hours`, `today - 30 days`. None for any other name, and beyond the calendar.
    """
    found = _MOMENT.fullmatch(name)
    if found is None:
        return None
    if found["sign"]:
        by = dt.timedelta(**{found["unit"] + "s": int(found["count"])})
        try:
            now = now + by if found["sign"] == "+" else now - by
        except OverflowError:
            return None
    if found["name"] == "today":
        return now.date().isoformat()
    return _written(now)


def _written(moment: dt.datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def names(value: Any) -> Iterator[str]:
    """Every placeholder's name in the strings of `value`, keys included."""
    if isinstance(value, str):
        if "{{" in value:
            yield from (m.group(1).strip() for m in _PLACEHOLDER.finditer(value))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from names(key)
            yield from names(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names(item)


def outside(text: str) -> str:
    """What is left of a text without its placeholders."""
    return _PLACEHOLDER.sub("", text)


def whole(text: str) -> str | None:
    """The placeholder's name when `text` is exactly one placeholder, else None."""
    found = _PLACEHOLDER.fullmatch(text.strip()) if "{{" in text else None
    return found.group(1).strip() if found else None


def fill(value: Any, lookup: Callable[[str], Any]) -> Any:
    """`value` with each placeholder replaced by `lookup(name)`.

    A string that is exactly one placeholder takes the value's own JSON type; inside longer text
    the value is written as text. What is put in is never looked at again.

    Raises:
        KeyError: from `lookup`, for a name that stands for nothing.
    """
    if isinstance(value, str):
        if "{{" not in value:
            return value
        name = whole(value)
        if name is not None:
            return lookup(name)
        return _PLACEHOLDER.sub(lambda m: as_text(lookup(m.group(1).strip())), value)
    if isinstance(value, dict):
        return {fill(key, lookup): fill(item, lookup) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, lookup) for item in value]
    if isinstance(value, tuple):
        return tuple(fill(item, lookup) for item in value)
    return value


def as_text(value: Any) -> str:
    """A value as it is written inside of longer text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
