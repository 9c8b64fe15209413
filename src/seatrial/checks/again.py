"""Grading a trace from nothing but itself and the documents: alike when it was made and years later."""

from __future__ import annotations

import datetime as dt

from seatrial import checks
from seatrial.documents import Case, Catalog, placeholders
from seatrial.trace import Trace
from seatrial.verdicts import Finding


def filled_as_in(case: Case, trace: Trace, catalog: Catalog) -> Case:
    """The case with its placeholders filled as they were in the trial that left this trace."""
    now = dt.datetime.fromisoformat(trace.now) if trace.now else catalog.world(case.world).now
    return case.filled(placeholders.of_trial(trace.run_token, now))


def grade_again(catalog: Catalog, trace: Trace) -> tuple[Finding, ...]:
    """What the checks of the trace's case find in it, each with its place in the documents.

    Raises:
        KeyError: the catalog has no such case.
    """
    case = catalog.cases[trace.case]
    return tuple(
        finding.model_copy(update={"place": catalog.place("case", case.id, finding.path)})
        for finding in checks.grade(filled_as_in(case, trace, catalog), trace)
    )
