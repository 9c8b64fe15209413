"""`seatrial fmt`: documents in their usual form."""

from __future__ import annotations

import os
from pathlib import Path

import click

from seatrial.errors import ExitCode, InvalidDocuments, Problem


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; say which would be written anew.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/, suites/, arms/ and fixtures/; the nearest one above, when left out.",
)
def fmt(paths: tuple[Path, ...], check: bool, root: Path | None) -> ExitCode:
    """Write documents in their usual form: keys in the order of the reference, indented by two.

    Comments stay with the key that they stand above or beside, and no line is broken or joined. A file that could not
    be written without changing what it says, or losing a comment, stays as it is, and is told. With PATHS only these
    files and folders.
    """
    from seatrial import loading
    from seatrial.cli.replacing import replace_file
    from seatrial.cli.scope import from_here, is_meant, scope
    from seatrial.loading.layout import formatted

    root, meant = scope(paths, root, loading.FOLDERS, "seatrial fmt")
    files = loading.read_tree(root)
    problems: list[Problem] = [p for p in files.problems if is_meant(p.path, meant)]
    changed = seen = 0
    for path, data in files.items():
        if not is_meant(path, meant):
            continue
        seen += 1
        try:
            new = formatted(path, data)
        except InvalidDocuments as error:
            problems += error.problems
            continue
        if new == data:
            continue
        changed += 1
        if not check:
            replace_file(root / path, new)
        here = Path(os.path.relpath(root / path)).as_posix()
        click.echo(f"{'would write' if check else 'wrote'} {here}")
    for problem in sorted(problems):
        click.echo(from_here(root, problem).render())
    told = f"{changed} not in their usual form" if check else f"{changed} written anew"
    if check and changed:
        told += " (`seatrial fmt` writes them)"
    if problems:
        told += f", {len(problems)} problem{'' if len(problems) == 1 else 's'}"
    click.echo(f"{seen} file{'' if seen == 1 else 's'}: {told}")
    return ExitCode.USAGE if problems or (check and changed) else ExitCode.OPEN
