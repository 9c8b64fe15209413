"""`seatrial list`: which documents there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.errors import ExitCode, UsageError, printable

if TYPE_CHECKING:
    from seatrial.documents import Arm, Case, Catalog, FixtureDocument, Suite

_KINDS = ("cases", "suites", "arms", "fixtures")
_OF_CASES = "are about cases"


@click.command("list")
@click.argument("kind", type=click.Choice(_KINDS))
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="WORD",
    help="Cases with this tag; all of them, when repeated.",
)
@click.option(
    "--group", type=click.Choice(["task", "boundary", "clarify", "injection", "purpose"]),
    help="Cases of this group.",
)  # fmt: skip
@click.option("-s", "--suite", metavar="ID", help="Cases of this suite, in its order.")
@click.option(
    "--required/--not-required", default=None, help="Cases that are required, or the others."
)
@click.option("--agent", metavar="NAME", help="Cases, arms, suites and fixtures of this agent.")
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def list_documents(
    kind: str,
    tags: tuple[str, ...],
    group: str | None,
    suite: str | None,
    required: bool | None,
    agent: str | None,
    shape: str,
    root: Path | None,
) -> ExitCode:
    """List cases, suites, arms or fixtures, one a line.

    A case with several variants of an attack stands once for each of them.
    """
    filters = {"--tag": tags, "--group": group, "--suite": suite}
    used = [name for name, value in filters.items() if value]
    used += ["--required"] if required is not None else []
    if kind != "cases" and used:
        raise UsageError(f"{', '.join(used)}: {_OF_CASES}", hint="seatrial list cases …")
    index = _index(root)
    suites = {row["id"]: row for row in index["suites"]}
    if suite is not None and suite not in suites:
        known = ", ".join(sorted(suites)) or "none"
        raise UsageError(f"there is no suite {suite!r}", hint=f"there are: {known}")
    rows = index[kind]
    if suite is not None:
        cases = {row["id"]: row for row in rows}
        rows = [cases[id] for id in index["of_suites"][suite]]
    rows = [
        row
        for row in rows
        if set(tags) <= set(row.get("tags", ()))
        and (group is None or row["group"] == group)
        and (required is None or row["required"] == required)
        and (agent is None or agent in row.get("agents", [row.get("agent")]))
    ]
    if shape == "json":
        import json

        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return ExitCode.OPEN
    for line in _table([_line(kind, row) for row in rows]):
        click.echo(printable(line))
    return ExitCode.OPEN


def _index(root: Path | None) -> dict[str, Any]:
    """The rows of all kinds, and the cases of each suite in its order; recalled where they were read before."""
    from seatrial import loading
    from seatrial.loading.tree import root_around
    from seatrial.remembered import key, remembered

    start = (root or Path.cwd()).resolve()
    found = root_around(start)
    if found is None:
        raise UsageError(
            f"neither {start} nor a folder above it has cases/ or suites/",
            hint="go to the folder that holds them, or name it with --root; `seatrial init` begins one",
        )
    files = loading.read_tree(found)
    memory = None if files.problems else remembered(found)
    name = key("list", files.items())
    before = memory.recall(name) if memory is not None else None
    if isinstance(before, dict) and before.keys() == {*_KINDS, "of_suites"}:
        return before
    with loading.collector_at_rest():
        index = _rows(loading.load(files))
    if memory is not None:
        memory.keep(name, index)
    return index


def _rows(catalog: Catalog) -> dict[str, Any]:
    users = _users(catalog)
    return {
        "cases": [_case(catalog, case) for case in catalog.cases.values()],
        "suites": [_suite(catalog, suite) for suite in catalog.suites.values()],
        "arms": [_arm(catalog, arm) for arm in catalog.arms.values()],
        "fixtures": [_fixture(catalog, fixture, users) for fixture in catalog.fixtures.values()],
        "of_suites": {
            id: [case.id for case in catalog.suite_cases(suite)]
            for id, suite in catalog.suites.items()
        },
    }


def _case(catalog: Catalog, case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "title": case.title,
        "group": case.group,
        "required": case.required,
        "negative": case.negative,
        "agent": case.agent,
        "tags": list(case.tags),
        "owner": case.owner,
        "priority": case.priority,
        "reviewed": case.reviewed.isoformat() if case.reviewed else None,
        "place": catalog.place("case", case.id),
    }


def _suite(catalog: Catalog, suite: Suite) -> dict[str, Any]:
    cases = catalog.suite_cases(suite)
    return {
        "id": suite.id,
        "title": suite.title,
        "cases": len(cases),
        "required": sum(case.required for case in cases),
        "trials": suite.trials,
        "agents": sorted({case.agent for case in cases}),
        "place": catalog.place("suite", suite.id),
    }


def _arm(catalog: Catalog, arm: Arm) -> dict[str, Any]:
    return {
        "id": arm.id,
        "title": arm.title,
        "agent": arm.agent,
        "version": arm.version,
        "adapter": arm.adapter.type,
        "model": arm.model.name if arm.model else None,
        "place": catalog.place("arm", arm.id),
    }


def _users(catalog: Catalog) -> dict[str, list[Case]]:
    """Fixture → the cases that lean on it, by themselves or by an arm of their agent."""
    users: dict[str, list[Case]] = {}
    for case in catalog.cases.values():
        used = {*case.fixtures}
        if case.attack is not None and case.attack.payloads is not None:
            used.add(case.attack.payloads)
        for arm in catalog.arms.values():
            if arm.agent == case.agent:
                used.update(arm.servers)
        for id in used:
            users.setdefault(id, []).append(case)
    return users


def _fixture(
    catalog: Catalog, fixture: FixtureDocument, users: dict[str, list[Case]]
) -> dict[str, Any]:
    of = users.get(fixture.id, [])
    return {
        "id": fixture.id,
        "title": getattr(fixture, "title", ""),
        "type": fixture.type,
        "world": getattr(fixture, "world", None),
        "cases": len(of),
        "agents": sorted({case.agent for case in of}),
        "place": catalog.place("fixture", fixture.id),
    }


def _line(kind: str, row: dict[str, Any]) -> list[str]:
    if kind == "cases":
        marks = "required" if row["required"] else ""
        middle = [row["group"], marks, row["agent"]]
    elif kind == "suites":
        middle = [f"{row['cases']} cases", f"{row['required']} required", ", ".join(row["agents"])]
    elif kind == "arms":
        middle = [row["agent"], row["version"], row["adapter"]]
    else:
        middle = [row["world"] or row["type"], f"{row['cases']} cases", ", ".join(row["agents"])]
    return [row["id"], *middle, row["title"]]


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max((len(cell) for cell in column), default=0) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
