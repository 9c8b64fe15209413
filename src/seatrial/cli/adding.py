"""A run that adds trials where a case looks suspicious: against what, with whom beside it, and by which rule."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from seatrial.errors import BaselineError, NothingReleased, RevisionError, UsageError, printable

if TYPE_CHECKING:
    from seatrial.adaptive import Pursuit
    from seatrial.baseline import Baseline, Beside
    from seatrial.documents import Catalog
    from seatrial.records import Manifest, PlannedCase
    from seatrial.workspace import Selection, Workspace


def followed(
    workspace: Workspace, selection: Selection, planned: Sequence[PlannedCase], spec: str | None
) -> Baseline | None:
    """The baseline by which trials are added; None, with a line that says why, where none are.

    Args:
        workspace: where the repository lies.
        selection: the suite and the arms of the run.
        planned: its cases.
        spec: the baseline as `--baseline` names it; None for the newest release.

    Raises:
        BaselineError: the named baseline does not exist or cannot be read.
    """
    from seatrial import baseline
    from seatrial.documents import Recorded

    if not any(entry.selected and entry.required for entry in planned):
        return None
    if len(selection.arms) > 1:
        _tell(f"{len(selection.arms)} arms side by side: a fixed number of trials of each case.")
        return None
    (arm,) = selection.arms
    if isinstance(arm.adapter, Recorded):
        _tell(f"{arm.id} is a recording: a fixed number of trials of each case.")
        return None
    if spec is not None or workspace.repository is not None:
        try:
            return baseline.resolve(
                spec,
                selection.suite.id,
                arm.agent,
                root=workspace.root,
                repository=workspace.repository,
                since=selection.base,
            )
        except NothingReleased:
            pass
    _tell("No baseline to hold it against: a fixed number of trials of each case.")
    return None


def screened(
    planned: Sequence[PlannedCase], catalog: Catalog, found: Baseline, suite: str
) -> tuple[PlannedCase, ...]:
    """The plan with first batches that can clear each required case."""
    from seatrial import adaptive
    from seatrial.baseline import stricter_policy
    from seatrial.stats.sequential import screen_size

    policy = stricter_policy(suite, catalog, found)
    return adaptive.screened(planned, screen_size(policy.beta, policy.drop))


def beside(
    stack: ExitStack,
    found: Baseline,
    catalog: Catalog,
    workspace: Workspace,
    planned: Sequence[PlannedCase],
) -> Beside | None:
    """The released arm, ready to be run beside the candidate; None, with the reason, where it cannot be.

    Args:
        stack: what holds it ready.
        found: the baseline.
        catalog: the documents of the run.
        workspace: where the files of arms lie.
        planned: the cases of the run.
    """
    from seatrial import baseline, runner

    cases = [entry.case for entry in planned if entry.selected and entry.required]
    further = f"Required cases that look suspicious against {found.info.where} are run further"
    try:
        ready = stack.enter_context(
            baseline.beside(found, catalog, workspace, cases=cases, fixed=False)
        )
        runner.equip([ready.arm], workspace.root, homes={ready.arm.id: ready.home})
    except (UsageError, BaselineError, RevisionError) as error:
        _tell(f"{further}, without the release beside them: {error.message}.")
        if isinstance(error, RevisionError) and error.hint:
            _tell(f"  → {error.hint}")
        return None
    _tell(f"{further}, the release beside them.")
    return ready


def told(manifest: Manifest, catalog: Catalog, found: Baseline, most: int | None) -> Manifest:
    """The manifest with what the decisions of the run rest on.

    Raises:
        UsageError: the first batches alone are more than the run may have.
    """
    from seatrial import adaptive, plan
    from seatrial.baseline import foresee

    first = len(plan.trials_of(manifest, catalog))
    if most is not None and first > most:
        raise UsageError(
            f"the first batches are {first} trials, more than --max-trials {most}",
            hint=f"--max-trials {first} or more, or fewer cases with --case or --base",
        )
    (arm,) = _candidates(manifest)
    rule, stored = foresee(manifest, catalog, arm, found, live=manifest.rerun is not None)
    said = adaptive.adding(rule, stored, baseline=found.info.run, most=most)
    return manifest.model_copy(update={"adding": said})


def tell_what_was_short(found: Pursuit, manifest: Manifest) -> None:
    """Which cases wanted more trials than the run might have."""
    if not found.short or manifest.adding is None:
        return
    cases = sorted(found.short)
    named = ", ".join(cases[:5]) + (f" and {len(cases) - 5} more" if len(cases) > 5 else "")
    part = f" (shard {manifest.sharding})" if manifest.sharding is not None else ""
    _tell(f"--max-trials {manifest.adding.most}{part} left no trials for {named}.")


def _candidates(manifest: Manifest) -> tuple[str, ...]:
    rerun = manifest.rerun
    return tuple(arm for arm in manifest.arms if rerun is None or arm != rerun.arm)


def _tell(text: str) -> None:
    click.echo(printable(text), err=True)
