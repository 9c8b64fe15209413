"""What is missing: these grounds leave the ruling undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seatrial.compare import CaseComparison
from seatrial.gate.matter import (
    Brief,
    Matter,
    brief,
    component,
    counted,
    listed,
    number,
    passes,
    percent,
    said,
    who,
)
from seatrial.verdicts import Outcome


def _nothing_ran(matter: Matter) -> Iterator[Brief]:
    """Without a single trial of a required case that counts, the gate never opens."""
    if any(c.candidate is not None and c.candidate.valid for c in matter.required):
        return
    cases = matter.comparison.cases
    if not any(c.candidate for c in cases):
        text, short = "no trial was run", "no trial was run"
        if not matter.required:
            text += ", and the suite has no required case"
    elif not matter.required:
        text = "the suite has no required case; mark at least one `required: true`"
        short = "the suite has no required case"
    else:
        text = f"no trial of {counted(matter.required, 'required case')} counts"
        short = "no required case was run"
    yield brief("nothing_ran", "undecided", text, short, matter.required)


def _only_weak(matter: Matter) -> Iterator[Brief]:
    """Cases that an agent passes which does nothing never carry a gate alone, whatever reason they give.

    Nor do those of which nobody knows, where the run tried them. Runs of versions that did not try are as they were.
    """
    ran = [c for c in matter.required if c.candidate is not None and c.candidate.valid]
    tried = any(c.weak is not None for c in matter.comparison.cases)
    unknown = [c for c in ran if c.weak is None]
    if ran and tried and len(unknown) == len(ran):
        yield brief(
            "only_weak_cases",
            "undecided",
            f"whether doing nothing passes could not be tried in any required case that ran: {listed(ran)}",
            "no required case known not to be weak",
            ran,
        )
    elif ran and tried and all(c.weak is not False for c in ran):
        doubt = (
            f" (in {counted(unknown, 'case')} of them that could not be tried)" if unknown else ""
        )
        yield brief(
            "only_weak_cases",
            "undecided",
            f"an agent that does nothing passes every required case that ran{doubt}: {listed(ran)}; add a required "
            "case that asks for something to be done",
            "only weak required cases ran",
            ran,
        )


def _no_baseline(matter: Matter) -> Iterator[Brief]:
    if matter.comparison.baseline is None:
        text = "there is no baseline to compare with; record one with `seatrial release`"
        yield brief("no_baseline", "undecided", text, "no baseline")


def _itself(matter: Matter) -> Iterator[Brief]:
    """Trials that are held against themselves show nothing, however many they are."""
    comparison = matter.comparison
    baseline = comparison.baseline
    if baseline is None or baseline.arm != comparison.candidate_arm:
        return
    if baseline.run in (comparison.run, comparison.regraded_from):
        text = (
            f"the baseline is made of the very trials of this run ({baseline.run}): nothing was compared; "
            "run the changed arm, or name an earlier baseline with --baseline"
        )
        yield brief("baseline_is_this_run", "undecided", text, "the baseline is this very run")


def _stale(matter: Matter) -> Iterator[Brief]:
    cases = [c for c in matter.comparison.cases if c.lacks == "fresh_baseline"]
    if cases:
        yield brief(
            "baseline_stale",
            "undecided",
            f"the release no longer does what it did when the baseline was recorded, in "
            f"{listed(cases)}; record the baseline again",
            "the baseline is stale",
            cases,
        )


def _invalid(matter: Matter) -> Iterator[Brief]:
    """Too much left out, over the run or in one required case."""
    cap = matter.comparison.policy.invalid_cap
    for side, whose in (("candidate", "the candidate's"), ("baseline", "the baseline's")):
        tallies = [t for c in matter.comparison.cases if (t := getattr(c, side)) is not None]
        left_out = sum(t.invalid for t in tallies)
        trials = left_out + sum(t.valid for t in tallies)
        if not left_out:
            continue
        causes = matter.comparison.invalid.get(side, {})
        why = ", ".join(f"{n} {cause}" for cause, n in causes.items())
        over = left_out > cap * trials + 1e-9
        yield brief(
            "invalid_share",
            "undecided" if over else "note",
            f"{left_out} of {whose} {number(trials, 'trial')} are invalid ({why})"
            + (f", more than {percent(cap)}" if over else " and left out"),
            f"{left_out} of {trials} trials invalid",
            numbers={"share": left_out / trials, "cap": cap},
        )
    mostly = [
        c for c in matter.required if c.candidate and c.candidate.invalid > c.candidate.valid > 0
    ]
    if mostly:
        yield brief(
            "required_mostly_invalid",
            "undecided",
            f"more trials are invalid than valid in {counted(mostly, 'required case')}: "
            f"{listed(mostly)}",
            f"most trials invalid in {who(mostly, 'required ')}",
            mostly,
        )


def _incomplete(matter: Matter) -> Iterator[Brief]:
    cases = [c for c in matter.comparison.cases if _recorded(c) < c.planned]
    missing = sum(c.planned - _recorded(c) for c in cases)
    if missing:
        planned = sum(c.planned for c in matter.comparison.cases)
        how = f"go on with `seatrial run --resume {matter.comparison.run}`"
        if matter.comparison.shard:
            how = (
                f"this is shard {matter.comparison.shard} of a run: put all of them together with "
                "`seatrial merge`"
            )
        yield brief(
            "incomplete_run",
            "undecided",
            f"{missing} of {planned} planned trials have no record; {how}",
            f"{missing} planned trials have no record",
            cases,
            numbers={"missing": float(missing)},
        )
    elif not matter.comparison.ended:
        yield brief(
            "run_not_ended",
            "undecided",
            "the run is still going on or was killed; wait for it, or end it with "
            f"`seatrial run --resume {matter.comparison.run}`",
            "the run has not ended",
        )


def _not_run(matter: Matter) -> Iterator[Brief]:
    cases = [
        c
        for c in matter.required
        if c.outcome is Outcome.CARRIED or c.lacks == "run" or c.candidate is None
    ]
    if cases:
        text = f"{counted(cases, 'required case')} not run: {listed(cases)}"
        short = f"{who(cases, 'required ')} not run"
        yield brief("required_not_run", "undecided", text, short, cases)


def _new(matter: Matter) -> Iterator[Brief]:
    """A new case has nothing to be worse than; a required one must pass its whole screen."""
    if matter.comparison.baseline is None:
        return
    new = [c for c in matter.comparison.cases if c.outcome is Outcome.NEW and c.candidate]
    unproven = [c for c in new if c.required and not _proven(c, matter.comparison.screen)]
    if unproven:
        yield brief(
            "required_new_unproven",
            "undecided",
            f"{counted(unproven, 'new required case')} did not pass all of at least "
            f"{matter.comparison.screen} valid trials: {listed(unproven, passes)}; there is no trial of "
            "the release to compare with",
            f"new {who(unproven, 'required ')} not passed",
            unproven,
        )
    proven = [c for c in new if c not in unproven]
    if proven:
        text = f"{counted(proven, 'new case')}: {listed(proven, passes)}"
        yield brief("new", "note", text, f"{len(proven)} new", proven)


def _incomparable(matter: Matter) -> Iterator[Brief]:
    cases = [c for c in matter.comparison.cases if c.outcome is Outcome.INCOMPARABLE]
    required = [c for c in cases if c.required]
    if required:
        yield brief(
            "required_incomparable",
            "undecided",
            f"{counted(required, 'required case')} cannot be compared: "
            f"{listed(required, component)}; run the released arm beside it, with `--rerun-baseline`",
            f"{who(required, 'required ')} cannot be compared",
            required,
        )
    others = [c for c in cases if not c.required]
    if others:
        text = f"{counted(others, 'case')} cannot be compared: {listed(others, component)}"
        yield brief("incomparable", "warning", text, f"{len(others)} incomparable", others)


_OF_CHECKS = (
    "check_removed", "check_changed", "check_severity_lowered", "ignore_added", "normalize_added", "secret_removed",
)  # fmt: skip
"""Kinds of policy changes of the checks of a case."""


def _passed_by_change(matter: Matter) -> Iterator[Brief]:
    """A change that makes its own trials pass by changing what they are graded by judges itself."""
    cases = [c for c in matter.comparison.cases if c.passed_by_change]
    required = [c for c in cases if c.required and not matter.approved(c.case, *_OF_CHECKS)]
    if required:
        text = (
            f"the change alters what {counted(required, 'required case')} must show, and passes because "
            f"of it: {listed(required, _by_the_old_checks)}; that needs an approved release"
        )
        short = f"checks loosened in {who(required, 'required ')}"
        yield brief("required_checks_loosened", "undecided", text, short, required)
    others = [c for c in cases if c not in required]
    if others:
        text = (
            f"the change alters what {counted(others, 'case')} must show, and passes because of it: "
            f"{listed(others, _by_the_old_checks)}"
        )
        yield brief("checks_loosened", "warning", text, f"checks loosened in {who(others)}", others)


def _by_the_old_checks(case: CaseComparison) -> str:
    tally = case.candidate
    passed = tally.passed if tally else 0
    return f"{case.case} ({case.passed_by_change} of {passed} passes fail by the release's checks)"


def _undecided(matter: Matter) -> Iterator[Brief]:
    """Required cases without a verdict.

    Where something could still be run, its absence is missing evidence. Where the cap is reached, the
    `pr` profile lets the case pass with a warning, unless the evidence against it would suffice if it were
    the only required case; `release` lets none pass.
    """
    cases = [c for c in matter.required if c.outcome is Outcome.UNDECIDED]
    for kind, lacks, what in (
        ("required_no_valid_trial", "valid_trials", "no valid trial on a side"),
        ("required_small_baseline", "baseline", "too small a baseline"),
        ("required_too_few_trials", "trials", "too few trials to tell"),
        ("required_unconfirmed", "confirmation", "not confirmed by live baseline trials"),
    ):
        chosen = [c for c in cases if c.lacks == lacks]
        if chosen:
            trials = max(c.wanted + (c.candidate.valid if c.candidate else 0) for c in chosen)
            more = any(c.wanted or c.wanted_live for c in chosen)
            hint = _how_to_go_on(matter, chosen, trials) if more else ""
            if lacks == "baseline":
                suite = matter.comparison.suite
                hint = f"; record more trials of the release: `seatrial baseline record --suite {suite}`"
            yield brief(
                kind,
                "undecided",
                f"{counted(chosen, 'required case')} undecided: {listed(chosen, said)}{hint}",
                f"{who(chosen, 'required ')}: {what}",
                chosen,
                numbers={"trials": float(trials)} if lacks == "trials" else {},
            )
    spent = [c for c in cases if c.lacks == "cap"]
    alone = 1 / matter.comparison.policy.alpha
    suspicious = [c for c in spent if (c.evidence or 0.0) >= alone]
    if suspicious:
        yield brief(
            "required_suspicious",
            "undecided",
            f"{counted(suspicious, 'required case')} undecided at the cap, with evidence of 1 : {alone:g} "
            f"or more: {listed(suspicious, said)}",
            f"{who(suspicious, 'required ')} suspicious",
            suspicious,
        )
    open_ones = [c for c in spent if c not in suspicious]
    if open_ones:
        yield brief(
            "required_undecided",
            "undecided" if matter.profile == "release" else "warning",
            f"{counted(open_ones, 'required case')} undecided at the cap: {listed(open_ones, said)}",
            f"{who(open_ones, 'required ')} undecided",
            open_ones,
        )


def _how_to_go_on(matter: Matter, cases: Sequence[CaseComparison], trials: int) -> str:
    """How the trials that are wanted come about."""
    comparison = matter.comparison
    if not comparison.adaptive:
        return f"; run again with at least `--trials {trials}`"
    if comparison.most is not None:
        return f"; the run was bounded by `--max-trials {comparison.most}`"
    if any(t.invalid > t.valid for c in cases for t in (c.candidate, c.live) if t is not None):
        return ""  # such a case is given up, and the invalid trials are a ground of their own
    return f"; go on with `seatrial run --resume {comparison.run}`"


def _proven(case: CaseComparison, screen: int) -> bool:
    tally = case.candidate
    return tally is not None and tally.failed == 0 and tally.valid >= screen


def _recorded(case: CaseComparison) -> int:
    """Recorded trials; what was not to be run lacks none."""
    return case.planned if case.outcome in (Outcome.CARRIED, Outcome.REMOVED) else case.recorded


QUESTIONS = (
    _nothing_ran,
    _only_weak,
    _no_baseline,
    _itself,
    _stale,
    _invalid,
    _incomplete,
    _not_run,
    _incomparable,
    _passed_by_change,
    _undecided,
    _new,
)
"""A function a question; each yields grounds."""
