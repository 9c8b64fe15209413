"""Intervals of a pass rate, against reference values and statsmodels."""

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from seatrial.stats.intervals import clopper_pearson, rate_bound, wilson, wilson_of_mean


@pytest.mark.parametrize(
    ("passed", "trials", "score", "exact"),
    [
        (0, 2, (0.0, 0.657620), (0.0, 0.841886)),
        (2, 2, (0.342380, 1.0), (0.158114, 1.0)),
        (2, 3, (0.207660, 0.938508), (0.094299, 0.991596)),
        (3, 3, (0.438503, 1.0), (0.292402, 1.0)),
        (4, 5, (0.375535, 0.963776), (0.283582, 0.994949)),
        (5, 5, (0.565518, 1.0), (0.478176, 1.0)),
        (7, 8, (0.529112, 0.977583), (0.473490, 0.996840)),
        (9, 10, (0.595850, 0.982124), (0.554984, 0.997471)),
        (10, 10, (0.722467, 1.0), (0.691503, 1.0)),
        (20, 20, (0.838875, 1.0), (0.831567, 1.0)),
    ],
)
def test_intervals_have_their_reference_values(passed, trials, score, exact):
    assert wilson(passed, trials) == pytest.approx(score, abs=1e-6)
    assert clopper_pearson(passed, trials) == pytest.approx(exact, abs=1e-6)


def test_intervals_agree_with_statsmodels_for_every_small_count():
    for trials in range(1, 21):
        for passed in range(trials + 1):
            score = proportion_confint(passed, trials, 0.05, "wilson")
            exact = proportion_confint(passed, trials, 0.05, "beta")
            assert wilson(passed, trials) == pytest.approx(score, abs=1e-8)
            assert clopper_pearson(passed, trials) == pytest.approx(exact, abs=1e-8)
            assert wilson_of_mean(passed / trials, trials) == pytest.approx(score, abs=1e-8)


@pytest.mark.parametrize("trials", [1, 3, 5, 20, 1000])
def test_a_case_that_always_passes_is_not_excluded(trials):
    # The trap: statsmodels' Jeffreys interval ends below 1 for 5 of 5, so it never covers a rate of 1.
    assert proportion_confint(trials, trials, 0.05, "jeffreys")[1] < 1.0

    assert wilson(trials, trials)[1] == 1.0
    assert clopper_pearson(trials, trials)[1] == 1.0
    assert wilson(0, trials)[0] == 0.0
    assert clopper_pearson(0, trials)[0] == 0.0


def test_nothing_tried_says_nothing():
    assert wilson(0, 0) == clopper_pearson(0, 0) == (0.0, 1.0)
    assert rate_bound(0) == 1.0


@pytest.mark.parametrize(
    ("trials", "bound"),
    [(1, 0.05), (2, 0.224), (3, 0.368), (4, 0.473), (5, 0.549), (8, 0.688), (10, 0.741),
     (20, 0.861), (59, 0.950), (299, 0.990)],
)  # fmt: skip
def test_lower_bound_when_all_pass(trials, bound):
    assert 1 - rate_bound(trials) == pytest.approx(bound, abs=6e-4)


@pytest.mark.parametrize(
    ("rate", "at_95", "at_99"),
    [(0.1, 29, 44), (0.05, 59, 90), (0.02, 149, 228), (0.01, 299, 459), (0.005, 598, 919),
     (0.001, 2995, 4603)],
)  # fmt: skip
def test_trials_that_bound_a_rate_from_zero_events(rate, at_95, at_99):
    for trials, confidence in ((at_95, 0.95), (at_99, 0.99)):
        assert rate_bound(trials, confidence) <= rate < rate_bound(trials - 1, confidence)


def test_exact_interval_covers_although_trials_went_on_only_after_a_failure():
    """Two trials, then up to ten if one failed: Wilson falls to 0.845, Clopper-Pearson holds."""
    worst_exact = worst_score = 1.0
    for rate in np.linspace(0.005, 0.995, 100):
        stopped = {(2, 2): rate**2}
        for start, chance in ((1, 2 * rate * (1 - rate)), (0, (1 - rate) ** 2)):
            for more in range(9):
                key = (start + more, 10)
                stopped[key] = stopped.get(key, 0.0) + chance * binom.pmf(more, 8, rate)
        assert sum(stopped.values()) == pytest.approx(1.0)
        worst_exact = min(worst_exact, _covered(clopper_pearson, stopped, rate))
        worst_score = min(worst_score, _covered(wilson, stopped, rate))
    assert worst_exact > 0.96
    assert worst_score < 0.86


def _covered(interval, stopped, rate):
    total = 0.0
    for (passed, trials), chance in stopped.items():
        low, high = interval(passed, trials)
        total += chance if low <= rate <= high else 0.0
    return total
