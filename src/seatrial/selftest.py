"""The gate tried on agents whose true pass rates are known: how often it stops a good change, or misses a bad one.

Only the trials are invented. They are counted, compared and ruled on by the same code as those of a run:
the sequential rule, the comparison of cases, the suite test, every ground of the gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, assert_never

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from seatrial.compare import BaselineInfo, CaseFacts, Entry, Trials, compare_counts, rule_for
from seatrial.documents import Policy
from seatrial.gate import Profile, Ruling, rule
from seatrial.stats.evidence import Reference, fit_prior
from seatrial.stats.intervals import clopper_pearson
from seatrial.stats.simulation import Population, draw_rates, run_case
from seatrial.verdicts import Gate

if TYPE_CHECKING:
    from numpy.random import Generator

    from seatrial.stats.simulation import Rates

Change = Literal[
    "same", "drifted", "one_halved", "one_dead", "five_weaker", "all_weaker", "one_forbidden"
]
"""What the simulated candidate does differently from the release, or the world under both."""

GOOD: tuple[Change, ...] = ("same", "drifted")
"""Changes that must not close the gate."""

BAD: tuple[Change, ...] = ("one_halved", "one_dead", "five_weaker", "all_weaker", "one_forbidden")

TITLES: dict[Change, str] = {
    "same": "nothing changed",
    "drifted": "a tenth of the cases halved under both arms",
    "one_halved": "one required case passes half as often (1.0 → 0.5)",
    "one_dead": "one required case never passes (1.0 → 0)",
    "five_weaker": "up to five cases pass less often (1.0 → 0.7)",
    "all_weaker": "every case passes 10 points less often",
    "one_forbidden": "one forbidden action in one trial",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """One case of the suite, and what its stored baseline says."""

    case: str
    required: bool
    passed: int
    trials: int
    """Valid baseline trials."""
    first: int
    """Candidate trials of the first batch."""

    @property
    def reference(self) -> Reference:
        """What is known of the release on it."""
        return Reference(self.passed, self.trials)


@dataclass(frozen=True, slots=True)
class Situation:
    """One release: how often each case truly passes, and what its stored baseline happened to show."""

    rates: Rates
    stored: tuple[tuple[int, int], ...]
    """(passed, trials) of each case."""


Draw = Callable[["Generator"], Situation]


def redrawn(subjects: Sequence[Subject]) -> Draw:
    """Each case passes as often as its stored trials did; the stored trials are drawn again too."""
    trials = np.array([s.trials for s in subjects])
    rates = np.array([s.passed / s.trials for s in subjects])

    def draw(rng: Generator) -> Situation:
        passed = rng.binomial(trials, rates)
        return Situation(
            rates, tuple((int(c), int(n)) for c, n in zip(passed, trials, strict=True))
        )

    return draw


def foretold(subjects: Sequence[Subject]) -> Draw:
    """The stored trials stay; how often each case truly passes is drawn from what they leave possible.

    That is Beta(a + passed, b + failed), with the prior fitted over the suite: a case that passed 20 of 20
    may well be one that fails now and then.
    """
    stored = tuple((s.passed, s.trials) for s in subjects)
    prior = fit_prior(stored)
    passed = np.array([c for c, _ in stored])
    failed = np.array([n - c for c, n in stored])

    def draw(rng: Generator) -> Situation:
        return Situation(rng.beta(prior.a + passed, prior.b + failed), stored)

    return draw


def invented(population: Population, cases: int, trials: int) -> Draw:
    """Cases of an invented population, and a baseline of so many trials of each."""

    def draw(rng: Generator) -> Situation:
        rates = draw_rates(population, cases, rng)
        return Situation(rates, tuple((int(c), trials) for c in rng.binomial(trials, rates)))

    return draw


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the gate said of one simulated change, and what that took."""

    ruling: Ruling
    candidate: int
    """Candidate trials."""
    live: int
    """Live baseline trials."""


def ruled(
    subjects: Sequence[Subject],
    situation: Situation,
    change: Change,
    policy: Policy,
    rng: Generator,
    *,
    profile: Profile | None = None,
    adaptive: bool = True,
    live: bool = True,
) -> Ruled:
    """Run a simulated candidate against a simulated release, and rule on it.

    Args:
        subjects: the cases; their own stored trials are not looked at.
        situation: the release.
        change: what the candidate does differently.
        policy: the gate's policy.
        rng: draws the trials.
        profile: instead of the policy's.
        adaptive: add trials to suspicious required cases; otherwise run the first batch of each case alone.
        live: the released arm can be run beside the candidate.
    """
    live = live and adaptive
    required = sum(s.required for s in subjects)
    sequential = rule_for(policy, required, situation.stored, live=live)
    rates, now = _changed(subjects, situation, change, rng)
    stored, candidate, beside = {}, {}, {}
    for subject, (passed, trials), rate, base_rate in zip(
        subjects, situation.stored, rates, now, strict=True
    ):
        ran = run_case(
            Reference(passed, trials),
            sequential,
            float(rate),
            float(base_rate),
            subject.first,
            rng,
            fixed=not (adaptive and subject.required),
        )
        stored[subject.case] = Trials.of(passed, trials)
        candidate[subject.case] = Trials.of(
            ran.passed, ran.trials, first=(ran.first_passed, ran.first)
        )
        if ran.live:
            beside[subject.case] = Trials.of(ran.live_passed, ran.live)
    if change == "one_forbidden":
        candidate[subjects[int(rng.integers(len(subjects)))].case].forbidden = 1
    comparison = compare_counts(
        [Entry(CaseFacts(s.case, required=s.required), planned=s.first) for s in subjects],
        stored,
        candidate,
        policy,
        live=beside if live else None,
        adaptive=adaptive,
    )
    comparison = comparison.model_copy(update={"baseline": _RELEASE})
    return Ruled(
        rule(comparison, profile=profile),
        sum(t.valid for t in candidate.values()),
        sum(t.valid for t in beside.values()),
    )


def _changed(
    subjects: Sequence[Subject], situation: Situation, change: Change, rng: Generator
) -> tuple[Rates, Rates]:
    """The true pass rates of the candidate, and of the release as it runs now."""
    rates, now = situation.rates.copy(), situation.rates
    match change:
        case "one_halved":
            rates[_best_required(subjects, situation, rng)] *= 0.5
        case "one_dead":
            rates[_best_required(subjects, situation, rng)] = 0.0
        case "five_weaker":
            rates[rng.permutation(len(rates))[:5]] *= 0.7
        case "all_weaker":
            rates = (rates - 0.1).clip(0.0)
        case "drifted":
            rates[rng.permutation(len(rates))[: max(1, len(rates) // 10)]] *= 0.5
            now = rates
        case "same" | "one_forbidden":
            pass
        case _:
            assert_never(change)
    return rates, now


def _best_required(subjects: Sequence[Subject], situation: Situation, rng: Generator) -> int:
    """A required case that the release passed as often as any, with the highest true rate if they are known."""
    required = [place for place, s in enumerate(subjects) if s.required]
    best = max(situation.rates[place] for place in required)
    return int(rng.choice([p for p in required if situation.rates[p] == best]))


class Often(BaseModel):
    """How often, with Clopper and Pearson's 95 % interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    times: int
    rate: float
    low: float
    high: float


class ErrorRates(BaseModel):
    """What the gate said of many simulated changes of one kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    change: Change
    drawn: str
    """How the release was drawn: `redrawn`, `foretold`, or the name of an invented population."""
    times: int
    """Simulated changes."""
    closed: Often
    undecided: Often
    opened: Often
    trials: float
    """Trials of a change on average: the candidate's and the live ones of the baseline."""
    live: float
    """Of these, live trials of the baseline."""
    closed_for: dict[str, int] = Field(default_factory=dict)
    """Kind of ground → in how many changes it closed the gate."""
    undecided_for: dict[str, int] = Field(default_factory=dict)
    """Kind of ground → in how many changes it left the gate undecided."""

    @property
    def wrong(self) -> Often:
        """The error: closed where the candidate is no worse, not closed where it is."""
        if self.change in GOOD:
            return self.closed
        return _often(self.times - self.closed.times, self.times)


def error_rates(
    subjects: Sequence[Subject],
    draw: Draw,
    change: Change,
    policy: Policy,
    times: int,
    rng: Generator,
    *,
    drawn: str,
    profile: Profile | None = None,
    adaptive: bool = True,
    live: bool = True,
) -> ErrorRates:
    """Simulate a number of changes of one kind and count the rulings; see `ruled` for the arguments."""
    rulings: Counter[Gate] = Counter()
    grounds: dict[str, Counter[str]] = {effect: Counter() for effect in Gate}
    candidate = beside = 0
    for _ in range(times):
        found = ruled(
            subjects, draw(rng), change, policy, rng, profile=profile, adaptive=adaptive, live=live
        )
        ruling = found.ruling
        rulings[ruling.ruling] += 1
        deciding = {g.kind for g in ruling.grounds if g.effect == ruling.ruling.value}
        grounds[ruling.ruling].update(deciding)
        candidate += found.candidate
        beside += found.live
    return ErrorRates(
        change=change,
        drawn=drawn,
        times=times,
        closed=_often(rulings[Gate.CLOSED], times),
        undecided=_often(rulings[Gate.UNDECIDED], times),
        opened=_often(rulings[Gate.OPEN], times),
        trials=(candidate + beside) / times,
        live=beside / times,
        closed_for=dict(grounds[Gate.CLOSED].most_common()),
        undecided_for=dict(grounds[Gate.UNDECIDED].most_common()),
    )


def _often(times: int, of: int) -> Often:
    low, high = clopper_pearson(times, of)
    return Often(times=times, rate=times / of, low=low, high=high)


_RELEASE = BaselineInfo(run="simulated", arm="released", where="simulated")
