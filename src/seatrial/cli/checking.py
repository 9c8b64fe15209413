"""What `seatrial check` finds out about the documents of a folder, or has found out about the same ones before."""

from __future__ import annotations

import datetime as dt
import gc
import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial import loading
from seatrial.errors import InvalidDocuments, Problem
from seatrial.loading.tree import ALLOWED, read_beside
from seatrial.remembered import key, remembered

if TYPE_CHECKING:
    from seatrial.documents import Catalog

Sizes = dict[str, int]
"""`cases`, `suites`, `arms`, `fixtures` → how many there are."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found out."""

    problems: tuple[Problem, ...]
    """What is wrong."""
    warnings: tuple[Problem, ...]
    """What is doubtful, where nothing is wrong with the documents and with the files that they name."""
    sizes: Sizes | None
    """None where the documents cannot be read."""
    catalog: Catalog | None
    """The documents themselves; None where they cannot be read, or were not for being remembered."""


def checked(root: Path, files: loading.Tree, stale_after: int, *, anew: bool) -> Checked:
    """Everything that is wrong with these documents, or doubtful.

    What the documents alone show hangs on them, on the day and on `stale_after`, and is remembered. The other files
    that they name are looked at each time.

    Args:
        root: the folder that the documents lie in.
        files: the files of the documents.
        stale_after: days after which a review is stale.
        anew: the documents themselves are wanted, so that nothing is recalled.
    """
    today = dt.datetime.now(dt.UTC).date()
    beside = read_beside(root, ALLOWED)
    if isinstance(beside, Problem):
        files = loading.Tree(files.items(), (*files.problems, beside))
    may_stay = beside if isinstance(beside, bytes) else None
    if (idle := _idle_defaults(root)) is not None:
        files = loading.Tree(files.items(), (*files.problems, idle))
    memory = None if anew or files.problems else remembered(root)
    name = ""
    outside: tuple[Problem, ...]
    doubtful: tuple[Problem, ...]
    if memory is not None:
        contents = [*files.items(), *([(ALLOWED, may_stay)] if may_stay is not None else [])]
        name = key("check", contents, today.isoformat(), str(stale_after))
        before = _read(memory.recall(name))
        if before is not None:
            outside = _problems_of_files(root, before.leaning)
            doubtful = () if outside else (*before.warnings, *_unfound(root, before.leaning))
            return Checked(outside or before.problems, tuple(sorted(doubtful)), before.sizes, None)
    catalog: Catalog | None = None
    leaning: Catalog | None = None
    outside = doubtful = ()
    with loading.collector_at_rest():
        try:
            catalog = loading.load(files)
            leaning = _leaning(catalog)
            outside = _problems_of_files(root, leaning)
            doubtful = () if outside else _doubts(files, may_stay, catalog, today, stale_after)
        except InvalidDocuments as error:
            doubtful = error.problems
            memory = None if catalog is not None else memory  # it is not the documents alone
            leaning = None
        gc.freeze()  # what was read stays to the end: whoever collects need not walk all of it
    problems = outside or tuple(p for p in doubtful if p.level == "error")
    warnings = () if outside else tuple(p for p in doubtful if p.level == "warning")
    sizes = None if catalog is None else _sizes(catalog)
    if memory is not None and not outside:
        memory.keep(name, _written(_Before(problems, warnings, sizes, leaning)))
    unfound = () if outside else _unfound(root, leaning)
    return Checked(problems, tuple(sorted((*warnings, *unfound))), sizes, catalog)


def _idle_defaults(root: Path) -> Problem | None:
    """Defaults beside the folders of documents, where nothing inherits from them; None where there are none."""
    from seatrial.loading.defaults import DEFAULTS

    content = read_beside(root, DEFAULTS)
    if not isinstance(content, bytes) or not _IS_DEFAULTS.search(content):
        return None  # there is none, or it is something of somebody else's
    folders = ", ".join(f"{folder}/" for folder in loading.FOLDERS)
    message = f"nothing inherits from these defaults: documents lie in {folders}"
    return Problem(DEFAULTS, 1, 1, message, "Put them into one of these folders", "defaults")


_IS_DEFAULTS = re.compile(rb"^kind:[ \t]*[\"']?defaults\b", re.MULTILINE)


def _sizes(catalog: Catalog) -> Sizes:
    return {
        "cases": len(catalog.cases),
        "suites": len(catalog.suites),
        "arms": len(catalog.arms),
        "fixtures": len(catalog.fixtures),
    }


def _doubts(
    files: loading.Tree, may_stay: bytes | None, catalog: Catalog, today: dt.date, stale_after: int
) -> tuple[Problem, ...]:
    from seatrial.loading.advice import doubts, expired
    from seatrial.loading.lifelike import allowed, lifelike

    found = (
        *expired(catalog, today),
        *doubts(catalog, today, stale_after),
        *lifelike(files, allowed(may_stay)),
    )
    return tuple(sorted(found))


# --- other files than documents ---


def _leaning(catalog: Catalog) -> Catalog:
    """The documents that lean on files, and no others."""
    from seatrial.documents import Catalog, Command, Mcp, ObjectsWorld, Python

    cases = {id: case for id, case in catalog.cases.items() if case.functions()}
    arms = {
        id: arm
        for id, arm in catalog.arms.items()
        if arm.sources or arm.settings_schema or isinstance(arm.adapter, Command | Mcp | Python)
    }
    built = {f.id: f for f in catalog.built if not isinstance(f, ObjectsWorld)}
    named = {*(("case", id) for id in cases), *(("arm", id) for id in arms)}
    named |= {("fixture", id) for id in built}
    sources = {place: of for place, of in catalog.sources.items() if place in named}
    return Catalog(cases=cases, arms=arms, fixtures=built, sources=sources)


def _problems_of_files(root: Path, leaning: Catalog | None) -> tuple[Problem, ...]:
    """Where worlds, arms and checks name files that are missing or cannot be used."""
    if leaning is None or not (leaning.cases or leaning.arms or leaning.fixtures):
        return ()

    from seatrial.git import Repository
    from seatrial.workspace import Workspace

    workspace = Workspace(root.resolve(), Repository.find(root))
    problems: list[Problem] = []
    for digests in (workspace.world_digests, workspace.check_digests):
        try:
            digests(leaning)
        except InvalidDocuments as error:
            problems += error.problems
    for arm in leaning.arms.values():
        if not (arm.sources or arm.settings_schema):
            continue
        try:
            workspace.source_digests(leaning, arm)
        except InvalidDocuments as error:
            problems += error.problems
    return tuple(sorted(problems))


def _unfound(root: Path, leaning: Catalog | None) -> tuple[Problem, ...]:
    """Where arms name functions and programs that a run would not find."""
    if leaning is None or not leaning.arms:
        return ()

    from seatrial.git import Repository
    from seatrial.workspace.programs import missing_programs
    from seatrial.workspace.targets import missing_targets

    repository = Repository.find(root)
    home = repository.root if repository else root.resolve()
    unfound = missing_targets(root.resolve(), home, leaning)
    return (*unfound, *missing_programs(root.resolve(), leaning))


# --- as it is remembered ---


@dataclass(frozen=True, slots=True)
class _Before:
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    sizes: Sizes | None
    leaning: Catalog | None
    """The documents that lean on files; None where none does."""


def _written(found: _Before) -> dict[str, Any]:
    return {
        "problems": [astuple(problem) for problem in found.problems],
        "warnings": [astuple(problem) for problem in found.warnings],
        "sizes": found.sizes,
        "leaning": [] if found.leaning is None else list(_rows(found.leaning)),
    }


def _read(value: Any) -> _Before | None:
    """What was remembered; None where it has another shape than what is written here."""
    try:
        sizes, leaning = value["sizes"], value["leaning"]
        if sizes is not None and not all(type(number) is int for number in sizes.values()):
            return None
        return _Before(
            problems=_problems(value["problems"]),
            warnings=_problems(value["warnings"]),
            sizes=sizes,
            leaning=_of_rows(leaning) if leaning else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _problems(rows: Iterable[Any]) -> tuple[Problem, ...]:
    return tuple(Problem(*row) for row in rows)


def _rows(leaning: Catalog) -> Iterator[Any]:
    for documents in (leaning.cases, leaning.arms, leaning.fixtures):
        for document in documents.values():
            source = leaning.sources[document.kind, document.id]
            written = document.model_dump(mode="json", by_alias=True, exclude_unset=True)
            yield [source.path, dict(source.places), dict(source.files), written]


def _of_rows(rows: Iterable[Any]) -> Catalog:
    """The documents that `_rows` wrote."""
    from pydantic import TypeAdapter

    from seatrial.documents import Arm, Case, Catalog, Fixture, Source

    found: dict[str, dict[str, Any]] = {"case": {}, "arm": {}, "fixture": {}}
    models: dict[str, Any] = {"case": Case, "arm": Arm, "fixture": Fixture}
    sources: dict[Any, Source] = {}
    for path, places, files, written in rows:
        document = TypeAdapter(models[written["kind"]]).validate_python(written)
        found[document.kind][document.id] = document
        spots = {part: (line, column) for part, (line, column) in places.items()}
        sources[document.kind, document.id] = Source(path, spots, files)
    return Catalog(
        cases=found["case"], arms=found["arm"], fixtures=found["fixture"], sources=sources
    )
