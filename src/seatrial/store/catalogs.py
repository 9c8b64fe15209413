"""A catalog as JSON: every document as it was written, and where each part of it stands."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from seatrial.documents import Arm, Case, Catalog, Fixture, Kind, Source, Suite

_Any = Annotated[Case | Suite | Arm | Fixture, Field(discriminator="kind")]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    arm: str = ""
    """The one arm that is given this fixture in place of that of the same id."""
    path: str = ""
    places: dict[str, tuple[int, int]] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    document: _Any


class _Documents(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal[1]
    documents: list[_Entry]


_READER = TypeAdapter(_Documents)


def dump(catalog: Catalog) -> bytes:
    """The catalog as JSON, a document a line (git then stores only the lines that change)."""
    lines = []
    for kind, documents in _by_kind(catalog):
        for id, document in documents.items():
            entry: dict[str, Any] = {}
            source = catalog.sources.get((kind, id))
            if source:
                entry["path"] = source.path
                entry["places"] = {path: list(place) for path, place in source.places.items()}
                if elsewhere := dict(source.files):
                    entry["files"] = elsewhere
            lines.append(_line(entry, document))
    for arm, fixtures in catalog.own_fixtures.items():
        lines += [_line({"arm": arm}, fixture) for fixture in fixtures.values()]
    text = '{"format":1,"documents":[\n' + ",\n".join(lines) + "\n]}\n"
    return text.encode("utf-8", "surrogatepass")


def load(data: bytes) -> Catalog:
    """The catalog that `dump` wrote.

    Raises:
        pydantic.ValidationError: when it is no such thing.
    """
    cases, suites, arms, fixtures = {}, {}, {}, {}
    sources: dict[tuple[Kind, str], Source] = {}
    own: dict[str, dict[str, Any]] = {}
    for entry in _READER.validate_json(data).documents:
        document = entry.document
        match document:
            case Case():
                cases[document.id] = document
            case Suite():
                suites[document.id] = document
            case Arm():
                arms[document.id] = document
            case _ if entry.arm:
                own.setdefault(entry.arm, {})[document.id] = document
            case _:
                fixtures[document.id] = document
        if entry.path:
            sources[document.kind, document.id] = Source(entry.path, entry.places, entry.files)
    return Catalog(cases, suites, arms, fixtures, sources, own)


def _line(entry: dict[str, Any], document: BaseModel) -> str:
    written = document.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return json.dumps({**entry, "document": written}, ensure_ascii=False, separators=(",", ":"))


def _by_kind(catalog: Catalog) -> tuple[tuple[Kind, Any], ...]:
    return (
        ("suite", catalog.suites),
        ("arm", catalog.arms),
        ("fixture", catalog.fixtures),
        ("case", catalog.cases),
    )
