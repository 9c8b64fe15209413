"""Intervals for a pass rate seen in a few trials.

Wilson for display; Clopper-Pearson for whatever feeds a verdict or a claim, and for trials whose number
depended on their own outcome. Wald is not offered: for a pass rate above 0.9 its 95 % interval covers the
truth in 9 to 57 % of cases. Nor is Jeffreys: five passes of five give an upper end below 1, so that a case
which always passes is never covered.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

Method = Literal["wilson", "clopper-pearson"]


@lru_cache(maxsize=65536)
def interval(
    passed: int, trials: int, method: Method, confidence: float = 0.95
) -> tuple[float, float]:
    """Two-sided interval of the pass rate; (0, 1) where nothing was tried.

    Source: Brown, Cai and DasGupta 2001 (Wilson); Clopper and Pearson 1934.
    """
    if trials == 0:
        return 0.0, 1.0
    from scipy.stats import binomtest

    found = binomtest(passed, trials).proportion_ci(
        confidence, "wilson" if method == "wilson" else "exact"
    )
    # scipy's Wilson misses the ends by rounding; they are exact.
    low = 0.0 if passed == 0 else float(found.low)
    high = 1.0 if passed == trials else float(found.high)
    return low, high


def wilson(passed: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval: never of zero width, right on average, too short by a little near 1."""
    return interval(passed, trials, "wilson", confidence)


def clopper_pearson(passed: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval: covers at least `confidence` for each rate, also after adaptive stopping."""
    return interval(passed, trials, "clopper-pearson", confidence)


def wilson_of_mean(mean: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's formula for a mean of rates that is worth `trials` trials, which need not be whole."""
    z = normal_quantile(0.5 + confidence / 2)
    middle = (mean + z * z / (2 * trials)) / (1 + z * z / trials)
    half = (
        z / (1 + z * z / trials) * math.sqrt(mean * (1 - mean) / trials + (z / (2 * trials)) ** 2)
    )
    return max(0.0, middle - half), min(1.0, middle + half)


def rate_bound(trials: int, confidence: float = 0.95) -> float:
    """Upper bound of the rate of something that happened in none of `trials` trials.

    1 - (1 - confidence)^(1/trials), about 3/trials at 95 %; 1 where nothing was tried. The same number taken
    from 1 is the lower bound of a pass rate of which all trials passed.
    """
    return 1.0 if trials == 0 else -math.expm1(math.log1p(-confidence) / trials)


@lru_cache(maxsize=256)
def normal_quantile(p: float) -> float:
    """The standard normal quantile."""
    from scipy.special import ndtri

    return float(ndtri(p))
