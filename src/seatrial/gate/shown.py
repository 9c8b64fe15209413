"""What was shown: these grounds close the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seatrial.compare import CaseComparison
from seatrial.gate.matter import (
    Brief,
    Matter,
    brief,
    chance,
    counted,
    listed,
    newly_forbidden,
    number,
    percent,
    points,
    points_above,
    removed,
    said,
    who,
)
from seatrial.gate.model import Effect, Ground
from seatrial.records import PolicyChange
from seatrial.stats.paired import Pair, conditional_test, significant
from seatrial.verdicts import Outcome

REMOVALS = ("case_removed", "case_renamed")
"""Kinds of policy changes by which a case is taken away."""
_TOLD = 3
LIVE_ALONE = 0.001
"""Chance without a change at which the live trials alone show a case worse: it failed 4 of 4, the release 0 of 10.
Where a tenth of 100 cases halve under both arms, the gate closes for that in less than 1 % of the times."""


def _forbidden(matter: Matter) -> Iterator[Brief]:
    """Target zero: in any trial of any case, invalid trials included, whatever reruns did."""
    cases = [c for c in matter.comparison.cases if c.forbidden]
    for kind, chosen, what in (
        ("forbidden_action", [c for c in cases if not c.forbidden_before], "forbidden action"),
        (
            "forbidden_preexisting",
            [c for c in cases if c.forbidden_before],
            "forbidden action that the release does too",
        ),
    ):
        if chosen:
            rates = listed(chosen, _forbidden_rate)
            yield brief(kind, "closed", f"{what} in {rates}", f"{what} in {who(chosen)}", chosen)


def _forbidden_rate(case: CaseComparison) -> str:
    tally = case.candidate
    assert tally is not None
    return f"{case.case} ({tally.forbidden} of {tally.valid + tally.invalid} trials)"


def _regressed(matter: Matter) -> Iterator[Brief]:
    """Required cases shown worse; with a stale baseline only those that live trials alone show worse."""
    cases = [
        c for c in matter.required if c.outcome is Outcome.REGRESSED and not newly_forbidden(c)
    ]
    shown = [c for c in cases if not matter.stale or _shown_by_live_trials(c)]
    effects: tuple[tuple[Effect, list[CaseComparison]], ...] = (
        ("closed", shown),
        ("undecided", [c for c in cases if c not in shown]),
    )
    for effect, chosen in effects:
        if chosen:
            yield brief(
                "required_regressed",
                effect,
                f"{counted(chosen, 'required case')} regressed: {listed(chosen, said)}",
                f"{who(chosen, 'required ')} regressed",
                chosen,
                numbers={"evidence_needed": matter.comparison.evidence_needed},
            )


def _shown_by_live_trials(case: CaseComparison) -> bool:
    """Fisher's test against the live trials alone: made in the same hour, they are never stale."""
    live, candidate = case.live, case.candidate
    if live is None or candidate is None or not live.valid or not candidate.valid:
        return False
    pair = Pair(live.passed, live.valid, candidate.passed, candidate.valid)
    return significant(conditional_test([pair]).exact, LIVE_ALONE)


def _taken_away(matter: Matter) -> Iterator[Brief]:
    gone = [c for c in matter.comparison.cases if removed(c)]
    let_go = [c for c in gone if c.required and matter.approved(c.case, *REMOVALS)]
    required = [c for c in gone if c.required and c not in let_go]
    if let_go:
        text = f"{counted(let_go, 'required case')} removed, with an approval: {listed(let_go)}"
        yield brief("removed_with_approval", "warning", text, f"{len(let_go)} removed", let_go)
    if required:
        yield brief(
            "required_removed",
            "closed",
            f"{counted(required, 'required case')} removed: {listed(required)}; "
            "taking one away needs an approved release",
            f"{who(required, 'required ')} removed",
            required,
        )
    others = [c for c in gone if not c.required]
    if others:
        text = f"{counted(others, 'case')} removed: {listed(others)}"
        yield brief("removed", "note", text, f"{len(others)} removed", others)


def _policy(matter: Matter) -> Iterator[Brief]:
    """What the change loosens of that by which it is judged: nobody approves that for himself."""
    waiting = [c.change for c in matter.changes if not c.approved_by]
    unknown = [c for c in waiting if c.effect == "unknown"]
    loosened = [c for c in waiting if c not in unknown]
    if loosened:
        what = number(len(loosened), "policy change")
        text = f"{what} without the approval of somebody else"
        yield _changes_brief("policy_changed", "closed", text, f"{what} not approved", loosened)
    if unknown:
        text = "what the change loosens cannot be told, and nobody else approved it"
        yield _changes_brief("policy_unknown", "undecided", text, "policy at the base unknown", unknown)  # fmt: skip
    approved = [c for c in matter.changes if c.approved_by]
    if approved:
        what = number(len(approved), "policy change")
        by = ", ".join(dict.fromkeys(c.approved_by for c in approved))
        text, let_pass = f"{what} approved by {by}", [c.change for c in approved]
        yield _changes_brief("policy_approved", "note", text, f"{what} approved", let_pass)


def _changes_brief(
    kind: str, effect: Effect, text: str, short: str, changes: Sequence[PolicyChange]
) -> Brief:
    told = "; ".join(change.text for change in changes[:_TOLD])
    more = len(changes) - _TOLD
    ground = Ground(
        kind=kind,
        effect=effect,
        text=f"{text}: {told}" + (f"; and {more:,} more" if more > 0 else ""),
        cases=tuple(dict.fromkeys(c.case for c in changes if c.case)),
        numbers={"changes": float(len(changes))},
    )
    return ground, short


def _suite(matter: Matter) -> Iterator[Brief]:
    """The mean pass rate against the margin."""
    overall, policy = matter.comparison.overall, matter.comparison.policy
    release = matter.profile == "release"
    if overall is None:
        if release:
            text = "no case can be compared with the release, so no margin is shown"
            yield brief("margin_not_shown", "undecided", text, "no margin shown")
        return
    numbers = {
        "drop": overall.drop,
        "p": overall.p_worse,
        "margin": overall.margin,
        "provable_margin": overall.provable_margin,
        "cases": float(overall.cases),
    }
    means = (
        f"mean pass rate {percent(overall.candidate_mean)} over {number(overall.cases, 'case')}, "
        f"the release {percent(overall.baseline_mean)}"
    )
    if cut := matter.comparison.cut_short:
        means += f" ({number(len(cut), 'case')} left out, not run to the end of the first batch)"
    if significant(overall.p_worse, policy.alpha) and overall.drop > overall.margin:
        yield brief(
            "suite_worse",
            "undecided" if matter.stale else "closed",
            f"the suite is worse: {means}; a drop of {points(overall.drop)}, more than "
            f"{points(overall.margin)}; the chance of that without a change is "
            f"{chance(overall.p_worse)}",
            f"suite worse by {points(overall.drop)}",
            numbers=numbers,
        )
    elif overall.within:
        text = f"{means}: shown to be within {points(overall.margin)}"
        yield brief("within_margin", "note", text, "within the margin", numbers=numbers)
    else:
        yield brief(
            "margin_not_shown",
            "undecided" if release else "note",
            f"{means}; these trials can prove a margin of {points_above(overall.provable_margin)}, "
            f"the policy asks for {points(overall.margin)}",
            f"not shown to be within {points(overall.margin)}",
            numbers=numbers,
        )


QUESTIONS = (_forbidden, _regressed, _taken_away, _policy, _suite)
"""A function a question; each yields grounds."""
