"""The suite as a whole: the same cases under both arms.

The test permutes trials inside each case (exact Cochran-Mantel-Haenszel). Tests that treat cases as a sample
(paired t, sign flip, bootstrap, Wilcoxon) punish what is common, a few cases breaking entirely:
for 5 of 100 cases dying its power is 0.96 where theirs is 0.47 to 0.75.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from seatrial.stats.intervals import normal_quantile

if TYPE_CHECKING:
    import numpy as np

    Weights = np.ndarray[tuple[int], np.dtype[np.float64]]

TIE = 1e-9
"""Room for rounding when a p-value is held against α: Fisher's p for 3 of 3 against 0 of 3 is 1/20, and
scipy returns a little more."""

_FLOOR = math.sqrt(-math.log(0.05))
_NEGLIGIBLE = 1e-30


def significant(p: float, alpha: float) -> bool:
    """Whether p is at most alpha, ties included."""
    return p <= alpha + TIE


@dataclass(frozen=True, slots=True)
class Pair:
    """One case's valid trials under both arms; at least one on each side."""

    base_passed: int
    base_trials: int
    passed: int
    trials: int

    def swapped(self) -> Pair:
        """The same with the arms exchanged."""
        return Pair(self.passed, self.trials, self.base_passed, self.base_trials)


@dataclass(frozen=True, slots=True)
class ConditionalTest:
    """One-sided p-values of "no case changed" against "the candidate passes less often"."""

    exact: float
    mid_p: float
    """Half the weight on what was seen: less cautious, and never above nominal where it was measured
    (Fagerland et al. 2013)."""


def conditional_test(pairs: Iterable[Pair]) -> ConditionalTest:
    """Exact test within cases.

    Given both arms' passes together, the candidate's passes of a case are hypergeometric if nothing changed;
    their sum over cases is their convolution. With one trial on each side this is exact McNemar, for
    a single case it is Fisher's test. Cases that passed always or never cannot move it. Numbers of trials
    may differ between cases and sides.
    """
    import numpy as np

    strata: Counter[tuple[int, int, int]] = Counter()
    seen = 0
    for pair in pairs:
        both = pair.base_passed + pair.passed
        if 0 < both < pair.base_trials + pair.trials:
            strata[(pair.base_trials, pair.trials, both)] += 1
            seen += pair.passed
    if not strata:
        return ConditionalTest(1.0, 1.0)
    first, weights = 0, np.ones(1)
    for (base_trials, trials, both), times in sorted(strata.items()):
        start, repeated = _repeated(_passes(base_trials, trials, both), times)
        first, weights = _trimmed(first + start, np.convolve(weights, repeated))
    at = seen - first
    below = float(weights[: max(at, 0)].sum())
    here = float(weights[at]) if 0 <= at < len(weights) else 0.0
    return ConditionalTest(min(1.0, below + here), min(1.0, below + here / 2))


@lru_cache(maxsize=4096)
def _passes(base_trials: int, trials: int, both: int) -> tuple[float, ...]:
    import numpy as np
    from scipy.stats import hypergeom

    found = hypergeom.pmf(np.arange(trials + 1), base_trials + trials, both, trials)
    return tuple(float(x) for x in found)


def _repeated(pmf: Sequence[float], times: int) -> tuple[int, Weights]:
    """The pmf convolved with itself, by squaring."""
    import numpy as np

    first, result = 0, np.ones(1)
    power_first, power = _trimmed(0, np.asarray(pmf, dtype=float))
    while times:
        if times & 1:
            first, result = _trimmed(first + power_first, np.convolve(result, power))
        times >>= 1
        if times:
            power_first, power = _trimmed(2 * power_first, np.convolve(power, power))
    return first, result


def _trimmed(first: int, weights: Weights) -> tuple[int, Weights]:
    """Without the ends that weigh nothing: 10,000 cases would otherwise be 100,000 numbers."""
    import numpy as np

    heavy = np.flatnonzero(weights > _NEGLIGIBLE)
    low, high = int(heavy[0]), int(heavy[-1])
    return first + low, weights[low : high + 1]


@dataclass(frozen=True, slots=True)
class Drop:
    """How far the suite's mean pass rate fell."""

    cases: int
    base_mean: float
    mean: float
    drop: float
    """base_mean - mean: positive is worse."""
    standard_error: float
    upper: float
    """One-sided 95 % upper bound of the drop."""
    provable: float
    """The smallest margin these trials can prove not to be exceeded, at 95 %, from 0 to 1."""


def drop(pairs: Sequence[Pair]) -> Drop | None:
    """The drop of the mean over cases with its bound; None without cases.

    The standard error is that of this fixed suite, sqrt(Σ(s0²/n0 + s1²/n1))/m with s² = n/(n-1)·p(1-p), when
    each case has two trials or more on both sides. With one trial on a side that has 13 to 15 % error instead
    of 5, and the paired t over cases is used.

    `provable` is never below what the candidate's trials could show with no failure at all: on a suite
    where everything passes the standard error is 0, and a bound of 0 would be false certainty. The floor is the d
    that solves d = drop + sqrt(-ln 0.05 · d / candidate trials), within 1 % of the exact Poisson bound.
    """
    if not pairs:
        return None
    cases = len(pairs)
    differences = [p.base_passed / p.base_trials - p.passed / p.trials for p in pairs]
    base_mean = math.fsum(p.base_passed / p.base_trials for p in pairs) / cases
    mean = math.fsum(p.passed / p.trials for p in pairs) / cases
    fell = math.fsum(differences) / cases
    if all(p.base_trials > 1 and p.trials > 1 for p in pairs):
        variance = math.fsum(
            _variance(p.base_passed, p.base_trials) + _variance(p.passed, p.trials) for p in pairs
        )
        error = math.sqrt(variance) / cases
        upper = fell + normal_quantile(0.95) * error
    elif cases > 1:
        from scipy.special import stdtrit

        spread = math.fsum((d - fell) ** 2 for d in differences) / (cases - 1)
        error = math.sqrt(spread / cases)
        upper = fell + float(stdtrit(cases - 1, 0.95)) * error
    else:
        error, upper = math.inf, 1.0
    upper = min(upper, 1.0)
    provable = max(upper, _floor(fell, sum(p.trials for p in pairs)), 0.0)
    return Drop(cases, base_mean, mean, fell, error, upper, min(provable, 1.0))


def _variance(passed: int, trials: int) -> float:
    rate = passed / trials
    return rate * (1 - rate) / (trials - 1)


def _floor(fell: float, trials: int) -> float:
    step = _FLOOR / math.sqrt(trials)
    inside = step * step + 4 * fell
    if inside <= 0:  # better by more than chance explains
        return 0.0
    return ((step + math.sqrt(inside)) / 2) ** 2
