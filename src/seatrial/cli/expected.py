"""What a run of a selection takes when nothing is worse: the first batches, the trials added on suspicion, money."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum

from seatrial.adaptive import screened
from seatrial.baseline import resolve, stricter_policy
from seatrial.cli.costing import Cost, costing
from seatrial.cli.stored import records
from seatrial.compare import rule_for
from seatrial.errors import BaselineError
from seatrial.plan import expand
from seatrial.records import PlannedCase
from seatrial.stats.evidence import Reference
from seatrial.stats.power import good_change
from seatrial.workspace import Selection, Workspace


@dataclass(frozen=True, slots=True)
class Expected:
    """Trials of a good change on average."""

    cases: tuple[PlannedCase, ...]
    """The selection with the first batches that such a run has."""
    planned: int
    """Trials of all first batches."""
    added: float = 0.0
    """Trials added to suspicious required cases, those of the released arm among them."""
    live: float = 0.0
    """Trials of the released arm beside the candidate."""
    unknown: str = ""
    """Why no trials would be added."""
    cost: Cost = field(default_factory=Cost)
    """Of all of them."""

    @property
    def trials(self) -> float:
        """All of them."""
        return self.planned + self.added


def expected(workspace: Workspace, selection: Selection, spec: str | None) -> Expected:
    """The trials that a good change takes, held against the baseline of its agent.

    Args:
        workspace: where the selection comes from.
        selection: the cases to run, and the one arm that would run them.
        spec: the baseline, as `--baseline` names it; None for the newest release.
    """
    (arm,) = selection.arms
    suite, catalog = selection.suite, selection.catalog
    try:
        found = resolve(
            spec, suite.id, arm.agent, root=workspace.root, repository=workspace.repository,
            since=selection.base,
        )  # fmt: skip
    except BaselineError as error:
        if spec is not None:
            raise
        planned = len(expand(selection.cases, catalog, selection.arms))
        return Expected(selection.cases, planned, unknown=error.message)
    stored = records(found)
    cases = [case for case in catalog.suite_cases(suite) if case.agent == arm.agent]
    rule = rule_for(
        stricter_policy(suite.id, catalog, found),
        sum(case.required for case in cases),
        stored.values(),
        live=True,
    )
    chosen = screened(selection.cases, rule.screen)
    by_case: dict[str, tuple[float, float]] = {}
    for entry in chosen:
        passed, valid = stored.get(entry.case, (0, 0))
        if entry.selected and entry.required and valid:
            course = good_change(Reference(passed, valid), rule, entry.trials)
            by_case[entry.case] = course.candidate, course.live
        elif entry.selected:
            by_case[entry.case] = float(entry.trials), 0.0
    planned = len(expand(chosen, catalog, selection.arms))
    live = fsum(beside for _, beside in by_case.values())
    added = fsum(own for own, _ in by_case.values()) + live - planned
    return Expected(
        chosen,
        planned,
        added,
        live,
        cost=costing(catalog, found, by_case, arm.id).of(by_case),
    )
