"""`seatrial run`: carry out the trials of a suite, or what is left of a run that was stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seatrial.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from seatrial.documents import Catalog
    from seatrial.records import Manifest, PlannedCase, TrialRecord
    from seatrial.runner import Equipment
    from seatrial.store import Key, Writer
    from seatrial.verdicts import Verdict
    from seatrial.workspace import Selection, Workspace


@click.command()
@click.option("-s", "--suite", metavar="ID", help="The suite to run.")
@click.option(
    "-a",
    "--arm",
    "arms",
    multiple=True,
    metavar="ID",
    help="An arm that runs it; may be repeated, their trials then take turns.",
)
@click.option(
    "-c",
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    help="Run this case of the suite only; may be repeated.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials per case, instead of what cases and suite say.",
)
@click.option(
    "--base",
    metavar="REV",
    help="Run what changed since HEAD parted from this revision, and the required cases.",
)
@click.option(
    "--at-once",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials side by side. Without it 32, and of agents that are processes two per core.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the run, a new one; below .seatrial/runs when left out.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="What chance starts from, for world, mocks and agents that heed it. Drawn when left out.",
)
@click.option("--resume", metavar="RUN", help="Go on with a run that was stopped.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def run(
    suite: str | None,
    arms: tuple[str, ...],
    cases: tuple[str, ...],
    trials: int | None,
    base: str | None,
    at_once: int | None,
    out: Path | None,
    seed: int | None,
    resume: str | None,
    root: Path | None,
) -> ExitCode:
    """Run the cases of a suite by one arm or several, each in a world of its own.

    What ends is stored at once. Ctrl-C stops cleanly; `--resume` runs what is missing.

    Exit codes: 0 every trial has a record (be it failed or invalid), 3 no trial was valid, 130
    stopped before the end.
    """
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    if resume is not None:
        given = {
            "--suite": suite, "--arm": arms, "--case": cases, "--trials": trials, "--base": base,
            "--out": out, "--seed": seed,
        }  # fmt: skip
        clashing = [name for name, value in given.items() if value not in (None, ())]
        if clashing:
            raise UsageError(
                f"a run goes on as it was planned: {', '.join(clashing)} cannot be given anew",
                hint=f"seatrial run --resume {resume}, or start a new run",
            )
        return _resumed(workspace, resume, at_once)
    if suite is None:
        raise UsageError("which suite?", hint="seatrial run --suite ID --arm ID")
    selection = workspace.select(suite, arms, base=base, trials=trials)
    return _begun(workspace, selection, cases, trials, at_once, out, seed)


def _begun(
    workspace: Workspace,
    selection: Selection,
    cases: Sequence[str],
    trials: int | None,
    at_once: int | None,
    out: Path | None,
    seed: int | None,
) -> ExitCode:
    import datetime as dt
    import secrets

    from seatrial import __version__, plan, runner, store
    from seatrial.records import Manifest

    planned = _only(selection, cases, trials) if cases else selection.cases
    catalog = plan.documents_of(
        selection.catalog, selection.suite, [arm.id for arm in selection.arms]
    )
    equipment = runner.equip(selection.arms, workspace.root)
    revision, dirty = workspace.revision()
    prints = workspace.fingerprints(catalog)
    manifest = Manifest(
        run=store.new_run_id(),
        suite=selection.suite.id,
        arms=tuple(arm.id for arm in selection.arms),
        trials=trials or selection.suite.trials,
        seed=secrets.randbits(32) if seed is None else seed,
        created_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        seatrial=__version__,
        revision=revision,
        dirty=dirty,
        base=selection.base,
        plan=planned,
        fingerprints=prints.by_case,
        toolsets=prints.toolsets,
    )
    folder = out or workspace.root / store.RUNS / manifest.run
    with store.Writer.create(folder, manifest, catalog) as writer:
        return _carried_out(writer, catalog, {}, equipment, at_once)


def _resumed(workspace: Workspace, name: str, at_once: int | None) -> ExitCode:
    from seatrial import runner, store
    from seatrial.comparability import differing, expanded
    from seatrial.store import Run, Writer

    folder = store.find(workspace.root, name)
    stored_run = Run.open(folder)
    manifest, catalog = stored_run.manifest, stored_run.catalog
    selected = {case.case for case in manifest.selected()}
    before = {
        key: expanded(components, manifest.toolsets)
        for key, components in manifest.fingerprints.items()
        if key.rpartition("@")[0] in selected
    }
    changed = differing(before, workspace.fingerprints(_as_now(workspace, catalog)).whole())
    if changed:
        raise UsageError(
            f"run {manifest.run} cannot go on: since it was started, these have changed: "
            + ", ".join(changed),
            hint="put them back as they were, or start a new run",
        )
    equipment = runner.equip([catalog.arms[id] for id in manifest.arms], workspace.root)
    stored: dict[Key, Verdict] = {}

    def seen(record: TrialRecord) -> None:
        stored[record.case, record.arm, record.number] = record.verdict

    with Writer.resume(folder, seen) as writer:
        return _carried_out(writer, catalog, stored, equipment, at_once)


def _carried_out(
    writer: Writer,
    catalog: Catalog,
    stored: Mapping[Key, Verdict],
    equipment: Equipment,
    at_once: int | None,
) -> ExitCode:
    import signal

    import anyio

    from seatrial import plan, runner, store
    from seatrial.cli import progress

    manifest = writer.manifest
    trials = plan.expand(manifest.plan, catalog, [catalog.arms[id] for id in manifest.arms])
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


def _only(
    selection: Selection, cases: Sequence[str], trials: int | None
) -> tuple[PlannedCase, ...]:
    """The plan with the cases that were asked for, whatever the selection says, and no others."""
    import difflib

    from seatrial.records import PlannedCase

    documents = {case.id: case for case in selection.catalog.suite_cases(selection.suite)}
    for case in cases:
        if case not in documents:
            near = difflib.get_close_matches(case, documents, n=3) or sorted(documents)[:8]
            raise UsageError(
                f"suite {selection.suite.id} has no case {case!r}",
                hint=f"did you mean {', '.join(near)}?",
            )
    planned = []
    for entry in selection.cases:
        if entry.case in cases:
            document = documents[entry.case]
            planned.append(
                PlannedCase(
                    case=entry.case,
                    selected=True,
                    reasons=("asked for by --case", *(entry.reasons if entry.selected else ())),
                    required=entry.required,
                    trials=trials or document.trials or selection.suite.trials,
                )
            )
        else:
            reason = "others were asked for by --case"
            planned.append(
                entry.model_copy(
                    update={"selected": False, "trials": 0, "reasons": (reason,)}
                    if entry.selected
                    else {}
                )
            )
    return tuple(planned)


def _as_now(workspace: Workspace, stored: Catalog) -> Catalog:
    """The documents of a stored run as they lie in the work tree now; those that are gone are left out."""
    from seatrial.documents import Catalog

    now = workspace.catalog()
    return Catalog(
        {id: now.cases[id] for id in stored.cases if id in now.cases},
        {},
        {id: now.arms[id] for id in stored.arms if id in now.arms},
        now.fixtures,
        now.sources,
    )


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
