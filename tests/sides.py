"""Sides of a comparison, built from a few characters: `p` passed, `f` failed, `i` invalid, `x` failed by a
forbidden action, `v` passed with a violation, `X` invalid with a violation."""

from collections.abc import Mapping

from seatrial.compare import CaseFacts, Side
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.verdicts import Cause, Finding, Status, Verdict

FINGERPRINT = {"case": "c", "checks": "k", "world": "w", "harness": "1", "adapter": "a"}


def side(
    trials: Mapping[str, str],
    *,
    arm: str = "candidate",
    required: tuple[str, ...] = (),
    cases: tuple[CaseFacts, ...] | None = None,
    plan: tuple[PlannedCase, ...] | None = None,
    fingerprints: Mapping[str, dict[str, str]] | None = None,
    suite: str = "full",
    base: str | None = None,
    agent: str = "helpdesk",
) -> Side:
    """A side whose suite is the cases named in `trials`."""
    facts = cases or tuple(
        CaseFacts(case, title=f"About {case}", group="task", agent=agent, required=case in required)
        for case in trials
    )
    prints = {f"{f.case}@{arm}": {**FINGERPRINT, "adapter": arm} for f in facts}
    prints |= {f"{case}@{arm}": found for case, found in (fingerprints or {}).items()}
    return Side(
        manifest=Manifest(
            run=f"run-{arm}",
            suite=suite,
            arms=(arm,),
            trials=4,
            seed=1,
            created_at="2026-01-01T00:00:00Z",
            seatrial="0.1.0",
            base=base,
            plan=planned(trials, facts) if plan is None else plan,
            fingerprints=prints,
        ),
        arm=arm,
        records=records(trials, arm),
        cases=facts,
        agent=agent,
        version="1.0",
        where=f"runs/{arm}",
    )


def planned(trials: Mapping[str, str], facts: tuple[CaseFacts, ...]) -> tuple[PlannedCase, ...]:
    """The plan that asks for just these trials."""
    return tuple(
        PlannedCase(
            case=f.case,
            selected=f.case in trials,
            reasons=("no base given",) if f.case in trials else ("nothing changed",),
            required=f.required,
            trials=len(trials.get(f.case, "")),
        )
        for f in facts
    )


def records(trials: Mapping[str, str], arm: str) -> tuple[TrialRecord, ...]:
    """The journal, first trials of all cases first."""
    longest = max((len(marks) for marks in trials.values()), default=0)
    return tuple(
        record(case, arm, number + 1, marks[number])
        for number in range(longest)
        for case, marks in trials.items()
        if number < len(marks)
    )


def record(case: str, arm: str, number: int, mark: str) -> TrialRecord:
    """One trial."""
    verdict = {"p": Verdict.PASSED, "v": Verdict.PASSED, "f": Verdict.FAILED, "x": Verdict.FAILED}
    found: tuple[Finding, ...] = ()
    if mark in "fx":
        found = (
            Finding(
                check="tool_not_called" if mark == "x" else "tool_called",
                path="checks[0]",
                place=f"cases/{case}.yaml:12:5",
                status=Status.FAILED,
                reason=f"trial {number} went wrong",
                turn=1,
                call=2,
                forbidden=mark == "x",
            ),
        )
    return TrialRecord(
        case=case,
        arm=arm,
        number=number,
        verdict=verdict.get(mark, Verdict.INVALID),
        cause=Cause.TIME if mark in "iX" else None,
        findings=found,
        violations=1 if mark in "vX" else 0,
    )
