"""pass^k of a case and of a suite."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binom, ttest_1samp
from statsmodels.stats.proportion import proportion_confint

from seatrial.stats.passk import flip_rate, least_rise, mean_pass_k, pass_k


@pytest.mark.parametrize(
    ("trials", "passed", "k", "value"),
    [(5, 4, 3, 0.4), (5, 5, 3, 1.0), (5, 2, 3, 0.0), (10, 7, 3, 0.2916666667),
     (8, 6, 4, 0.2142857143), (10, 9, 10, 0.0), (4, 2, 2, 0.1666666667)],
)  # fmt: skip
def test_pass_k_has_its_reference_values(trials, passed, k, value):
    assert pass_k(passed, trials, k) == pytest.approx(value, abs=1e-10)


def test_fewer_trials_than_k_is_missing_and_not_zero():
    assert pass_k(2, 2, 3) is None
    assert mean_pass_k([(2, 2)], 3) is None

    found = mean_pass_k([(2, 2), (3, 3), (4, 4)], 3)

    assert found is not None
    assert (found.value, found.cases, found.missing) == (1.0, 2, 1)


def test_pass_k_is_unbiased():
    for trials in (1, 3, 8):
        for k in range(1, trials + 1):
            for rate in (0.0, 0.3, 0.95, 1.0):
                chance = binom.pmf(np.arange(trials + 1), trials, rate)
                mean = sum(chance[c] * pass_k(c, trials, k) for c in range(trials + 1))
                assert mean == pytest.approx(rate**k, abs=1e-12)


OUTCOMES = np.array(
    [[1, 1, 1, 1, 1], [1, 1, 0, 1, 1], [0, 0, 1, 0, 1], [1, 1, 1, 1, 1]], dtype=float
)


def test_standard_error_is_the_clustered_one():
    tallies = [(int(row.sum()), 5) for row in OUTCOMES]

    once = mean_pass_k(tallies, 1)
    thrice = mean_pass_k(tallies, 3)

    assert once is not None
    assert thrice is not None
    assert (once.value, once.standard_error) == pytest.approx((0.8, 0.1414213562))
    assert (thrice.value, thrice.standard_error) == pytest.approx((0.6, 0.2449489743))
    clustered = sm.OLS(OUTCOMES.ravel(), np.ones(20)).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(4), 5)}
    )
    assert once.standard_error == pytest.approx(float(clustered.bse[0]), abs=1e-12)


def test_interval_never_closes_although_every_case_passes():
    found = mean_pass_k([(5, 5)] * 30, 1)

    assert found is not None
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.8 < found.low < 0.95


def test_one_case_alone_is_worth_one_trial():
    found = mean_pass_k([(5, 5)], 5)

    assert found is not None
    assert (found.low, found.high) == pytest.approx(proportion_confint(1, 1, 0.05, "wilson"))


@pytest.mark.parametrize(("cases", "trials"), [(30, 1), (100, 1), (30, 3)])
def test_interval_covers_where_the_usual_ones_collapse(cases, trials):
    """80 % of the cases never fail, the others rarely: t and bootstrap cover 17 to 86 %."""
    rng = np.random.default_rng(20260101)
    target = 0.8 + 0.2 * 0.98**trials
    covered = 0
    for _ in range(400):
        rates = np.where(rng.random(cases) < 0.8, 1.0, 0.98)
        found = mean_pass_k([(int(c), 5) for c in rng.binomial(5, rates)], trials)
        assert found is not None
        covered += found.low <= target <= found.high
    assert covered / 400 > 0.92


def test_order_of_cases_does_not_matter():
    tallies = [(1, 5), (5, 5), (4, 4), (3, 7)]

    assert mean_pass_k(tallies, 2) == mean_pass_k(tallies[::-1], 2)


def test_flip_rate_is_unbiased_and_missing_below_two_trials():
    assert flip_rate(1, 1) is None
    for trials in range(2, 12):
        for p in (0.0, 0.3, 0.9, 1.0):
            expected = sum(
                math.comb(trials, c) * p**c * (1 - p) ** (trials - c) * (flip_rate(c, trials) or 0)
                for c in range(trials + 1)
            )
            assert expected == pytest.approx(2 * p * (1 - p))


def test_least_rise_is_students_bound():
    found = [0.1, 0.3, 0.2, 0.0]
    theirs = ttest_1samp(found, 0).confidence_interval(0.90).low

    assert least_rise(found) == pytest.approx(theirs)
    assert least_rise([0.5]) == -math.inf
