"""What a report is built from: a comparison, its ruling, and the two stored runs behind them."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from seatrial.compare import CaseComparison, Comparison
from seatrial.gate import Ruling
from seatrial.records import TrialRecord
from seatrial.store import Run
from seatrial.trace import Trace
from seatrial.verdicts import Outcome

Side = Literal["candidate", "baseline"]


class Evidence:
    """The comparison, the ruling, and the trials of both sides by case."""

    def __init__(
        self,
        *,
        comparison: Comparison,
        ruling: Ruling,
        candidate: Run,
        baseline: Run | None = None,
    ) -> None:
        self.comparison = comparison
        self.ruling = ruling
        self.runs: dict[Side, Run] = {"candidate": candidate}
        self.arms: dict[Side, str] = {"candidate": comparison.candidate_arm}
        if baseline is not None and comparison.baseline is not None:
            self.runs["baseline"] = baseline
            self.arms["baseline"] = comparison.baseline.arm
        self._trials = {side: _by_case(run, self.arms[side]) for side, run in self.runs.items()}

    def trials(self, side: Side, case: str) -> tuple[TrialRecord, ...]:
        """The records of a case on one side, by number."""
        return self._trials.get(side, {}).get(case, ())

    def records(self, side: Side) -> Iterable[TrialRecord]:
        """All records of one side."""
        return (record for trials in self._trials.get(side, {}).values() for record in trials)

    def trace(self, side: Side, record: TrialRecord) -> Trace | None:
        """The trace of a record of this side; None where none was stored."""
        return None if record.trace_at is None else self.runs[side].trace(record)

    def place(self, case: str, path: str = "") -> str:
        """`file:line:column` of a part of a case; empty where no file is known."""
        for run in self.runs.values():
            if place := run.catalog.place("case", case, path):
                return place
        return ""

    def reproduction(self, case: str) -> str:
        """The command that runs this case again as the candidate ran it."""
        manifest = self.runs["candidate"].manifest
        arguments = ["--suite", manifest.suite, "--arm", self.arms["candidate"], "--case", case]
        return shlex.join(["seatrial", "run", *arguments])

    def revision(self) -> str:
        """The commit the candidate was run at, marked where the work tree differed from it."""
        manifest = self.runs["candidate"].manifest
        if manifest.revision is None:
            return ""
        return f"{manifest.revision[:12]}{' with uncommitted changes' if manifest.dirty else ''}"


Concern = Literal["worse", "unclear"]


def concern(case: CaseComparison) -> Concern | None:
    """Whether a reviewer must look at this case.

    worse: it regressed, or a forbidden action happened, which one trial suffices for. unclear: it is
    required and there is no verdict about it. None: neither.
    """
    if case.outcome is Outcome.REGRESSED or forbidden(case):
        return "worse"
    if case.required and (
        case.outcome in (Outcome.UNDECIDED, Outcome.INCOMPARABLE, Outcome.REMOVED)
        or nothing_valid(case)
    ):
        return "unclear"
    return None


def forbidden(case: CaseComparison) -> bool:
    """The candidate did something forbidden in at least one trial."""
    return case.candidate is not None and case.candidate.forbidden > 0


def nothing_valid(case: CaseComparison) -> bool:
    """The candidate was run, and no trial of it counts."""
    return case.candidate is not None and not case.candidate.valid and case.candidate.invalid > 0


def plainly_unchanged(case: CaseComparison) -> bool:
    """Nothing to look at: unchanged or carried, and no trial of the candidate failed or is invalid."""
    if case.outcome not in (Outcome.UNCHANGED, Outcome.CARRIED):
        return False
    tally = case.candidate
    return tally is None or not (tally.failed or tally.invalid or tally.forbidden)


_OUTCOMES = (
    Outcome.REGRESSED, Outcome.UNDECIDED, Outcome.INCOMPARABLE, Outcome.REMOVED, Outcome.NEW,
    Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.CARRIED,
)  # fmt: skip


def worst_first(cases: Iterable[CaseComparison]) -> list[CaseComparison]:
    """What a reviewer must look at first; within an outcome the required ones first."""
    concerns = ("worse", "unclear", None)
    return sorted(
        cases,
        key=lambda c: (
            concerns.index(concern(c)),
            not forbidden(c),
            not c.required,
            _OUTCOMES.index(c.outcome),
            plainly_unchanged(c),
            -(c.evidence or 0.0),
            c.case,
        ),
    )


def _by_case(run: Run, arm: str) -> dict[str, tuple[TrialRecord, ...]]:
    found: dict[str, list[TrialRecord]] = defaultdict(list)
    for record in run.records(arm):
        found[record.case].append(record)
    return {case: tuple(sorted(trials, key=lambda r: r.number)) for case, trials in found.items()}
