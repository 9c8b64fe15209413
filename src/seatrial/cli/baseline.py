"""`seatrial baseline`: what is released now, and what was before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seatrial.records import Release

_root = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder in whose repository the branch is; the nearest one above, when left out.",
)
_suite = click.option("-s", "--suite", metavar="ID", help="Only this suite.")
_shape = click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")


@click.group()
def baseline() -> None:
    """Look at the released baselines."""


@baseline.command()
@click.option(
    "--baseline",
    "spec",
    metavar="SPEC",
    help="A folder, ref or commit to look at, instead of the branch seatrial-baselines.",
)
@_suite
@_shape
@_root
def show(spec: str | None, suite: str | None, shape: str, root: Path | None) -> None:
    """Show the baselines in force: of which run and commit, and who approved them."""
    from seatrial import baseline as baselines
    from seatrial.errors import BaselineError
    from seatrial.workspace import Workspace

    found = [
        (where, release)
        for release, where in baselines.released(
            spec, repository=Workspace.find_or_here(root).repository
        )
        if suite in (None, release.suite)
    ]
    if not found:
        raise BaselineError(
            f"nothing is released for suite {suite!r}", hint="seatrial baseline show lists all"
        )
    _print(found, shape)


@baseline.command()
@_suite
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="At most so many.",
)
@_shape
@_root
def log(suite: str | None, limit: int, shape: str, root: Path | None) -> None:
    """List the releases on the branch seatrial-baselines, newest first."""
    from itertools import islice

    from seatrial import baseline as baselines
    from seatrial.workspace import Workspace

    repository = Workspace.find_or_here(root).repository
    _print(list(islice(baselines.history(repository, suite=suite), limit)), shape)


def _print(found: list[tuple[str, Release]], shape: str) -> None:
    if shape == "json":
        import json

        listed = [{"where": w, **r.model_dump(mode="json", exclude={"files"})} for w, r in found]
        click.echo(json.dumps(listed, indent=1))
        return
    for number, (where, release) in enumerate(found):
        click.echo(("\n" if number else "") + "\n".join(_lines(where, release)))


def _lines(where: str, release: Release) -> list[str]:
    from seatrial.errors import printable

    rows = [
        ("run", release.run),
        ("commit", release.revision or "none"),
        ("approved by", f"{release.approved_by}, {release.released_at}"),
        (
            "trials",
            f"{release.trials} over {release.cases} cases, {release.passed} passed, "
            f"{release.invalid} invalid",
        ),
        ("not of a commit", release.dirty),
        ("message", release.message.replace("\n", " ")),
        ("where", where),
    ]
    head = f"{release.agent} {release.version} ({release.arm}), suite {release.suite}"
    return [printable(head), *(f"  {name:<12} {printable(text)}" for name, text in rows if text)]
