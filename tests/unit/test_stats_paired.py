"""The suite under both arms: the exact test within cases, and the bound of the drop."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact, hypergeom, norm
from statsmodels.stats.contingency_tables import StratifiedTable, mcnemar

from seatrial.stats.paired import Pair, conditional_test, drop, significant


def pairs(base, candidate, base_trials, trials=None):
    trials = base_trials if trials is None else trials
    return [Pair(c0, base_trials, c1, trials) for c0, c1 in zip(base, candidate, strict=True)]


def test_conditional_test_has_its_reference_values():
    found = conditional_test(pairs([3, 3, 2, 3, 1, 3], [2, 3, 1, 0, 1, 2], 3))

    assert (found.exact, found.mid_p) == pytest.approx((0.027625, 0.0153125))


def test_conditional_test_agrees_with_counting_every_table():
    base, candidate = [3, 3, 2, 3, 1, 3], [2, 3, 1, 0, 1, 2]
    chances = [
        hypergeom.pmf(np.arange(4), 6, c0 + c1, 3) for c0, c1 in zip(base, candidate, strict=True)
    ]
    at_most = sum(
        math.prod(chances[i][passes] for i, passes in enumerate(table))
        for table in itertools.product(range(4), repeat=6)
        if sum(table) <= sum(candidate)
    )

    assert conditional_test(pairs(base, candidate, 3)).exact == pytest.approx(at_most)


def test_conditional_test_is_near_its_asymptotic_form():
    base, candidate = [3, 3, 2, 3, 1, 3], [2, 3, 1, 0, 1, 2]
    tables = [
        np.array([[c0, 3 - c0], [c1, 3 - c1]]) for c0, c1 in zip(base, candidate, strict=True)
    ]
    found = StratifiedTable(tables).test_null_odds(correction=False)

    assert float(found.statistic) == pytest.approx(5.0)
    assert float(found.pvalue) == pytest.approx(0.0253473187)
    mid_p = conditional_test(pairs(base, candidate, 3)).mid_p
    assert mid_p == pytest.approx(float(norm.sf(math.sqrt(5.0))), abs=0.004)


def test_with_one_trial_a_side_it_is_exact_mcnemar():
    base = [1] * 40 + [1] * 9 + [0] * 2 + [0] * 5
    candidate = [1] * 40 + [0] * 9 + [1] * 2 + [0] * 5
    found = conditional_test(pairs(base, candidate, 1))

    assert (found.exact, found.mid_p) == pytest.approx((0.0327148438, 0.0192871094))
    two_sided = float(mcnemar([[40, 9], [2, 5]], exact=True).pvalue)
    assert two_sided == pytest.approx(0.0654296875)
    assert found.exact == pytest.approx(two_sided / 2)


@pytest.mark.parametrize(
    ("base", "candidate", "exact", "mid_p"),
    [
        ((5, 5), (2, 5), 0.08333333, 0.04166667),
        ((5, 5), (1, 5), 0.02380952, 0.01190476),
        ((10, 10), (6, 10), 0.04334365, 0.02167183),
        ((9, 10), (5, 10), 0.07043344, 0.03792570),
        ((20, 20), (3, 5), 0.03333333, 0.01666667),
        ((3, 3), (0, 3), 0.05, 0.025),
    ],
)
def test_for_one_case_it_is_fishers_test(base, candidate, exact, mid_p):
    found = conditional_test([Pair(*base, *candidate)])

    assert (found.exact, found.mid_p) == pytest.approx((exact, mid_p), abs=1e-8)


def test_three_of_three_against_none_of_three_is_significant_at_one_in_twenty():
    # The trap: the p-value is 1/20 exactly, and scipy's sum lies just above it.
    p = float(fisher_exact(np.array([[3, 0], [0, 3]]), alternative="greater").pvalue)
    assert p > 0.05

    assert significant(p, 0.05)
    assert significant(conditional_test([Pair(3, 3, 0, 3)]).exact, 0.05)
    assert not significant(0.0501, 0.05)


def test_cases_that_passed_always_or_never_say_nothing():
    assert conditional_test([]).mid_p == 1.0
    assert conditional_test(pairs([5, 0], [5, 0], 5)).mid_p == 1.0

    alone = conditional_test([Pair(20, 20, 1, 5)])

    assert conditional_test([Pair(20, 20, 1, 5), *pairs([5, 0, 5], [5, 0, 5], 5)]) == alone


def test_ten_thousand_cases_agree_with_the_normal_approximation():
    rng = np.random.default_rng(20260101)
    rates = rng.beta(18, 2, 10_000)
    found = conditional_test(
        pairs(rng.binomial(20, rates).tolist(), rng.binomial(10, rates * 0.998).tolist(), 20, 10)
    )
    rng = np.random.default_rng(20260101)
    rates = rng.beta(18, 2, 10_000)
    base, candidate = rng.binomial(20, rates), rng.binomial(10, rates * 0.998)
    both = base + candidate
    mean = (both / 3).sum()
    spread = math.sqrt((10 * (both / 30) * (1 - both / 30) * 20 / 29).sum())

    assert found.mid_p == pytest.approx(norm.cdf((candidate.sum() - mean) / spread), abs=0.002)


def test_overwhelming_difference_gives_a_tiny_p_and_not_an_error():
    assert conditional_test([Pair(20, 20, 0, 20)] * 500).exact < 1e-12


counts = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda n: st.builds(
        Pair, st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1])
    )
)


@given(st.lists(counts, max_size=6))
def test_swapping_the_arms_mirrors_the_test(rows):
    here = conditional_test(rows)
    there = conditional_test([Pair(p.passed, p.trials, p.base_passed, p.base_trials) for p in rows])

    if any(0 < p.base_passed + p.passed < p.base_trials + p.trials for p in rows):
        assert here.mid_p + there.mid_p == pytest.approx(1.0)
    else:
        assert here.mid_p == there.mid_p == 1.0


def test_drop_has_its_reference_values():
    found = drop(pairs([5, 4, 5], [5, 2, 4], 5))

    assert found is not None
    assert found.drop == pytest.approx(0.2)
    assert found.standard_error == pytest.approx(0.1247219129)
    assert found.upper == pytest.approx(0.4051493373)


def test_standard_error_is_that_of_this_fixed_suite():
    found = drop(pairs([5, 5, 5, 5], [5, 4, 2, 5], 5))

    assert found is not None
    assert found.standard_error == pytest.approx(0.0790569415)


def test_one_trial_on_a_side_uses_the_spread_between_cases():
    base, candidate = [20, 18, 20, 10], [1, 1, 0, 1]
    found = drop(pairs(base, candidate, 20, 1))
    differences = np.array(base) / 20 - np.array(candidate)

    assert found is not None
    assert found.standard_error == pytest.approx(differences.std(ddof=1) / 2)
    assert found.upper == pytest.approx(
        min(1.0, differences.mean() + 2.3533634348 * differences.std(ddof=1) / 2)
    )


def test_one_case_with_one_trial_proves_nothing():
    found = drop([Pair(1, 1, 1, 1)])

    assert found is not None
    assert found.upper == found.provable == 1.0
    assert drop([]) is None


def test_a_suite_in_which_everything_passes_proves_no_margin_of_zero():
    """80 passes of 80 rule out a rate of failure of 3.7 %, not more."""
    found = drop(pairs([20] * 20, [4] * 20, 20, 4))

    assert found is not None
    assert found.upper == 0.0
    assert found.provable == pytest.approx(-math.log(0.05) / 80)
    assert found.provable > 1 - 0.05 ** (1 / 80)


@pytest.mark.parametrize("trials", [20, 58, 60, 80, 200, 400])
def test_margin_is_wrongly_proven_in_at_most_one_of_twenty(trials):
    """The release never fails, the candidate fails in 5 % of all trials: chance that 5 % is ruled out."""
    wrong = 0.0
    for failed in range(trials + 1):
        found = drop(_spread(failed, trials))
        assert found is not None
        if found.provable < 0.05:
            wrong += float(binom.pmf(failed, trials, 0.05))
    assert wrong <= 0.05


def _spread(failed, trials):
    """The failures spread as evenly as they go over cases of two trials."""
    cases = trials // 2
    return [Pair(20, 20, 2 - (i < failed) - (i + cases < failed), 2) for i in range(cases)]


@pytest.mark.parametrize(("cases", "trials"), [(50, 2), (100, 3)])
def test_margin_is_kept_on_a_suite_of_mixed_reliability(cases, trials):
    rng = np.random.default_rng(20260101)
    wrong = right = 0
    for _ in range(600):
        rates = np.where(
            rng.random(cases) < 0.5, 1.0, np.where(rng.random(cases) < 0.5, 0.974, 0.85)
        )
        base = rng.binomial(trials, rates).tolist()
        same = drop(pairs(base, rng.binomial(trials, rates).tolist(), trials))
        worse = drop(pairs(base, rng.binomial(trials, rates - 0.05).tolist(), trials))
        assert same is not None
        assert worse is not None
        right += same.provable < 0.05
        wrong += worse.provable < 0.05
    assert wrong / 600 < 0.09  # nominal 0.05; two trials a side cost a little
    assert right / 600 > 0.3
