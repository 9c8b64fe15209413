"""Slow and small declines: evidence that is gathered over many runs, and may be looked at after every one.

No single change can show that a case fell from 1.0 to 0.8: that takes 11 trials even to suspect. Many runs
of the main branch can. Their trials are held against the release with e-processes: nonnegative numbers whose
chance ever to reach 1/α is at most α while nothing is worse (Ville's inequality), however long one goes on and
however often one looks. When a decline began is not known; so every run could be its first, with weights
1/(t(t+1)), which add up to one.

As everywhere the guarantee holds on average over cases whose pass rates are drawn from the suite's prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seatrial.stats.evidence import Prior

GAP = 0.1
"""A declined case passes at some rate below its expected one less this."""
DECLINES = (0.02, 0.05, 0.1, 0.2)
"""Shares of passes that a declined suite loses in every case."""
_CREDIBLE = 0.9

Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a sequence of runs says of a decline."""

    log_values: tuple[float, ...]
    """Natural logarithm of the e-value after each run."""
    starts: tuple[float, ...]
    """How probable it is that the decline, if there is one, began with each run."""

    @property
    def last(self) -> float:
        """The logarithm after the last run; 0 where there is none."""
        return self.log_values[-1] if self.log_values else 0.0

    def noticed(self, needed: float) -> int | None:
        """The first run (from 0) after which the e-value reached `needed`; None where it never did."""
        bar = math.log(needed) - 1e-9
        return next((t for t, value in enumerate(self.log_values) if value >= bar), None)

    def began(self) -> tuple[int, int]:
        """The shortest stretch of runs (from 0, both ends included) with which it began with a chance of 90 %."""
        sums = np.concatenate([[0.0], np.cumsum(self.starts)])
        best = (0, len(self.starts) - 1)
        last = 0
        for first in range(len(self.starts)):
            while last < len(self.starts) and sums[last + 1] - sums[first] < _CREDIBLE - 1e-9:
                last += 1
            if last == len(self.starts):
                break
            if last - first < best[1] - best[0]:
                best = (first, last)
        return best


def case_decline(
    passed: int, trials: int, runs: Sequence[tuple[int, int]], prior: Prior
) -> Evidence:
    """How strongly the runs of one case speak for a lower pass rate than the release's, from some run on.

    For each run the decline could have begun with, the e-value of `stats.evidence`: how much better "it passes at
    some rate below h" foretells the trials since then than the release and all earlier runs do, with
    h = max(rate - 0.1, 0.05) fixed before them.

    Args:
        passed: stored baseline trials that passed.
        trials: stored baseline trials.
        runs: (passed, trials) of each run in the order of time.
        prior: of the suite.
    """
    from scipy.special import betainc, betaln

    if not runs:
        return Evidence((), ())
    counts = np.array(runs, dtype=float)
    won = np.concatenate([[0.0], np.cumsum(counts[:, 0])])
    lost = np.concatenate([[0.0], np.cumsum(counts[:, 1] - counts[:, 0])])
    a, b = prior.a + passed + won[:-1], prior.b + trials - passed + lost[:-1]
    below = np.maximum(a / (a + b) - GAP, 0.05)
    base = betaln(a, b)
    step = np.arange(1, len(runs) + 1, dtype=float)
    weights = -np.log(step * (step + 1))
    values, parts = [], weights[:0]
    for now in range(1, len(runs) + 1):
        s, f = won[now] - won[:now], lost[now] - lost[:now]
        with np.errstate(divide="ignore"):
            worse = betaln(s + 1, f + 1) + np.log(betainc(s + 1, f + 1, below[:now]))
        same = betaln(a[:now] + s, b[:now] + f) - base[:now]
        parts = weights[:now] + worse - np.log(below[:now]) - same
        values.append(float(np.logaddexp.reduce(parts, initial=-math.log(now + 1))))
    return Evidence(tuple(values), _shares(parts))


def suite_decline(
    stored: Sequence[tuple[int, int]], runs: Sequence[Sequence[tuple[int, int]]], prior: Prior
) -> Evidence:
    """How strongly the runs speak for a decline of every case by the same share, from some run on.

    Night by night: how much better "each case passes a little less often than all before foretells" explains
    the run than "as often" does, as the product over cases of two beta-binomial chances, one with a mean lower
    by 2, 5, 10 or 20 %. The four products over nights are averaged.

    Args:
        stored: (passed, trials) of each case's baseline.
        runs: of each run, (passed, trials) of each case, (0, 0) where it was not run.
        prior: of the suite.
    """
    from scipy.special import betaln

    if not runs:
        return Evidence((), ())
    base = np.array(stored, dtype=float).reshape(len(stored), 2)
    a, b = prior.a + base[:, 0], prior.b + base[:, 1] - base[:, 0]
    shares = np.array(DECLINES)[:, None]
    gained = np.zeros((len(runs), len(DECLINES)))
    for night, counts in enumerate(runs):
        run = np.array(counts, dtype=float).reshape(len(stored), 2)
        s, f = run[:, 0], run[:, 1] - run[:, 0]
        same = betaln(a + s, b + f) - betaln(a, b)
        low, high = a * (1 - shares), b + a * shares
        worse = betaln(low + s, high + f) - betaln(low, high)
        gained[night] = (worse - same).sum(axis=1)
        a, b = a + s, b + f
    total = np.concatenate([np.zeros((1, len(DECLINES))), np.cumsum(gained, axis=0)])
    step = np.arange(1, len(runs) + 1, dtype=float)
    weights = -np.log(step * (step + 1)) - math.log(len(DECLINES))
    values, parts = [], np.empty(0)
    for now in range(1, len(runs) + 1):
        each = weights[:now, None] + total[now] - total[:now]
        parts = np.logaddexp.reduce(each, axis=1)
        values.append(float(np.logaddexp.reduce(parts, initial=-math.log(now + 1))))
    return Evidence(tuple(values), _shares(parts))


def _shares(parts: Numbers) -> tuple[float, ...]:
    from scipy.special import softmax

    return tuple(float(x) for x in softmax(parts))
