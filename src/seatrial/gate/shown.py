"""What was shown: these grounds close the gate."""

from __future__ import annotations

from collections.abc import Iterator

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
from seatrial.stats.paired import significant
from seatrial.verdicts import Outcome


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
    """Required cases shown worse; with a stale baseline they are not."""
    cases = [
        c for c in matter.required if c.outcome is Outcome.REGRESSED and not newly_forbidden(c)
    ]
    if cases:
        yield brief(
            "required_regressed",
            "undecided" if matter.stale else "closed",
            f"{counted(cases, 'required case')} regressed: {listed(cases, said)}",
            f"{who(cases, 'required ')} regressed",
            cases,
            numbers={"evidence_needed": matter.comparison.evidence_needed},
        )


def _taken_away(matter: Matter) -> Iterator[Brief]:
    gone = [c for c in matter.comparison.cases if removed(c)]
    required = [c for c in gone if c.required]
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


QUESTIONS = (_forbidden, _regressed, _taken_away, _suite)
"""A function a question; each yields grounds."""
