"""Which cases a comparison is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from seatrial.compare.pooling import Standing
from seatrial.compare.sides import CaseFacts, Side, Trials
from seatrial.records import PlannedCase


@dataclass(frozen=True, slots=True)
class Entry:
    """One case of the comparison, before its trials are looked at."""

    facts: CaseFacts
    selected: bool = True
    removed: bool = False
    standing: Standing = field(default_factory=Standing)
    """Whether its two sides can be compared."""
    planned: int = 0
    loosened: bool = False
    quarantine: str = ""
    """Until when it is in quarantine, and therefore not required."""
    weak: bool | None = None
    reasons: tuple[str, ...] = ()


def concerned(
    baseline: Side | None, candidate: Side, counted: Mapping[str, Trials]
) -> tuple[str, ...]:
    """Every case that one of the sides is there for."""
    before = baseline.concerned() if baseline else {}
    return tuple(dict.fromkeys((*candidate.concerned(), *candidate.plan(), *counted, *before)))


def entries(
    baseline: Side | None,
    candidate: Side,
    counted: Mapping[str, Trials],
    standing: Mapping[str, Standing],
) -> tuple[Entry, ...]:
    """The candidate's cases in their order, then what it lacks of the baseline's."""
    now, plan = candidate.concerned(), candidate.plan()
    before = baseline.concerned() if baseline else {}
    known = {facts.case for facts in candidate.cases}
    # A run can hold cases that its documents do not describe; then the plan is all that is known.
    for case in [*plan, *sorted(counted)]:
        ran = case in counted or (case in plan and plan[case].selected)
        if ran and case not in known:
            now.setdefault(case, CaseFacts(case, required=case in plan and plan[case].required))

    entries = []
    for case, facts in now.items():
        planned = plan.get(case)
        at_base = planned is not None and planned.required
        loosened = not facts.required and (at_base or (case in before and before[case].required))
        quarantine = _quarantine(planned, candidate.manifest.created_at)
        required = (facts.required or loosened) and not quarantine
        entries.append(
            Entry(
                replace(
                    facts,
                    required=required,
                    must_tie=facts.must_tie or (case in before and before[case].must_tie),
                ),
                selected=planned is None or planned.selected or case in counted,
                standing=standing.get(case, Standing()),
                planned=planned.trials if planned else 0,
                loosened=loosened and not quarantine,
                quarantine=quarantine,
                weak=planned.weak if planned else None,
                reasons=planned.reasons if planned else (),
            )
        )
    for case, facts in _removed(baseline, candidate, now).items():
        reasons = plan[case].reasons if case in plan else ()
        entries.append(Entry(facts, selected=False, removed=True, reasons=reasons))
    return tuple(entries)


def _quarantine(planned: PlannedCase | None, began: str) -> str:
    """The last day of a case's quarantine, if the run began before its end."""
    until = planned.quarantine if planned is not None else None
    return until if until is not None and began[:10] <= until else ""


def _removed(
    baseline: Side | None, candidate: Side, now: dict[str, CaseFacts]
) -> dict[str, CaseFacts]:
    """Cases that the change took away.

    The plan lists them where it was made against a base revision. Without one the baseline's cases are
    the measure, if it was recorded with the same suite; that would blame a change for cases which others took
    away since the release, so it is only used then.
    """
    before = baseline.concerned() if baseline else {}
    listed = candidate.plan()
    gone: dict[str, CaseFacts] = {}
    same_suite = baseline is not None and baseline.manifest.suite == candidate.manifest.suite
    in_suite = {facts.case for facts in candidate.cases}
    for case, facts in before.items():
        given_away = case in in_suite  # it is for another agent now
        without_base = same_suite and candidate.manifest.base is None
        if case not in now and (case in listed or given_away or without_base):
            gone[case] = facts
    for case, planned in listed.items():
        if case not in now and (planned.removed or case not in in_suite):
            known = gone.get(case, CaseFacts(case))
            gone[case] = replace(known, required=known.required or planned.required)
    return gone
