"""What a number of trials sees, against brute force, simulation and the figures of published formulas."""

from itertools import product
from math import prod

import numpy as np
import pytest
from scipy.stats import binom

from seatrial.stats.evidence import DEFAULT_PRIOR, Prior, Reference
from seatrial.stats.power import case_power, courses, fixed_power, good_change, mean_power
from seatrial.stats.sequential import Counts, Rule, decide
from seatrial.stats.simulation import run_case
from seatrial.verdicts import Outcome

LIVE = Rule(cases=8, confirm=6)
SHORT = Rule(cases=1, alpha=0.05, cap=8)
"""Ends soon enough for every sequence of its trials to be followed one by one."""


def test_a_course_is_what_following_every_sequence_of_trials_one_by_one_gives():
    reference, rate = Reference(9, 10), 0.7
    regressed = unchanged = trials = 0.0
    for sequence in product((True, False), repeat=SHORT.cap):
        run = 4
        while True:
            passed = sum(sequence[:run])
            decision = decide(Counts(passed, run - passed, reference), SHORT)
            if decision.over:
                break
            run += decision.candidate
        chance = prod(rate if won else 1 - rate for won in sequence)
        regressed += chance * (decision.outcome is Outcome.REGRESSED)
        unchanged += chance * (decision.outcome is Outcome.UNCHANGED)
        trials += chance * run

    (found,) = courses(reference, SHORT, [(rate, 1.0)], 4)

    assert (found.regressed, found.unchanged, found.trials) == pytest.approx(
        (regressed, unchanged, trials)
    )
    assert 0 < found.undecided < 1


def test_a_course_with_live_trials_agrees_with_many_simulated_ones():
    rng = np.random.default_rng(20260101)
    (exact,) = courses(Reference(20, 20), LIVE, [(0.5, 0.97)], 4)
    ran = [run_case(Reference(20, 20), LIVE, 0.5, 0.97, 4, rng) for _ in range(3000)]

    assert np.mean([r.trials for r in ran]) == pytest.approx(exact.candidate, rel=0.03)
    assert np.mean([r.live for r in ran]) == pytest.approx(exact.live, rel=0.04)
    cleared = np.mean(
        [
            decide(
                Counts(r.passed, r.trials - r.passed, Reference(20, 20, r.live_passed, r.live)),
                LIVE,
            ).outcome
            is Outcome.UNCHANGED
            for r in ran
        ]
    )
    assert cleared == pytest.approx(exact.unchanged, abs=0.015)


@pytest.mark.parametrize(
    ("stored", "prior"),
    [(20, DEFAULT_PRIOR), (20, Prior(2.85, 0.16)), (40, Prior(2.85, 0.16)), (5, Prior(2.85, 0.16))],
)
def test_required_case_that_halves_among_a_hundred_is_found_as_often_as_four_trials_allow(
    stored, prior
):
    rule = Rule(cases=100, confirm=6, prior=prior)
    halved, dead = courses(Reference(stored, stored), rule, [(0.5, 1.0), (0.0, 1.0)], 4)

    assert 0.93 <= halved.regressed <= 1 - 0.5**4
    assert dead.regressed == pytest.approx(1.0)


def test_case_that_never_fails_takes_its_screen_and_nothing_more():
    (found,) = courses(Reference(20, 20), LIVE, [(1.0, 1.0)], 4)

    assert (found.regressed, found.unchanged, found.candidate, found.live) == (0, 1, 4, 0)


def test_good_change_of_a_flaking_case_costs_more_than_one_of_a_steady_case():
    steady, flaking = (good_change(Reference(c, 20), LIVE, 4) for c in (20, 17))

    assert 4 < steady.trials < 5 < flaking.trials < 8
    assert steady.regressed < flaking.regressed < 1e-3


def test_case_power_names_the_smallest_drop_that_is_seen_with_a_chance():
    power = case_power(Reference(20, 20), LIVE, 4)

    assert power.rate == pytest.approx(22.5 / 22.75)
    assert power.drops[0.5] == pytest.approx(0.93, abs=0.02)
    assert power.seen(0.9) == pytest.approx(0.5, abs=0.051)
    assert power.seen(1.1) is None
    assert list(power.drops.values()) == sorted(power.drops.values())


@pytest.mark.parametrize(
    ("trials", "cleared", "closed"), [(4, 0.81, 0.31), (7, 0.96, 0.50), (10, 0.99, 0.62)]
)
def test_fixed_numbers_are_those_of_the_page_on_verdicts(trials, cleared, closed):
    """docs/concepts/verdicts.md: 8 required cases, 20 of 20; at 0.95, and halved."""
    same, halved = courses(
        Reference(20, 20), Rule(cases=8), [(0.95, 1.0), (0.5, 1.0)], trials, fixed=True
    )

    assert round(same.unchanged, 2) == cleared
    assert round(halved.regressed, 2) == closed


def test_fixed_power_is_the_average_over_the_cases():
    steady, flaking = Reference(20, 20), Reference(15, 20)
    alone = [fixed_power([reference], LIVE, 10) for reference in (steady, flaking)]

    both = fixed_power([steady, steady, flaking], LIVE, 10)

    assert both.closes == pytest.approx((2 * alone[0].closes + alone[1].closes) / 3)
    assert both.cleared == pytest.approx((2 * alone[0].cleared + alone[1].cleared) / 3)
    assert alone[0].closes > alone[1].closes
    # Two failures of ten are forgiven: that many after a drop to 0.484 have this chance.
    assert alone[0].let_through == pytest.approx(float(binom.cdf(2, 10, 1 - 0.489)), abs=0.01)


def test_margin_is_proved_with_the_number_of_trials_that_the_published_formula_gives():
    """1/k = m·δ²/((z + z)²·v) - 1/n0, with v the mean of p(1 - p)."""
    reference, prior = Reference(19, 20), Prior(1e-9, 1e-9)
    spread = 19 * 1 / (20 * 21)
    z = 1.6448536269514722 + 1.2815515655446004
    k = 1 / (100 * 0.05**2 / (z**2 * spread) - 1 / 20)

    found = mean_power([(reference, 4)] * 100, prior, alpha=0.01, beta=0.1, margin=0.05)

    error_at_4 = z * (spread * (1 / 20 + 1 / 4) / 100) ** 0.5
    assert found.proved == pytest.approx(error_at_4)
    assert error_at_4 == pytest.approx(0.05 * ((1 / 20 + 1 / 4) / (1 / 20 + 1 / k)) ** 0.5)
    assert found.trials == 400


def test_drop_that_is_seen_reaches_beyond_the_margin_and_shrinks_with_more_trials():
    def seen(trials):
        cases = [(Reference(19, 20), trials)] * 50
        return mean_power(cases, DEFAULT_PRIOR, alpha=0.01, beta=0.1, margin=0.05).seen

    assert seen(1) > seen(4) > seen(20) > 0.05


def test_no_margin_below_three_in_all_trials_is_promised_where_nothing_fails():
    cases = [(Reference(40, 40), 4)] * 10
    found = mean_power(cases, Prior(100.0, 0.05), alpha=0.01, beta=0.1, margin=0.05)

    assert found.proved == pytest.approx(3 / 40, rel=0.01)
