"""Trials drawn at random: what the rules do to agents whose true pass rates are known.

Every function that draws is handed its generator, so that the same seed gives the same figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from seatrial.stats.evidence import Reference
from seatrial.stats.sequential import Counts, Rule, decide

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    Rates = np.ndarray[tuple[int], np.dtype[np.float64]]
    """True pass rates, one a case."""

Population = Literal["clean", "mixed", "flaky"]

POPULATIONS: dict[Population, tuple[tuple[float, float, float | None], ...]] = {
    "clean": ((0.80, 1.0, None), (0.20, 0.98, None)),
    "mixed": ((0.50, 1.0, None), (0.25, 38.0, 1.0), (0.15, 18.0, 2.0), (0.10, 6.0, 3.0)),
    "flaky": ((0.20, 1.0, None), (0.40, 18.0, 2.0), (0.40, 6.0, 3.0)),
}
"""Invented suites as mixtures of (share, a, b): pass rates from Beta(a, b), or all equal to a where b is None.
Their means are 0.996, 0.945 and 0.83."""


def draw_rates(population: Population, cases: int, rng: Generator) -> Rates:
    """True pass rates of the cases of an invented suite."""
    import numpy as np

    components = POPULATIONS[population]
    chosen = rng.choice(len(components), size=cases, p=[share for share, _, _ in components])
    rates = np.empty(cases)
    for place, (_, a, b) in enumerate(components):
        own = chosen == place
        rates[own] = a if b is None else rng.beta(a, b, size=int(own.sum()))
    return rates


@dataclass(frozen=True, slots=True)
class Ran:
    """The trials of one case, as a run would have counted them."""

    first_passed: int
    first: int
    """Candidate trials of the first batch, planned before any had run."""
    passed: int
    trials: int
    """All candidate trials."""
    live_passed: int = 0
    live: int = 0
    """Baseline trials beside them."""


def run_case(
    reference: Reference,
    rule: Rule,
    rate: float,
    base_rate: float,
    first: int,
    rng: Generator,
    *,
    fixed: bool = False,
) -> Ran:
    """Run one case until the rule wants no further trial.

    Args:
        reference: the stored baseline trials.
        rule: the rule; with `confirm` 0 no live baseline trial is run.
        rate: the candidate's true pass rate.
        base_rate: the release's, by which live baseline trials fall.
        first: candidate trials of the first batch.
        rng: draws the trials.
        fixed: run the first batch and nothing else.
    """
    first_passed = passed = _draw(first, rate, rng)
    trials, live_passed, live = first, 0, 0
    while not fixed:
        known = Reference(reference.passed, reference.trials, live_passed, live)
        decision = decide(Counts(passed, trials - passed, known), rule)
        if decision.over:
            break
        passed += _draw(decision.candidate, rate, rng)
        trials += decision.candidate
        live_passed += _draw(decision.live, base_rate, rng)
        live += decision.live
    return Ran(first_passed, first, passed, trials, live_passed, live)


def _draw(trials: int, rate: float, rng: Generator) -> int:
    return int(rng.binomial(trials, rate)) if trials else 0
