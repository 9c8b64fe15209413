"""A mistake inside a document, before it has a place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from seatrial.errors import Problem
from seatrial.loading.places import Places, Steps

MOST_TOLD = 100
"""Mistakes that are told of one document."""
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

    def placed(self, path: str, places: Places) -> Problem:
        """The mistake with its place in the file."""
        line, column = places.of_key(self.steps) if self.on_key else places.at(self.steps)
        return Problem(path, line, column, self.message, self.hint, self.code)


def told(mistakes: Sequence[Mistake], path: str, places: Places) -> list[Problem]:
    """The problems of one document: at most `MOST_TOLD`, and then how many more there are."""
    problems = [mistake.placed(path, places) for mistake in mistakes[:MOST_TOLD]]
    if len(mistakes) > MOST_TOLD:
        line, column = places.at(())
        message = f"{len(mistakes) - MOST_TOLD} more mistakes in this document"
        problems.append(Problem(path, line, column, message, code="more"))
    return problems


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
