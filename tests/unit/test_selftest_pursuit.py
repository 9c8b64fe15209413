"""A simulated case takes the very trials that a real run would have added."""

from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.adaptive import Pursuit, adding
from seatrial.plan import Trial
from seatrial.records import TrialRecord
from seatrial.stats.evidence import Reference
from seatrial.stats.sequential import Rule
from seatrial.stats.simulation import run_case
from seatrial.verdicts import Verdict

CANDIDATE, LIVE = 0.25, 0.75
"""Pass rates that say here from which list an outcome is taken."""


class Dealt:
    """Deals outcomes from two lists instead of drawing them."""

    def __init__(self, candidate, live):
        self.left = {CANDIDATE: list(candidate), LIVE: list(live)}

    def binomial(self, trials, rate):
        dealt, self.left[rate] = self.left[rate][:trials], self.left[rate][trials:]
        return sum(dealt)


def pursued(candidate, live, stored, rule):
    """Trials of both arms that a run adds up to, given how each of them ends."""
    first = [Trial("case", "new", number) for number in range(1, 5)]
    said = adding(rule, {"case": stored}, baseline="released")
    pursuit = Pursuit(said, first, candidate="new", live="old")
    counts = {"new": 0, "old": 0}
    waiting = pursuit(())
    while waiting:
        ended = []
        for trial in waiting:
            assert isinstance(trial, Trial)
            counts[trial.arm] += 1
            outcome = (candidate if trial.arm == "new" else live)[trial.number - 1]
            verdict = Verdict.PASSED if outcome else Verdict.FAILED
            ended.append(
                TrialRecord(case="case", arm=trial.arm, number=trial.number, verdict=verdict)
            )
        waiting = pursuit(tuple(ended))
    return counts["new"], counts["old"]


outcomes = st.integers(1, 9).flatmap(
    lambda weight: st.lists(st.sampled_from([True] * weight + [False]), min_size=60, max_size=60)
)


@settings(deadline=None, max_examples=60)
@given(outcomes, outcomes, st.sampled_from([(20, 20), (18, 20), (9, 10), (4, 5), (2, 3)]))
def test_simulation_adds_the_trials_that_a_run_adds(candidate, live, stored):
    rule = Rule(cases=8, confirm=6)
    dealt = Dealt(candidate, live)

    ran = run_case(Reference(*stored), rule, CANDIDATE, LIVE, 4, cast(Any, dealt))

    assert (ran.trials, ran.live) == pursued(candidate, live, stored, rule)
