"""`seatrial baseline record`: run the released arm again, and add a whole batch to its ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from seatrial.errors import ExitCode, UsageError, printable

if TYPE_CHECKING:
    from seatrial.baseline import Baseline
    from seatrial.documents import Catalog, Suite
    from seatrial.records import Manifest, PlannedCase
    from seatrial.workspace import Workspace

TRIALS, TARGET = 20, 40


@click.command("record")
@click.option("-s", "--suite", metavar="ID", help="The suite whose release is recorded further.")
@click.option(
    "-a",
    "--arm",
    metavar="ID",
    help="The released arm as it lies in the work tree. Left out: as it was released.",
)
@click.option(
    "--trials",
    type=click.IntRange(1, 10_000),
    default=TRIALS,
    show_default=True,
    metavar="N",
    help="Trials per case.",
)
@click.option(
    "--target",
    type=click.IntRange(min=1),
    default=TARGET,
    show_default=True,
    metavar="N",
    help="Valid trials per case, over all batches, beyond which a case is not run.",
)
@click.option(
    "--run", "stored", metavar="RUN", help="Add a run that is there already, instead of a new one."
)
@click.option(
    "--watch",
    is_flag=True,
    help="Keep the run of a later version to be watched; it never counts as the baseline.",
)
@click.option(
    "--baseline",
    metavar="DIR",
    help="The folder of the release, where it is not on the branch seatrial-baselines.",
)
@click.option("--push", is_flag=True, help="Move the branch on the remote as well.")
@click.option(
    "--budget",
    metavar="AMOUNT",
    help="What the run may spend, as '5 EUR' (by the prices of the arm) or '200000 tokens'; trials that no longer fit "
    "are not begun. Without it, no bound.",
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
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def record(
    suite: str | None,
    arm: str | None,
    trials: int,
    target: int,
    stored: str | None,
    watch: bool,
    baseline: str | None,
    push: bool,
    budget: str | None,
    at_once: int | None,
    out: Path | None,
    root: Path | None,
) -> ExitCode:
    """Run the released arm and add its trials to the ledger of the release.

    Only whole batches count: every case as often as was set beforehand, each trial with a record. The ledger is
    pinned to the released version. What an arm is that is not what was released, is refused.

    Exit codes: 0 added, or nothing to add; 3 no trial was valid, or the budget did not suffice; 130 stopped before the
    end, go on with `seatrial run --resume RUN`, then `seatrial baseline record --run RUN`.
    """
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    _refuse_what_clashes(suite, stored, watch, baseline, push, budget)
    if stored is not None:
        return _add(workspace, stored, arm, baseline, None if watch else target, watch, push)
    if suite is None:
        raise UsageError("which suite?", hint="seatrial baseline record --suite ID")
    status, folder = _run(workspace, suite, arm, baseline, trials, target, budget, at_once, out)
    if status is not ExitCode.OPEN or folder is None:
        return status
    return _add(workspace, str(folder), None, baseline, target, False, push)


def _refuse_what_clashes(
    suite: str | None,
    stored: str | None,
    watch: bool,
    baseline: str | None,
    push: bool,
    budget: str | None,
) -> None:
    if stored is not None and budget is not None:
        raise UsageError("a run that is there spends nothing", hint="leave out --budget")
    if stored is not None and suite is not None:
        raise UsageError("a run says itself of which suite it is", hint="leave out --suite")
    if watch and stored is None:
        raise UsageError("--watch keeps a run that is there already", hint="--run RUN")
    if push and baseline is not None:
        raise UsageError(
            "--push moves a branch, --baseline names a folder", hint="give one of them"
        )


def _add(
    workspace: Workspace,
    stored: str,
    arm: str | None,
    spec: str | None,
    target: int | None,
    watch: bool,
    push: bool,
) -> ExitCode:
    from seatrial import baseline, store

    run = store.Run.open(store.find(workspace.root, stored))
    agents = {run.catalog.arms[id].agent for id in ([arm] if arm else run.manifest.arms)}
    repository = workspace.repository
    remote = repository.remote() if repository else None
    if push and remote is None:
        raise UsageError("there is no remote to push to", hint="git remote add origin URL")
    found = _resolved(workspace, spec, run.manifest.suite, sorted(agents))
    added = baseline.add(
        run,
        arm,
        found,
        kind="watch" if watch else "baseline",
        target=target,
        repository=repository,
        push_to=remote if push else None,
    )
    to = "Kept to be watched" if watch else "Added to the ledger"
    batch = added.batch
    told = (
        f"{to} of {batch.agent} {found.info.version}, suite {batch.suite}: {added.trials} trials of "
        f"{len(batch.tallies)} cases"
    )
    click.echo(printable(told))
    click.echo(f"Baseline: {added.where}")
    if found.folder is None and remote and not push:
        click.echo(f"To share it: git push {remote} {baseline.BRANCH}")
    return ExitCode.OPEN


def _run(
    workspace: Workspace,
    suite: str,
    arm: str | None,
    spec: str | None,
    trials: int,
    target: int,
    budget: str | None,
    at_once: int | None,
    out: Path | None,
) -> tuple[ExitCode, Path | None]:
    """Record a new run; its folder, or None where every case has enough trials."""
    from contextlib import ExitStack

    from seatrial import baseline, plan, runner, store
    from seatrial.cli.carrying import affordable, carried_out, manifest_of
    from seatrial.records import Recording

    catalog = workspace.catalog()
    the_suite, arms = workspace.suite_and_arms(catalog, suite, [arm] if arm else [])
    agents = sorted({of.agent for of in arms})
    found = _resolved(workspace, spec, suite, agents)
    documents = plan.documents_of(catalog, the_suite, [arm] if arm else [])
    cases = [case.id for case in documents.cases.values() if case.agent in agents]
    with ExitStack() as stack:
        beside = None
        if arm is None:
            beside = stack.enter_context(baseline.beside(found, documents, workspace, cases=cases))
            documents = beside.joined(documents)
        (one,) = documents.arms
        most = affordable(budget, documents)
        homes = {beside.arm.id: beside.home} if beside else {}
        equipment = runner.equip(documents.arms.values(), workspace.root, homes=homes)
        manifest = manifest_of(
            workspace, documents, suite, (), trials=trials, beside=beside, budget=most
        )
        if apart := baseline.apart_from_release(manifest, one, found):
            raise UsageError(
                f"{one} is not what was released ({found.info.arm} {found.info.version}): "
                f"{', '.join(apart[:5])} differ{'s' * (len(apart) == 1)}",
                hint="leave out --arm: then the released arm is run as it was released",
            )
        planned = _planned(manifest, documents, the_suite, one, found, trials, target)
        if not any(entry.selected for entry in planned):
            click.echo(f"Nothing to record: every case has {target} valid trials or more.")
            return ExitCode.OPEN, None
        assert found.release is not None
        manifest = manifest.model_copy(
            update={
                "plan": planned,
                "recording": Recording(release=found.release.run, release_digest=found.digest),
            }
        )
        folder = out or workspace.root / store.RUNS / manifest.run
        with store.Writer.create(folder, manifest, documents) as writer:
            status = carried_out(writer, documents, (), equipment, at_once)
    if status is ExitCode.OPEN and (unpaid := _not_begun(folder)):
        click.echo(
            f"{unpaid} trials were not begun, since the budget did not suffice: nothing is added to the ledger.",
            err=True,
        )
        name = store.resume_name(folder)
        click.echo(
            f"  → to add what was run all the same: seatrial baseline record --run {name}", err=True
        )
        return ExitCode.UNDECIDED, folder
    if status is ExitCode.INTERRUPTED:
        name = store.resume_name(folder)
        click.echo(f"  → then: seatrial baseline record --run {name}", err=True)
    return status, folder


def _not_begun(folder: Path) -> int:
    """Trials of a run that its budget did not allow."""
    from seatrial.store import Run
    from seatrial.verdicts import Cause

    return sum(record.cause is Cause.BUDGET for record in Run.open(folder).records())


def _planned(
    manifest: Manifest,
    documents: Catalog,
    suite: Suite,
    arm: str,
    found: Baseline,
    trials: int,
    target: int,
) -> tuple[PlannedCase, ...]:
    """Each case as often as it is still to be run.

    That depends on how many trials there are of it, and never on how they went.
    """
    from seatrial import baseline
    from seatrial.compare import Side
    from seatrial.records import PlannedCase

    there = baseline.valid_trials(found, Side.of(manifest, documents, arm, ()))
    left_out = manifest.rerun.left_out if manifest.rerun else {}
    planned = []
    for case in documents.suite_cases(suite):
        if case.agent != documents.arms[arm].agent:
            continue
        have = there.get(case.id, 0)
        wanted = min(trials, target - have)
        reason = f"{have} of {target} valid trials so far"
        if case.id in left_out:
            wanted, reason = 0, left_out[case.id]
        if case.version not in (None, documents.arms[arm].version):
            wanted, reason = 0, f"version {case.version} answers it"
        planned.append(
            PlannedCase(
                case=case.id,
                selected=wanted > 0,
                reasons=(reason,),
                required=case.required,
                trials=max(wanted, 0),
            )
        )
    return tuple(planned)


def _resolved(workspace: Workspace, spec: str | None, suite: str, agents: list[str]) -> Baseline:
    from seatrial import baseline
    from seatrial.errors import BaselineError

    if len(agents) != 1:
        raise UsageError(
            f"it is of {len(agents)} agents ({', '.join(agents)}), each with a release of its own",
            hint="name one arm: --arm ID",
        )
    found = baseline.resolve(
        spec, suite, agents[0], root=workspace.root, repository=workspace.repository
    )
    if found.release is None:
        raise BaselineError(
            f"{found.info.where} was never released, so it has no ledger",
            hint="seatrial release RUN --approved-by 'NAME <MAIL>'",
        )
    return found
