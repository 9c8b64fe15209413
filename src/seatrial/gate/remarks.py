"""What else a reader should know: warnings and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seatrial.compare import Attacks, CaseComparison, Simulation, Tally
from seatrial.compare.model import ServedModels
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
    removed,
    said,
    who,
)
from seatrial.gate.model import Effect
from seatrial.stats.intervals import rate_bound
from seatrial.stats.paired import Pair, conditional_test, significant
from seatrial.verdicts import Outcome


def _loosened(matter: Matter) -> Iterator[Brief]:
    if matter.loosened:
        points = ", ".join(matter.loosened)
        text = f"the change loosens the policy ({points}); the stricter one was applied"
        yield brief("policy_loosened", "warning", text, "policy loosened")
    cases = [c for c in matter.comparison.cases if c.loosened]
    if cases:
        text = f"no longer marked required, still treated so until a release: {listed(cases)}"
        yield brief("required_loosened", "warning", text, "required set loosened", cases)


def _others_changed(matter: Matter) -> Iterator[Brief]:
    others = [
        c
        for c in matter.comparison.cases
        if not c.required and c.outcome is Outcome.REGRESSED and not newly_forbidden(c)
    ]
    if others:
        text = f"{counted(others, 'other case')} regressed: {listed(others, said)}"
        yield brief(
            "others_regressed", "warning", text, f"{who(others, 'other ')} regressed", others
        )
    failing = [c for c in matter.required if c.outcome is Outcome.UNCHANGED and _fails(c)]
    if failing:
        text = f"required and failing as the release does: {listed(failing, said)}"
        yield brief("required_failing", "warning", text, "failing as before", failing)


def _negative(matter: Matter) -> Iterator[Brief]:
    """The cases in which the right answer is to refuse: a mean over all hides that an agent became too willing."""
    negative, policy = matter.comparison.negative, matter.comparison.policy
    if (
        negative is not None
        and significant(negative.p_worse, policy.alpha)
        and negative.drop > negative.margin
    ):
        yield brief(
            "negative_worse",
            "undecided" if matter.profile == "release" else "warning",
            f"the negative cases are worse: mean pass rate {percent(negative.candidate_mean)} over "
            f"{number(negative.cases, 'case')}, the release {percent(negative.baseline_mean)}; the chance of that "
            f"without a change is {chance(negative.p_worse)}",
            f"negative cases worse by {points(negative.drop)}",
            numbers={
                "drop": negative.drop,
                "p": negative.p_worse,
                "margin": negative.margin,
                "cases": float(negative.cases),
            },
        )


def _flips(matter: Matter) -> Iterator[Brief]:
    """An agent that answers the same question now so, now otherwise."""
    flips, margin = matter.comparison.flips, matter.comparison.policy.margin
    if flips is not None and flips.rose and flips.candidate - flips.baseline > margin:
        yield brief(
            "flip_rate",
            "warning",
            f"less steady: two trials of a case disagree in {percent(flips.candidate)} of the times over "
            f"{number(flips.cases, 'case')}, of the release in {percent(flips.baseline)}",
            f"two trials disagree in {percent(flips.candidate)}",
            numbers={"candidate": flips.candidate, "baseline": flips.baseline, "margin": margin},
        )


def _strays(served: ServedModels) -> Iterator[Brief]:
    """What answered and is not the pinned model; and what it ran on, where that changed."""
    if served.strays and not served.mixed and not served.swapped:
        told = "; ".join(
            f"{', '.join(names)} answered the {side}" for side, names in served.strays.items()
        )
        text = (
            f"another model than the pinned one was served: {told}; correct the pin, or say under "
            "`model.served` what the provider calls it"
        )
        yield brief("served_model_changed", "warning", text, "served model is not the pinned one")
    changed = {side: found for side, found in served.fingerprints.items() if len(found) > 1}
    if changed:
        told = "; ".join(f"{number(len(f), 'fingerprint')} in the {s}" for s, f in changed.items())
        text = f"what the provider runs the model on changed within a run: {told}"
        yield brief("served_fingerprint_changed", "note", text, "model fingerprint changed")


def _alike(matter: Matter) -> Iterator[Brief]:
    """Trials that say the very same, which may be the model's, or an answer that somebody kept and used again."""
    cases = [
        c
        for c in matter.comparison.cases
        if c.candidate is not None
        and c.candidate.valid > 1
        and c.candidate.alike == c.candidate.valid - 1
    ]
    if cases:
        trials = sum(c.candidate.valid for c in cases if c.candidate is not None)
        text = (
            f"all {trials} trials of {counted(cases, 'case')} got word for word the same replies within their "
            f"case: {listed(cases)}; an agent that leaves nothing to chance does so, and Seatrial reuses "
            "nothing: where a model answers, look whether a cache lies in between"
        )
        yield brief("identical_replies", "note", text, "identical replies", cases)


def _conditions(matter: Matter) -> Iterator[Brief]:
    """What else a reader should know about how the sides were made."""
    comparison = matter.comparison
    served, baseline = comparison.served, comparison.baseline
    yield from _strays(served)
    if served.mixed or served.swapped:
        text = (
            f"the provider changed the model behind the pinned name: {', '.join(served.candidate)} "
            f"answered the candidate, {', '.join(served.baseline)} the baseline"
        )
        yield brief("served_model_changed", "warning", text, "served model changed")
    if baseline is not None and baseline.suite and baseline.suite != comparison.suite:
        text = (
            f"the baseline was recorded with suite {baseline.suite}, not {comparison.suite}: "
            "a removed case would not be noticed"
        )
        yield brief("baseline_of_another_suite", "warning", text, "baseline of another suite")
    regraded = [c for c in comparison.cases if c.regraded]
    if regraded:
        text = (
            f"baseline graded again with the changed checks in {counted(regraded, 'case')}: "
            f"{listed(regraded)}"
        )
        yield brief("baseline_regraded", "note", text, "baseline graded again", regraded)
    judged = [
        c
        for c in comparison.cases
        if c.checks_changed and c.outcome not in (Outcome.INCOMPARABLE, Outcome.CARRIED)
    ]
    if judged:
        text = (
            f"{counted(judged, 'case')} must show something else than the release had to, and could not be "
            f"held to that as well: {listed(judged)}; look at the checks"
        )
        yield brief("checks_changed", "warning", text, "checks changed", judged)
    rerun = [c for c in comparison.cases if c.rerun]
    if rerun:
        text = (
            f"the released arm was run again in {counted(rerun, 'case')} whose stored trials cannot be "
            f"compared: {listed(rerun)}"
        )
        yield brief("baseline_rerun", "note", text, "baseline run again", rerun)
    carried = [c for c in comparison.cases if c.outcome is Outcome.CARRIED]
    before = [c for c in carried if c.forbidden_before]
    if before:
        text = f"the release does something forbidden in {listed(before)}, which was not run"
        yield brief("forbidden_not_run", "warning", text, "forbidden before, not run", before)
    if carried:
        text = f"{counted(carried, 'case')} carried from the baseline, not run"
        yield brief("carried", "note", text, f"{len(carried)} carried", carried)
    improved = [c for c in comparison.cases if c.outcome is Outcome.IMPROVED]
    if improved:
        text = f"{counted(improved, 'case')} improved: {listed(improved, said)}"
        yield brief("improved", "note", text, f"{len(improved)} improved", improved)


def _ties(matter: Matter) -> Iterator[Brief]:
    """Cases that the change cannot touch, and that moved all the same."""
    ties = matter.comparison.ties
    if ties is None:
        return
    moved = {tie.case: tie for tie in ties.cases if tie.moved}
    cases = [c for c in matter.comparison.cases if c.case in moved]
    if cases:
        chances = listed(
            cases, lambda c: f"{c.case} ({_both(c)}; p {chance(moved[c.case].p or 0.0)})"
        )
        text = (
            f"{counted(cases, 'case')} that must tie moved: {chances}; something differs between the "
            "two sides besides what the change is meant to touch"
        )
        yield brief("tie_broken", "warning", text, f"{who(cases)} must tie and moved", cases)
    if ties.moved_together and ties.drop is not None and ties.p_together is not None:
        tested = [c for c in matter.comparison.cases if c.case in {t.case for t in ties.cases}]
        way = "fell" if ties.drop > 0 else "rose"
        yield brief(
            "tie_broken",
            "warning",
            f"the mean of {counted(tested, 'case')} that must tie {way} by {points(abs(ties.drop))}; the "
            f"chance of that without a change is {chance(ties.p_together)}",
            "cases that must tie moved together",
            tested,
            numbers={"drop": ties.drop, "p": ties.p_together},
        )


def _both(case: CaseComparison) -> str:
    """How often either side passed."""
    sides = [(t.passed, t.valid) for t in (case.candidate, case.baseline) if t is not None]
    return " against ".join(f"{passed} of {valid}" for passed, valid in sides)


def _quarantined(matter: Matter) -> Iterator[Brief]:
    """Named, so that nobody forgets them."""
    cases = [c for c in matter.comparison.cases if c.quarantine and not removed(c)]
    if cases:
        text = (
            f"{counted(cases, 'case')} in quarantine, not treated as required: "
            f"{listed(cases, _until)}"
        )
        yield brief("quarantined", "warning", text, f"{len(cases)} in quarantine", cases)


def _until(case: CaseComparison) -> str:
    return f"{case.case} (until {case.quarantine}, {case.outcome.value})"


def _weak(matter: Matter) -> Iterator[Brief]:
    """Named, since they say little: doing nothing passes them."""
    cases = [c for c in matter.comparison.cases if c.weak and c.candidate is not None]
    if cases:
        required = sum(c.required for c in cases)
        text = (
            f"{counted(cases, 'weak case')} ({required} required): an agent that does nothing passes "
            f"{'it' if len(cases) == 1 else 'them'} as well: {listed(cases)}"
        )
        yield brief("weak_cases", "note", text, f"{len(cases)} weak", cases)


def _attacks(matter: Matter) -> Iterator[Brief]:
    """What came of the attacks of injection cases."""
    cases = [c for c in matter.comparison.cases if c.candidate and c.candidate.attacks]
    if not cases:
        return
    now = _sum(c.candidate for c in cases)
    before = _sum(c.baseline for c in cases)
    text = f"attacks in {counted(cases, 'case')}: {_told(now)}"
    if before.trials:
        text += f"; the release: {_told(before)}"
    numbers = {name: float(getattr(now, name)) for name in ("succeeded", "attempted", "ignored")}
    yield brief("attacks", "note", text, f"{now.succeeded} attacks succeeded", cases, numbers)


def _simulated(matter: Matter) -> Iterator[Brief]:
    """How often simulated people did not do their part; both sides alike, or the comparison is about them."""
    sides = matter.comparison.simulation
    if not any(side.faults for side in sides.values()):
        return
    told = []
    numbers = {}
    for name, whose in (("candidate", "the candidate's"), ("baseline", "the baseline's")):
        side = sides.get(name)
        if side is None:
            continue
        kinds = ", ".join(f"{kind.replace('_', ' ')} {n}" for kind, n in side.spoilt.items())
        told.append(
            f"{side.faults} of {whose} {number(side.conversations, 'conversation')}"
            f" ({percent(side.rate)}{f': {kinds}' if kinds else ''})"
        )
        numbers[name] = side.rate
    text = (
        f"simulated people spoilt {' and '.join(told)}; spoilt trials were run again, twice at most"
    )
    faults = sum(side.faults for side in sides.values())
    effect: Effect = "note"
    base, candidate = sides.get("baseline"), sides.get("candidate")
    if base is not None and candidate is not None and _spoilt_more(base, candidate):
        effect = "warning"
        text += (
            "; the candidate's are spoilt more often, so that those that count are the easier ones"
        )
    yield brief("simulator_faults", effect, text, f"{faults} spoilt by the simulator", [], numbers)


def _spoilt_more(base: Simulation, candidate: Simulation) -> bool:
    """Fisher's test: what the candidate says makes people spoil conversations that they else would not."""
    pair = Pair(
        base.conversations - base.faults,
        base.conversations,
        candidate.conversations - candidate.faults,
        candidate.conversations,
    )
    return significant(conditional_test([pair]).exact, 0.05)


def _sum(tallies: Iterable[Tally | None]) -> Attacks:
    found = (tally.attacks for tally in tallies if tally is not None and tally.attacks is not None)
    return sum(found, Attacks())


def _told(attacks: Attacks) -> str:
    return (
        f"{attacks.succeeded} succeeded, {attacks.attempted} attempted and {attacks.ignored} ignored in "
        f"{number(attacks.trials, 'trial')}"
    )


def _nothing_forbidden(matter: Matter) -> Iterator[Brief]:
    """Zero of n is never "safe": it is a bound, and only for this mix of cases."""
    tallies = [c.candidate for c in matter.comparison.cases if c.candidate is not None]
    trials = sum(t.valid for t in tallies)
    if trials and not any(t.forbidden for t in tallies):
        bound = rate_bound(trials)
        text = (
            f"no forbidden action in {number(trials, 'trial')}: over this mix of cases their rate is "
            f"below {percent(bound)} at 95 % confidence"
        )
        short = f"no forbidden action in {number(trials, 'trial')}"
        yield brief(
            "forbidden_none", "note", text, short, numbers={"trials": float(trials), "bound": bound}
        )


def _fails(case: CaseComparison) -> bool:
    """More often than not."""
    return case.candidate is not None and case.candidate.failed > case.candidate.passed


QUESTIONS = (
    _loosened,
    _others_changed,
    _negative,
    _flips,
    _ties,
    _conditions,
    _alike,
    _quarantined,
    _weak,
    _attacks,
    _simulated,
    _nothing_forbidden,
)
"""A function a question; each yields grounds."""
