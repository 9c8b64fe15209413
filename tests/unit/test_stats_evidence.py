"""One case against its baseline: reference values and laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import beta as beta_function
from scipy.special import betainc, betaln
from scipy.stats import betabinom

from seatrial.stats.evidence import (
    DEFAULT_PRIOR,
    Prior,
    Reference,
    clear_ratio,
    drift_p,
    e_value,
    fit_prior,
    log_e_value,
    predictive_p,
    probability_worse,
)


@pytest.mark.parametrize(
    ("passed", "failed", "base", "evidence", "clear"),
    [
        (4, 0, (20, 20), 0.0807984, 16.7759),
        (3, 0, (20, 20), 0.126763, 8.28401),
        (0, 1, (20, 20), 55.1, None),
        (0, 2, (20, 20), 723.59, None),
        (0, 3, (20, 20), 6014.27, None),
        (2, 3, (20, 20), 512.597, None),
        (2, 4, (20, 20), 2538.31, None),
        (4, 0, (5, 5), 0.0776642, 18.6915),
        (1, 4, (5, 5), 210.875, None),
        (8, 2, (18, 20), 0.250159, 15.1277),
        (3, 7, (18, 20), 379.72, None),
    ],
)
def test_evidence_has_its_reference_values(passed, failed, base, evidence, clear):
    reference = Reference(*base)

    assert e_value(passed, failed, reference, DEFAULT_PRIOR) == pytest.approx(evidence, rel=1e-5)
    if clear is not None:
        found = clear_ratio(passed, failed, reference, DEFAULT_PRIOR, 0.5)
        assert found == pytest.approx(clear, rel=1e-5)


@pytest.mark.parametrize(
    ("failed", "trials", "base", "p"),
    [(2, 4, (20, 20), 0.0030694906), (3, 10, (20, 20), 0.0033727990),
     (3, 4, (5, 5), 0.0032892839), (5, 10, (18, 20), 0.0089673753)],
)  # fmt: skip
def test_predictive_p_has_its_reference_values(failed, trials, base, p):
    found = predictive_p(trials - failed, failed, Reference(*base), DEFAULT_PRIOR)

    assert found == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize(
    ("base", "passed", "trials", "chance"),
    [((5, 5), 2, 5, 0.985115), ((5, 5), 1, 5, 0.997112), ((10, 10), 6, 10, 0.991747),
     ((9, 10), 5, 10, 0.976826), ((20, 20), 3, 5, 0.995553), ((3, 3), 0, 3, 0.995695)],
)  # fmt: skip
def test_probability_worse_has_its_reference_values(base, passed, trials, chance):
    found = probability_worse(passed, trials - passed, base[0], base[1] - base[0])

    # The reference comes from a grid that loses a little at a rate of 1; the integral below does not.
    assert found == pytest.approx(chance, abs=1e-4)
    assert found == pytest.approx(_probability_worse(base, passed, trials), abs=1e-8)


def _probability_worse(base, passed, trials):
    """∫ density of the baseline's rate · P(candidate's rate below it), with rate = sin² t."""
    a0, b0 = base[0] + 0.5, base[1] - base[0] + 0.5

    def density(t):
        below = betainc(passed + 0.5, trials - passed + 0.5, math.sin(t) ** 2)
        weight = 2 * math.sin(t) ** (2 * a0 - 1) * math.cos(t) ** (2 * b0 - 1)
        return weight * below / beta_function(a0, b0)

    return quad(density, 0, math.pi / 2, epsabs=1e-12)[0]


def test_probability_worse_of_equal_counts_is_one_half():
    assert probability_worse(3, 2, 3, 2) == pytest.approx(0.5, abs=1e-7)


@given(
    st.integers(0, 20), st.integers(0, 20), st.integers(0, 40), st.integers(0, 40)
)  # fmt: skip
def test_one_more_failure_never_weakens_the_evidence_against_the_candidate(s, f, c, missed):
    reference = Reference(c, c + missed)

    before = log_e_value(s, f, reference, DEFAULT_PRIOR)

    assert log_e_value(s, f + 1, reference, DEFAULT_PRIOR) >= before - 1e-9
    assert log_e_value(s + 1, f, reference, DEFAULT_PRIOR) <= before + 1e-9


def test_expected_evidence_under_no_change_is_at_most_one():
    """Ville's inequality rests on this: summed over all candidates that the prior foretells."""
    for c, n in ((20, 20), (5, 5), (0, 6), (3, 4)):
        for trials in (1, 4, 12):
            chances = betabinom.pmf(
                np.arange(trials + 1), trials, DEFAULT_PRIOR.a + c, DEFAULT_PRIOR.b + n - c
            )
            mean = sum(
                chance * e_value(s, trials - s, Reference(c, n), DEFAULT_PRIOR)
                for s, chance in enumerate(chances)
            )
            assert mean == pytest.approx(1.0, abs=1e-9)


def test_live_trials_count_as_baseline_but_do_not_move_the_alternative():
    stored, topped_up = Reference(18, 20), Reference(18, 20, live_passed=2, live=2)

    moved = log_e_value(0, 3, topped_up, DEFAULT_PRIOR) - log_e_value(0, 3, stored, DEFAULT_PRIOR)

    predicted = betaln(20.5, 2.25 + 3) - betaln(20.5, 2.25)
    predicted -= betaln(22.5, 2.25 + 3) - betaln(22.5, 2.25)
    assert moved == pytest.approx(float(predicted))


def test_a_thousand_passes_are_no_evidence_and_no_overflow():
    assert e_value(1000, 0, Reference(20, 20), DEFAULT_PRIOR) < 1e-100
    assert 1e200 < e_value(0, 5000, Reference(5000, 5000), DEFAULT_PRIOR) < math.inf


def test_drift_is_a_live_baseline_that_fails_where_the_stored_one_passed():
    assert drift_p(Reference(20, 20, live_passed=6, live=6), DEFAULT_PRIOR) == pytest.approx(1.0)
    assert drift_p(Reference(20, 20, live_passed=2, live=6), DEFAULT_PRIOR) < 0.005


def test_prior_stays_near_the_default_where_little_is_known():
    assert fit_prior([]) == DEFAULT_PRIOR
    assert fit_prior([(0, 0)]) == DEFAULT_PRIOR

    one = fit_prior([(5, 5)])

    assert 2.0 < one.a < 4.0
    assert 0.1 < one.b < 0.3


def test_prior_learns_how_flaky_the_suite_is():
    rng = np.random.default_rng(20260101)
    rates = rng.beta(6, 2, 400)
    fitted = fit_prior([(int(c), 20) for c in rng.binomial(20, rates)])

    assert fitted.a == pytest.approx(6, rel=0.25)
    assert fitted.b == pytest.approx(2, rel=0.25)


def test_prior_does_not_depend_on_the_order_of_cases():
    tallies = [(20, 20), (18, 20), (5, 5), (0, 20), (20, 20)]

    assert fit_prior(tallies) == fit_prior(tallies[::-1])


def test_prior_maximises_its_own_likelihood():
    tallies = [(20, 20)] * 6 + [(17, 20), (12, 20), (19, 20)]

    def loss(prior: Prior) -> float:
        fit = sum(betabinom.logpmf(c, n, prior.a, prior.b) for c, n in tallies)
        pull = math.log(prior.a / 2.5) ** 2 + math.log(prior.b / 0.25) ** 2
        return pull / 2 - float(fit)

    best = fit_prior(tallies)

    for step in (0.98, 1.02):
        assert loss(best) < loss(Prior(best.a * step, best.b))
        assert loss(best) < loss(Prior(best.a, best.b * step))
