"""A suite that takes other suites in → one with their entries, each with the place where it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from seatrial.documents import Selector, Suite
from seatrial.loading.origins import Origin
from seatrial.loading.places import Places

Find = Callable[[str], tuple[Suite, Places] | None]
"""The suite of an id, and its places."""


def unfolded(suite: Suite, places: Places, find: Find) -> tuple[Suite, Places]:
    """The suite with the entries of those that it takes in, each where it is taken in."""
    own: dict[str, Any] = {}
    parts: dict[str | int, Origin] = {}
    for key, entries in (("cases", suite.cases), ("must_tie", suite.must_tie)):
        if any(isinstance(entry, Selector) and entry.suite for entry in entries):
            found = list(_entries(places, key, entries, find, {suite.id}))
            own[key] = tuple(entry for entry, _ in found)
            inner: dict[str | int, Origin] = {i: origin for i, (_, origin) in enumerate(found)}
            parts[key] = Origin(places, (key,), inner)
    if not own:
        return suite, places
    return suite.model_copy(update=own), Origin(places, (), parts).woven(places)


def _entries(
    places: Places, key: str, entries: tuple[str | Selector, ...], find: Find, taken: set[str]
) -> Iterator[tuple[str | Selector, Origin]]:
    """The entries; a suite that was taken in already has nothing to add, for each case stands once."""
    for index, entry in enumerate(entries):
        if isinstance(entry, str) or entry.suite is None:
            yield entry, Origin(places, (key, index))
        elif entry.suite not in taken and (found := find(entry.suite)) is not None:
            taken.add(entry.suite)
            suite, inner = found
            yield from _entries(inner, "cases", suite.cases, find, taken)
