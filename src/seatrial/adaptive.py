"""Trials beyond the first batch: of a required case that looks suspicious, until its verdict is certain.

A decision rests on the records of whole batches of one case and on nothing else. So neither the order in
which trials ended, nor a stop in between, nor what other cases did can change it, and a run that goes on
adds the trials that it would have added. Only a bound on the trials of the whole run joins the cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from seatrial.plan import Halt, Trial
from seatrial.records import Adding, PlannedCase, TrialRecord
from seatrial.stats.evidence import Prior, Reference, drift_p, log_e_value, probability_worse
from seatrial.stats.sequential import Counts, Rule, decide
from seatrial.verdicts import Verdict


def screened(planned: Iterable[PlannedCase], screen: int) -> tuple[PlannedCase, ...]:
    """The plan with first batches that can clear a required case: at least `screen` trials."""
    return tuple(
        entry.model_copy(update={"trials": max(entry.trials, screen)})
        if entry.selected and entry.required
        else entry
        for entry in planned
    )


def adding(
    rule: Rule, stored: Mapping[str, tuple[int, int]], *, baseline: str, most: int | None = None
) -> Adding:
    """What a manifest says of the rule by which trials are added.

    Args:
        rule: the sequential rule of the comparison to come.
        stored: case to which trials may be added → passed and valid trials of its baseline.
        baseline: id of the baseline's run.
        most: trials of the whole run, at most.
    """
    return Adding(
        baseline=baseline,
        stored=dict(stored),
        cases=rule.cases,
        alpha=rule.alpha,
        beta=rule.beta,
        drop=rule.drop,
        prior=(rule.prior.a, rule.prior.b),
        confirm=rule.confirm,
        most=most,
    )


def rule_of(said: Adding) -> Rule:
    """The rule that a manifest tells of."""
    return Rule(
        cases=said.cases,
        alpha=said.alpha,
        beta=said.beta,
        drop=said.drop,
        prior=Prior(*said.prior),
        confirm=said.confirm,
    )


class Pursuit:
    """Names the trials of an adaptive run: the first batches, then whatever the rule still wants.

    It is asked with the records that have ended since, first with none. A case whose candidate did something
    forbidden is halted: no further trial could clear it.
    """

    def __init__(
        self,
        said: Adding,
        first: Sequence[Trial],
        *,
        candidate: str,
        live: str | None = None,
        alone: Collection[str] = (),
        stored: Iterable[TrialRecord] = (),
    ) -> None:
        """Begin, or go on with what is stored.

        Args:
            said: by what trials are added.
            first: the candidate's first batches, in the order in which they start.
            candidate: the arm that is tried.
            live: the released arm beside it; None where it cannot be run.
            alone: cases in which the released arm cannot be run.
            stored: the records of a run that goes on.
        """
        self.short: set[str] = set()
        """Cases that wanted more trials than the run may have."""
        self._candidate, self._live = candidate, live
        self._first = tuple(first)
        self._begun = False
        self._most, self._spent = said.most, len(first)
        rule = rule_of(said) if live is not None else replace(rule_of(said), confirm=0)
        _warm_up(rule)
        batches = Counter(trial.case for trial in first)
        self._cases = {
            case: _Course(
                case=case,
                rule=replace(rule, confirm=0) if case in alone else rule,
                stored=said.stored.get(case),
                planned=batch,
            )
            for case, batch in batches.items()
        }
        for record in stored:
            self._note(record)
        # Where the trials of the run are bounded, a batch of which something is stored was granted before the
        # stop, and comes before those that want their trials now.
        for course in self._cases.values():
            while (wanted := course.wanted()) and course.has_begun(wanted):
                course.grant(wanted)
                self._spent += wanted.trials

    def __call__(self, ended: tuple[TrialRecord, ...]) -> list[Trial | Halt]:
        """The trials to run next, and the cases of which nothing more is to be run."""
        touched = [self._cases[case] for case in dict.fromkeys(r.case for r in ended)]
        allowed = [course for course in touched if not course.forbidden]
        for record in ended:
            self._note(record)
        steps: list[Trial | Halt] = [Halt(c.case) for c in allowed if c.forbidden]
        if not self._begun:
            self._begun = True
            steps += self._from_the_start()
            touched = list(self._cases.values())
        for course in touched:
            while wanted := course.wanted():
                if self._most is not None and self._spent + wanted.trials > self._most:
                    # Fewer than it wants could not settle it, and would be run in vain.
                    self.short.add(course.case)
                    break
                self._spent += wanted.trials
                steps += self._in_turn(course, course.grant(wanted))
        return steps

    @property
    def halted(self) -> frozenset[str]:
        """Cases of which nothing more is run: the candidate did something forbidden."""
        return frozenset(course.case for course in self._cases.values() if course.forbidden)

    def _note(self, record: TrialRecord) -> None:
        course = self._cases[record.case]
        if record.arm == self._candidate:
            course.candidate[record.number] = record.verdict
            course.forbidden |= record.forbidden
        elif record.arm == self._live:
            course.live[record.number] = record.verdict

    def _from_the_start(self) -> Iterator[Trial]:
        """The first batches, and what had been added before a stop."""
        yield from (trial for trial in self._first if not self._cases[trial.case].forbidden)
        for course in self._cases.values():
            if not course.forbidden:
                yield from self._in_turn(course, course.added)

    def _in_turn(self, course: _Course, added: _Numbers) -> Iterator[Trial]:
        """Both arms by turns, so that a drift of the provider or the machine hits them alike."""
        for candidate, live in zip_longest(added.candidate, added.live):
            if candidate is not None:
                yield Trial(course.case, self._candidate, candidate)
            if live is not None and self._live is not None:
                yield Trial(course.case, self._live, live)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How many further trials."""

    candidate: int
    live: int

    @property
    def trials(self) -> int:
        return self.candidate + self.live


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Which further trials."""

    candidate: range
    live: range


@dataclass(slots=True)
class _Course:
    """How one case goes."""

    case: str
    rule: Rule
    stored: tuple[int, int] | None
    """Passed and valid trials of the baseline; None where no trials may be added."""
    planned: int
    """Trials of the candidate, numbered from 1 to this."""
    planned_live: int = 0
    """Trials of the released arm beside it."""
    candidate: dict[int, Verdict] = field(default_factory=dict)
    live: dict[int, Verdict] = field(default_factory=dict)
    forbidden: bool = False
    """The candidate did something forbidden."""
    first: int = field(init=False)

    def __post_init__(self) -> None:
        self.first = self.planned

    @property
    def added(self) -> _Numbers:
        """What was granted beyond the first batch."""
        return _Numbers(range(self.first + 1, self.planned + 1), range(1, self.planned_live + 1))

    def wanted(self) -> _Wanted | None:
        """Further trials that the rule wants; None while a batch is not complete, and when nothing is wanted."""
        if self.stored is None or self.forbidden:
            return None
        candidate = _tally(self.candidate, self.planned)
        live = _tally(self.live, self.planned_live)
        if candidate is None or live is None or candidate.hopeless or live.hopeless:
            return None
        reference = Reference(*self.stored, live.passed, live.valid)
        counts = Counts(candidate.passed, candidate.valid - candidate.passed, reference)
        decision = decide(counts, self.rule)
        return None if decision.over else _Wanted(decision.candidate, decision.live)

    def grant(self, wanted: _Wanted) -> _Numbers:
        """Plan what is wanted; gives its numbers."""
        numbers = self._next(wanted)
        self.planned += wanted.candidate
        self.planned_live += wanted.live
        return numbers

    def has_begun(self, wanted: _Wanted) -> bool:
        """A trial of what is wanted is stored already."""
        numbers = self._next(wanted)
        return any(n in self.candidate for n in numbers.candidate) or any(
            n in self.live for n in numbers.live
        )

    def _next(self, wanted: _Wanted) -> _Numbers:
        return _Numbers(
            range(self.planned + 1, self.planned + wanted.candidate + 1),
            range(self.planned_live + 1, self.planned_live + wanted.live + 1),
        )


@dataclass(frozen=True, slots=True)
class _Tally:
    passed: int
    valid: int
    invalid: int

    @property
    def hopeless(self) -> bool:
        """Most trials are invalid: more of them would hardly give a verdict, which the gate does not accept then."""
        return self.invalid > self.valid


def _tally(ended: Mapping[int, Verdict], planned: int) -> _Tally | None:
    """The trials numbered 1 to `planned`; None while one of them has not ended."""
    if len(ended) < planned:
        return None  # asked after every end: looking through all of them each time would take its square
    verdicts = [ended.get(number) for number in range(1, planned + 1)]
    if None in verdicts:
        return None
    invalid = verdicts.count(Verdict.INVALID)
    return _Tally(verdicts.count(Verdict.PASSED), planned - invalid, invalid)


def _warm_up(rule: Rule) -> None:
    """Load what the rule calculates with before agents run, who would have to wait for it."""
    sample = Reference(1, 1, 1, 1)
    log_e_value(1, 1, sample, rule.prior)
    if rule.confirm:
        drift_p(sample, rule.prior)
        probability_worse(1, 1, 1, 1)
