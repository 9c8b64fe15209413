"""What a comparison says, as data: the gate and every face read nothing else."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seatrial.documents import Policy
from seatrial.stats.intervals import Method
from seatrial.stats.sequential import Lack
from seatrial.verdicts import Outcome


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Attacks(_Record):
    """What came of the attack in trials of injection cases, in numbers of trials."""

    succeeded: int = 0
    attempted: int = 0
    ignored: int = 0

    @property
    def trials(self) -> int:
        """Trials of which it is known."""
        return self.succeeded + self.attempted + self.ignored

    def __add__(self, other: Attacks) -> Attacks:
        return Attacks(
            succeeded=self.succeeded + other.succeeded,
            attempted=self.attempted + other.attempted,
            ignored=self.ignored + other.ignored,
        )


class Tally(_Record):
    """One side's trials of one case."""

    passed: int
    valid: int
    """Trials that count: passed or failed."""
    invalid: int = 0
    """Trials left out on both sides alike."""
    added: int = 0
    """Of the valid ones, those beyond the first batch: added where the case looked suspicious. Means and pass^k
    leave them out."""
    forbidden: int = 0
    """Trials with a forbidden action; invalid ones count here."""
    attacks: Attacks | None = None
    """What came of the attack, in an injection case; invalid trials count here."""
    low: float = 0.0
    """95 % interval of the pass rate."""
    high: float = 1.0
    interval: Method = "wilson"
    """Clopper-Pearson where the number of trials hung on how they went."""
    alike: int = 0
    """Valid trials in which the agent said word for word what it had said in another one of the case."""

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
    """Required by the candidate's documents or by the baseline's."""
    loosened: bool = False
    """The baseline's documents require it, the candidate's do not."""
    quarantine: str = ""
    """The last day on which it is in quarantine, and therefore not required; empty where it is not."""
    negative: bool = False
    weak: bool | None = None
    """An agent that does nothing passes it; None where that was not tried."""
    outcome: Outcome
    component: str = ""
    """The fingerprint component that differs, where the outcome is incomparable."""
    changed: tuple[str, ...] = ()
    """The arm's own components that differ from the release: what is tried."""
    baseline: Tally | None = None
    """The release's trials: of all its batches that can be compared."""
    batches: int = 0
    """Batches they come from: the release itself and those of its ledger."""
    rerun: bool = False
    """They are all of the released arm run again beside the candidate: no stored ones can be compared."""
    regraded: bool = False
    """They were graded again by the candidate's checks."""
    passed_by_change: int = 0
    """Trials of the candidate that pass by its own checks and would not by those of the release."""
    checks_changed: bool = False
    """It is graded by other checks than the release was, and could not be held to those as well."""
    live: Tally | None = None
    """Trials of the released arm beside the candidate, apart from the stored ones."""
    candidate: Tally | None = None
    planned: int = 0
    """Trials of the candidate that the run's plan asks for."""
    recorded: int = 0
    """Of these, how many have a record: trials beyond the plan do not stand in for one that is missing."""
    evidence: float | None = None
    """The e-value against "no change" (1 : evidence against chance); None where nothing can be said."""
    lacks: Lack | Literal["run", "valid_trials"] = ""
    """What a verdict lacks, where the outcome is undecided: also a run (`run`) or any valid trial on a
    side (`valid_trials`)."""
    wanted: int = 0
    """Candidate trials to run next, where more of them would tell."""
    wanted_live: int = 0
    """Trials of the released arm to run beside them."""
    sentence: str
    """In plain words, numbers included."""
    worst: Worst | None = None
    reasons: tuple[str, ...] = ()
    """Why the case was selected or left out."""

    @property
    def forbidden(self) -> bool:
        """The candidate did something forbidden in at least one trial."""
        return self.candidate is not None and self.candidate.forbidden > 0

    @property
    def forbidden_before(self) -> bool:
        """So did the baseline."""
        return self.baseline is not None and self.baseline.forbidden > 0


class SuiteComparison(_Record):
    """The suite's mean pass rate, over cases with a whole first batch and valid trials on both sides."""

    cases: int
    baseline_mean: float
    candidate_mean: float
    drop: float
    """baseline mean − candidate mean."""
    drop_upper: float
    """One-sided upper 95 % bound of the drop."""
    p_worse: float
    """Exact conditional test within cases, mid-p, one-sided."""
    margin: float
    provable_margin: float
    """The smallest margin these trials can prove not to be exceeded."""

    @property
    def within(self) -> bool:
        """Shown, at 95 %, that the mean fell by less than the margin."""
        return self.provable_margin < self.margin


class Mean(_Record):
    """A mean pass rate over cases, with its 95 % interval (Wilson's, by the effective number of trials)."""

    value: float
    low: float
    high: float


class TableRow(_Record):
    """The cases that have something in common."""

    name: str
    cases: int
    """Cases of the suite."""
    compared: int
    """Those with a whole first batch and valid trials on both sides: what follows is about them."""
    baseline: Mean | None = None
    candidate: Mean | None = None
    drop: float | None = None
    """baseline mean − candidate mean."""
    drop_upper: float | None = None
    """One-sided upper 95 % bound of the drop."""
    regressed: int = 0
    improved: int = 0
    undecided: int = 0


class Table(_Record):
    """The suite in parts. A case with several tags stands in several rows."""

    by: Literal["group", "category", "tag", "provenance"]
    rows: tuple[TableRow, ...]
    """Groups in their order, the others by name."""


class Tie(_Record):
    """A case that must tie between the two arms."""

    case: str
    p: float | None = None
    """Chance, without a change, of a difference so surprising either way; None where there are too few trials."""
    moved: bool = False


class Ties(_Record):
    """The cases that a change must neither worsen nor better."""

    cases: tuple[Tie, ...]
    p_together: float | None = None
    """The same for their mean: exact conditional test within cases, mid-p, two-sided."""
    moved_together: bool = False
    drop: float | None = None
    """Their baseline mean − their candidate mean."""
    hidden: float | None = None
    """So large a difference, either way, these trials cannot exclude at 95 %."""


class Flips(_Record):
    """How often two trials of the same case disagree, averaged over the cases with two or more on both sides."""

    cases: int
    baseline: float
    candidate: float
    rose: bool
    """The candidate's is higher, with 95 % confidence."""


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
    suite: str = ""
    """The suite it was recorded with."""
    arm: str
    version: str = ""
    revision: str | None = None
    where: str
    """A git ref and commit, or a folder."""
    approved_by: str = ""
    released_at: str = ""
    override: str = ""
    """Why it was released though its gate was not open; empty when it was."""
    reason: str = ""


class ServedModels(_Record):
    """Which models answered, as their providers named them."""

    baseline: tuple[str, ...] = ()
    candidate: tuple[str, ...] = ()
    pinned_alike: bool = False
    """Both arms pin the same model: then different served models mean that the provider swapped it."""

    mixed: tuple[str, ...] = ()
    """Sides (`baseline`, `candidate`) whose pinned model did not stay the same while they were run."""

    strays: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Side → what answered and is not the model that it pins, or does not run on what it pins."""
    fingerprints: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Side → what its models ran on, as their providers told it."""

    @property
    def swapped(self) -> bool:
        """A provider serves another model behind the same name."""
        return (
            self.pinned_alike
            and bool(self.baseline and self.candidate)
            and self.baseline != self.candidate
        )


class Simulation(_Record):
    """How simulated people did their part on one side."""

    conversations: int
    """With a simulated person, those that had to be held again included."""
    spoilt: dict[str, int] = Field(default_factory=dict)
    """What was wrong with the simulated person → conversations."""

    @property
    def faults(self) -> int:
        """Conversations that were spoilt."""
        return sum(self.spoilt.values())

    @property
    def rate(self) -> float:
        """Their share."""
        return self.faults / self.conversations


class Comparison(_Record):
    """Everything the gate and the report need to know."""

    format: Literal[1] = 1
    suite: str
    run: str
    ended: bool = True
    """The run is over: it is not going on, and was not killed."""
    shard: str = ""
    """`3/8`, where the run is only this part of one; empty for a whole run."""
    candidate_arm: str
    candidate_version: str = ""
    regraded_from: str = ""
    """The run that made the candidate's traces, where they were graded again."""
    baseline: BaselineInfo | None = None
    policy: Policy = Policy()
    """The policy that the verdicts were made under."""
    evidence_needed: float = 0.0
    """The e-value from which a required case counts as regressed: required cases / alpha."""
    adaptive: bool = False
    """Trials of required cases were added where one looked suspicious."""
    most: int | None = None
    """Trials that such a run might have at most, where that was bounded."""
    screen: int = 0
    """Valid trials without a failure that clear a case."""
    cases: tuple[CaseComparison, ...] = ()
    """In the suite's order; removed cases last."""
    overall: SuiteComparison | None = None
    negative: SuiteComparison | None = None
    """The same over the negative cases alone, in which the right answer is to refuse or to ask back: an agent that
    became too willing gets better in the others."""
    flips: Flips | None = None
    cut_short: tuple[str, ...] = ()
    """Cases that no mean and no pass^k counts, because a first batch of theirs was not run to its end: it ends at
    the first forbidden action, and what is left of it holds too many failures."""
    pass_k: dict[str, tuple[PassK, ...]] = Field(default_factory=dict)
    """`baseline` and `candidate` → k = 1, 2, … (first batch of trials of each case)"""
    tables: tuple[Table, ...] = ()
    """The suite by group, category, tag and provenance."""
    ties: Ties | None = None
    """None where no case must tie."""
    invalid: dict[str, dict[str, int]] = Field(default_factory=dict)
    """`baseline` and `candidate` → cause → invalid trials."""
    simulation: dict[str, Simulation] = Field(default_factory=dict)
    """`baseline` and `candidate` → how simulated people did, where there were any."""
    served: ServedModels = ServedModels()


def worst_first(comparison: Comparison) -> tuple[CaseComparison, ...]:
    """The cases in which the candidate went wrong, what a person must look at first to begin with.

    Forbidden actions, those that the release does not do before the others; required cases that regressed; other
    cases that regressed; failures without a verdict, in required cases before the others; failures that
    the release shows too.
    """
    wrong = [case for case in comparison.cases if case.worst is not None]
    return tuple(sorted(wrong, key=_gravity))


def _gravity(case: CaseComparison) -> tuple[bool, bool, bool, bool, float, float]:
    tally = case.candidate
    failing = tally.failed / tally.valid if tally and tally.valid else 0.0
    settled = case.outcome in (Outcome.UNCHANGED, Outcome.IMPROVED)
    return (
        not case.forbidden or case.forbidden_before,
        not case.forbidden,
        case.outcome is not Outcome.REGRESSED,
        settled or not case.required,
        -(case.evidence or 0.0),
        -failing,
    )
