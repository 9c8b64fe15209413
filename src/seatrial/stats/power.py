"""What a number of trials can see, worked out before any is run.

One case by exact enumeration: the rule's state is the counts, so that the chance of each state follows from those
before it, and nothing is drawn at random. The suite by the normal approximation of its mean.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from seatrial.stats.evidence import Prior, Reference
from seatrial.stats.intervals import normal_quantile
from seatrial.stats.sequential import Counts, Rule, decide
from seatrial.verdicts import Outcome

NEGLIGIBLE = 1e-9
"""States with a smaller chance are not followed; all of them together have less than 1e-5."""

_RATES = 16

Chances = np.ndarray[tuple[int], np.dtype[np.float64]]
_State = tuple[int, int, int, int]
"""Candidate trials passed and failed, live baseline trials passed and run."""


@dataclass(frozen=True, slots=True)
class Course:
    """How one case ends under the rule, over all ways in which its trials can fall."""

    regressed: float
    """Chance that it is called regressed."""
    unchanged: float
    """Chance that it is cleared."""
    candidate: float
    """Candidate trials, on average."""
    live: float
    """Live baseline trials, on average."""

    @property
    def undecided(self) -> float:
        """Chance of neither."""
        return max(0.0, 1 - self.regressed - self.unchanged)

    @property
    def trials(self) -> float:
        """All trials, on average."""
        return self.candidate + self.live


def courses(
    reference: Reference,
    rule: Rule,
    rates: Sequence[tuple[float, float]],
    first: int,
    *,
    fixed: bool = False,
) -> tuple[Course, ...]:
    """How a case ends, for each pair of true pass rates.

    Args:
        reference: the stored baseline trials.
        rule: the rule.
        rates: the candidate's pass rate, and the release's by which live baseline trials fall.
        first: candidate trials of the first batch.
        fixed: run the first batch and nothing else.
    """
    rate, base_rate = np.array([r for r, _ in rates]), np.array([b for _, b in rates])
    regressed, unchanged = np.zeros(len(rates)), np.zeros(len(rates))
    candidate, live = np.zeros(len(rates)), np.zeros(len(rates))
    # By trials run in all: each wish leads to a larger number, so that a state is complete when its turn comes.
    waiting: dict[int, dict[_State, Chances]] = defaultdict(dict)
    _follow(
        waiting, (0, 0, 0, 0), np.ones(len(rates)), _binomial(first, rate), [np.ones(len(rates))]
    )
    while waiting:
        for state, chance in waiting.pop(min(waiting)).items():
            passed, failed, live_passed, live_run = state
            known = Reference(reference.passed, reference.trials, live_passed, live_run)
            decision = decide(Counts(passed, failed, known, fixed=fixed), rule)
            if decision.over or fixed:
                candidate += chance * (passed + failed)
                live += chance * live_run
                regressed += chance * (decision.outcome is Outcome.REGRESSED)
                unchanged += chance * (decision.outcome is Outcome.UNCHANGED)
            elif chance.max() > NEGLIGIBLE:
                _follow(
                    waiting,
                    state,
                    chance,
                    _binomial(decision.candidate, rate),
                    _binomial(decision.live, base_rate),
                )
    return tuple(
        Course(*(float(x) for x in row))
        for row in zip(regressed, unchanged, candidate, live, strict=True)
    )


def _follow(
    waiting: dict[int, dict[_State, Chances]],
    state: _State,
    chance: Chances,
    candidate: list[Chances],
    live: list[Chances],
) -> None:
    """Spread the chance of a state over those that its next trials lead to."""
    passed, failed, live_passed, live_run = state
    more, more_live = len(candidate) - 1, len(live) - 1
    following = waiting[passed + failed + live_run + more + more_live]
    for won, p in enumerate(candidate):
        share = chance * p
        for live_won, q in enumerate(live):
            to = (passed + won, failed + more - won, live_passed + live_won, live_run + more_live)
            before = following.get(to)
            following[to] = share * q if before is None else before + share * q


def _binomial(trials: int, rates: Chances) -> list[Chances]:
    """The chance of 0, 1, … passes."""
    return [
        math.comb(trials, k) * rates**k * (1 - rates) ** (trials - k) for k in range(trials + 1)
    ]


@lru_cache(maxsize=256)
def good_change(reference: Reference, rule: Rule, first: int, *, fixed: bool = False) -> Course:
    """How a case ends in which nothing changed, averaged over the pass rates that its record leaves possible.

    These are Beta(a + passed, b + failed), here sixteen equally likely ones.
    """
    from scipy.stats import beta

    likely = beta.ppf((np.arange(_RATES) + 0.5) / _RATES, *reference.beta(rule.prior))
    found = courses(reference, rule, [(float(p), float(p)) for p in likely], first, fixed=fixed)
    return Course(
        *(
            math.fsum(getattr(c, name) for c in found) / len(found)
            for name in ("regressed", "unchanged", "candidate", "live")
        )
    )


@dataclass(frozen=True, slots=True)
class CasePower:
    """What trials added on suspicion see in a required case with a certain record."""

    reference: Reference
    good: Course
    """Where nothing changed."""
    rate: float
    """The release's pass rate, as its record has it."""
    drops: dict[float, float]
    """Drop of that rate → chance that it closes the gate."""

    def seen(self, chance: float) -> float | None:
        """The smallest drop, in steps of 0.05, that closes the gate with this chance; None without any."""
        return min((drop for drop, closes in self.drops.items() if closes >= chance), default=None)


def case_power(reference: Reference, rule: Rule, first: int) -> CasePower:
    """What the rule sees in a case with this record, by drops of 0.05, 0.1, … down to a rate of 0."""
    rate = reference.beta(rule.prior)[0] / sum(reference.beta(rule.prior))
    drops = [round(step / 20, 2) for step in range(1, 21)]
    found = courses(reference, rule, [(max(rate - drop, 0.0), rate) for drop in drops], first)
    return CasePower(
        reference=reference,
        good=good_change(reference, rule, first),
        rate=rate,
        drops={drop: course.regressed for drop, course in zip(drops, found, strict=True)},
    )


@dataclass(frozen=True, slots=True)
class FixedPower:
    """What a number of trials set beforehand sees in required cases, on average over them."""

    trials: int
    """Of each case."""
    cleared: float
    """Chance that a case in which nothing changed is cleared."""
    closes: float
    """Chance that a case that dropped by the rule's drop closes the gate."""
    let_through: float
    """Chance that such a case is cleared."""


def fixed_power(references: Sequence[Reference], rule: Rule, trials: int) -> FixedPower:
    """What so many trials of each case see, without any added; `rule` wants no live baseline trials."""
    alone = replace(rule, confirm=0)
    cleared, closes, through = [], [], []
    for reference, times in Counter(references).items():
        rate = reference.beta(rule.prior)[0] / sum(reference.beta(rule.prior))
        dropped = [(max(rate - rule.drop, 0.0), rate)]
        (fallen,) = courses(reference, alone, dropped, trials, fixed=True)
        cleared.append(times * good_change(reference, alone, trials, fixed=True).unchanged)
        closes.append(times * fallen.regressed)
        through.append(times * fallen.unchanged)
    cases = len(references)
    return FixedPower(trials, *(math.fsum(x) / cases for x in (cleared, closes, through)))


@dataclass(frozen=True, slots=True)
class MeanPower:
    """What the suite's mean shows at a number of trials."""

    trials: int
    """Candidate trials of all cases."""
    seen: float
    """The smallest drop of every case that closes the gate with the wanted chance."""
    proved: float
    """The margin that a good change is shown to keep with the wanted chance."""


def mean_power(
    cases: Sequence[tuple[Reference, int]],
    prior: Prior,
    *,
    alpha: float,
    beta: float,
    margin: float,
) -> MeanPower:
    """The drop of the mean pass rate that can be seen, and the margin that can be proved, with chance 1 - β.

    SE² = Σ v·(1/n0 + 1/n1) / m² with v the expected p(1 - p) under Beta(a + passed, b + failed). The gate closes when
    p ≤ α and the mean fell by more than the margin: a drop d is seen when d - z(β)·SE' reaches both
    z(1-α)·SE and the margin, SE' being that of cases that pass d less often. A margin is proved at 95 %
    when the upper bound of the drop is below it: (z(.95) + z(1-β))·SE, and never below 3 in all trials, which is
    what trials without a failure could show.

    Args:
        cases: stored baseline trials and candidate trials of each case.
        prior: of the suite.
        alpha: chance of a wrong "worse".
        beta: chance to miss.
        margin: the suite's.
    """
    shapes = np.array([reference.beta(prior) for reference, _ in cases])
    a, b = shapes[:, 0], shapes[:, 1]
    stored = np.array([reference.trials for reference, _ in cases])
    run = np.array([trials for _, trials in cases])
    rates = a / (a + b)
    spread = a * b / ((a + b) * (a + b + 1))
    error = float(np.sqrt((spread * (1 / stored + 1 / run)).sum())) / len(cases)

    def missed_by(fall: float) -> float:
        """By how much a drop is too small; its own spread of the candidate's trials included."""
        fallen = np.clip(rates - fall, 0.0, 1.0)
        worse = fallen * (1 - fallen)
        own = float(np.sqrt((spread / stored + worse / run).sum())) / len(cases)
        reached = max(normal_quantile(1 - alpha) * error, margin)
        return reached + normal_quantile(1 - beta) * own - fall

    from scipy.optimize import brentq

    seen = float(brentq(missed_by, 0.0, 1.0)) if missed_by(1.0) < 0 else 1.0
    total = int(run.sum())
    proved = (normal_quantile(0.95) + normal_quantile(1 - beta)) * error
    return MeanPower(total, seen, max(proved, -math.log(0.05) / total))
