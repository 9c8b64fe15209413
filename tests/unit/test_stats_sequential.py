"""The rule for one required case: its decisions, and how often it is wrong over a whole suite."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from seatrial.stats.evidence import Prior, Reference, fit_prior
from seatrial.stats.sequential import Counts, Decision, Rule, decide, screen_size
from seatrial.verdicts import Outcome

EIGHT = Rule(cases=8)
"""Eight required cases, no live baseline: called regressed at 1 : 800."""
LIVE = Rule(cases=8, confirm=6)


def counts(passed, failed, base=(20, 20), live=(0, 0)):
    return Counts(passed, failed, Reference(base[0], base[1], live_passed=live[0], live=live[1]))


@pytest.mark.parametrize(
    ("beta", "drop", "trials"),
    [
        (0.10, 0.5, 4),
        (0.05, 0.5, 5),
        (0.125, 0.5, 3),
        (0.10, 0.2, 11),
        (0.25, 0.5, 2),
        (0.1, 1.0, 1),
    ],
)
def test_screen_is_as_long_as_the_wanted_power_needs(beta, drop, trials):
    assert screen_size(beta, drop) == trials


def test_clean_screen_clears_the_case():
    decision = decide(counts(4, 0), EIGHT)

    assert (decision.outcome, decision.over) == (Outcome.UNCHANGED, True)
    assert decision.why == "a drop of 0.5 or more is ruled out"


def test_fewer_trials_than_the_screen_are_not_enough_although_all_passed():
    decision = decide(counts(3, 0), EIGHT)

    assert (decision.outcome, decision.candidate) == (None, 1)


def test_strong_evidence_is_called_regressed_before_the_screen_is_full():
    assert decide(counts(0, 3), EIGHT).outcome is Outcome.REGRESSED
    assert decide(counts(0, 2), EIGHT).outcome is None


def test_one_failure_is_suspicious_and_not_a_verdict():
    decision = decide(counts(3, 1), EIGHT)

    assert (decision.outcome, decision.candidate, decision.live) == (None, 3, 0)
    assert not decision.over


@pytest.mark.parametrize(
    ("passed", "failed", "base"),
    [(3, 1, (20, 20)), (2, 2, (20, 20)), (7, 3, (19, 20)), (5, 1, (9, 10)), (2, 2, (13, 20))],
)
def test_no_smaller_number_than_the_wanted_one_could_settle_a_suspicious_case(passed, failed, base):
    wanted = decide(counts(passed, failed, base), EIGHT).candidate

    settled = [
        more
        for more in range(1, wanted + 1)
        if any(
            decide(counts(passed + won, failed + more - won, base), EIGHT).outcome is not None
            for won in range(more + 1)
        )
    ]

    assert settled == [wanted]


def test_case_that_no_number_of_trials_up_to_the_cap_can_settle_is_given_up_at_once():
    decision = decide(counts(15, 15, (5, 5)), EIGHT)

    assert (decision.outcome, decision.lacks) == (Outcome.UNDECIDED, "cap")
    assert decision.why == "40 trials could not settle it"


def test_suspicious_case_is_cleared_by_enough_passes():
    assert decide(counts(7, 1), EIGHT).outcome is None
    assert decide(counts(10, 1), EIGHT).outcome is Outcome.UNCHANGED


@pytest.mark.parametrize(
    ("passed", "failed", "cleared"),
    [(4, 0, True), (3, 1, False), (6, 1, True), (6, 2, False), (8, 2, True), (7, 3, False),
     (17, 3, True), (14, 6, False)],
)  # fmt: skip
def test_number_of_trials_set_beforehand_tolerates_a_few_failures(passed, failed, cleared):
    """So few are unlikely after a drop by one half, and the evidence against the candidate is weak."""
    decision = decide(replace(counts(passed, failed), fixed=True), EIGHT)

    assert (decision.outcome is Outcome.UNCHANGED) == cleared


def test_fixed_number_that_was_too_small_says_how_many_could_tell():
    def wanted(passed, failed):
        return decide(replace(counts(passed, failed), fixed=True), EIGHT).candidate

    assert (wanted(3, 1), wanted(1, 1), wanted(3, 2)) == (3, 5, 4)


def test_trials_set_beforehand_clear_a_case_that_halved_with_at_most_the_chance_beta():
    for trials in range(4, 31):
        chances = binom.pmf(np.arange(trials + 1), trials, 0.5)
        let_through = sum(
            chance
            for failed, chance in enumerate(chances)
            if decide(replace(counts(trials - failed, failed), fixed=True), EIGHT).outcome
            is Outcome.UNCHANGED
        )
        assert let_through <= EIGHT.beta


def test_the_cap_ends_what_more_trials_did_not_decide():
    decision = decide(counts(30, 10), EIGHT)

    assert (decision.outcome, decision.over) == (Outcome.UNDECIDED, True)
    assert decision.why == "still open after 40 trials"


@pytest.mark.parametrize("base", [(1, 1), (4, 4)])
def test_small_baseline_never_calls_a_case_regressed(base):
    decision = decide(counts(0, 30, base), EIGHT)

    assert decision.outcome is Outcome.UNDECIDED
    assert decision.evidence is None
    assert decision.why == f"the baseline has only {base[1]} valid trial" + "s" * (base[1] > 1)


def test_clean_screen_clears_even_against_a_small_baseline():
    # Passing 4 of 4 has chance 1/16 after a drop of one half, whatever it fell from.
    assert decide(counts(4, 0, (1, 2)), EIGHT).outcome is Outcome.UNCHANGED


def test_without_any_baseline_nothing_is_said():
    decision = decide(counts(4, 0, (0, 0)), EIGHT)

    assert (decision.outcome, decision.why) == (Outcome.UNDECIDED, "nothing to compare with")
    assert decide(counts(4, 0, (0, 0)), LIVE) == decision


def test_case_that_always_failed_cannot_have_dropped():
    assert decide(counts(0, 4, (0, 20)), EIGHT).outcome is Outcome.UNCHANGED


def test_forbidden_action_wants_no_further_trials():
    decision = decide(replace(counts(3, 1), forbidden=True), EIGHT)

    assert (decision.outcome, decision.over) == (None, True)


def test_one_failure_against_a_good_baseline_needs_no_live_trials():
    assert decide(counts(3, 1), LIVE).live == 0


def test_baseline_is_topped_up_in_step_once_the_evidence_mounts():
    def wanted(decision):
        return decision.candidate, decision.live

    assert wanted(decide(counts(2, 2), LIVE)) == (2, 2)
    assert wanted(decide(counts(4, 3, live=(2, 2)), LIVE)) == (2, 3)
    assert decide(counts(6, 4, (39, 40)), LIVE).live == 0


def test_thin_baseline_is_topped_up_at_the_first_failure():
    for base in ((2, 2), (0, 0), (9, 9)):
        decision = decide(counts(3, 1, base), LIVE)
        assert decision.live >= max(decision.candidate, 5 - base[1])


def test_strong_evidence_waits_for_the_live_baseline():
    decision = decide(counts(0, 4, live=(2, 2)), LIVE)

    assert (decision.outcome, decision.candidate, decision.live) == (None, 0, 4)


def test_live_baseline_that_still_passes_confirms_the_regression():
    assert decide(counts(0, 4, live=(6, 6)), LIVE).outcome is Outcome.REGRESSED


def test_live_baseline_that_fails_as_well_shows_a_stale_baseline():
    decision = decide(counts(0, 8, live=(1, 6)), LIVE)

    assert (decision.outcome, decision.lacks) == (Outcome.UNDECIDED, "fresh_baseline")


def test_live_baseline_that_fails_a_little_does_not_confirm():
    decision = decide(counts(3, 7, (30, 40), live=(3, 6)), replace(LIVE, cases=1, alpha=0.2))

    assert (decision.outcome, decision.lacks) == (Outcome.UNDECIDED, "confirmation")
    assert decision.why == "live baseline trials do not confirm it"


def test_stale_baseline_is_noticed_before_the_evidence_is_strong():
    """Both arms fail half of the time: against both records together that is never strong evidence."""
    decision = decide(counts(5, 5, live=(4, 8)), LIVE)

    assert (decision.outcome, decision.lacks) == (Outcome.UNDECIDED, "fresh_baseline")
    assert decide(counts(5, 5, live=(7, 8)), LIVE).outcome is None
    assert decide(counts(13, 1, live=(4, 8)), LIVE).outcome is Outcome.UNCHANGED


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 20), st.integers(0, 20))
def test_one_more_failure_never_takes_back_a_regression(s, f, c, missed):
    if decide(counts(s, f, (c, c + missed)), EIGHT).outcome is Outcome.REGRESSED:
        assert decide(counts(s, f + 1, (c, c + missed)), EIGHT).outcome is Outcome.REGRESSED


@given(
    st.integers(0, 40), st.integers(0, 40), st.integers(0, 20), st.integers(0, 20), st.booleans()
)
def test_a_decision_is_an_outcome_or_a_wish_and_never_both(s, f, c, missed, live):
    decision: Decision = decide(counts(s, f, (c, c + missed)), LIVE if live else EIGHT)

    assert (decision.outcome is None) == (not decision.over)


# How often the rule is wrong over a suite of 100 required cases; the full simulations are in benchmarks/.

CASES = 100


def _suite(rng):
    """Half the cases never fail, a quarter rarely, 15 % sometimes, 10 % often: mean 0.945."""
    kind = rng.choice(4, size=CASES, p=[0.5, 0.25, 0.15, 0.10])
    rates = [np.ones(CASES), rng.beta(38, 1, CASES), rng.beta(18, 2, CASES), rng.beta(6, 3, CASES)]
    return np.choose(kind, rates)


def _run(base_rate, rate, ledger, rule, rng) -> tuple[Decision, int]:
    """Ask, run what is wanted, ask again, until nothing is wanted; also the trials it took."""
    passed = failed = live = live_passed = 0
    while True:
        state = Counts(passed, failed, Reference(ledger, 20, live_passed, live))
        decision = decide(state, rule)
        if decision.over:
            return decision, passed + failed + live
        fresh = int(rng.binomial(decision.candidate, rate))
        passed, failed = passed + fresh, failed + decision.candidate - fresh
        live_passed += int(rng.binomial(decision.live, base_rate))
        live += decision.live


def test_good_changes_are_rarely_stopped_and_cost_little_more_than_the_screen():
    rng = np.random.default_rng(20260101)
    changes, stopped, trials = 60, 0, 0
    for _ in range(changes):
        rates = _suite(rng)
        ledger = rng.binomial(20, rates)
        rule = Rule(cases=CASES, confirm=6, prior=fit_prior([(int(c), 20) for c in ledger]))
        ran = [_run(p, p, int(c), rule, rng) for p, c in zip(rates, ledger, strict=True)]
        stopped += any(d.outcome is Outcome.REGRESSED for d, _ in ran)
        trials += sum(n for _, n in ran)
    assert stopped <= 2
    assert trials / changes < 540


def test_a_case_that_dies_is_always_found_and_one_that_halves_nearly_always():
    rng = np.random.default_rng(20260101)
    rule = Rule(cases=CASES, confirm=6, prior=Prior(2.85, 0.16))
    died = [_run(1.0, 0.0, 20, rule, rng)[0].outcome for _ in range(200)]
    halved = [_run(1.0, 0.5, 20, rule, rng)[0].outcome for _ in range(600)]

    assert died == [Outcome.REGRESSED] * 200
    assert halved.count(Outcome.REGRESSED) / 600 > 0.90


def test_world_that_changed_under_both_arms_is_never_held_against_the_candidate():
    """Ten of 100 cases halve for the release as well: somebody has to record the baseline again."""
    rng = np.random.default_rng(20260101)
    for _ in range(25):
        rates = _suite(rng)
        ledger = rng.binomial(20, rates)
        now = rates.copy()
        now[rng.permutation(CASES)[:10]] *= 0.5
        rule = Rule(cases=CASES, confirm=6, prior=fit_prior([(int(c), 20) for c in ledger]))
        ran = [_run(p, p, int(c), rule, rng)[0] for p, c in zip(now, ledger, strict=True)]
        assert "fresh_baseline" in {d.lacks for d in ran}
