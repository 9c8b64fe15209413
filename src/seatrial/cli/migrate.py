"""`seatrial migrate`: documents in an older version of the language, brought forward."""

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
def migrate(paths: tuple[Path, ...], check: bool, root: Path | None) -> ExitCode:
    """Bring documents to the version of the language that this Seatrial knows.

    Each says then in which version it is written (`schema_version`). Every comment is kept. What cannot be brought
    forward by itself is told at its place, and such a document keeps its version; a file that would lose something
    stays as it is. With PATHS only these files and folders.

    Exit code 2: something is left to do by hand, or (with --check) would be written.
    """
    from seatrial import loading
    from seatrial.cli.replacing import replace_file
    from seatrial.cli.scope import from_here, is_meant, scope
    from seatrial.documents.language import CURRENT
    from seatrial.loading.migrating import migrated

    root, meant = scope(paths, root, loading.FOLDERS, "seatrial migrate")
    files = loading.read_tree(root)
    problems: list[Problem] = [p for p in files.problems if is_meant(p.path, meant)]
    written = brought = seen = 0
    for path, data in files.items():
        if not is_meant(path, meant):
            continue
        seen += 1
        try:
            done = migrated(path, data)
        except InvalidDocuments as error:
            problems += error.problems
            continue
        problems += done.left
        brought += done.documents
        if done.data == data:
            continue
        written += 1
        if not check:
            replace_file(root / path, done.data)
        here = Path(os.path.relpath(root / path)).as_posix()
        click.echo(f"{'would write' if check else 'wrote'} {here}")
    for problem in sorted(problems):
        click.echo(from_here(root, problem).render())
    told = f"{written} {'not in' if check else 'brought to'} version {CURRENT}"
    told += f", {brought} document{'' if brought == 1 else 's'} changed by more than that"
    click.echo(f"{seen} file{'' if seen == 1 else 's'}: {told}")
    return ExitCode.USAGE if problems or (check and written) else ExitCode.OPEN
