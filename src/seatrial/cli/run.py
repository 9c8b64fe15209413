"""`seatrial run`: carry out the trials of a suite, or what is left of a run that was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seatrial.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from seatrial.baseline import Baseline
    from seatrial.documents import Catalog
    from seatrial.records import PlannedCase, Sharding, TrialRecord
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
    "--agent-version",
    "version",
    metavar="VERSION",
    default="configured",
    show_default=True,
    help="Who answers: `configured`, each case the version that it pins, or the arms that are run; `latest`, the "
    "version that is deployed in the case's environment; or a version, drafts too.",
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
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="So many trials of each case and no more, instead of adding some where a case looks suspicious.",
)
@click.option(
    "--max-trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials of the whole run, at most: fewer are added to suspicious cases.",
)
@click.option(
    "--budget",
    metavar="AMOUNT",
    help="What the run may spend, as '5 EUR' (by the arms' prices) or '200000 tokens'; trials that no longer fit "
    "are not begun.",
)
@click.option(
    "--base",
    metavar="REV",
    help="Run what changed since HEAD parted from this revision, what the baseline cannot stand for, and the "
    "required cases.",
)
@click.option(
    "--rerun-baseline",
    is_flag=True,
    help="Run the released arm again beside the candidate, as it was released.",
)
@click.option(
    "--baseline",
    metavar="PATH|REF",
    help="The baseline to go by, not the newest release.",
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
@click.option(
    "--shard",
    metavar="I/N",
    help="Carry out this part of the run only, the I-th of N; `seatrial merge` puts the parts together.",
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
    version: str,
    cases: tuple[str, ...],
    trials: int | None,
    max_trials: int | None,
    budget: str | None,
    base: str | None,
    rerun_baseline: bool,
    baseline: str | None,
    at_once: int | None,
    out: Path | None,
    seed: int | None,
    shard: str | None,
    resume: str | None,
    root: Path | None,
) -> ExitCode:
    """Run the cases of a suite by one arm or several, each in a world of its own.

    Where one arm has a baseline, required cases that look suspicious against it are run further, the released
    arm beside them, until the verdict is certain.

    What ends is stored at once. Ctrl-C stops cleanly; `--resume` runs what is missing.

    Exit codes: 0 every trial has a record (be it failed or invalid), 3 no trial was valid, 130
    stopped before the end.
    """
    from seatrial.baseline import recalling
    from seatrial.cli import adding
    from seatrial.cli.timing import timed
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    if resume is not None:
        given = {
            "--suite": suite, "--arm": arms, "--case": cases, "--trials": trials,
            "--agent-version": None if version == "configured" else version,
            "--max-trials": max_trials, "--budget": budget, "--base": base, "--rerun-baseline": rerun_baseline or None,
            "--baseline": baseline, "--out": out, "--seed": seed, "--shard": shard,
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
    if max_trials is not None and (trials is not None or rerun_baseline):
        fixing = "--trials" if trials is not None else "--rerun-baseline"
        raise UsageError(
            f"--max-trials bounds what is added to suspicious cases, and {fixing} says that nothing is",
            hint="leave out one of them",
        )
    selection = workspace.select(
        suite,
        arms,
        base=base,
        trials=trials,
        recall=recalling(workspace, baseline, base),
        version=version,
    )
    planned = _only(selection, cases, trials) if cases else selection.cases
    _tell_of_unanswered(selection)
    wanted = _Wanted(trials, max_trials, budget, at_once, out, seed, shard, version, baseline)
    against: Baseline | None = None
    if rerun_baseline:
        against = _released(workspace, selection, baseline)
    elif trials is None:
        against = adding.followed(workspace, selection, planned, baseline)
    planned = timed(planned, workspace, selection, baseline, against)
    return _begun(workspace, selection, planned, against, wanted, adaptive=not rerun_baseline)


def _tell_of_unanswered(selection: Selection) -> None:
    """Say which cases nobody can answer: no arm at all is of their agent, which is seldom meant."""
    import difflib

    from seatrial.errors import printable

    agents = sorted({arm.agent for arm in selection.catalog.arms.values()})
    for case in selection.catalog.suite_cases(selection.suite):
        if case.agent not in agents:
            near = difflib.get_close_matches(case.agent, agents, n=1)
            guess = f"; did you mean {near[0]}?" if near else ""
            told = f"Left out: {case.id}, because no arm is of its agent {case.agent}{guess}"
            click.echo(printable(told), err=True)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How a run is to be carried out."""

    trials: int | None
    max_trials: int | None
    budget: str | None
    at_once: int | None
    out: Path | None
    seed: int | None
    shard: str | None
    version: str
    """Which versions of the agents answer."""
    baseline: str | None
    """What the run is to be held against, where that was named."""


def _released(workspace: Workspace, selection: Selection, spec: str | None) -> Baseline:
    """The baseline whose arm is run again."""
    from seatrial import baseline

    agents = sorted({arm.agent for arm in selection.arms})
    if len(agents) > 1:
        raise UsageError(
            f"the arms are of {len(agents)} agents ({', '.join(agents)}), each with a baseline of its own",
            hint="run one agent at a time: --arm ID",
        )
    return baseline.resolve(
        spec,
        selection.suite.id,
        agents[0],
        root=workspace.root,
        repository=workspace.repository,
        since=selection.base,
    )


def _begun(
    workspace: Workspace,
    selection: Selection,
    planned: tuple[PlannedCase, ...],
    against: Baseline | None,
    wanted: _Wanted,
    *,
    adaptive: bool,
) -> ExitCode:
    """Begin a run and carry it out.

    Args:
        workspace: where its files lie.
        selection: its suite and arms.
        planned: every case of the suite, selected or left out.
        against: the baseline by which trials are added, or whose arm is run again; None where neither is so.
        wanted: how it is to be carried out.
        adaptive: trials are added.
    """
    from contextlib import ExitStack

    from seatrial import baseline, plan, runner, store
    from seatrial.cli import adding
    from seatrial.cli.carrying import affordable, carried_out, manifest_of
    from seatrial.cli.proving import marked

    catalog = plan.documents_of(
        selection.catalog, selection.suite, [arm.id for arm in selection.arms]
    )
    with ExitStack() as stack:
        beside = None
        if against is not None and adaptive:
            planned = adding.screened(planned, catalog, against, selection.suite.id)
            beside = adding.beside(stack, against, catalog, workspace, planned)
        elif against is not None:
            asked = [entry.case for entry in planned if entry.selected]
            beside = stack.enter_context(baseline.beside(against, catalog, workspace, cases=asked))
        if beside is not None:
            catalog = beside.joined(catalog)
            planned = tuple(
                entry.model_copy(update={"arms": (*entry.arms, beside.arm.id)})
                if entry.arms
                else entry
                for entry in planned
            )
        budget = affordable(wanted.budget or selection.suite.budget, catalog)
        homes = {beside.arm.id: beside.home} if beside else {}
        equipment = runner.equip(
            catalog.arms.values(),
            workspace.root,
            homes=homes,
            cases=catalog.cases.values(),
            fixtures=(*catalog.built, *catalog.people),
        )
        part = _part(planned, catalog, selection, wanted.shard) if wanted.shard else None
        planned = marked(planned, catalog, equipment, only=part.own if part else None)
        manifest = manifest_of(
            workspace,
            catalog,
            selection.suite.id,
            planned,
            trials=wanted.trials or selection.suite.trials,
            seed=wanted.seed,
            base=selection.base,
            base_policy=selection.base_policy,
            policy_changes=selection.policy_changes,
            beside=beside,
            budget=budget,
            version=wanted.version,
        )
        if against is not None and adaptive:
            manifest = adding.told(manifest, catalog, against, wanted.max_trials)
        if part is not None:
            from seatrial.cli.dividing import sharded

            manifest = sharded(manifest, part, seeded=wanted.seed is not None)
        folder = wanted.out or workspace.root / store.RUNS / manifest.run
        with store.Writer.create(folder, manifest, catalog) as writer:
            return carried_out(writer, catalog, (), equipment, wanted.at_once, wanted.baseline)


def _part(
    planned: tuple[PlannedCase, ...], catalog: Catalog, selection: Selection, shard: str
) -> Sharding:
    """The part of the plan that is carried out here."""
    from seatrial.cli.dividing import part, shard_of

    return part(planned, catalog, selection.arms, shard_of(shard))


def _resumed(workspace: Workspace, name: str, at_once: int | None) -> ExitCode:
    from contextlib import ExitStack

    from seatrial import baseline, runner, store
    from seatrial.cli.carrying import carried_out
    from seatrial.comparability import differing, expanded
    from seatrial.store import Run, Writer

    folder = store.find(workspace.root, name)
    stored_run = Run.open(folder)
    manifest, catalog = stored_run.manifest, stored_run.catalog
    if manifest.regraded is not None:
        raise UsageError(
            f"run {manifest.run} is run {manifest.regraded.run}, graded again: nothing can be added to it",
            hint=f"seatrial run --resume {manifest.regraded.run}, then seatrial regrade",
        )
    selected = {case.case for case in manifest.selected()}
    again = manifest.rerun.arm if manifest.rerun else None
    before = {
        key: expanded(components, manifest.toolsets)
        for key, components in manifest.fingerprints.items()
        for case, _, arm in [key.rpartition("@")]
        if case in selected and arm != again
    }
    changed = differing(before, workspace.fingerprints(_as_now(workspace, catalog)).whole())
    if changed:
        more = f" and {len(changed) - 6} more" if len(changed) > 6 else ""
        raise UsageError(
            f"run {manifest.run} cannot go on: since it was started, these have changed: "
            + ", ".join(changed[:6])
            + more,
            hint="put them back as they were, or start a new run",
        )
    with ExitStack() as stack:
        homes = {}
        if manifest.rerun is not None:
            beside = stack.enter_context(baseline.beside_again(manifest, catalog, workspace))
            homes[beside.arm.id] = beside.home
        arms = [catalog.arms[id] for id in manifest.arms]
        equipment = runner.equip(
            arms,
            workspace.root,
            homes=homes,
            cases=catalog.cases.values(),
            fixtures=(*catalog.built, *catalog.people),
        )
        stored: list[TrialRecord] = []

        def seen(record: TrialRecord) -> None:
            # Of a whole run they would fill the memory, and only the forbidden ones matter here.
            told = tuple(finding for finding in record.findings if finding.forbidden)
            stored.append(record.model_copy(update={"findings": told}))

        with Writer.resume(folder, seen) as writer:
            return carried_out(writer, catalog, stored, equipment, at_once)


def _only(
    selection: Selection, cases: Sequence[str], trials: int | None
) -> tuple[PlannedCase, ...]:
    """The plan with the cases that were asked for, whatever the selection says, and no others."""
    import difflib

    from seatrial.records import PlannedCase

    documents = {case.id: case for case in selection.catalog.suite_cases(selection.suite)}
    wanted: set[str] = set()
    for case in cases:
        named = documents.keys() & set(selection.catalog.named(case))
        wanted |= named
        if not named:
            near = difflib.get_close_matches(case, documents, n=3) or sorted(documents)[:8]
            raise UsageError(
                f"suite {selection.suite.id} has no case {case!r}",
                hint=f"the case is there; put it under `cases:` of suite {selection.suite.id}"
                if selection.catalog.named(case)
                else f"did you mean {', '.join(near)}?",
            )
    planned = []
    for entry in selection.cases:
        if entry.case in wanted:
            document = documents[entry.case]
            planned.append(
                PlannedCase(
                    case=entry.case,
                    selected=True,
                    reasons=("asked for by --case", *(entry.reasons if entry.selected else ())),
                    required=entry.required,
                    quarantine=entry.quarantine,
                    by_hand=True,
                    arms=entry.arms,
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
