"""The trials of one case on both sides → an outcome.

Required cases are judged by the sequential rule, whose errors are shared over all of them. The others are judged
together, by how surprising their failures are under the baseline's record, with the false discovery rate of
5 %: a list for people, which by itself never closes a gate. `improved` is `regressed` with the sides swapped,
so that it never means less than the opposite would.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from seatrial.compare.sides import Trials
from seatrial.documents import Policy
from seatrial.stats.evidence import Reference, fit_prior, predictive_p
from seatrial.stats.multiple import discoveries
from seatrial.stats.sequential import Counts, Decision, Rule, decide
from seatrial.verdicts import Outcome

CONFIRMING = 10
"""Live baseline trials by which a regression of a required case must be confirmed, where any can be run. With 6 of
them a case that halves under both arms passes for regressed several times as often; a good change hardly ever
gets here."""
FALSE_DISCOVERIES = 0.05
"""Share of wrong entries, on average, in the list of other cases that changed."""


@dataclass(frozen=True, slots=True)
class Contest:
    """One case that has valid trials on both sides."""

    case: str
    required: bool
    baseline: Trials
    candidate: Trials
    live: Trials | None = None
    """Baseline trials made beside the candidate's, apart from the stored ones; None where none can be."""
    again: bool = False
    """The baseline's trials are all made beside the candidate's: there is nothing left to confirm them by."""
    adaptive: bool = False
    """Trials of the candidate are added where it looks suspicious."""

    def swapped(self) -> Contest:
        """The same case with the sides exchanged."""
        return replace(
            self, baseline=self.candidate, candidate=self.baseline, live=None, adaptive=False
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of one contest and what it rests on."""

    outcome: Outcome
    decision: Decision
    """Of the sequential rule, for the candidate against the baseline."""
    mirrored: Decision
    """Of the same rule with the sides exchanged."""
    p: float | None = None
    """Chance of so many failures without a change, where it was decided by that."""


def rule_for(
    policy: Policy,
    required: int,
    ledger: Iterable[tuple[int, int]],
    *,
    live: bool = False,
    confirm: int = CONFIRMING,
) -> Rule:
    """The sequential rule under a policy.

    Args:
        policy: the gate's policy.
        required: required cases over which the error is shared.
        ledger: (passed, trials) of every case of the reference side, for the prior.
        live: baseline trials are made beside the candidate's and must confirm a regression.
        confirm: how many of them.
    """
    return Rule(
        cases=required,
        alpha=policy.alpha,
        beta=policy.beta,
        drop=policy.drop,
        prior=fit_prior(ledger),
        confirm=confirm if live else 0,
    )


def judge(contests: list[Contest], forward: Rule, backward: Rule) -> dict[str, Judgement]:
    """Judge every contest.

    Args:
        contests: the cases with valid trials on both sides.
        forward: with the prior of the baseline side.
        backward: with the prior of the candidate side.
    """
    swapped = [contest.swapped() for contest in contests]
    worse, better = _surprising(contests, forward), _surprising(swapped, backward)
    found = {}
    for contest, other in zip(contests, swapped, strict=True):
        confirmable = contest.live is not None and not contest.again
        rule = forward if confirmable else replace(forward, confirm=0)
        decision = decide(_counts(contest), rule)
        mirrored = decide(_counts(other), backward)
        case, p = contest.case, None
        if contest.required:
            regressed = decision.outcome is Outcome.REGRESSED
            improved = mirrored.outcome is Outcome.REGRESSED
        else:
            regressed, improved = case in worse, case in better
            p = worse.get(case, better.get(case))
        if regressed and _fell(contest):
            outcome = Outcome.REGRESSED
        elif improved and _fell(other):
            outcome = Outcome.IMPROVED
        elif decision.outcome is Outcome.UNCHANGED:
            outcome = Outcome.UNCHANGED
        else:
            outcome = Outcome.UNDECIDED
        found[case] = Judgement(outcome, decision, mirrored, p)
    return found


def _counts(contest: Contest) -> Counts:
    """The baseline by its first batches alone, the candidate by everything it did."""
    base, live, candidate = contest.baseline, contest.live, contest.candidate
    reference = Reference(
        base.batch_passed,
        base.batch_valid,
        live.passed if live else 0,
        live.valid if live else 0,
    )
    failed = candidate.valid - candidate.passed
    fixed = not (contest.adaptive or candidate.added)
    return Counts(candidate.passed, failed, reference, fixed=fixed)


def _surprising(contests: list[Contest], rule: Rule) -> dict[str, float]:
    """Not required cases whose failures the baseline's record does not explain → their p-value."""
    family = [
        (contest.case, p)
        for contest in contests
        if not contest.required and (p := surprise(contest, rule)) is not None
    ]
    listed = discoveries([p for _, p in family], FALSE_DISCOVERIES)
    return dict(entry for entry, found in zip(family, listed, strict=True) if found)


def surprise(contest: Contest, rule: Rule) -> float | None:
    """Chance that a candidate as good as the release fails this often; None where there are too few trials."""
    base, candidate = contest.baseline, contest.candidate
    passed, valid = candidate.for_means
    if base.batch_valid < rule.least_baseline or not valid:
        return None
    failed = valid - passed
    if failed < rule.least_failures:
        # One failure is never called a regression: in a small suite the prior would make it one.
        return 1.0
    reference = Reference(base.batch_passed, base.batch_valid)
    return predictive_p(passed, failed, reference, rule.prior)


def _fell(contest: Contest) -> bool:
    base, candidate = contest.baseline, contest.candidate
    return candidate.passed * base.valid < base.passed * candidate.valid
