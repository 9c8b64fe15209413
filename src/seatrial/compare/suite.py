"""The suite as a whole: the fall of its mean, pass^k, and what was left out.

Only the first batch of each case counts here, and only where all of it was run: trials that were added because
earlier ones failed would bias a mean, and so would a batch that ended at its first forbidden action.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from seatrial.compare.judging import Contest
from seatrial.compare.model import Flips, PassK, Simulation, SuiteComparison
from seatrial.compare.sides import Trials
from seatrial.documents import Policy
from seatrial.stats.paired import Pair, conditional_test, drop
from seatrial.stats.passk import flip_rate, least_rise, mean_pass_k

MOST_K = 10
"""pass^k is given for k up to this."""


def ledger(trials: Mapping[str, Trials]) -> list[tuple[int, int]]:
    """(passed, valid) of every case, as means count them."""
    return [t.for_means for t in trials.values()]


def overall(contests: list[Contest], policy: Policy) -> SuiteComparison | None:
    """The mean pass rate on both sides, over the cases that can be judged; None without any."""
    compared = pairs(contests)
    fell = drop(compared)
    if fell is None:
        return None
    return SuiteComparison(
        cases=fell.cases,
        baseline_mean=fell.base_mean,
        candidate_mean=fell.mean,
        drop=fell.drop,
        drop_upper=fell.upper,
        p_worse=conditional_test(compared).mid_p,
        margin=policy.margin,
        provable_margin=fell.provable,
    )


def pairs(contests: Iterable[Contest]) -> list[Pair]:
    """Both arms' trials of the cases that count in means, whatever order they come in."""
    return [
        Pair(*c.baseline.for_means, *c.candidate.for_means)
        for c in sorted(contests, key=lambda c: c.case)
        if in_means(c)
    ]


def in_means(contest: Contest) -> bool:
    """Both sides have a first batch that was run to its end, with a valid trial."""
    return contest.baseline.for_means[1] > 0 and contest.candidate.for_means[1] > 0


def flips(contests: Iterable[Contest]) -> Flips | None:
    """How steady both arms are; None where no case has two trials on both sides that count in means."""
    rates = [
        (before, now)
        for c in sorted(contests, key=lambda c: c.case)
        if (before := flip_rate(*c.baseline.for_means)) is not None
        and (now := flip_rate(*c.candidate.for_means)) is not None
    ]
    if not rates:
        return None
    return Flips(
        cases=len(rates),
        baseline=math.fsum(before for before, _ in rates) / len(rates),
        candidate=math.fsum(now for _, now in rates) / len(rates),
        rose=least_rise([now - before for before, now in rates]) > 0,
    )


def pass_k(trials: Mapping[str, Trials]) -> tuple[PassK, ...]:
    """pass^k for k = 1, 2, … as far as any case has that many trials."""
    tallies = ledger(trials)
    most = max((n for _, n in tallies), default=0)
    series = ((k, mean_pass_k(tallies, k)) for k in range(1, min(most, MOST_K) + 1))
    return tuple(
        PassK(
            k=k,
            value=mean.value,
            low=mean.low,
            high=mean.high,
            cases=mean.cases,
            missing=mean.missing,
        )
        for k, mean in series
        if mean is not None
    )


def causes(trials: Mapping[str, Trials]) -> dict[str, int]:
    """Cause → invalid trials."""
    total: dict[str, int] = {}
    for counted in trials.values():
        for cause, times in counted.invalid.items():
            total[cause] = total.get(cause, 0) + times
    return dict(sorted(total.items()))


def simulation(trials: Mapping[str, Trials]) -> Simulation | None:
    """How often simulated people spoilt a conversation; None where nobody was simulated."""
    conversations = sum(counted.simulated for counted in trials.values())
    if not conversations:
        return None
    spoilt: dict[str, int] = {}
    for counted in trials.values():
        for fault, times in counted.spoilt.items():
            spoilt[fault] = spoilt.get(fault, 0) + times
    return Simulation(conversations=conversations, spoilt=dict(sorted(spoilt.items())))
