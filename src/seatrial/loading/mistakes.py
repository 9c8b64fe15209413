"""A mistake inside a document, before it has a place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from seatrial.errors import Problem
from seatrial.loading.places import Places, Steps

MOST_TOLD = 100
"""Mistakes that are told of one file."""
LONGEST = 600
"""Characters of what is said by those who do not shorten what they name."""
MOST_COMPARED = 200
"""Words that a misspelt word is compared with, at most."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake inside a document."""

    steps: Steps
    """The part it is about."""
    message: str
    hint: str = ""
    code: str = "invalid"
    on_key: bool = False
    """Its place is the last key of `steps`, not the value."""

    def placed(self, places: Places) -> Problem:
        """The mistake with its place in the file that wrote what is wrong."""
        spot = places.of_key(self.steps) if self.on_key else places.at(self.steps)
        return Problem(*spot, self.message, self.hint, self.code)


def placed(mistakes: Iterable[Mistake], places: Places) -> list[Problem]:
    """The mistakes of one document as problems: no more than are told, and one to see that there were more."""
    return [mistake.placed(places) for mistake in islice(mistakes, MOST_TOLD + 1)]


def told(problems: Sequence[Problem]) -> list[Problem]:
    """The problems of one file: the first `MOST_TOLD`, and whether there are more."""
    if len(problems) <= MOST_TOLD:
        return list(problems)
    first = list(problems[:MOST_TOLD])
    last = max(first)
    message = f"and more: only {MOST_TOLD} mistakes of a file are told at once"
    return [
        *first,
        Problem(last.path, last.line, last.column, message, code="more", level=last.level),
    ]


def cut(text: str, limit: int = 60) -> str:
    """`text`, shortened for a message."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    words = list(known)
    if len(word) > MOST_COMPARED:
        return None
    if len(words) > MOST_COMPARED:
        words = [w for w in words if w[:2] == word[:2]][:MOST_COMPARED]
    found = get_close_matches(word, words, n=1)
    return found[0] if found else None
