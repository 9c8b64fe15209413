"""The documents of all files, side by side, before the rules between them are checked."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from seatrial.documents import (
    KINDS,
    WORLDS,
    Answers,
    Arm,
    Case,
    Catalog,
    Kind,
    ObjectsWorld,
    Source,
    Suite,
    World,
)
from seatrial.errors import Problem
from seatrial.loading.mistakes import Mistake, told
from seatrial.loading.places import FilePlaces, Places
from seatrial.loading.reading import REFUSED, Raw, read
from seatrial.loading.syntax import shown
from seatrial.loading.trails import Model
from seatrial.loading.wording import listed, missing_key, mistakes, not_among

_MODELS: dict[str, Model | None] = {"case": Case, "suite": Suite, "arm": Arm, "fixture": None}
_FIXTURES: dict[str, Model | None] = {"world": None, "answers": Answers}
_WORLDS: dict[str, Model | None] = {**WORLDS}
Document = Case | Suite | Arm | World | Answers
_D = TypeVar("_D", Case, Suite, Arm, World, Answers)

_WRITTEN_ID = re.compile(rb"""^(?:- )?id:[ \t]*["']?([a-z0-9][a-z0-9._-]*)""", re.MULTILINE)


BRACES, REFERENCE, DYNAMIC_REFERENCE = b"{{", b"$ref", b"$dynamicRef"
MARKS = (BRACES, REFERENCE, DYNAMIC_REFERENCE)
"""Without these in its file a document has no placeholder and no schema that refers to another."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A document that fits its model."""

    kind: Kind
    document: Document
    value: dict[str, Any]
    """As it was read."""
    path: str
    places: Places
    marks: frozenset[bytes]
    """Which of `MARKS` the file may hold."""


Found = Iterator[tuple[Draft, Mistake]]
"""Mistakes of documents that are right by themselves."""


@dataclass(slots=True)
class Library:
    """Every document that was found, and every problem so far."""

    drafts: dict[tuple[Kind, str], Draft] = field(default_factory=dict)
    """The documents that fit their models, in the order of the files."""
    problems: list[Problem] = field(default_factory=list)
    places_of_ids: dict[tuple[Kind, str], tuple[str, Places]] = field(default_factory=dict)
    """Where each id was met first, whether its document is right or not."""
    loose_ids: set[str] = field(default_factory=set)
    """Ids that seem to be there, in files or documents that cannot be read as what they are."""
    complete: bool = True
    """Every document of every file became a draft."""

    def add(self, path: str, data: bytes) -> None:
        """Read one file."""
        file = read(path, data)
        self.problems += file.problems
        if not file.whole:
            self.complete = False
            self.loose_ids.update(i.decode("ascii") for i in _WRITTEN_ID.findall(data))
        where = FilePlaces(data)
        # An escape (`"\x7b"`) writes a character without writing it.
        marks = {mark for mark in MARKS if mark in data} if b"\\" not in data else set(MARKS)
        for raw in file.documents:
            places = Places(where, raw.index)
            found = list(self._admit(path, raw, places, file.holes, frozenset(marks)))
            self.problems += told(found, path, places)

    def _admit(
        self, path: str, raw: Raw, places: Places, holes: Mapping[int, Any], marks: frozenset[bytes]
    ) -> Iterator[Mistake]:
        value = raw.value
        if not isinstance(value, dict):
            self.complete = False
            if value is not REFUSED:
                message = f"a document is a mapping with `kind` and `id`, found {shown(value)}"
                yield Mistake((), message, code="wrong-type")
            return
        fresh = yield from self._register(path, value, places)
        model = yield from _model_of(value, holes)
        if model is None:
            self.complete = False
            return
        try:
            document = model.model_validate(value)
        except ValidationError as error:
            self.complete = False
            yield from mistakes(model, error, holes)
            return
        if not (fresh and raw.sound):
            self.complete = False
            return
        assert isinstance(document, Document)
        draft = Draft(document.kind, document, value, path, places, marks)
        self.drafts[document.kind, document.id] = draft

    def _register(
        self, path: str, value: dict[str, Any], places: Places
    ) -> Generator[Mistake, None, bool]:
        """Note the document's id; false when there is one of its kind and id already."""
        kind, id = value.get("kind"), value.get("id")
        if not isinstance(id, str):
            return True
        if kind not in KINDS:
            self.loose_ids.add(id)
            return True
        first_path, first = self.places_of_ids.setdefault((kind, id), (path, places))
        if first is places:
            return True
        line, column = first.at(("id",))
        message = f"{kind} `{id}` is there already: {first_path}:{line}:{column}"
        yield Mistake(("id",), message, "Ids are unique per kind", "duplicate-id")
        return False

    def catalog(self) -> Catalog:
        """The drafts as the catalog that everybody else works with."""
        sources = {key: Source(d.path, d.places) for key, d in self.drafts.items()}
        by_kind: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        for (kind, id), draft in self.drafts.items():
            by_kind[kind][id] = draft.document
        return Catalog(
            cases=by_kind["case"],
            suites=by_kind["suite"],
            arms=by_kind["arm"],
            fixtures=by_kind["fixture"],
            sources=sources,
        )

    def world_of(self, case: Case) -> World | None:
        """The case's world; None when it is not there or not right."""
        draft = self.drafts.get(("fixture", case.world))
        return draft.document if draft and isinstance(draft.document, World) else None

    def of(self, model: type[_D]) -> Iterator[tuple[Draft, _D]]:
        """The drafts of one kind of document, each with the document as that kind."""
        for draft in self.drafts.values():
            if isinstance(draft.document, model):
                yield draft, draft.document


def _model_of(
    value: dict[str, Any], holes: Mapping[int, Any]
) -> Generator[Mistake, None, Model | None]:
    """The model that a document has to fit."""
    model = yield from _named(value, "kind", _MODELS, holes)
    if value.get("kind") == "fixture":
        model = yield from _named(value, "type", _FIXTURES, holes)
        if value.get("type") == "world":
            model = ObjectsWorld
            if "world" in value:
                model = yield from _named(value, "world", _WORLDS, holes)
    return model


def _named(
    value: dict[str, Any], key: str, known: Mapping[str, Model | None], holes: Mapping[int, Any]
) -> Generator[Mistake, None, Model | None]:
    name = value.get(key)
    if isinstance(name, str) and name in known:
        return known[name]
    if key not in value:
        if id(value) not in holes:
            models = (*_MODELS.values(), *_FIXTURES.values(), *_WORLDS.values())
            members = [model for model in models if model is not None]
            yield missing_key((), key, value, members, f"Expected {listed(known)}")
    elif name is not REFUSED:
        yield not_among((key,), name, list(known))
    return None
