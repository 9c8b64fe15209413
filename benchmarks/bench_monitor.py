"""How soon `seatrial monitor` notices a slow decline, and how often it raises a false alarm in a year of nights.

python benchmarks/bench_monitor.py          a short run
python benchmarks/bench_monitor.py --full   the figures of docs/how-to/watch-for-slow-declines.md (ten minutes)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from seatrial.stats.evidence import Prior, fit_prior
from seatrial.stats.intervals import clopper_pearson
from seatrial.stats.monitoring import case_decline, suite_decline
from seatrial.stats.simulation import Population, draw_rates

CASES = 20
STORED = 20
ALPHA = 0.05
NEEDED_CASE, NEEDED_SUITE = 2 * CASES / ALPHA, 2 / ALPHA
NEVER = 10_000


def release(
    population: Population, rng: Generator
) -> tuple[np.ndarray, list[tuple[int, int]], Prior]:
    rates = draw_rates(population, CASES, rng)
    rates[0] = 1.0
    stored = [(int(c), STORED) for c in rng.binomial(STORED, rates)]
    return rates, stored, fit_prior(stored)


def false_alarms(population: Population, trials: int, years: int, rng: Generator) -> None:
    alarms = 0
    for _ in range(years):
        rates, stored, prior = release(population, rng)
        nights = [[(int(c), trials) for c in rng.binomial(trials, rates)] for _ in range(365)]
        cases = (
            case_decline(*stored[c], [night[c] for night in nights], prior).noticed(NEEDED_CASE)
            for c in range(CASES)
        )
        together = suite_decline(stored, nights, prior).noticed(NEEDED_SUITE)
        alarms += together is not None or any(n is not None for n in cases)
    low, high = clopper_pearson(alarms, years)
    print(
        f"{population}, {trials} trials a night: {alarms} of {years} years with a false alarm "
        f"[{100 * low:.1f}, {100 * high:.1f}] %",
        flush=True,
    )


def delay_of_case(
    name: str, rate: Callable[[int], float], start: int, trials: int, times: int, rng: Generator
) -> None:
    delays, inside = [], 0
    for _ in range(times):
        _, _, prior = release("mixed", rng)
        nights = [(int(rng.binomial(trials, rate(n))), trials) for n in range(start + 120)]
        found = case_decline(STORED, STORED, nights, prior)
        noticed = found.noticed(NEEDED_CASE)
        delays.append(NEVER if noticed is None else noticed - start + 1)
        first, last = found.began()
        inside += first <= start <= last
    told(f"{name} from night {start} on, {trials} trials a night", delays, inside / times)


def delay_of_suite(lost: float, start: int, trials: int, times: int, rng: Generator) -> None:
    delays, inside = [], 0
    for _ in range(times):
        rates, stored, prior = release("mixed", rng)
        nights = [
            [(int(c), trials) for c in rng.binomial(trials, rates * (1 - lost * (n >= start)))]
            for n in range(start + 120)
        ]
        found = suite_decline(stored, nights, prior)
        noticed = found.noticed(NEEDED_SUITE)
        delays.append(NEVER if noticed is None else noticed - start + 1)
        first, last = found.began()
        inside += first <= start <= last
    told(
        f"all {CASES} cases lose {100 * lost:g} % from night {start} on, {trials} trials a night",
        delays,
        inside / times,
    )


def told(name: str, delays: list[int], inside: float) -> None:
    nights = np.array(delays)
    within = ", ".join(
        f"{share} % within {'never' if (q := int(np.quantile(nights, share / 100, method='higher'))) == NEVER else q}"
        for share in (50, 90)
    )
    print(
        f"{name}: {within} nights; the stretch told holds the start in {100 * inside:.0f} %",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args()
    rng = np.random.default_rng(20260101)
    years, times = (200, 300) if given.full else (6, 30)
    for start in (30, 120):
        for trials in (2, 4):
            delay_of_case(
                "1.0 → 0.8", lambda n, s=start: 1.0 if n < s else 0.8, start, trials, times, rng
            )
    delay_of_case("1.0 → 0.9", lambda n: 1.0 if n < 120 else 0.9, 120, 4, times, rng)
    delay_of_case("1.0 → 0.5", lambda n: 1.0 if n < 30 else 0.5, 30, 4, times, rng)
    delay_of_case("1.0 → 0.8", lambda n: 1.0 if n < 5 else 0.8, 5, 4, times, rng)
    creeping = lambda n: 1.0 - min(0.2, 0.002 * max(0, n - 60))  # noqa: E731
    delay_of_case("1.0 → 0.8 by 0.002 a night", creeping, 60, 4, times, rng)
    for lost in (0.02, 0.05, 0.1):
        delay_of_suite(lost, 30, 4, times, rng)
    for population in ("clean", "mixed", "flaky"):
        false_alarms(population, 4, years, rng)


if __name__ == "__main__":
    main()
