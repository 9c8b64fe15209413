"""The rule for one required case: what the trials so far say, and which further trials could say more.

A state machine whose state is the counts, so that it does not matter in which order trials ended, where they
ran, or whether their number was fixed beforehand. With a fixed number of trials `decide` is asked
once and a `None` outcome means "too few to tell"; a runner that may add trials asks after each batch and
runs what the decision wants, until it wants nothing.

Errors, measured with the defaults on 100 required cases (`docs/concepts/verdicts.md`): at most 1 % of good
changes have any case called regressed, a case that halves is called so in 93 % of changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from seatrial.stats.evidence import (
    DEFAULT_PRIOR,
    Prior,
    Reference,
    against_chance,
    chance_if_dropped,
    clear_ratio,
    drift_p,
    log_e_value,
    probability_worse,
)
from seatrial.stats.intervals import clopper_pearson
from seatrial.verdicts import Outcome

Lack = Literal["", "trials", "baseline", "confirmation", "fresh_baseline", "cap"]
"""What a verdict lacks: further trials of the candidate (`trials`) or of the baseline (`baseline`); live baseline
trials that agree (`confirmation`); a baseline recorded anew (`fresh_baseline`); or nothing that could
still be run (`cap`)."""


def screen_size(beta: float, drop: float) -> int:
    """Trials a case must pass without a failure before it may be cleared.

    ceil(ln β / ln(1 - drop)): fewer would let a case that dropped by `drop` through with more than
    chance β, whatever the method.
    """
    if drop >= 1:
        return 1
    return max(1, math.ceil(math.log(beta) / math.log1p(-drop) - 1e-9))


@dataclass(frozen=True, slots=True)
class Rule:
    """The numbers the rule goes by."""

    cases: int = 1
    """Required cases over which the error is shared (m)."""
    alpha: float = 0.01
    """Chance of any wrong "regressed" over all of them."""
    beta: float = 0.10
    """Chance to clear a case that dropped by `drop`."""
    drop: float = 0.5
    prior: Prior = DEFAULT_PRIOR
    cap: int = 40
    """Candidate trials of one case, at most."""
    least_baseline: int = 5
    """With fewer baseline trials nothing is called regressed."""
    least_failures: int = 2
    """With fewer failures neither: one failure is not called a regression, however good the baseline is."""
    thin_baseline: int = 10
    """With fewer baseline trials the baseline of each suspicious case is topped up; with as many, only when the
    evidence has reached 1/β. A live trial for each added one in every suspicious case costs 40 trials more per
    change over 100 cases and finds no more."""
    top_up: int = 40
    """Baseline trials, stored and live together, up to which a suspicious case's baseline is topped up."""
    confirm: int = 0
    """Live baseline trials that must stand before "regressed" is said; 0 where none can be run."""
    drift: float = 0.005
    """Below this chance the live baseline contradicts the stored one, asked once the evidence is strong."""
    drift_meanwhile: float = 0.0005
    """The same while it is not, which is asked after every batch of a suspicious case. Without it a change is
    stopped in 20 % and let through in 13 % of the times that ten of 100 cases halved under both arms, with
    it in 1 of 500 and never; it costs 0.3 % of the good changes a recording of the baseline."""
    agree: float = 0.90
    """P(worse) against the live baseline alone that confirms a regression."""

    @property
    def evidence(self) -> float:
        """The e-value at which a case is called regressed: m/α (Ville's inequality and the union bound)."""
        return max(self.cases, 1) / self.alpha

    @property
    def screen(self) -> int:
        """Trials before a case may be cleared."""
        return screen_size(self.beta, self.drop)


@dataclass(frozen=True, slots=True)
class Counts:
    """Valid trials of one case so far."""

    passed: int
    failed: int
    reference: Reference
    forbidden: bool = False
    """The candidate did something forbidden: no further trial can clear that."""
    fixed: bool = False
    """The number of candidate trials was set before any had run. Then they may be cleared by how likely so
    few failures were after a drop; trials added on suspicion must give a likelihood ratio."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the counts say."""

    outcome: Outcome | None
    """regressed, unchanged, undecided (more trials of this kind will not help), or None: not yet."""
    why: str
    """A clause for a person, for example "1 : 6,014 against chance"."""
    evidence: float | None = None
    """The e-value; None where the baseline is too small for one."""
    candidate: int = 0
    """Candidate trials wanted next."""
    live: int = 0
    """Live baseline trials wanted next."""
    lacks: Lack = ""
    """Why there is no verdict; empty for regressed and unchanged."""

    @property
    def over(self) -> bool:
        """No further trials are wanted."""
        return self.candidate == 0 and self.live == 0


@lru_cache(maxsize=65536)
def decide(counts: Counts, rule: Rule) -> Decision:
    """Judge one case by its counts.

    In this order: strong evidence is confirmed or said; the screen is filled; the case is cleared; a stale
    baseline or the cap ends it; otherwise it is suspicious and more trials are wanted, of the baseline as well
    where it can be run.
    """
    reference, done = counts.reference, counts.passed + counts.failed
    base = reference.trials + reference.live
    enough = base >= rule.least_baseline
    log_evidence = log_e_value(counts.passed, counts.failed, reference, rule.prior)
    strength = math.exp(min(log_evidence, 690.0))
    evidence = strength if enough and done else None

    if counts.forbidden:
        return Decision(None, "a forbidden action is not cleared by further trials", evidence)
    if _strong(counts, rule):
        return _confirmed(counts, rule, strength)
    if done < rule.screen:
        why = f"{done} of the {rule.screen} valid trials that are needed to tell"
        return Decision(None, why, evidence, candidate=_wanted(counts, rule), lacks="trials")
    if _cleared(counts, rule):
        why = f"a drop of {rule.drop:g} or more is ruled out"
        return Decision(Outcome.UNCHANGED, why, evidence)
    if reference.live >= rule.confirm > 0 and _stale(reference, rule, rule.drift_meanwhile):
        return _outdated(evidence)
    if not enough and (not rule.confirm or (base == 0 and counts.failed == 0)):
        trials = f"{base} valid trial{'s' if base > 1 else ''}"
        why = f"the baseline has only {trials}" if base else "nothing to compare with"
        return Decision(Outcome.UNDECIDED, why, evidence, lacks="baseline")
    if done >= rule.cap:
        why = f"still open after {done} trials"
        return Decision(Outcome.UNDECIDED, why, evidence, lacks="cap")
    wanted = _wanted(counts, rule)
    live = _live_wanted(reference, rule, done - rule.screen + wanted, log_evidence)
    if not wanted and not live:
        why = f"{rule.cap} trials could not settle it"
        return Decision(Outcome.UNDECIDED, why, evidence, lacks="cap")
    return Decision(
        None, "too few trials to tell", evidence, candidate=wanted, live=live, lacks="trials"
    )


def _confirmed(counts: Counts, rule: Rule, evidence: float) -> Decision:
    """Strong evidence against a stored baseline is held against live baseline trials first.

    They tell a worse candidate from an environment that moved under both arms.
    """
    reference = counts.reference
    chance = against_chance(evidence)
    if not rule.confirm:
        return Decision(Outcome.REGRESSED, chance, evidence)
    if reference.live < rule.confirm:
        wanted = rule.confirm - reference.live
        why = "to be confirmed by live baseline trials"
        return Decision(None, why, evidence, live=wanted, lacks="confirmation")
    if _stale(reference, rule, rule.drift):
        return _outdated(evidence)
    live_failed = reference.live - reference.live_passed
    agreed = probability_worse(counts.passed, counts.failed, reference.live_passed, live_failed)
    if agreed >= rule.agree:
        return Decision(Outcome.REGRESSED, chance, evidence)
    why = "live baseline trials do not confirm it"
    return Decision(Outcome.UNDECIDED, why, evidence, lacks="confirmation")


def _stale(reference: Reference, rule: Rule, chance: float) -> bool:
    """The live baseline trials contradict the stored ones."""
    return reference.trials > 0 and drift_p(reference, rule.prior) < chance


def _outdated(evidence: float | None) -> Decision:
    why = "the baseline no longer does what it did when it was recorded"
    return Decision(Outcome.UNDECIDED, why, evidence, lacks="fresh_baseline")


def _strong(counts: Counts, rule: Rule) -> bool:
    """The evidence suffices to call the case regressed."""
    reference = counts.reference
    return (
        reference.trials + reference.live >= rule.least_baseline
        and counts.failed >= rule.least_failures
        and log_e_value(counts.passed, counts.failed, reference, rule.prior)
        >= math.log(rule.evidence) - 1e-9
    )


def _cleared(counts: Counts, rule: Rule) -> bool:
    """A drop by `rule.drop` would hardly have given these trials, or could not have happened."""
    reference = counts.reference
    base = reference.trials + reference.live
    if base == 0:
        return False
    if counts.failed == 0:
        # Passing the screen is unlikely after such a drop whatever the release's rate was.
        return True
    if base < rule.least_baseline:
        return False
    done = counts.passed + counts.failed
    if counts.fixed and chance_if_dropped(counts.failed, done, rule.drop) <= rule.beta:
        against = log_e_value(counts.passed, counts.failed, reference, rule.prior)
        if against < math.log(1 / rule.beta):
            return True
    ratio = clear_ratio(counts.passed, counts.failed, reference, rule.prior, rule.drop)
    if ratio >= 1 / rule.beta - 1e-9:
        return True
    _, highest = clopper_pearson(reference.passed + reference.live_passed, base)
    return highest <= rule.drop


def _wanted(counts: Counts, rule: Rule) -> int:
    """Candidate trials to run next: the fewest that could settle the case if all of them passed or all failed.

    No smaller number can settle it, so that none of them is run in vain, and they can run side by side. 0
    where no number up to the cap would. With a fixed number of trials only passes count: how many more
    would clear the case.
    """
    done = counts.passed + counts.failed
    short = max(rule.screen - done, 0)
    if short and not counts.fixed:
        return short
    base = counts.reference.trials + counts.reference.live
    if base < rule.least_baseline and not counts.fixed:
        # Nothing settles it before its baseline is topped up, which goes on beside these.
        return min(rule.screen, rule.cap - done)
    for more in range(max(short, 1), rule.cap - done + 1):
        if _cleared(replace(counts, passed=counts.passed + more), rule):
            return more
        if not counts.fixed and _strong(replace(counts, failed=counts.failed + more), rule):
            return more
    return max(short, rule.cap - done) if counts.fixed else 0


def _live_wanted(reference: Reference, rule: Rule, added: int, log_evidence: float) -> int:
    """Baseline trials to keep step with the candidate trials added on suspicion, up to the top-up.

    A single failure in a case that flakes is mostly followed by passes, which clear it without any. Where
    the evidence mounts, the stored baseline soon has nothing more to give: an e-value against 20 stored
    trials grows slowly, however often the candidate fails.
    """
    if not rule.confirm:
        return 0
    base = reference.trials + reference.live
    least = max(rule.least_baseline - base, 0)
    if base >= rule.thin_baseline and log_evidence < math.log(1 / rule.beta):
        return least
    in_step = min(added, rule.top_up - reference.trials) - reference.live
    return max(in_step, least)
