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
    Payloads,
    Persona,
    PriceList,
    Server,
    Source,
    Suite,
    World,
)
from seatrial.documents.language import VERSION_KEY
from seatrial.documents.placeholders import TRIAL_NAMES
from seatrial.errors import Problem
from seatrial.loading.defaults import DEFAULTS
from seatrial.loading.migrations import is_older, why_not_read
from seatrial.loading.mistakes import MOST_TOLD, Mistake, placed, told
from seatrial.loading.places import FilePlaces, Places
from seatrial.loading.reading import REFUSED, Raw, read
from seatrial.loading.reuse import Reuse
from seatrial.loading.syntax import shown
from seatrial.loading.trails import Model
from seatrial.loading.unfolding import unfolded
from seatrial.loading.variants import expanded
from seatrial.loading.wording import listed, missing_key, mistakes, not_among
from seatrial.loading.written import Written
from seatrial.state.validate import world_problems

_MODELS: dict[str, Model | None] = {"case": Case, "suite": Suite, "arm": Arm, "fixture": None}
_FIXTURES: dict[str, Model | None] = {
    "world": None,
    "answers": Answers,
    "server": Server,
    "payloads": Payloads,
    "persona": Persona,
    "prices": PriceList,
}
_WORLDS: dict[str, Model | None] = {**WORLDS}
Document = Case | Suite | Arm | World | Answers | Server | Payloads | Persona | PriceList
_T = TypeVar("_T")
_D = TypeVar("_D", Case, Suite, Arm, World, Answers, Server, Payloads, Persona, PriceList)

_ID = re.compile("[a-z0-9][a-z0-9._-]*")
_WRITTEN_ID = re.compile(rb"""^(?:- )?id:[ \t]*["']?([a-z0-9][a-z0-9._-]*)""", re.MULTILINE)


# Most files hold nothing of these, and their documents need not be walked through once more. With an
# escape (`"\x7b"`) a file holds what it does not seem to hold.
_ESCAPE = b"\\"
_ODD_BRACES = re.compile(
    rb"\{\{(?!\s*(?:%s)\s*\}\})" % b"|".join(sorted(n.encode() for n in TRIAL_NAMES))
)
_REFERENCE = re.compile(rb"\$(?:dynamicR|r)ef")


@dataclass(frozen=True, slots=True)
class Draft:
    """A document that fits its model."""

    kind: Kind
    document: Document
    path: str
    places: Places
    value: dict[str, Any] | None
    """As it was read, where it may hold a placeholder that not every document knows; else None."""
    may_refer: bool
    """Whether it may hold a schema that refers to another."""


Found = Iterator[tuple[Draft, Mistake]]
"""Mistakes of documents that are right by themselves."""


@dataclass(slots=True)
class Library:
    """Every document that was found, and every problem so far."""

    drafts: dict[tuple[Kind, str], Draft] = field(default_factory=dict)
    """The documents that fit their models, in the order of the files."""
    problems: list[Problem] = field(default_factory=list)
    places_of_ids: dict[tuple[Kind, str], Places] = field(default_factory=dict)
    """Where each id was met first, whether its document is right or not."""
    loose_ids: set[str] = field(default_factory=set)
    """Ids that seem to be there, in files or documents that cannot be read as what they are."""
    complete: bool = True
    """Every document of every file became a draft, but for the abstract ones."""
    reuse: Reuse = field(default_factory=Reuse)
    waiting: list[Written] = field(default_factory=list)
    """Documents that inherit something or stand for several; `resolving` makes drafts of them."""
    _problems_of_worlds: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _by_model: dict[type, list[tuple[Draft, Any]]] = field(default_factory=dict)
    """What `of` found: rules ask it for every case, and a tree may have ten thousand."""
    _catalog: Catalog | None = None

    def add_defaults(self, path: str, data: bytes) -> None:
        """Read one file of defaults. They come before all documents, which may lie anywhere below."""
        file = read(path, data)
        problems = list(file.problems)
        where = FilePlaces(data, path)
        for raw in file.documents:
            places = Places(where, raw.index, raw.start)
            problems += placed(self.reuse.defaults.add(raw, places, file.holes), places)
        if problems:
            self.complete = False
            self.reuse.defaults.lose(path)
        self.problems += told(problems)

    def add(self, path: str, data: bytes) -> None:
        """Read one file."""
        file = read(path, data)
        problems = list(file.problems)
        if not file.whole:
            self.complete = False
            self.loose_ids.update(i.decode("ascii") for i in _WRITTEN_ID.findall(data))
        where = FilePlaces(data, path)
        escapes = _ESCAPE in data
        may_be_odd = escapes or _ODD_BRACES.search(data) is not None
        may_refer = escapes or _REFERENCE.search(data) is not None
        for raw in file.documents:
            places = Places(where, raw.index, raw.start)
            found = self._add(raw, places, file.holes, may_be_odd, may_refer)
            if len(problems) <= MOST_TOLD:
                problems += placed(found, places)
        self.problems += told(problems)

    def _add(
        self, raw: Raw, places: Places, holes: Mapping[int, Any], odd: bool, refers: bool
    ) -> list[Mistake]:
        """Note one document, or let it wait for those that it inherits from."""
        value = raw.value
        if not isinstance(value, dict):
            self.complete = False
            message = f"a document is a mapping with `kind` and `id`, found {shown(value)}"
            return [] if value is REFUSED else [Mistake((), message, code="wrong-type")]
        if wrong := why_not_read(value.get(VERSION_KEY, 1)):
            # Of a language that is not known here, nothing more can be said.
            self.complete = False
            self._note_id(value)
            return [Mistake((VERSION_KEY,), *wrong)]
        fresh, found = returned(self._register(value, places))
        found += _misplaced(value)
        if is_older(value):
            message = "the document is written in an older version of the language"
            hint = f"`seatrial migrate {places.file.path}` brings it forward"
            self.complete = False
            return [*found, Mistake((), message, hint, "older-schema")]
        value.pop(VERSION_KEY, None)
        sound = raw.sound and fresh and not found
        path = places.file.path
        if self.reuse.concerns(value, path):
            kind, id = value["kind"], value["id"]
            written = Written(kind, id, value, places, sound, odd, refers, holes)
            self.waiting.append(written)
            if fresh:
                self.reuse.add(written)
            return found
        found += self.fit(value, holes, places, sound=sound, odd=odd, refers=refers)
        return found

    def fit(
        self,
        value: dict[str, Any],
        holes: Mapping[int, Any],
        places: Places,
        *,
        sound: bool,
        odd: bool,
        refers: bool,
    ) -> list[Mistake]:
        """Make a draft of a document when all of it is right by itself; else what is wrong."""
        document, found = returned(self._fitting(value, holes, sound=sound))
        if document is None:
            self.complete = False
            return found
        # No text of a suite may hold any placeholder, and there are few suites.
        kept = value if odd or document.kind == "suite" else None
        self.drafts[document.kind, document.id] = Draft(
            document.kind, document, places.file.path, places, kept, refers
        )
        self._forget()
        return found

    def _forget(self) -> None:
        self._by_model.clear()
        self._catalog = None

    def _fitting(
        self, value: dict[str, Any], holes: Mapping[int, Any], *, sound: bool
    ) -> Generator[Mistake, None, Document | None]:
        """The document, when all of it is right by itself and its id is its own."""
        model = yield from _model_of(value, holes)
        if model is None:
            return None
        try:
            document = model.model_validate(value)
        except ValidationError as error:
            found = mistakes(model, error, holes)
            if not found and sound:  # an error is never dropped without another in its place
                found = [Mistake((), f"does not fit: {error.errors()[0]['msg']}")]
            yield from found
            return None
        assert isinstance(document, Document)
        return document if sound else None

    def _register(self, value: dict[str, Any], places: Places) -> Generator[Mistake, None, bool]:
        """Note the document's id; false when there is one of its kind and id already."""
        kind, id = value.get("kind"), value.get("id")
        if not isinstance(id, str):
            return True
        if kind not in KINDS:
            self.loose_ids.add(id)
            return True
        first = self.places_of_ids.setdefault((kind, id), places)
        if first is places:
            return True
        file, line, column = first.at(("id",))
        message = f"{kind} `{id}` is there already: {file}:{line}:{column}"
        yield Mistake(("id",), message, "Ids are unique per kind", "duplicate-id")
        return False

    def _note_id(self, value: Mapping[str, Any]) -> None:
        """Note the id of a document that is not read, so that whatever names it is not told to be wrong."""
        if isinstance(id := value.get("id"), str):
            self.loose_ids.add(id)

    def sort(self) -> None:
        """Put the drafts in the order of the files again, after some had to wait."""
        drafts = sorted(self.drafts.items(), key=lambda d: (d[1].path, d[1].places.index))
        self.drafts = dict(drafts)
        self._forget()

    def ids(self, kind: Kind) -> Iterator[str]:
        """The ids of one kind that can be named, of right documents and of wrong ones."""
        return (
            id
            for of, id in self.places_of_ids
            if of == kind and _ID.fullmatch(id) and not self.reuse.is_abstract(of, id)
        )

    def catalog(self) -> Catalog:
        """The drafts as the catalog that everybody else works with."""
        if self._catalog is None:
            self._catalog = self._drafts_as_catalog()
        return self._catalog

    def _drafts_as_catalog(self) -> Catalog:
        sources = {key: Source(d.path, d.places, d.places.files) for key, d in self.drafts.items()}
        by_kind: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        for (kind, id), draft in self.drafts.items():
            if isinstance(draft.document, Case):
                for case in self.variants_of(draft.document):
                    by_kind["case"][case.id] = case
                    sources["case", case.id] = sources[kind, id]
            elif isinstance(draft.document, Suite):
                suite, places = unfolded(draft.document, draft.places, self._suite)
                by_kind[kind][id] = suite
                sources[kind, id] = Source(draft.path, places, places.files)
            else:
                by_kind[kind][id] = draft.document
        return Catalog(
            cases=by_kind["case"],
            suites=by_kind["suite"],
            arms=by_kind["arm"],
            fixtures=by_kind["fixture"],
            sources=sources,
        )

    def _suite(self, id: str) -> tuple[Suite, Places] | None:
        draft = self.drafts.get(("suite", id))
        found = draft.document if draft else None
        return (found, draft.places) if draft and isinstance(found, Suite) else None

    def variants_of(self, case: Case) -> tuple[Case, ...]:
        """The cases that a written one stands for; itself as long as its payloads cannot be told."""
        attack = case.attack
        if attack is None or attack.payloads is None:
            return (case,)
        draft = self.drafts.get(("fixture", attack.payloads))
        payloads = draft.document if draft else None
        return expanded(case, payloads) if isinstance(payloads, Payloads) else (case,)

    def is_variant(self, id: str) -> bool:
        """Whether an id is that of a case with one variant of its payloads."""
        return any(
            variant.id == id
            for _, case in self.of(Case)
            if id.startswith(f"{case.id}--")
            for variant in self.variants_of(case)
        )

    def problems_of(self, world: World) -> list[tuple[str, str]]:
        """What is wrong inside a world: where, and what. What it holds is not looked into before there is nothing."""
        if world.id not in self._problems_of_worlds:
            self._problems_of_worlds[world.id] = world_problems(world)
        return self._problems_of_worlds[world.id]

    def world_of(self, case: Case) -> World | None:
        """The case's world; None when it is not there or not right."""
        draft = self.drafts.get(("fixture", case.world))
        return draft.document if draft and isinstance(draft.document, World) else None

    def servers_of(self, case: Case) -> Iterator[tuple[Draft, Server]]:
        """The servers of a case, and those of the arms of its agent, as far as they are there and right."""
        ids = list(case.servers)
        for _, arm in self.of(Arm):
            if arm.agent == case.agent:
                ids += arm.servers
        for id in dict.fromkeys(ids):
            draft = self.drafts.get(("fixture", id))
            if draft is not None and isinstance(draft.document, Server):
                yield draft, draft.document

    def personas_of(self, case: Case) -> list[Persona] | None:
        """The people who talk in a case; None when one of them is not there or not right."""
        found = [self.drafts.get(("fixture", id)) for id in case.persona]
        people = [d.document for d in found if d is not None and isinstance(d.document, Persona)]
        return people if len(people) == len(found) else None

    def of(self, model: type[_D]) -> Iterator[tuple[Draft, _D]]:
        """The drafts of one kind of document, each with the document as that kind."""
        if model not in self._by_model:
            drafts = self.drafts.values()
            self._by_model[model] = [
                (d, d.document) for d in drafts if isinstance(d.document, model)
            ]
        yield from self._by_model[model]


def _misplaced(value: dict[str, Any]) -> list[Mistake]:
    """What only defaults or the loader itself may write."""
    if value.get("kind") == "defaults":
        message = f"defaults stand in a file called `{DEFAULTS}`, one for each folder"
        return [Mistake(("kind",), message, code="defaults")]
    if value.get("kind") == "case" and "expansion" in value:
        return [Mistake(("expansion",), "unknown key `expansion`", code="unknown-key", on_key=True)]
    return []


def returned(finding: Generator[Mistake, None, _T]) -> tuple[_T, list[Mistake]]:
    """What a generator of mistakes returns in the end, and the mistakes."""
    found: list[Mistake] = []
    while True:
        try:
            found.append(next(finding))
        except StopIteration as end:
            return end.value, found


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
    elif name is not REFUSED and name != "defaults":  # that one is told already
        yield not_among((key,), name, list(known))
    return None
