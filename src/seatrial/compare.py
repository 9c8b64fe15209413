"""Baseline records + candidate records → comparison, case by case."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seatrial.verdicts import Outcome


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tally(_Record):
    """One side's trials of one case."""

    passed: int
    valid: int
    """Trials that count: passed or failed."""
    invalid: int = 0
    """Trials left out on both sides alike."""
    forbidden: int = 0
    """Trials with a forbidden action."""
    low: float = 0.0
    """95 % interval of the pass rate."""
    high: float = 1.0
    interval: Literal["wilson", "clopper-pearson"] = "wilson"

    @property
    def failed(self) -> int:
        """Valid trials that failed."""
        return self.valid - self.passed


class Worst(_Record):
    """Where a failing trial of the candidate went wrong: what a person looks at first."""

    trial: int
    turn: int | None = None
    call: int | None = None
    check: str
    reason: str
    place: str = ""


class CaseComparison(_Record):
    """What the comparison says of one case."""

    case: str
    title: str = ""
    group: str = ""
    required: bool = False
    negative: bool = False
    outcome: Outcome
    component: str = ""
    """The fingerprint component that differs, where the outcome is incomparable."""
    baseline: Tally | None = None
    candidate: Tally | None = None
    evidence: float | None = None
    """The e-value against "no change" (1 : evidence against chance); None where nothing can be said."""
    sentence: str
    """In plain words, numbers included."""
    worst: Worst | None = None
    reasons: tuple[str, ...] = ()
    """Why the case was selected or left out."""


class SuiteComparison(_Record):
    """The suite's mean pass rate, over cases with valid trials on both sides."""

    cases: int
    baseline_mean: float
    candidate_mean: float
    drop: float
    """baseline mean − candidate mean."""
    drop_upper: float
    """Upper 95 % bound of the drop."""
    p_worse: float
    """Exact conditional test within cases, mid-p, one-sided."""
    margin: float
    provable_margin: float
    """The smallest margin these trials can prove."""


class PassK(_Record):
    """pass^k: the chance that k trials of a case all pass, averaged over cases."""

    k: int
    value: float
    low: float
    high: float
    cases: int
    missing: int
    """Cases with fewer than k valid trials."""


class BaselineInfo(_Record):
    """Which baseline, and why this one."""

    run: str
    arm: str
    version: str = ""
    revision: str | None = None
    where: str
    """A git ref and commit, or a folder."""
    approved_by: str = ""
    released_at: str = ""
    reason: str = ""


class Comparison(_Record):
    """Everything the gate and the report need to know."""

    format: Literal[1] = 1
    suite: str
    run: str
    candidate_arm: str
    candidate_version: str = ""
    baseline: BaselineInfo | None = None
    cases: tuple[CaseComparison, ...] = ()
    overall: SuiteComparison | None = None
    pass_k: dict[str, tuple[PassK, ...]] = Field(default_factory=dict)
    """`baseline` and `candidate` → k = 1, 2, …"""
