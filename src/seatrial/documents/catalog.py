"""All documents of a tree at one revision, and where each stands."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import BaseModel

from seatrial.documents.answers import Answers
from seatrial.documents.arm import Arm
from seatrial.documents.case import Case
from seatrial.documents.payloads import Payloads
from seatrial.documents.persona import Persona
from seatrial.documents.price_list import PriceList
from seatrial.documents.server import Server
from seatrial.documents.suite import Selector, Suite
from seatrial.documents.world import World

Kind = Literal["case", "suite", "arm", "fixture"]
KINDS: tuple[Kind, ...] = ("case", "suite", "arm", "fixture")

FixtureDocument = World | Answers | Server | Payloads | Persona | PriceList


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document stands."""

    path: str
    """Relative to the repository, `/` between folders."""
    places: Mapping[str, tuple[int, int]]
    """Path inside the document (`checks[2].tool`) → line and column, from 1."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Path inside the document → the file it stands in, where that is another one."""

    def at(self, path: str) -> tuple[str, int, int]:
        """File, line and column of a path inside the document, or of the nearest part that has a place."""
        while path and path not in self.places:
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self.files.get(path, self.path), *self.places.get(path, (1, 1))

    def place(self, path: str) -> str:
        """`file:line:column` of a path inside the document, or of the nearest part that has a place."""
        file, line, column = self.at(path)
        return f"{file}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class Catalog:
    """Documents by kind and id."""

    cases: Mapping[str, Case] = field(default_factory=dict)
    suites: Mapping[str, Suite] = field(default_factory=dict)
    arms: Mapping[str, Arm] = field(default_factory=dict)
    fixtures: Mapping[str, FixtureDocument] = field(default_factory=dict)
    sources: Mapping[tuple[Kind, str], Source] = field(default_factory=dict)
    own_fixtures: Mapping[str, Mapping[str, FixtureDocument]] = field(default_factory=dict)
    """Arm → fixtures that this arm is given in place of those of the same id: the released arm, run again, is
    shown the tools as they were when it was released."""

    def world(self, id: str, arm: str = "") -> World:
        """The world fixture of this id (the loader has checked that it is one), as an arm is given it."""
        found = self.own_fixtures.get(arm, {}).get(id) or self.fixtures[id]
        assert isinstance(found, World)
        return found

    @property
    def worlds(self) -> tuple[World, ...]:
        """Every world fixture."""
        return tuple(f for f in self.fixtures.values() if isinstance(f, World))

    def servers(self, case: Case, arm: Arm) -> tuple[Server, ...]:
        """The real MCP servers of a trial: the case's, then the arm's, each once."""
        found = [self.fixtures[id] for id in dict.fromkeys((*case.servers, *arm.servers))]
        assert all(isinstance(server, Server) for server in found)
        return tuple(server for server in found if isinstance(server, Server))

    @property
    def built(self) -> tuple[World | Server, ...]:
        """Every fixture that may lean on files and on variables of the environment."""
        return tuple(f for f in self.fixtures.values() if isinstance(f, World | Server))

    @property
    def people(self) -> tuple[Persona, ...]:
        """Every fixture of a person."""
        return tuple(f for f in self.fixtures.values() if isinstance(f, Persona))

    def answers(self, id: str) -> Answers:
        """The fixture of mocked answers of this id (the loader has checked that it is one)."""
        found = self.fixtures[id]
        assert isinstance(found, Answers)
        return found

    def personas(self, case: Case) -> tuple[Persona, ...]:
        """The people who talk in a case (the loader has checked that they are some)."""
        found = [self.fixtures[id] for id in case.persona]
        assert all(isinstance(persona, Persona) for persona in found)
        return tuple(persona for persona in found if isinstance(persona, Persona))

    def part(self, cases: Iterable[str]) -> Catalog:
        """These of the cases, as far as they are there, and the fixtures that they lean on; nothing else."""
        kept = {id: self.cases[id] for id in cases if id in self.cases}
        used = {name for case in kept.values() for name in case.fixtures}
        fixtures = {id: fixture for id, fixture in self.fixtures.items() if id in used}
        return Catalog(cases=kept, fixtures=fixtures, sources=self.sources)

    def place(self, kind: Kind, id: str, path: str = "") -> str:
        """`file:line:column` of a part of a document; empty when it did not come from a file."""
        source = self.sources.get((kind, id))
        return source.place(path) if source else ""

    def named(self, case: str) -> tuple[str, ...]:
        """The ids of the cases that an id stands for: itself, or all expansions and variants of what it names."""
        if case in self.cases:
            return (case,)
        begin = f"{case}--"
        return tuple(
            id for id in self.cases if id.startswith(begin) and case in self.cases[id].names
        )

    def suite_cases(self, suite: Suite) -> tuple[Case, ...]:
        """The suite's cases in its order, each once; a selector's cases by id."""
        chosen: dict[str, Case] = {}
        for entry in suite.cases:
            if isinstance(entry, Selector):
                for id in sorted(self.cases):
                    if self.fits(self.cases[id], entry):
                        chosen.setdefault(id, self.cases[id])
            else:
                for id in self.named(entry):
                    chosen.setdefault(id, self.cases[id])
        return tuple(chosen.values())

    def must_tie(self, suite: Suite) -> frozenset[str]:
        """Ids of the suite's cases that must tie between two arms."""
        return frozenset(
            case.id
            for case in self.suite_cases(suite)
            for entry in suite.must_tie
            if (entry in case.names if isinstance(entry, str) else self.fits(case, entry))
        )

    def fits(self, case: Case, selector: Selector) -> bool:
        """Whether a selector chooses a case."""
        source = self.sources.get(("case", case.id))
        path = source.path if source else ""
        return (
            set(selector.tags) <= set(case.tags)
            and selector.group in (None, case.group)
            and selector.required in (None, case.required)
            and (selector.priority is None or case.priority >= selector.priority)
            and (selector.folder is None or fnmatchcase(path, selector.folder.rstrip("/") + "/*"))
        )


def digest(value: Any) -> str:
    """A short digest of a JSON value or a document: key order and comments do not matter."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
