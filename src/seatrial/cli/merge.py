"""`seatrial merge`: the shards of a run, put together."""

from __future__ import annotations

from pathlib import Path

import click

from seatrial.errors import ExitCode, printable


@click.command("merge")
@click.argument(
    "dirs",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the whole run, a new one.",
)
def merge(dirs: tuple[Path, ...], out: Path) -> ExitCode:
    """Put the run folders of all shards (DIRS, or one folder that holds them) together into one run.

    Makes sure that they are of one plan, and that exactly the planned trials are there, each once.

    Exit codes: 0 the run is whole; 2 they are not shards of one plan; 3 something is missing: what is there is
    merged, and the gate is undecided until `seatrial run --resume` has run the rest.
    """
    from seatrial.cli.merging import folders, merged

    found = merged(folders(dirs), out)
    shards = f"{found.there} of {found.shards} shards"
    click.echo(f"{found.trials} trials of {shards}, plan {found.plan}.")
    for line in found.lacking():
        click.echo(printable(line), err=True)
    click.echo(f"Run: {out}")
    if not found.whole:
        click.echo(f"  → seatrial run --resume {out}", err=True)
        return ExitCode.UNDECIDED
    return ExitCode.OPEN
