"""Reference values of what was measured and not taken, held against the libraries that have it.

They pin down what the figures of `docs/concepts/verdicts.md` about other methods rest on.
"""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import brentq
from scipy.stats import barnard_exact, binom, boschloo_exact, false_discovery_control
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from seatrial.stats.intervals import clopper_pearson


@pytest.mark.parametrize(
    ("base", "candidate", "boschloo", "barnard"),
    [
        ((5, 5), (2, 5), 0.030924, 0.030924),
        ((5, 5), (1, 5), 0.010742, 0.010742),
        ((10, 10), (6, 10), 0.021095, 0.020932),
        ((9, 10), (5, 10), 0.031155, 0.031155),
        ((20, 20), (3, 5), 0.012500, 0.012352),
        ((3, 3), (0, 3), 0.015625, 0.015625),
    ],
)
def test_unconditional_exact_tests(base, candidate, boschloo, barnard):
    (c0, n0), (c1, n1) = base, candidate
    # By columns: scipy takes the trials of a side to be fixed, and those are its column sums.
    table = [[c0, c1], [n0 - c0, n1 - c1]]

    assert boschloo_exact(table, alternative="greater").pvalue == pytest.approx(boschloo, abs=1e-4)
    # Barnard's statistic is the difference of the columns, the other way round.
    assert barnard_exact(table, alternative="greater").pvalue == pytest.approx(barnard, abs=1e-4)


@pytest.mark.parametrize(
    ("passed", "trials", "low", "high"),
    [
        (0, 2, 0.000217, 0.666822),
        (2, 2, 0.333178, 0.999783),
        (2, 3, 0.176736, 0.961252),
        (3, 3, 0.464417, 0.999849),
        (4, 5, 0.371374, 0.977487),
        (5, 5, 0.620623, 0.999907),
        (7, 8, 0.546281, 0.986162),
        (9, 10, 0.618685, 0.988988),
        (10, 10, 0.782804, 0.999952),
        (20, 20, 0.883361, 0.999976),
    ],
)
def test_jeffreys_interval_as_the_library_has_it_never_reaches_the_ends(passed, trials, low, high):
    found = proportion_confint(passed, trials, 0.05, "jeffreys")

    assert found == pytest.approx((low, high), abs=1e-6)


def test_corrections_over_many_cases():
    p = [0.0004, 0.012, 0.03, 0.2, 0.6]

    holm = multipletests(p, 0.05, "holm")[1]

    assert holm == pytest.approx([0.002, 0.048, 0.09, 0.4, 0.6])
    assert false_discovery_control(p) == pytest.approx([0.002, 0.03, 0.05, 0.25, 0.6])


def test_e_values_over_many_cases():
    values, q = np.array([200, 45, 3, 0.5, 70, 0]), 0.05

    order = np.argsort(-values)
    enough = [k for k in range(1, 7) if values[order[k - 1]] >= 6 / (q * k)]

    assert sorted(int(i) for i in order[: max(enough)]) == [0, 1, 4]


def test_walds_sequential_test_has_its_steps_and_bounds_and_breaks_at_a_rate_of_one():
    good, bad, alpha, beta = 0.95, 0.5, 1e-4, 0.1

    assert math.log(bad / good) == pytest.approx(-0.6418538862)
    assert math.log((1 - bad) / (1 - good)) == pytest.approx(2.3025850930)
    assert math.log((1 - beta) / alpha) == pytest.approx(9.1049798563)
    assert math.log(beta / (1 - alpha)) == pytest.approx(-2.3024850880)
    with pytest.raises(ZeroDivisionError):
        math.log((1 - bad) / (1 - 1.0))


def test_clustered_standard_error_with_and_without_the_librarys_correction():
    rows = ["11111", "11011", "00101", "11111"]
    passed = np.array([int(mark) for row in rows for mark in row])
    cases = np.repeat(range(4), 5)

    def error(correct: bool) -> float:
        kwds = {"groups": cases, "use_correction": correct}
        return float(sm.OLS(passed, np.ones(20)).fit(cov_type="cluster", cov_kwds=kwds).bse[0])

    assert error(False) == pytest.approx(0.1224744871)
    assert error(True) == pytest.approx(0.1414213562)


def test_exact_interval_of_a_screen_of_four_that_goes_on_to_twenty_one():
    """It ends when the seventh failure is there or cannot come any more; six of 21 is one such end.

    The ends in the order of their pass rate, each tail holds 2.5 %. Clopper and Pearson's is near enough.
    """

    def chance(at_most: int, of: int, p: float) -> float:
        """Of four passes at once, or so few failures of so many trials."""
        after_a_failure = sum(
            binom.pmf(first, 4, 1 - p) * binom.cdf(at_most - first, of - 4, 1 - p)
            for first in range(1, 5)
        )
        return float(p**4 + after_a_failure)

    clean = brentq(lambda p: p**4 - 0.025, 0.01, 0.99)
    low = brentq(lambda p: chance(6, 21, p) - 0.025, 0.01, 0.99)
    high = brentq(lambda p: 1 - chance(5, 20, p) - 0.025, 0.5, 0.999)

    assert clean == pytest.approx(0.397635, abs=1e-6)
    assert (low, high) == pytest.approx((0.389578, 0.875359), abs=1e-6)
    assert clopper_pearson(4, 4)[0] == pytest.approx(clean, abs=1e-6)
    assert clopper_pearson(15, 21) == pytest.approx((low, high), abs=0.1)


def test_four_trials_of_a_case_bound_what_is_forbidden_by_a_half():
    assert clopper_pearson(0, 4, 0.90)[1] == pytest.approx(0.527, abs=5e-4)
