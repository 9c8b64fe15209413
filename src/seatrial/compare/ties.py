"""Cases that must tie: what the change cannot touch shall come out the same under both arms.

Each of them is asked how surprising its trials are under the release's record, either way, and the false
discovery rate is held at 5 % over all of them. Together they are asked whether their mean moved.
"""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.compare.judging import FALSE_DISCOVERIES, Contest
from seatrial.compare.matching import Entry
from seatrial.compare.model import Tie, Ties
from seatrial.compare.suite import pairs
from seatrial.stats.evidence import Reference, predictive_p, predictive_p_better
from seatrial.stats.multiple import discoveries
from seatrial.stats.paired import conditional_test, drop, significant
from seatrial.stats.sequential import Rule

TOGETHER = 0.05
"""Chance of calling their mean moved where nothing changed."""


def ties(matched: Sequence[Entry], contests: Sequence[Contest], rule: Rule) -> Ties | None:
    """What became of the cases that must tie; None where the suite declares none.

    Args:
        matched: the cases.
        contests: those that are judged.
        rule: with the prior of the baseline side.
    """
    declared = [e.facts.case for e in matched if e.facts.must_tie and not e.removed]
    if not declared:
        return None
    contested = {c.case: c for c in contests}
    p_values = {case: _either_way(contested[case], rule) for case in declared if case in contested}
    tested = {case: p for case, p in p_values.items() if p is not None}
    listed = discoveries(list(tested.values()), FALSE_DISCOVERIES)
    moved = {case for case, found in zip(tested, listed, strict=True) if found}
    compared = pairs([contested[case] for case in p_values])
    down, up = drop(compared), drop([pair.swapped() for pair in compared])
    together = (
        min(
            1.0,
            2 * min(conditional_test(compared).mid_p,
                    conditional_test([pair.swapped() for pair in compared]).mid_p),
        )
        if compared
        else None
    )  # fmt: skip
    return Ties(
        cases=tuple(Tie(case=c, p=tested.get(c), moved=c in moved) for c in declared),
        p_together=together,
        moved_together=together is not None and significant(together, TOGETHER),
        drop=down.drop if down else None,
        hidden=max(down.provable, up.provable) if down and up else None,
    )


def _either_way(contest: Contest, rule: Rule) -> float | None:
    """Two-sided: twice the smaller tail under the baseline's record; None where there are too few trials.

    As everywhere, one trial alone that went the other way is not called a change.
    """
    base, candidate = contest.baseline, contest.candidate
    passed, valid = candidate.for_means
    if base.for_means[1] < rule.least_baseline or not valid:
        return None
    failed = valid - passed
    reference = Reference(*base.for_means)
    tails = [1.0]
    if failed >= rule.least_failures:
        tails.append(predictive_p(passed, failed, reference, rule.prior))
    if passed >= rule.least_failures:
        tails.append(predictive_p_better(passed, failed, reference, rule.prior))
    return min(1.0, 2 * min(tails))
