"""What a report is built from: a comparison, its ruling, and the two stored runs behind them."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from seatrial.compare import CaseComparison, Comparison, worst_first
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
        why_no_baseline: str = "",
    ) -> None:
        self.comparison = comparison
        self.ruling = ruling
        self.why_no_baseline = why_no_baseline
        self.runs: dict[Side, Run] = {"candidate": candidate}
        self.arms: dict[Side, str] = {"candidate": comparison.candidate_arm}
        if baseline is not None and comparison.baseline is not None:
            self.runs["baseline"] = baseline
            self.arms["baseline"] = comparison.baseline.arm
        self._named = {
            effect: {c for g in ruling.grounds if g.effect == effect for c in g.cases}
            for effect in ("closed", "undecided")
        }
        self._trials = {side: _by_case(run, self.arms[side]) for side, run in self.runs.items()}

    def trials(self, side: Side, case: str) -> tuple[TrialRecord, ...]:
        """The records of a case on one side, by number."""
        return self._trials.get(side, {}).get(case, ())

    def records(self, side: Side) -> Iterable[TrialRecord]:
        """All records of one side."""
        return (record for trials in self._trials.get(side, {}).values() for record in trials)

    def concern(self, case: CaseComparison) -> Concern | None:
        """Whether a reviewer must look at this case.

        worse: it regressed, did something forbidden (which one trial suffices for), or closes the gate
        otherwise. unclear: it is required and there is no verdict about it, it is new and failed, or it
        is what leaves the gate undecided. None: neither.
        """
        if (
            case.outcome is Outcome.REGRESSED
            or case.forbidden
            or case.case in self._named["closed"]
        ):
            return "worse"
        if case.required and (
            case.outcome in (Outcome.UNDECIDED, Outcome.INCOMPARABLE, Outcome.REMOVED)
            or (
                case.outcome is Outcome.NEW and case.candidate is not None and case.candidate.failed
            )
            or nothing_valid(case)
            or case.case in self._named["undecided"]
        ):
            return "unclear"
        return None

    def worst_first(self) -> list[CaseComparison]:
        """All cases: those a reviewer must look at, then the others by outcome, required ones first."""
        concerns = ("worse", "unclear", None)
        wrong = {case.case: place for place, case in enumerate(worst_first(self.comparison))}
        return sorted(
            self.comparison.cases,
            key=lambda c: (
                concerns.index(self.concern(c)),
                wrong.get(c.case, len(wrong)) if self.concern(c) else 0,
                _OUTCOMES.index(c.outcome),
                _plainly_unchanged(c),
                not c.required,
                c.case,
            ),
        )

    def has_page(self, case: CaseComparison) -> bool:
        """Whether there is more to see of a case than its row."""
        return self.concern(case) is not None or not _plainly_unchanged(case)

    def traced(self, case: str) -> dict[Side, list[tuple[TrialRecord, Trace | None]]]:
        """Each side's records of a case with their traces, read from disk; None where none was stored."""
        return {
            side: [
                (record, None if record.trace_at is None else run.trace(record))
                for record in self.trials(side, case)
            ]
            for side, run in self.runs.items()
        }

    def place(self, case: str, path: str = "") -> str:
        """`file:line:column` of a part of a case; empty where no file is known."""
        for run in self.runs.values():
            if place := run.catalog.place("case", case, path):
                return place
        return ""

    def reproduction(self, case: str) -> str:
        """The command that runs this case again as the candidate ran it."""
        manifest = self.runs["candidate"].manifest
        command = ["seatrial", "run", "--suite", manifest.suite, "--arm", self.arms["candidate"]]
        command += ["--case", case, "--seed", str(manifest.seed)]
        planned = next((entry.trials for entry in manifest.plan if entry.case == case), 0)
        if trials := max([planned, *(record.number for record in self.trials("candidate", case))]):
            command += ["--trials", str(trials)]
        return shlex.join(command)

    def revision(self) -> str:
        """The commit the candidate was run at, marked where the work tree differed from it."""
        manifest = self.runs["candidate"].manifest
        if manifest.revision is None:
            return ""
        return f"{manifest.revision[:12]}{' with uncommitted changes' if manifest.dirty else ''}"


Concern = Literal["worse", "unclear"]


def headline(ruling: Ruling) -> str:
    """What the ruling says first, without the word that stands beside it anyway."""
    return ruling.headline.removeprefix(f"{ruling.ruling.value.capitalize()}: ")


def nothing_valid(case: CaseComparison) -> bool:
    """The candidate was run, and no trial of it counts."""
    return case.candidate is not None and not case.candidate.valid and case.candidate.invalid > 0


def _plainly_unchanged(case: CaseComparison) -> bool:
    """Nothing to look at: unchanged or carried, and no trial of the candidate failed or is invalid."""
    if case.outcome not in (Outcome.UNCHANGED, Outcome.CARRIED):
        return False
    tally = case.candidate
    return tally is None or not (tally.failed or tally.invalid or tally.forbidden)


_OUTCOMES = (
    Outcome.REGRESSED, Outcome.UNDECIDED, Outcome.INCOMPARABLE, Outcome.REMOVED, Outcome.NEW,
    Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.CARRIED,
)  # fmt: skip


def _by_case(run: Run, arm: str) -> dict[str, tuple[TrialRecord, ...]]:
    found: dict[str, list[TrialRecord]] = defaultdict(list)
    for record in run.records(arm):
        found[record.case].append(record)
    return {case: tuple(sorted(trials, key=lambda r: r.number)) for case, trials in found.items()}
