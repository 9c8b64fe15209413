"""`seatrial check`: whether the documents are right, and every place where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.cli.steering import steer
from seatrial.errors import ExitCode, Problem, UsageError, printable

if TYPE_CHECKING:
    from seatrial.cli.checking import Sizes
    from seatrial.documents import Catalog


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

    What was found out about the very same files on the same day is recalled from the user's folder of caches, which
    may be deleted at any time. SEATRIAL_CACHE names another folder, or is `off`; none inside the repository is used.
    """
    from seatrial import loading
    from seatrial.cli.checking import checked
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
    found = checked(root, files, stale_after, anew=prove or live)
    catalog, problems, doubtful = found.catalog, found.problems, found.warnings
    asked: int | None = None
    if live and catalog is not None and not problems:
        from seatrial.cli import living

        alive = living.live(root.resolve(), catalog)
        problems, asked = alive.problems, alive.asked
        doubtful = () if problems else doubtful
    warnings = [from_here(root, p) for p in doubtful if is_meant(p.path, shown)]
    here = [p for p in problems if is_meant(p.path, shown)]
    if not prove or catalog is None or problems:
        elsewhere = len(problems) - len(here)
        _print(
            shape, [*(from_here(root, p) for p in here), *warnings], elsewhere, found.sizes, asked
        )
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
        click.echo(_json([*wrong, *warnings], 0, found.sizes, outcome.as_data()))
    elif shape == "sarif":
        _print(shape, [*wrong, *warnings], 0, found.sizes, asked)
    else:
        for problem in (*wrong, *warnings):
            if shape == "text":
                click.echo(problem.render())
            else:
                steer(_annotation(problem))
        for line in outcome.lines():
            click.echo(line)
    return ExitCode.USAGE if wrong or (strict and warnings) else ExitCode.OPEN


def _path_of(catalog: Catalog, case: str) -> str:
    source = catalog.sources.get(("case", case))
    return source.path if source else ""


def _print(
    shape: str,
    problems: Sequence[Problem],
    elsewhere: int,
    sizes: Sizes | None,
    asked: int | None,
) -> None:
    if shape == "json":
        click.echo(_json(problems, elsewhere, sizes))
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
    summary = _summary(problems, elsewhere, sizes)
    if asked is not None:
        summary += f"; {_count(asked, 'fixture')} asked"
    click.echo(summary)


def _summary(problems: Sequence[Problem], elsewhere: int, sizes: Sizes | None) -> str:
    wrong = [p for p in problems if p.level == "error"]
    if wrong:
        files = len({p.path for p in wrong})
        text = f"{_count(len(wrong), 'problem')} in {_count(files, 'file')}"
    elif sizes is None:
        text = "no problems here"
    else:
        counts = ", ".join(_count(n, kind.removesuffix("s")) for kind, n in sizes.items())
        text = f"checked {counts}: no problems"
    if len(wrong) < len(problems):
        text += f", {_count(len(problems) - len(wrong), 'warning')}"
    if elsewhere:
        text += f"; {_count(elsewhere, 'problem')} in other files: run `seatrial check` for all"
    return text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _json(
    problems: Sequence[Problem],
    elsewhere: int,
    sizes: Sizes | None,
    proofs: dict[str, Any] | None = None,
) -> str:
    import json

    data = {
        "documents": sizes,
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
