"""How often the gate errs on simulated changes, shortened and with a fixed seed.

The full simulations are in benchmarks/bench_gate_errors.py, their figures in docs/reference/error-rates.md.
"""

import numpy as np
import pytest

from seatrial.documents import Policy
from seatrial.selftest import (
    BAD,
    Subject,
    error_rates,
    foretold,
    invented,
    redrawn,
    ruled,
)
from seatrial.stats.evidence import Reference
from seatrial.stats.sequential import Rule
from seatrial.stats.simulation import draw_rates, run_case
from seatrial.verdicts import Gate

HUNDRED = tuple(Subject(f"case-{n}", True, 20, 20, 4) for n in range(100))
SUITE = tuple(Subject(f"case-{n}", n < 6, 20 - (n % 5 == 0), 20, 4) for n in range(16))


def rates(change, times, subjects=HUNDRED, draw=None, seed=20260101, **how):
    return error_rates(
        subjects,
        draw or invented("mixed", len(subjects), 20),
        change,
        Policy(),
        times,
        np.random.default_rng(seed),
        drawn="mixed",
        **how,
    )


def test_good_changes_of_a_hundred_required_cases_are_rarely_stopped_and_take_540_trials_at_most():
    found = rates("same", 120)

    assert found.closed.times <= 2  # at a wrong red in 200 changes, three or more have chance 0.02
    assert found.trials < 540
    assert found.opened.rate > 0.95


def test_required_case_that_halves_is_found_and_one_that_dies_always():
    halved, dead = rates("one_halved", 120), rates("one_dead", 40)

    assert (
        halved.closed.rate >= 0.87
    )  # 0.934 by exact enumeration; below 105 of 120 has chance 0.01
    assert halved.wrong.times == 120 - halved.closed.times
    assert dead.closed.times == 40


@pytest.mark.parametrize("population", ["clean", "flaky"])
def test_other_populations_are_rarely_stopped_either(population):
    assert rates("same", 40, draw=invented(population, 100, 20)).closed.times <= 1


def test_broken_suites_close_the_gate_whatever_broke():
    for change in BAD:
        found = rates(change, 25, SUITE, foretold(SUITE))
        assert found.closed.times >= 18, change
        assert found.closed_for


def test_one_forbidden_action_always_closes():
    found = rates("one_forbidden", 25, SUITE, foretold(SUITE))

    assert (found.closed.times, found.wrong.times) == (25, 0)
    assert found.closed_for["forbidden_action"] == 25


def test_the_same_seed_gives_the_same_figures_and_another_one_others():
    first = rates("five_weaker", 10, SUITE, foretold(SUITE), seed=1)

    assert rates("five_weaker", 10, SUITE, foretold(SUITE), seed=1) == first
    assert rates("five_weaker", 10, SUITE, foretold(SUITE), seed=2).trials != first.trials


def test_fixed_number_of_trials_is_kept_and_leaves_more_undecided():
    def found(**how):
        return rates("one_halved", 40, SUITE, foretold(SUITE), **how)

    fixed, adaptive = found(adaptive=False), found()

    assert (fixed.trials, fixed.live) == (64, 0)
    assert fixed.undecided.times > adaptive.undecided.times
    assert fixed.closed.times < adaptive.closed.times


def test_without_a_released_arm_beside_it_no_live_trial_is_counted():
    found = rates("one_dead", 10, SUITE, foretold(SUITE), live=False)

    assert (found.live, found.closed.times) == (0, 10)


def test_baseline_drawn_again_leaves_out_what_never_failed():
    situation = redrawn(SUITE)(np.random.default_rng(1))

    assert [situation.stored[n] for n in (1, 2, 3)] == [(20, 20)] * 3
    assert situation.rates[0] == 0.95


def test_stored_baseline_leaves_a_case_that_always_passed_free_to_fail_now_and_then():
    draw, rng = foretold(SUITE), np.random.default_rng(1)
    drawn = [draw(rng) for _ in range(200)]

    assert {s.stored for s in drawn} == {tuple((s.passed, s.trials) for s in SUITE)}
    assert 0.95 < np.mean([s.rates[1] for s in drawn]) < 1.0


def test_the_whole_ruling_is_simulated_not_only_the_rule_of_a_case():
    rng = np.random.default_rng(3)
    found = ruled(SUITE, foretold(SUITE)(rng), "same", Policy(), rng, profile="release")

    kinds = {g.kind for g in found.ruling.grounds}
    assert {"forbidden_none"} < kinds
    assert kinds & {"margin_not_shown", "within_margin"}
    assert found.ruling.profile == "release"
    assert found.ruling.ruling in (Gate.UNDECIDED, Gate.OPEN)


def test_populations_have_the_means_that_their_figures_were_measured_at():
    rng = np.random.default_rng(7)
    means = {p: draw_rates(p, 40_000, rng).mean() for p in ("clean", "mixed", "flaky")}

    assert means == pytest.approx({"clean": 0.996, "mixed": 0.945, "flaky": 0.827}, abs=0.004)


def test_a_case_runs_its_first_batch_and_then_what_the_rule_wants():
    rng = np.random.default_rng(1)
    rule = Rule(cases=8, confirm=6)

    sound = run_case(Reference(20, 20), rule, 1.0, 1.0, 4, rng)
    short = run_case(Reference(20, 20), rule, 1.0, 1.0, 2, rng)
    dead = run_case(Reference(20, 20), rule, 0.0, 1.0, 4, rng)

    assert (sound.trials, sound.live) == (4, 0)
    assert (short.first, short.trials) == (2, 4)
    assert (dead.passed, dead.first, dead.live_passed) == (0, 4, 6)
    assert run_case(Reference(20, 20), rule, 0.5, 1.0, 4, rng, fixed=True).trials == 4
