"""One case: how strongly its trials speak for "worse than the release" and for "not so much worse".

A handful of trials says little by itself: Fisher's test with Holm's or Benjamini and Hochberg's correction
over 50 cases can never find a case that halves in 5 trials against 5. What makes small numbers usable is
that the other cases of the suite tell how reliable a case of this suite usually is. That knowledge is a
Beta distribution of pass rates, fitted over all baselines and drawn towards a default where it is thin.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Prior:
    """Pass rates of a suite's cases: Beta(a, b)."""

    a: float = 2.5
    b: float = 0.25


DEFAULT_PRIOR = Prior()
"""Most cases of a released agent pass nearly always."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of the release on one case."""

    passed: int
    trials: int
    live_passed: int = 0
    """Baseline trials made beside the candidate's, on suspicion."""
    live: int = 0

    def rate(self, prior: Prior) -> float:
        """The pass rate expected before the candidate was looked at: the stored trials alone."""
        return (prior.a + self.passed) / (prior.a + prior.b + self.trials)

    def beta(self, prior: Prior) -> tuple[float, float]:
        """What all its trials make of the prior."""
        passed = self.passed + self.live_passed
        failed = self.trials + self.live - passed
        return prior.a + passed, prior.b + failed


def fit_prior(tallies: Iterable[tuple[int, int]]) -> Prior:
    """The Beta under which these (passed, trials) are most likely, drawn towards the default.

    Maximises Σ log BetaBinomial(passed | trials, a, b) - ½[(ln a - ln 2.5)² + (ln b - ln 0.25)²], which with
    few cases or few trials stays near the default. The order of the tallies does not matter; those
    without trials do not count.
    """
    counts = sorted((t, times) for t, times in Counter(tallies).items() if t[1] > 0)
    return _fitted(tuple(counts)) if counts else DEFAULT_PRIOR


@lru_cache(maxsize=256)
def _fitted(counts: tuple[tuple[tuple[int, int], int], ...]) -> Prior:
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import betaln

    passed = np.array([c for (c, _), _ in counts], dtype=float)
    failed = np.array([n - c for (c, n), _ in counts], dtype=float)
    times = np.array([k for _, k in counts], dtype=float)
    start = (math.log(DEFAULT_PRIOR.a), math.log(DEFAULT_PRIOR.b))

    def loss(point: np.ndarray) -> float:
        a, b = np.exp(point)
        fit = float(times @ (betaln(a + passed, b + failed) - betaln(a, b)))
        drawn = (point[0] - start[0]) ** 2 + (point[1] - start[1]) ** 2
        return float(drawn / 2 - fit)

    found = minimize(
        loss, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 2000}
    )
    a, b = (math.exp(x) for x in found.x)
    return Prior(min(max(a, 0.5), 100.0), min(max(b, 0.05), 20.0))


@lru_cache(maxsize=65536)
def log_e_value(passed: int, failed: int, reference: Reference, prior: Prior) -> float:
    """Natural logarithm of the e-value against "the candidate is as good as the release".

    E = [∫ p^s (1-p)^f dU(0, h)] / [B(a+c+s, b+n-c+f) / B(a+c, b+n-c)], h = max(rate - 0.2, 0.05): how much
    better "it passes at some rate below h" foretells the candidate's trials than the release's own record
    does. h comes from the stored baseline and stays when live baseline trials are added. By Ville's
    inequality E ≥ 1/α has at most chance α under "no change" (averaged over cases drawn from the prior), however
    often one looks in between.
    """
    from scipy.special import betainc, betaln

    a, b = reference.beta(prior)
    h = max(reference.rate(prior) - 0.2, 0.05)
    below = float(betainc(passed + 1, failed + 1, h))
    if below == 0.0:  # far more passes than h could explain; the logarithm would be -inf
        return -math.inf
    worse = float(betaln(passed + 1, failed + 1)) + math.log(below) - math.log(h)
    return worse - float(betaln(a + passed, b + failed) - betaln(a, b))


def e_value(passed: int, failed: int, reference: Reference, prior: Prior) -> float:
    """The e-value itself, at most 1e300: the evidence is 1 : e_value against chance."""
    return math.exp(min(log_e_value(passed, failed, reference, prior), 690.0))


def against_chance(evidence: float) -> str:
    """An e-value in words: `1 : 6,014 against chance`."""
    if evidence >= 1e9:
        return "more than 1 : 1,000,000,000 against chance"
    return f"1 : {evidence:,.0f} against chance"


@lru_cache(maxsize=65536)
def clear_ratio(passed: int, failed: int, reference: Reference, prior: Prior, drop: float) -> float:
    """How much better the release's record foretells the candidate's trials than a drop by `drop` does.

    At 1/β or more the case is cleared. Clearing only ever takes rejections away, so it costs no
    false alarms whatever it is.
    """
    from scipy.special import betaln

    a, b = reference.beta(prior)
    dropped = max(a / (a + b) - drop, 0.02)
    same = float(betaln(a + passed, b + failed) - betaln(a, b))
    ratio = same - passed * math.log(dropped) - failed * math.log1p(-dropped)
    return math.exp(min(ratio, 690.0))


@lru_cache(maxsize=65536)
def chance_if_dropped(failed: int, trials: int, drop: float) -> float:
    """Chance of so few failures, at most, in a number of trials set beforehand, after a drop by `drop`.

    P(F ≤ failed) for F ~ Binomial(trials, drop): whatever rate it fell from, at least `drop` of the
    trials fail. With no failure this is (1 - drop)^trials, the screen.
    """
    from scipy.special import bdtr

    return float(bdtr(failed, trials, drop))


@lru_cache(maxsize=65536)
def predictive_p(passed: int, failed: int, reference: Reference, prior: Prior) -> float:
    """Chance that a candidate as good as the release fails at least this often.

    P(F ≥ failed) for F ~ BetaBinomial(trials, b+n-c, a+c). Small means worse.
    """
    from scipy.stats import betabinom

    a, b = reference.beta(prior)
    return float(betabinom.sf(failed - 1, passed + failed, b, a))


@lru_cache(maxsize=65536)
def predictive_p_better(passed: int, failed: int, reference: Reference, prior: Prior) -> float:
    """Chance that a candidate as good as the release fails at most this often: the other tail."""
    from scipy.stats import betabinom

    a, b = reference.beta(prior)
    return float(betabinom.cdf(failed, passed + failed, b, a))


@lru_cache(maxsize=65536)
def drift_p(reference: Reference, prior: Prior) -> float:
    """Chance that the live baseline passes at most this often if it is what the stored one was.

    Small means that the ground moved under the stored baseline: it is stale.
    """
    from scipy.stats import betabinom

    stored_passed = prior.a + reference.passed
    stored_failed = prior.b + reference.trials - reference.passed
    return float(betabinom.cdf(reference.live_passed, reference.live, stored_passed, stored_failed))


@lru_cache(maxsize=65536)
def probability_worse(passed: int, failed: int, base_passed: int, base_failed: int) -> float:
    """P(candidate's rate < baseline's) under independent Jeffreys posteriors, Beta(½ + passes, ½ + fails).

    Not a test: above 0.95 it still raises up to 11 % false alarms. It only asks whether the live baseline
    agrees in direction.
    """
    import numpy as np
    from scipy.special import betainc

    # In the angle whose squared sine is the rate, the baseline's density is a trigonometric polynomial.
    log_sine, log_cosine, rate, weight = _angles(128 if base_passed + base_failed < 100 else 512)
    log_density = 2 * base_passed * log_sine + 2 * base_failed * log_cosine
    density = np.exp(log_density - log_density.max()) * weight
    below = betainc(passed + 0.5, failed + 0.5, rate)
    return float(min(1.0, max(0.0, density @ below / density.sum())))


@lru_cache(maxsize=2)
def _angles(nodes: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Gauss-Legendre nodes on (0, π/2): log sin, log cos, sin² and the weights."""
    import numpy as np

    place, weight = np.polynomial.legendre.leggauss(nodes)
    angle = (place + 1) * np.pi / 4
    return np.log(np.sin(angle)), np.log(np.cos(angle)), np.sin(angle) ** 2, weight
