"""Paths in placeholders: a name and steps.

`order.total`, `args.lines.*.amount` (see `values.look_up`). A step in brackets is itself a path, and
what that leads to is the step: `flight.dates[args.date]`. The root `objects` holds the world:
`objects.product[each.sku].stock`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

Steps = tuple["str | Steps", ...]
"""A path cut into steps; a nested path is the step that it leads to."""

_PART = re.compile(r"\.?(?P<name>[^.\[\]\s]+)|\[(?P<open>)|(?P<close>)\]")


@lru_cache(maxsize=4096)
def parse(path: str) -> Steps:
    """The steps of a path.

    Raises:
        ValueError: it is no path; the message says why.
    """
    levels: list[list[str | Steps]] = [[]]
    at = 0
    while at < len(path):
        part = _PART.match(path, at)
        if part is None or (path[at] == "." and not levels[-1]):
            raise ValueError(f"{path!r} is no path: {path[at:]!r} leads nowhere")
        if part["name"] is not None:
            if levels[-1] and path[at] != ".":
                raise ValueError(f"{path!r} is no path: a dot is missing before {part['name']!r}")
            levels[-1].append(part["name"])
        elif part["open"] is not None:
            if not levels[-1]:
                raise ValueError(f"{path!r} is no path: it starts with a bracket")
            levels.append([])
        else:
            inner = levels.pop()
            if not inner or not levels:
                raise ValueError(f"{path!r} is no path: a bracket is empty or was never opened")
            levels[-1].append(tuple(inner))
        at = part.end()
    if len(levels) > 1 or not levels[0]:
        raise ValueError(
            f"{path!r} is no path: " + ("a bracket is open" if path else "it is empty")
        )
    return tuple(levels[0])


def roots(steps: Steps) -> Iterator[str]:
    """The names that a path starts from, those of nested paths included."""
    for number, step in enumerate(steps):
        if not isinstance(step, str):
            yield from roots(step)
        elif number == 0:
            yield step
