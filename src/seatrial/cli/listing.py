"""`seatrial list`: which documents there are."""

from __future__ import annotations

from collections.abc import Iterable
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
    from seatrial.workspace import Workspace

    filters = {"--tag": tags, "--group": group, "--suite": suite}
    used = [name for name, value in filters.items() if value]
    used += ["--required"] if required is not None else []
    if kind != "cases" and used:
        raise UsageError(f"{', '.join(used)}: {_OF_CASES}", hint="seatrial list cases …")
    catalog = Workspace.find(root).catalog()
    if suite is not None and suite not in catalog.suites:
        known = ", ".join(sorted(catalog.suites)) or "none"
        raise UsageError(f"there is no suite {suite!r}", hint=f"there are: {known}")
    rows: list[dict[str, Any]]
    if kind == "cases":
        cases: Iterable[Case] = (
            catalog.suite_cases(catalog.suites[suite]) if suite else catalog.cases.values()
        )
        rows = [
            _case(catalog, case)
            for case in cases
            if set(tags) <= set(case.tags)
            and group in (None, case.group)
            and required in (None, case.required)
            and agent in (None, case.agent)
        ]
    elif kind == "suites":
        rows = [_suite(catalog, s) for s in catalog.suites.values()]
        rows = [row for row in rows if agent is None or agent in row["agents"]]
    elif kind == "arms":
        rows = [_arm(catalog, arm) for arm in catalog.arms.values() if agent in (None, arm.agent)]
    else:
        users = _users(catalog)
        rows = [_fixture(catalog, f, users) for f in catalog.fixtures.values()]
        rows = [row for row in rows if agent is None or agent in row["agents"]]
    if shape == "json":
        import json

        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return ExitCode.OPEN
    for line in _table([_line(kind, row) for row in rows]):
        click.echo(printable(line))
    return ExitCode.OPEN


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
