"""The whole rule on simulated suites, with a fixed seed: how often a good change is stopped, a bad one let through.

The full simulations are in benchmarks/; these are to notice when the rule breaks.
"""

import numpy as np
from tests.sides import side

from seatrial.compare import compare
from seatrial.documents import Policy
from seatrial.gate import rule
from seatrial.verdicts import Gate, Outcome

CASES = 30
NAMES = tuple(f"c{i}" for i in range(CASES))
REQUIRED = NAMES[:20]


def _rates(rng):
    """Half the cases never fail, a quarter rarely, 15 % sometimes, 10 % often: mean 0.945."""
    kind = rng.choice(4, size=CASES, p=[0.5, 0.25, 0.15, 0.10])
    kind[0] = 0
    rates = [np.ones(CASES), rng.beta(38, 1, CASES), rng.beta(18, 2, CASES), rng.beta(6, 3, CASES)]
    return np.choose(kind, rates)


def _trials(rates, n, rng):
    outcomes = rng.random((CASES, n)) < rates[:, None]
    return {
        name: "".join("p" if passed else "f" for passed in row)
        for name, row in zip(NAMES, outcomes, strict=True)
    }


def _compared(before, after, n, rng):
    return compare(
        side(_trials(before, 20, rng), arm="released", required=REQUIRED),
        side(_trials(after, n, rng), required=REQUIRED),
        Policy(),
    )


def test_good_changes_are_rarely_called_worse():
    rng = np.random.default_rng(20260101)
    rulings = []
    for _ in range(60):
        rates = _rates(rng)
        rulings.append(rule(_compared(rates, rates, 5, rng)).ruling)

    assert rulings.count(Gate.CLOSED) <= 2


def test_required_case_that_dies_always_closes_the_gate():
    rng = np.random.default_rng(20260101)
    for _ in range(25):
        rates = _rates(rng)
        broken = rates.copy()
        broken[0] = 0.0
        comparison = _compared(rates, broken, 4, rng)
        assert comparison.cases[0].outcome is Outcome.REGRESSED
        assert rule(comparison).ruling is Gate.CLOSED


def test_required_case_that_halves_is_hardly_ever_let_through():
    """With 4 trials the gate cannot prove it; it does not open either, except for the β of the screen."""
    rng = np.random.default_rng(20260101)
    opened = closed = 0
    for _ in range(80):
        rates = np.ones(CASES)
        broken = rates.copy()
        broken[0] = 0.5
        ruling = rule(_compared(rates, broken, 4, rng)).ruling
        opened += ruling is Gate.OPEN
        closed += ruling is Gate.CLOSED
    assert opened / 80 <= 0.125  # β = 0.10, here 1/16 by the chance of 4 passes
    assert closed > 0


def test_small_suite_of_a_flaky_agent_against_itself_is_never_closed():
    """Two trials against two, the least that anyone records."""
    rng = np.random.default_rng(20260101)
    for _ in range(25):
        rates = rng.beta(2, 2, CASES)
        baseline = side(_trials(rates, 2, rng), arm="released", required=REQUIRED)
        candidate = side(_trials(rates, 2, rng), required=REQUIRED)
        assert rule(compare(baseline, candidate, Policy())).ruling is Gate.UNDECIDED
