"""Stand-ins put throughout a recording: the same value gets the same one wherever it stands."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from seatrial.stand_ins.finding import Found, Kind, found, may_not_be_kept
from seatrial.stand_ins.inventing import (
    SHORTEST_WORD,
    as_number,
    invented,
    is_invented,
    is_invented_word,
    same,
    word,
)
from seatrial.trace import Json

_WORD = re.compile(r"[^\W\d_]+")
_RANK = {kind: rank for rank, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True, order=True)
class Replaced:
    """What was replaced in one place; never what it was."""

    place: str
    kind: Kind
    values: int
    """How many different ones."""


class StandIns:
    """The stand-ins of a recording: first it learns all values, then it replaces them."""

    def __init__(
        self, key: bytes, *, keep: Iterable[str] = (), ids: bool = True, documents: bool = False
    ) -> None:
        """Begin.

        Args:
            key: what stand-ins are drawn with; with the same key they are the same in every recording.
            keep: texts that are in the repository already; what stands in them is not replaced.
            ids: whether ids are replaced too.
            documents: what it learns are documents, which may have been given stand-ins before: what can be nobody's
                stays, and so do stand-ins that were drawn with this key.
        """
        self._key = key
        self._keep = "\n".join(keep)
        self._ids = ids
        self._documents = documents
        self._found: dict[str, Found] = {}
        self._places: dict[str, set[str]] = {}

    def learn(self, value: Json, place: str) -> None:
        """Take in what may not be kept of a JSON value."""
        for one in found(value, place, ids=self._ids, documents=self._documents):
            if self._is_kept(one.value) or (self._documents and is_invented(self._key, one)):
                continue
            before = self._found.get(one.value)
            if before is None or _RANK[one.kind] < _RANK[before.kind]:
                self._found[one.value] = one
            self._places.setdefault(one.place, set()).add(one.value)
            self.__dict__.pop("_made", None)
            self.__dict__.pop("_pattern", None)

    def replaced(self, value: Json, key: str = "") -> Json:
        """A JSON value with stand-ins for all that was learnt."""
        match value:
            case str():
                return self.in_text(value)
            case dict():
                return {self.in_text(k): self.replaced(item, k) for k, item in value.items()}
            case list() | tuple():
                return [self.replaced(item, key) for item in value]
            case bool() | float() | None:
                return value
            case int():
                # A number is only an id under a key that says so: elsewhere it counts something.
                made = self._made.get(str(value)) if may_not_be_kept(key, value) else None
                return as_number(made) if made is not None else value
            case _:
                return value

    def in_text(self, text: str) -> str:
        """A text with stand-ins for all that was learnt."""
        if not self._made:
            return text
        return self._pattern.sub(lambda found: self._made[found.group()], text)

    @property
    def told(self) -> tuple[Replaced, ...]:
        """What is replaced, by place and kind."""
        counted = Counter(
            (place, self._found[value].kind)
            for place, values in self._places.items()
            for value in values
        )
        return tuple(sorted(Replaced(place, kind, n) for (place, kind), n in counted.items()))

    # --- inside ---

    def _is_kept(self, value: str) -> bool:
        return re.search(_bounded(value), self._keep) is not None

    @cached_property
    def _made(self) -> dict[str, str]:
        """Text → what stands in for it; two values never share one."""
        made: dict[str, str] = {}
        taken = {value: same(one.kind, value) for value, one in self._found.items()}
        for value, one in sorted(self._found.items()):
            if one.kind is Kind.NAME:
                pairs = list(self._of_words(value, taken))
            else:
                pairs = [(value, self._free(one.kind, value, taken))]
            for text, stand_in in pairs:
                made.setdefault(text, stand_in)
                made.setdefault(_escaped(text), _escaped(stand_in))
                taken.setdefault(stand_in, same(one.kind, text))
        return made

    def _free(self, kind: Kind, value: str, taken: Mapping[str, str]) -> str:
        # Another writing of the same number shares its stand-in, and two secrets may not be told apart.
        for attempt in range(MOST_ATTEMPTS):
            made = invented(self._key, kind, value, attempt)
            if taken.get(made, same(kind, value)) == same(kind, value):
                return made
        return invented(self._key, kind, value)

    def _of_words(self, name: str, taken: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Each word of a name by itself, so that `Dear Ms Lopez` is found too."""
        for written in _WORD.findall(name):
            for one in dict.fromkeys((written, written.capitalize(), written.upper())):
                if len(one) < SHORTEST_WORD or self._is_kept(one):
                    continue
                if self._documents and is_invented_word(self._key, one):
                    continue
                attempts = (word(self._key, one, attempt) for attempt in range(MOST_ATTEMPTS))
                yield one, next((made for made in attempts if made not in taken), one[0])

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # The longest first, so that nothing that begins another value leaves its end behind.
        texts = sorted(self._made, key=lambda text: (-len(text), text))
        return re.compile("|".join(map(_bounded, texts)))


MOST_ATTEMPTS = 100


def _bounded(text: str) -> str:
    """A pattern for a text that is no part of a longer word or number."""
    before = r"(?<![^\W_])" if text[0].isalnum() else ""
    after = r"(?![^\W_])" if text[-1].isalnum() else ""
    return before + re.escape(text) + after


def _escaped(text: str) -> str:
    """As it stands in a JSON text that escapes all that is not ASCII."""
    return json.dumps(text)[1:-1]
