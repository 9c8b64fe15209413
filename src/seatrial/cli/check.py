"""`seatrial check`: whether the documents are right, and every place where they are not."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.cli.steering import steer
from seatrial.errors import ExitCode, InvalidDocuments, Problem, UsageError, printable

if TYPE_CHECKING:
    from seatrial.documents import Catalog
    from seatrial.loading import Tree


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--format",
    "shape",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    help="Lines that terminals link, JSON, annotations of a GitHub workflow, or SARIF 2.1.0.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/, suites/, arms/ and fixtures/; the nearest one above, when left out.",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Carry out each case twice, by doing nothing and by doing what is right, in its own world.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Start servers and mocked worlds, and hold fixtures against the tools that they offer.",
)
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option(
    "--stale-after",
    type=click.IntRange(min=1),
    default=365,
    show_default=True,
    metavar="DAYS",
    help="Warn of cases whose last review lies further back.",
)
@click.option("-s", "--suite", metavar="ID", help="Prove the cases of this suite only.")
@click.option(
    "-c",
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    help="Prove this case only; may be repeated.",
)
def check(
    paths: tuple[Path, ...],
    shape: str,
    root: Path | None,
    prove: bool,
    live: bool,
    strict: bool,
    stale_after: int,
    suite: str | None,
    cases: tuple[str, ...],
) -> ExitCode:
    """Check the documents, and say where they are wrong.

    PATHS may be the folder with cases/, suites/, arms/ and fixtures/, or files and folders in it: then
    everything is read, and what is wrong with these is shown.

    Right documents are also looked at for what is doubtful: warnings, which leave the exit code at 0 unless --strict.

    With --prove the right documents are tried as well: a case that an agent passes which does nothing must say
    under `weak` why it may stay, and one that cannot be passed by its own solution is an error.

    With --live the servers of right documents are started, and asked which tools they have: what documents say
    of them, and mocked answers that were written for other schemas, is told as stale, with the difference.
    """
    from seatrial import loading
    from seatrial.cli.scope import from_here, is_meant, scope

    if not prove and (suite or cases):
        raise UsageError("--suite and --case choose what is proved", hint="add --prove")

    root, shown = scope(paths, root, loading.FOLDERS, "seatrial check")
    files = loading.read_tree(root)
    if not files and not files.problems:
        raise UsageError(
            f"{root} has no documents: no YAML files under {', '.join(f'{f}/' for f in loading.FOLDERS)}",
            hint="go to the folder that holds them, or name it: seatrial check FOLDER; `seatrial init` begins one",
        )
    catalog: Catalog | None = None
    problems: tuple[Problem, ...] = ()
    doubtful: tuple[Problem, ...] = ()
    with loading.collector_at_rest():
        try:
            catalog = loading.load(files)
            problems = _problems_of_files(root, catalog)
            doubtful = _doubts(root, files, catalog, stale_after) if not problems else ()
        except InvalidDocuments as error:
            problems = error.problems
        gc.freeze()  # what was read stays to the end: whoever collects need not walk all of it
    asked: int | None = None
    if live and catalog is not None and not problems:
        from seatrial.cli import living

        found = living.live(root.resolve(), catalog)
        problems, asked = found.problems, found.asked
    warnings: list[Problem] = []
    if catalog is not None and not problems:
        problems = tuple(p for p in doubtful if p.level == "error")
        warnings = [
            from_here(root, p) for p in doubtful if p.level == "warning" and is_meant(p.path, shown)
        ]
    here = [p for p in problems if is_meant(p.path, shown)]
    if not prove or catalog is None or problems:
        elsewhere = len(problems) - len(here)
        _print(shape, [*(from_here(root, p) for p in here), *warnings], elsewhere, catalog, asked)
        if not here and prove:
            raise UsageError("only right documents can be proved", hint="run `seatrial check`")
        return ExitCode.USAGE if here or (strict and warnings) else ExitCode.OPEN

    from seatrial.cli import proving

    chosen = proving.chosen(
        catalog, suite, cases, lambda case: is_meant(_path_of(catalog, case), shown)
    )
    outcome = proving.proved(root.resolve(), catalog, chosen)
    wrong = [from_here(root, p) for p in outcome.problems]
    if shape == "json":
        click.echo(_json([*wrong, *warnings], 0, catalog, outcome.as_data()))
    elif shape == "sarif":
        _print(shape, [*wrong, *warnings], 0, catalog, asked)
    else:
        for problem in (*wrong, *warnings):
            if shape == "text":
                click.echo(problem.render())
            else:
                steer(_annotation(problem))
        for line in outcome.lines():
            click.echo(line)
    return ExitCode.USAGE if wrong or (strict and warnings) else ExitCode.OPEN


def _doubts(root: Path, files: Tree, catalog: Catalog, stale_after: int) -> tuple[Problem, ...]:
    import datetime as dt

    from seatrial.loading.advice import doubts
    from seatrial.loading.lifelike import ALLOWED, allowed, lifelike
    from seatrial.workspace.targets import missing_targets

    today = dt.datetime.now(dt.UTC).date()
    there = (root / ALLOWED).is_file()
    may_stay = allowed((root / ALLOWED).read_bytes() if there else None)
    missing = missing_targets(root.resolve(), catalog)
    return tuple(
        sorted((*doubts(catalog, today, stale_after), *missing, *lifelike(files, may_stay)))
    )


def _path_of(catalog: Catalog, case: str) -> str:
    source = catalog.sources.get(("case", case))
    return source.path if source else ""


def _problems_of_files(root: Path, catalog: Catalog) -> tuple[Problem, ...]:
    """Where worlds, arms and checks name files that are missing or cannot be used."""
    from seatrial.documents import ObjectsWorld

    built = [arm for arm in catalog.arms.values() if arm.sources or arm.settings_schema]
    judged = any(case.functions() for case in catalog.cases.values())
    of_objects = all(isinstance(fixture, ObjectsWorld) for fixture in catalog.built)
    if not built and not judged and of_objects:
        return ()

    from seatrial.git import Repository
    from seatrial.workspace import Workspace

    workspace = Workspace(root.resolve(), Repository.find(root))
    problems: list[Problem] = []
    for digests in (workspace.world_digests, workspace.check_digests):
        try:
            digests(catalog)
        except InvalidDocuments as error:
            problems += error.problems
    for arm in built:
        try:
            workspace.source_digests(catalog, arm)
        except InvalidDocuments as error:
            problems += error.problems
    return tuple(sorted(problems))


def _print(
    shape: str,
    problems: Sequence[Problem],
    elsewhere: int,
    catalog: Catalog | None,
    asked: int | None,
) -> None:
    if shape == "json":
        click.echo(_json(problems, elsewhere, catalog))
        return
    if shape == "sarif":
        from seatrial.cli.sarif import sarif

        click.echo(sarif(problems))
        return
    for problem in problems:
        if shape == "text":
            click.echo(problem.render())
        else:
            steer(_annotation(problem))
    summary = _summary(problems, elsewhere, catalog)
    if asked is not None:
        summary += f"; {_count(asked, 'fixture')} asked"
    click.echo(summary)


def _summary(problems: Sequence[Problem], elsewhere: int, catalog: Catalog | None) -> str:
    wrong = [p for p in problems if p.level == "error"]
    if wrong:
        files = len({p.path for p in wrong})
        text = f"{_count(len(wrong), 'problem')} in {_count(files, 'file')}"
    elif catalog is None:
        text = "no problems here"
    else:
        counts = ", ".join(_count(n, kind.removesuffix("s")) for kind, n in _sizes(catalog).items())
        text = f"checked {counts}: no problems"
    if len(wrong) < len(problems):
        text += f", {_count(len(problems) - len(wrong), 'warning')}"
    if elsewhere:
        text += f"; {_count(elsewhere, 'problem')} in other files: run `seatrial check` for all"
    return text


def _sizes(catalog: Catalog) -> dict[str, int]:
    return {
        "cases": len(catalog.cases),
        "suites": len(catalog.suites),
        "arms": len(catalog.arms),
        "fixtures": len(catalog.fixtures),
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _json(
    problems: Sequence[Problem],
    elsewhere: int,
    catalog: Catalog | None,
    proofs: dict[str, Any] | None = None,
) -> str:
    import json

    data = {
        "documents": None if catalog is None else _sizes(catalog),
        "problems": [
            {
                "path": p.path,
                "line": p.line,
                "column": p.column,
                "code": p.code,
                "level": p.level,
                "message": p.message,
                "hint": p.hint,
            }
            for p in problems
        ],
        "problems_in_other_files": elsewhere,
        **({"proofs": proofs} if proofs is not None else {}),
    }
    return json.dumps(data, indent=1)


def _annotation(problem: Problem) -> str:
    """An annotation of GitHub's at the line."""
    from seatrial.escaping import workflow_command

    message = f"{problem.message}. {problem.hint}" if problem.hint else problem.message
    return workflow_command(
        problem.level,
        printable(message),
        file=problem.path,
        line=str(problem.line),
        col=str(problem.column),
        title=f"seatrial: {problem.code}",
    )
