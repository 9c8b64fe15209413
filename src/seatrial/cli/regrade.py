"""`seatrial regrade`: grade the traces of a run again, with the checks as they are now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seatrial.store import Run


@click.command()
@click.argument("run")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write, a new one; below .seatrial/runs when left out.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def regrade(run: str, out: Path | None, root: Path | None) -> None:
    """Grade the traces of a RUN (a folder, an id, or `latest`) again, with the checks as they are now.

    No agent is run and nothing is asked of any network. The run stays as it is; what comes out is a run of
    its own that says where its traces are from. Trials keep their findings in cases that changed in more
    than their checks.
    """
    from seatrial import functions, regrading, store
    from seatrial.checks.again import functions_named
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    before = store.Run.open(store.find(workspace.root, run))
    revision, dirty = workspace.revision()
    catalog = workspace.catalog()
    part = catalog.part(before.catalog.cases)
    folder = regrading.regrade(
        before,
        catalog,
        workspace.conditions(part),
        out,
        runs=workspace.root / store.RUNS,
        revision=revision,
        dirty=dirty,
        functions=functions.load_all(functions_named(part.cases.values()), workspace.root),
    )
    _tell(before, store.Run.open(folder))
    click.echo(f"Run: {folder}")


def _tell(before: Run, after: Run) -> None:
    """What changed, case by case, and what could not be graded again."""
    from collections import Counter

    from seatrial.cli.progress import shown_safely

    changes: Counter[tuple[str, str, str, str]] = Counter()
    trials = 0
    for old, new in zip(before.records(), after.records(), strict=True):
        trials += 1
        if old.verdict is not new.verdict:
            changes[new.case, new.arm, old.verdict.value, new.verdict.value] += 1
    changed = sum(changes.values())
    click.echo(
        f"{trials} trials of run {before.manifest.run} graded again: "
        f"{changed or 'no'} verdict{'' if changed == 1 else 's'} changed"
    )
    for (case, arm, then, now), times in sorted(changes.items()):
        click.echo(f"  {shown_safely(f'{case} by {arm}')}: {times} {then} before, {now} now")
    assert after.manifest.regraded is not None
    for case, why in sorted(after.manifest.regraded.kept.items()):
        click.echo(f"  {shown_safely(f'{case} keeps its findings: {why}')}")
