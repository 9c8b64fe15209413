"""What one trial came to: its record, from its trace, its findings and why it broke off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seatrial import checks
from seatrial.documents import Case, digest
from seatrial.records import TrialRecord, Violation
from seatrial.runner.course import Failure
from seatrial.trace import MOST_COUNTED, Listed, Said, Trace, Usage
from seatrial.verdicts import Finding, Verdict


def record_of(
    trace: Trace,
    findings: tuple[Finding, ...],
    failure: Failure | None,
    *,
    version: str,
    case: Case,
    of_people: Sequence[Usage] | None = None,
) -> TrialRecord:
    """What is kept of a trial beside its trace.

    Args:
        trace: what happened.
        findings: what the checks of its case found in it.
        failure: why it was not carried to its end, where it was not.
        version: of the arm that answered.
        case: the case.
        of_people: what models took that played people; None where only what was said tells.
    """
    verdict, cause, detail = checks.verdict(findings, trace)
    if failure is not None:
        verdict, cause, detail = Verdict.INVALID, failure.cause, failure.detail
    models = {r.served_model for r in trace.replies} | {c.model for c in trace.completions}
    return TrialRecord(
        case=trace.case,
        arm=trace.arm,
        number=trace.number,
        version=version,
        verdict=verdict,
        cause=cause,
        detail=detail,
        simulator_fault=failure.simulator_fault if failure else None,
        simulator_usage=_sum(
            # What was recorded elsewhere tells only of what was said.
            of_people
            or [e.usage for e in trace.events if isinstance(e, Said) and e.usage is not None]
        ),
        simulated=_was_simulated(case, trace, failure),
        findings=findings,
        calls=len(trace.calls),
        violations=len(trace.violations),
        first_violation=_first_violation(trace),
        tools_used=tuple(sorted({f"{c.server}/{c.tool}" for c in trace.calls})),
        tools_listed=tuple(
            sorted(
                {
                    f"{event.server}/{tool}"
                    for event in trace.events
                    if isinstance(event, Listed)
                    for tool in event.tools
                }
            )
        ),
        served_model=_joined(models),
        served_fingerprint=_joined({c.fingerprint for c in trace.completions}),
        usage=used(trace),
        reply_digest=digest([r.text for r in trace.replies]),
    )


def _was_simulated(case: Case, trace: Trace, failure: Failure | None) -> bool:
    """Whether somebody whom Seatrial simulates took part; in what was recorded elsewhere nobody did."""
    if failure is not None and failure.simulator_fault is not None:
        return True
    return any(isinstance(event, Said) and event.by in case.persona for event in trace.events)


def _first_violation(trace: Trace) -> Violation | None:
    for call in trace.violations:
        return Violation(turn=call.turn, call=call.number, reason=f"{call.tool}: {call.refused}")
    return None


def _joined(names: Iterable[str | None]) -> str | None:
    """Names, each once, that may be several themselves."""
    found = {one for name in names if name for one in name.split(", ")}
    return ", ".join(sorted(found)) or None


def used(trace: Trace) -> Usage | None:
    """The tokens of a trial: what each answer of the model took, where Seatrial asked it; else what was reported."""
    return _sum(trace.usages)


def _sum(usages: Sequence[Usage]) -> Usage | None:
    if not usages:
        return None
    return Usage(
        input_tokens=min(sum(u.input_tokens for u in usages), MOST_COUNTED),
        output_tokens=min(sum(u.output_tokens for u in usages), MOST_COUNTED),
        cached_input_tokens=min(sum(u.cached_input_tokens for u in usages), MOST_COUNTED),
        reasoning_tokens=min(sum(u.reasoning_tokens for u in usages), MOST_COUNTED),
        cost=min(sum(u.cost for u in usages), MOST_COUNTED),
    )
