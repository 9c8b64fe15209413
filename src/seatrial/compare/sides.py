"""One side of a comparison: its trials counted case by case, and where they went wrong first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from seatrial.comparability import expanded
from seatrial.compare.model import Attacks, Tally, Worst
from seatrial.documents import Catalog, Model, digest
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.stats import intervals
from seatrial.verdicts import Finding, Status, Verdict


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """What a comparison wants to know of a case besides its trials."""

    case: str
    title: str = ""
    group: str = ""
    agent: str = ""
    required: bool = False
    negative: bool = False
    tags: tuple[str, ...] = ()
    provenance: str = ""
    """How the case came to be; empty when nobody says."""
    must_tie: bool = False
    """A change must neither worsen nor better it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One arm's trials of a suite, with what they were trials of."""

    manifest: Manifest
    arm: str
    records: Iterable[TrialRecord]
    """Those of other arms are passed over; read once, in any order."""
    cases: tuple[CaseFacts, ...]
    """The suite's cases in its order."""
    agent: str = ""
    """The agent that the arm is a version of; cases of other agents do not concern it."""
    version: str = ""
    pin: Model | None = None
    """The model that the arm pins."""
    where: str = ""
    """A folder, or a git ref and commit."""
    regraded: frozenset[str] = frozenset()
    """Cases whose trials were graded by the checks of the other side."""
    ended: bool = True
    """The run is over; while it is going on, what it will say is open."""

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        catalog: Catalog,
        arm: str,
        records: Iterable[TrialRecord],
        *,
        where: str = "",
        regraded: frozenset[str] = frozenset(),
        ended: bool = True,
    ) -> Side:
        """The side that a stored run gives for one of its arms."""
        suite = catalog.suites.get(manifest.suite)
        cases = catalog.suite_cases(suite) if suite else tuple(catalog.cases.values())
        ties = catalog.must_tie(suite) if suite else frozenset()
        described = catalog.arms.get(arm)
        return cls(
            manifest=manifest,
            arm=arm,
            records=records,
            cases=tuple(
                CaseFacts(
                    case=c.id,
                    title=c.title,
                    group=c.group,
                    agent=c.agent,
                    required=c.required,
                    negative=c.negative,
                    tags=c.tags,
                    provenance=c.provenance.source if c.provenance else "",
                    must_tie=c.id in ties,
                )
                for c in cases
            ),
            agent=described.agent if described else "",
            version=described.version if described else "",
            pin=described.model if described else None,
            where=where,
            regraded=regraded,
            ended=ended,
        )

    def concerned(self) -> dict[str, CaseFacts]:
        """The cases this arm is there for, by id, in the suite's order; not those that another version answers."""
        plan = self.manifest.plan
        elsewhere = {entry.case for entry in plan if not entry.answered_by(self.arm)}
        return {
            facts.case: facts
            for facts in self.cases
            if not self.agent or not facts.agent or facts.agent == self.agent
            if facts.case not in elsewhere
        }

    def plan(self) -> dict[str, PlannedCase]:
        """The plan's entries by case."""
        return {planned.case: planned for planned in self.manifest.plan}

    def components(self, case: str) -> dict[str, str]:
        """The fingerprint as it is stored, its tools under one digest; empty when the run has none."""
        return self.manifest.fingerprints.get(f"{case}@{self.arm}", {})

    def fingerprint(self, case: str) -> dict[str, str]:
        """Named component → digest; empty when the run did not record it."""
        return expanded(self.components(case), self.manifest.toolsets)


_NO_REPLY = digest([])


@dataclass(slots=True)
class Trials:
    """The trials of one case on one side, counted."""

    passed: int = 0
    valid: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    """Cause → trials."""
    forbidden: int = 0
    batch_passed: int = 0
    batch_valid: int = 0
    """Of the trials that were planned before any had run. Trials added afterwards went where earlier ones
    had failed, so that means taken over all of them would be biased by 5 to 10 points."""
    batch_seen: int = 0
    """Of the same, those with a record, invalid ones too."""
    cut: bool = False
    """A first batch was not run to its end: a trial of it has no record."""
    added: bool = False
    """There are trials beyond the first batch."""
    attacks: Counter[str] = field(default_factory=Counter)
    """What came of the attack → trials."""
    replies: Counter[str] = field(default_factory=Counter)
    """Digest of all replies of a valid trial → trials."""
    simulated: int = 0
    """Conversations with a simulated person, those that had to be held again included."""
    spoilt: Counter[str] = field(default_factory=Counter)
    """What was wrong with the simulated person → conversations."""
    worst: TrialRecord | None = None

    @classmethod
    def of(cls, passed: int, valid: int, *, first: tuple[int, int] | None = None) -> Trials:
        """Valid trials that were counted elsewhere; `first` is (passed, valid) of the first batch, if not all."""
        in_batch, batch = first or (passed, valid)
        return cls(
            passed=passed,
            valid=valid,
            batch_passed=in_batch,
            batch_valid=batch,
            batch_seen=batch,
            added=batch < valid,
        )

    @property
    def seen(self) -> int:
        """All trials, invalid ones too."""
        return self.valid + self.invalid.total()

    @property
    def for_means(self) -> tuple[int, int]:
        """(passed, valid) of first batches that were run to their end; (0, 0) where one was not.

        A batch ends early at the first forbidden action, so that what is left of it holds too many failures.
        """
        return (0, 0) if self.cut else (self.batch_passed, self.batch_valid)

    def add(self, record: TrialRecord, planned: int) -> None:
        """Count one more trial; `planned` is the size of the first batch, 0 where it is not known."""
        forbidden = record.forbidden
        self.forbidden += forbidden
        in_batch = not planned or record.number <= planned
        self.batch_seen += in_batch
        self.added |= not in_batch
        if record.attack is not None:
            self.attacks[record.attack.value] += 1
        if record.simulated:
            self.simulated += 1 + len(record.retried)
            faults = (record.simulator_fault, *(r.simulator_fault for r in record.retried))
            self.spoilt.update(fault.value for fault in faults if fault is not None)
        if record.verdict is Verdict.INVALID:
            self.invalid[record.cause.value if record.cause else "internal"] += 1
        else:
            passed = record.verdict is Verdict.PASSED
            self.passed += passed
            self.valid += 1
            self.batch_passed += passed and in_batch
            self.batch_valid += in_batch
            if record.reply_digest and record.reply_digest != _NO_REPLY:
                self.replies[record.reply_digest] += 1
        if (forbidden or record.verdict is Verdict.FAILED) and (
            self.worst is None or _gravity(record) < _gravity(self.worst)
        ):
            self.worst = record

    def join(self, other: Trials) -> None:
        """Count the trials of another batch among these."""
        self.passed += other.passed
        self.valid += other.valid
        self.invalid += other.invalid
        self.forbidden += other.forbidden
        self.batch_passed += other.batch_passed
        self.batch_valid += other.batch_valid
        self.batch_seen += other.batch_seen
        self.cut |= other.cut
        self.added |= other.added
        self.attacks += other.attacks
        self.replies += other.replies
        self.simulated += other.simulated
        self.spoilt += other.spoilt
        self.worst = self.worst or other.worst

    def tally(self, *, adaptive: bool = False) -> Tally:
        """The counts with their interval.

        Where the number of trials hangs on how they went, Wilson's covers as little as 80 % of what it says.

        Args:
            adaptive: trials would have been added if these had looked suspicious.
        """
        adaptive = adaptive or self.added or self.cut
        method: intervals.Method = "clopper-pearson" if adaptive else "wilson"
        low, high = intervals.interval(self.passed, self.valid, method)
        return Tally(
            passed=self.passed,
            valid=self.valid,
            added=self.valid - self.batch_valid,
            invalid=self.invalid.total(),
            forbidden=self.forbidden,
            attacks=Attacks.model_validate(dict(self.attacks)) if self.attacks else None,
            low=low,
            high=high,
            interval=method,
            alike=self.replies.total() - len(self.replies),
        )


@dataclass(frozen=True, slots=True)
class Served:
    """What answered in trials, as providers named it."""

    models: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    """What the models ran on."""

    def strays(self, pin: Model | None) -> tuple[str, ...]:
        """Of them, what is not the model that an arm pins."""
        if pin is None:
            return ()
        others = tuple(name for name in self.models if not pin.is_named(name))
        if pin.fingerprint is None:
            return others
        return (*others, *(found for found in self.fingerprints if found != pin.fingerprint))


def count(side: Side) -> tuple[dict[str, Trials], Served]:
    """Every case's trials, and the models that answered in them."""
    planned = {case.case: case.trials for case in side.manifest.plan}
    found: dict[str, Trials] = {}
    served: set[str] = set()
    ran_on: set[str] = set()
    for record in side.records:
        if record.arm != side.arm:
            continue
        trials = found.get(record.case)
        if trials is None:
            trials = found[record.case] = Trials()
        trials.add(record, planned.get(record.case, 0))
        if record.served_model:
            # A trial in which several models answered names them all.
            served.update(record.served_model.split(", "))
        if record.served_fingerprint:
            ran_on.update(record.served_fingerprint.split(", "))
    for case, trials in found.items():
        trials.cut = trials.batch_seen < planned.get(case, 0)
    return found, Served(tuple(sorted(served)), tuple(sorted(ran_on)))


def where_it_went_wrong(record: TrialRecord) -> Worst | None:
    """The step a person looks at first: a forbidden action, else the earliest failed critical finding."""
    failed = [
        f
        for f in record.findings
        if f.status is Status.FAILED and (f.forbidden or f.severity == "critical")
    ]
    if failed:
        first = min(failed, key=_earliness)
        return Worst(
            trial=record.number,
            turn=first.turn,
            call=first.call,
            check=first.check,
            reason=first.reason,
            place=first.place,
        )
    if record.violations:
        attempts = f"{record.violations} call{'s' if record.violations > 1 else ''}"
        known = record.first_violation
        return Worst(
            trial=record.number,
            turn=known.turn if known else None,
            call=known.call if known else None,
            check="no_violation",
            reason=f"{attempts} beyond the rights of the role"
            + (f": {known.reason}" if known else ""),
        )
    return None


def _gravity(record: TrialRecord) -> tuple[bool, int]:
    return (not record.forbidden, record.number)


def _earliness(finding: Finding) -> tuple[bool, float, float]:
    # What names no call went wrong by something missing, which is seen only at the end.
    return (
        not finding.forbidden,
        finding.call if finding.call is not None else float("inf"),
        finding.turn if finding.turn is not None else float("inf"),
    )
