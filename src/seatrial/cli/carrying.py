"""A run carried out, with its progress, its end and its summary: what `run` and `baseline record` share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seatrial.errors import ExitCode

if TYPE_CHECKING:
    from seatrial.baseline import Beside
    from seatrial.documents import Catalog
    from seatrial.records import Manifest, PlannedCase
    from seatrial.runner import Equipment
    from seatrial.store import Key, Writer
    from seatrial.verdicts import Verdict
    from seatrial.workspace import Workspace


def manifest_of(
    workspace: Workspace,
    catalog: Catalog,
    suite: str,
    planned: tuple[PlannedCase, ...],
    *,
    trials: int,
    seed: int | None = None,
    base: str | None = None,
    beside: Beside | None = None,
) -> Manifest:
    """What a new run says of itself before its first trial.

    Args:
        workspace: where its files lie.
        catalog: its documents, its arms among them.
        suite: id of the suite.
        planned: every case of the suite, selected or left out.
        trials: trials per case where nothing else is said.
        seed: drawn when None.
        base: the commit of the selection.
        beside: the released arm among its arms.
    """
    import datetime as dt
    import secrets

    from seatrial import __version__, store
    from seatrial.records import Manifest

    revision, dirty = workspace.revision()
    known = {beside.arm.id: beside.sources} if beside else {}
    prints = workspace.fingerprints(catalog, known)
    return Manifest(
        run=store.new_run_id(),
        suite=suite,
        arms=tuple(catalog.arms),
        trials=trials,
        seed=secrets.randbits(32) if seed is None else seed,
        created_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        seatrial=__version__,
        revision=revision,
        dirty=dirty,
        base=base,
        plan=planned,
        fingerprints=prints.by_case,
        toolsets=prints.toolsets,
        rerun=beside.rerun if beside else None,
    )


def carried_out(
    writer: Writer,
    catalog: Catalog,
    stored: Mapping[Key, Verdict],
    equipment: Equipment,
    at_once: int | None,
) -> ExitCode:
    """Run what is missing, tell how it goes, and sum it up; the command's exit code.

    Args:
        writer: the run's folder.
        catalog: its documents.
        stored: the trials that it holds already.
        equipment: what its arms need.
        at_once: trials side by side.
    """
    import signal

    import anyio

    from seatrial import plan, runner, store
    from seatrial.cli import progress

    manifest = writer.manifest
    trials = plan.trials_of(manifest, catalog)
    if not trials:
        _say_why_nothing_runs(manifest)
    with progress.shown(len(trials), stored.values()) as tell:
        outcome = anyio.run(
            lambda: runner.run(
                writer,
                catalog,
                runner.fixed(trials),
                equipment=equipment,
                stored=stored,
                at_once=at_once,
                tell=tell,
                stop_on=(signal.SIGINT, signal.SIGTERM),
            )
        )
    if outcome.interrupted:
        click.echo(f"Stopped: {outcome.stored} of {outcome.total} trials are stored.", err=True)
        click.echo(f"  → seatrial run --resume {store.resume_name(writer.folder)}", err=True)
        click.echo(f"Run: {writer.folder}")
        return ExitCode.INTERRUPTED
    valid = _summarize(writer.folder)
    click.echo(f"Run: {writer.folder}")
    return ExitCode.UNDECIDED if trials and not valid else ExitCode.OPEN


def _say_why_nothing_runs(manifest: Manifest) -> None:
    click.echo("No case is selected, so nothing is run.")
    width = max((len(entry.case) for entry in manifest.plan), default=0)
    for entry in manifest.plan:
        click.echo(f"  {entry.case:<{width}}  {'; '.join(entry.reasons)}")


def _summarize(folder: Path) -> int:
    """A line per case and arm, then why trials are invalid; gives the number of valid trials."""
    from collections import Counter

    from seatrial.cli.progress import shown_safely
    from seatrial.store import Run
    from seatrial.verdicts import Verdict

    stored = Run.open(folder)
    verdicts: dict[tuple[str, str], Counter[str]] = {}
    details: Counter[tuple[str, str]] = Counter()
    for record in stored.records():
        key = (record.case, record.arm)
        if record.cause is None:
            verdicts.setdefault(key, Counter())[record.verdict] += 1
        else:
            verdicts.setdefault(key, Counter())[f"invalid ({record.cause})"] += 1
            details[record.cause, record.detail] += 1
    wide = max((len(case) for case, _ in verdicts), default=0)
    wide_arm = max((len(arm) for _, arm in verdicts), default=0)
    order = {entry.case: place for place, entry in enumerate(stored.manifest.plan)}
    valid_in_all = 0
    for (case, arm), counts in sorted(
        verdicts.items(), key=lambda item: (order.get(item[0][0], len(order)), item[0])
    ):
        passed, failed = counts.pop(Verdict.PASSED, 0), counts.pop(Verdict.FAILED, 0)
        valid_in_all += passed + failed
        invalid = "".join(f", {count} {what}" for what, count in sorted(counts.items()))
        click.echo(f"{case:<{wide}}  {arm:<{wide_arm}}  {passed}/{passed + failed} passed{invalid}")
    for (cause, detail), count in details.most_common(5):
        click.echo(f"{count} × {cause}: {shown_safely(detail)}")
    if len(details) > 5:
        click.echo(f"… and {len(details) - 5} more reasons, in {folder / 'journal.jsonl'}")
    return valid_in_all
