"""What a run of a selection takes when nothing is worse: the first batches, and the trials added on suspicion."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.baseline import resolve
from seatrial.cli.stored import records
from seatrial.compare import rule_for
from seatrial.errors import BaselineError
from seatrial.stats.evidence import Reference
from seatrial.stats.power import good_change
from seatrial.workspace import Selection, Workspace


@dataclass(frozen=True, slots=True)
class Expected:
    """Trials of a good change on average."""

    planned: int
    """First batches."""
    added: float
    """Trials added to suspicious required cases, those of the released arm among them."""
    live: float
    """Trials of the released arm beside the candidate."""
    unknown: tuple[str, ...] = ()
    """Why nothing is known of the cases of some arm."""

    @property
    def trials(self) -> float:
        """All of them."""
        return self.planned + self.added


def expected(
    workspace: Workspace, selection: Selection, spec: str | None, planned: int
) -> Expected:
    """The trials that a good change takes, arm by arm against the baseline of its agent.

    Args:
        workspace: where the selection comes from.
        selection: the cases to run.
        spec: the baseline, as `--baseline` names it; None for the newest release.
        planned: trials of all first batches.
    """
    added, live, unknown = 0.0, 0.0, []
    suite = selection.suite
    for arm in selection.arms:
        try:
            found = resolve(
                spec, suite.id, arm.agent, root=workspace.root, repository=workspace.repository
            )
        except BaselineError as error:
            unknown.append(f"{arm.id}: {error.message}")
            continue
        stored = records(found)
        cases = [c for c in selection.catalog.suite_cases(suite) if c.agent == arm.agent]
        rule = rule_for(
            suite.gate,
            sum(c.required for c in cases),
            stored.values(),
            live=True,
        )
        known = {c.id for c in cases if c.required and c.id in stored}
        for entry in selection.selected:
            if entry.case in known:
                first = max(entry.trials, rule.screen)
                course = good_change(Reference(*stored[entry.case]), rule, first)
                added += course.trials - entry.trials
                live += course.live
    return Expected(planned, added, live, tuple(unknown))
