"""A stored trial, graded again by other checks: its record as it would have been."""

from __future__ import annotations

from seatrial import checks
from seatrial.checks.again import Grader
from seatrial.documents import Case, placeholders
from seatrial.records import TrialRecord
from seatrial.trace import Trace
from seatrial.verdicts import Cause, Verdict


def regraded(record: TrialRecord, trace: Trace, case: Case, grader: Grader) -> TrialRecord:
    """The record with the findings and the verdict that the grader's documents give.

    A trial that could not be carried out stays invalid for the reason it was: no check can mend it.

    Args:
        record: as it is stored.
        trace: its trace.
        case: as the grader's documents have it.
        grader: by which documents.
    """
    findings = grader.findings(trace)
    verdict, cause, detail = checks.verdict(findings, trace)
    if record.verdict is Verdict.INVALID and record.cause is not Cause.NO_EVIDENCE:
        verdict, cause, detail = record.verdict, record.cause, record.detail
    elif missing := unfillable(case, trace):
        verdict, cause, detail = Verdict.INVALID, Cause.NO_EVIDENCE, missing
    return record.model_copy(
        update={"findings": findings, "verdict": verdict, "cause": cause, "detail": detail}
    )


def unfillable(case: Case, trace: Trace) -> str:
    """Why the case's placeholders cannot be filled as in the trial; empty where they can."""
    written = case.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if not trace.run_token and "run" in placeholders.names(written):
        return "the recording does not say what `{{run}}` of the case stood for (`run_token`)"
    return ""
