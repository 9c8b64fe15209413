"""Evidence gathered over many runs: valid however often one looks, and strong enough for slow declines.

The simulations are shortened; benchmarks/bench_monitor.py runs them fully.
"""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from seatrial.stats.evidence import DEFAULT_PRIOR, Prior, fit_prior
from seatrial.stats.monitoring import Evidence, case_decline, suite_decline
from seatrial.stats.simulation import draw_rates

CASES = 12
NEEDED = 2 * CASES / 0.05


def chance(passed, trials, a, b):
    return float(betabinom.pmf(passed, trials, a, b))


def test_without_a_change_the_expected_evidence_is_one_after_every_run():
    """Exactly: every outcome of two runs, by the chance that the release's record gives it."""
    a, b = DEFAULT_PRIOR.a + 9, DEFAULT_PRIOR.b + 1
    case = suite = 0.0
    for one, two in product(range(4), repeat=2):
        weight = chance(one, 3, a, b) * chance(two, 3, a + one, b + 3 - one)
        case += weight * math.exp(case_decline(9, 10, [(one, 3), (two, 3)], DEFAULT_PRIOR).last)
        runs = [[(one, 3)], [(two, 3)]]
        suite += weight * math.exp(suite_decline([(9, 10)], runs, DEFAULT_PRIOR).last)

    assert case == pytest.approx(1.0)
    assert suite == pytest.approx(1.0)


def test_first_run_alone_is_the_evidence_of_a_single_comparison_shared_over_all_starts():
    found = case_decline(20, 20, [(0, 4)], DEFAULT_PRIOR)

    a, b, h = 22.5, 0.25, 22.5 / 22.75 - 0.1
    worse = (1 - (1 - h) ** 5) / 5 / h
    same = math.exp(
        math.lgamma(b + 4) + math.lgamma(a + b) - math.lgamma(b) - math.lgamma(a + b + 4)
    )
    assert math.exp(found.last) == pytest.approx(0.5 * worse / same + 0.5)
    assert found.starts == (1.0,)


def test_no_runs_say_nothing():
    found = case_decline(20, 20, [], DEFAULT_PRIOR)

    assert (found.last, found.noticed(10.0)) == (0.0, None)
    assert suite_decline([(20, 20)], [], DEFAULT_PRIOR).log_values == ()


runs = st.lists(st.tuples(st.integers(0, 4), st.just(4)), min_size=1, max_size=12)


@given(runs)
def test_a_run_without_trials_of_the_suite_changes_no_later_evidence_for_the_better(counts):
    """What is left out of a run neither speaks for a decline nor against it."""
    rows = [[count] for count in counts]
    found = suite_decline([(20, 20)], rows, DEFAULT_PRIOR)
    padded = suite_decline([(20, 20)], [*rows, [(0, 0)]], DEFAULT_PRIOR)

    assert padded.last <= found.last + math.log(2)
    assert sum(padded.starts) == pytest.approx(1.0)


@given(runs)
def test_one_more_failure_in_the_last_run_never_weakens_the_evidence(counts):
    passed, trials = counts[-1]
    worse = [*counts[:-1], (max(passed - 1, 0), trials)]

    assert case_decline(20, 20, worse, DEFAULT_PRIOR).last >= (
        case_decline(20, 20, counts, DEFAULT_PRIOR).last - 1e-9
    )


def test_the_shortest_stretch_that_holds_ninety_percent_is_told():
    assert Evidence((0.0,) * 5, (0.02, 0.03, 0.9, 0.03, 0.02)).began() == (2, 2)
    assert Evidence((0.0,) * 4, (0.05, 0.45, 0.45, 0.05)).began() == (1, 2)
    assert Evidence((0.0,) * 2, (0.5, 0.5)).began() == (0, 1)


def _nights(rng, rates, nights, trials=4):
    return [[(int(rng.binomial(trials, r)), trials) for r in rates(n)] for n in range(nights)]


def _suite(rng):
    rates = draw_rates("mixed", CASES, rng)
    rates[0] = 1.0
    stored = [(int(c), 20) for c in rng.binomial(20, rates)]
    return rates, stored, fit_prior(stored)


def test_a_year_of_nights_without_a_decline_raises_no_alarm():
    """At most 5 % of years may: one or none of six."""
    rng = np.random.default_rng(20260101)
    alarms = 0
    for _ in range(6):
        rates, stored, prior = _suite(rng)
        rows = _nights(rng, lambda _, rates=rates: rates, 365)
        cases = (
            case_decline(stored[c][0], 20, [row[c] for row in rows], prior).noticed(NEEDED)
            for c in range(CASES)
        )
        together = suite_decline(stored, rows, prior).noticed(2 / 0.05)
        alarms += together is not None or any(night is not None for night in cases)
    assert alarms <= 1


@pytest.mark.parametrize(("start", "within"), [(30, 30), (120, 20)])
def test_case_that_fell_to_four_fifths_is_noticed_within_weeks(start, within):
    """Of four trials a night, in at least 90 % of declines."""
    rng = np.random.default_rng(20260101)
    late = outside = 0
    for _ in range(40):
        fell = np.where(np.arange(start + within) < start, 1.0, 0.8)
        counts = [(int(rng.binomial(4, rate)), 4) for rate in fell]
        found = case_decline(20, 20, counts, Prior(2.85, 0.16))
        noticed = found.noticed(NEEDED)
        late += noticed is None
        first, last = found.began()
        outside += noticed is not None and not first <= start <= last
    assert late <= 4
    assert outside <= 8  # the stretch holds the true start with a chance of 90 %


def test_decline_that_creeps_is_noticed_though_no_single_night_shows_it():
    """Two thousandths a night: 1.0 falls to 0.8 in a hundred nights."""
    rng = np.random.default_rng(20260101)
    rates = np.clip(1.0 - 0.002 * np.maximum(np.arange(200) - 60, 0), 0.8, 1.0)
    for _ in range(10):
        counts = [(int(rng.binomial(4, rate)), 4) for rate in rates]
        assert case_decline(20, 20, counts, Prior(2.85, 0.16)).noticed(NEEDED) is not None


def test_suite_that_loses_five_percent_is_noticed_in_a_week_though_no_case_is():
    rng = np.random.default_rng(20260101)
    for _ in range(10):
        rates, stored, prior = _suite(rng)
        rows = _nights(rng, lambda n, rates=rates: rates * (1.0 if n < 30 else 0.95), 37)
        found = suite_decline(stored, rows, prior)
        assert found.noticed(2 / 0.05) is not None
        first, last = found.began()
        assert first <= 31
        assert last >= 29


def test_case_that_gets_better_is_no_decline():
    found = case_decline(10, 20, [(4, 4)] * 50, DEFAULT_PRIOR)

    assert max(found.log_values) < math.log(2)
