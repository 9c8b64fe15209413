"""How long trials take by what the baseline's took: for the order in which they start, and for `seatrial plan`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seatrial.baseline import Baseline, resolve
from seatrial.errors import BaselineError
from seatrial.plan import expand, makespan
from seatrial.records import PlannedCase
from seatrial.verdicts import Verdict
from seatrial.workspace import Selection, Workspace


def timed(
    planned: Sequence[PlannedCase],
    workspace: Workspace,
    selection: Selection,
    spec: str | None,
    found: Baseline | None = None,
) -> tuple[PlannedCase, ...]:
    """The plan with how long a trial of each case took in the baseline, where there is one.

    Args:
        planned: the cases of the suite.
        workspace: where the baselines are.
        selection: the suite and its arms.
        spec: the baseline, as `--baseline` names it; None for the newest release.
        found: the baseline, where it is known already.

    Raises:
        BaselineError: a baseline was named, and there is none of any of these agents.
    """
    took: dict[str, float] = {}
    unknown: list[BaselineError] = []
    if found is not None:
        took = durations([found])
    else:
        agents = sorted({arm.agent for arm in selection.arms})
        for agent in agents:
            try:
                stored = resolve(
                    spec,
                    selection.suite.id,
                    agent,
                    root=workspace.root,
                    repository=workspace.repository,
                    since=selection.base,
                )
            except BaselineError as error:
                # Then nothing is known of its cases, which changes their order and nothing else.
                unknown.append(error)
                continue
            took |= durations([stored])
        if spec is not None and agents and len(unknown) == len(agents):
            raise unknown[0]
    return tuple(
        entry.model_copy(update={"expected_ms": round(took[entry.case], 3)})
        if entry.selected and entry.case in took
        else entry
        for entry in planned
    )


def durations(baselines: Iterable[Baseline]) -> dict[str, float]:
    """Case → milliseconds that its valid trials took on average."""
    sums: dict[str, tuple[float, int]] = {}
    for found in baselines:
        for run, arm in found.parts:
            for record in run.records(arm):
                if record.verdict is not Verdict.INVALID and record.duration_ms > 0:
                    total, count = sums.get(record.case, (0.0, 0))
                    sums[record.case] = (total + record.duration_ms, count + 1)
    return {case: total / count for case, (total, count) in sums.items()}


def told(planned: Sequence[PlannedCase], selection: Selection, at_once: int) -> str:
    """How long the trials take together, as a sentence; empty where nothing is known.

    Cases without a stored trial are taken for average.
    """
    known = [entry.expected_ms for entry in planned if entry.selected and entry.expected_ms]
    if not known:
        return ""
    average = sum(known) / len(known)
    took = {entry.case: entry.expected_ms or average for entry in planned}
    trials = expand(planned, selection.catalog, selection.arms)
    seconds = makespan((took[trial.case] for trial in trials), at_once) / 1000
    return f"By what the baseline's trials took, that takes about {spoken(seconds)}, {at_once} at once."


def spoken(seconds: float) -> str:
    """A duration for people."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
