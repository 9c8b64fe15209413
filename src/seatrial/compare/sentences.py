"""What the comparison says of a case, in plain words with the numbers in it."""

from __future__ import annotations

from seatrial.compare.judging import Judgement
from seatrial.compare.pooling import Standing
from seatrial.compare.sides import Trials
from seatrial.stats.evidence import against_chance
from seatrial.verdicts import Outcome


def of_contest(
    judgement: Judgement, base: Trials, candidate: Trials, live: Trials | None = None
) -> str:
    """A case with valid trials on both sides, and perhaps some of the release beside the candidate."""
    failed, base_failed = _failed(candidate), _failed(base)
    both = f"failed {failed} where the release failed {base_failed}"
    match judgement.outcome:
        case Outcome.REGRESSED:
            text = f"{both}; {_strength(judgement, judgement.decision.evidence)}"
        case Outcome.IMPROVED:
            text = (
                f"passed {_passed(candidate)} where the release passed {_passed(base)}; "
                f"{_strength(judgement, judgement.mirrored.evidence)}"
            )
        case Outcome.UNCHANGED if candidate.passed == candidate.valid:
            text = f"passed {_passed(candidate)}, the release {_passed(base)}"
        case Outcome.UNCHANGED:
            text = f"{both}: {judgement.decision.why}"
        case _:
            text = f"{both}: {judgement.decision.why}"
    return text + _beside(live) + _forbidden(base, candidate) + _invalid(candidate)


def of_forbidden(base: Trials, candidate: Trials) -> str:
    """A case in which the candidate, and not the release, did something forbidden."""
    return (
        f"did something forbidden in {candidate.forbidden} of {candidate.seen} trials where the "
        f"release did in none of {base.seen}{_invalid(candidate)}"
    )


def of_new(candidate: Trials | None) -> str:
    """A case without a trial of the release."""
    start = "there is no trial of the release to compare with"
    if candidate is None:
        return f"{start}, and it was not run"
    if not candidate.valid:
        return f"{start}{_nothing_valid(candidate)}"
    return f"{start}; passed {_passed(candidate)}{_alone(candidate)}{_invalid(candidate)}"


def of_incomparable(standing: Standing, base: Trials | None, candidate: Trials | None) -> str:
    """A case whose baseline was made under other conditions."""
    names = standing.apart
    if names == ("fingerprint",):
        text = "what it was run with was not recorded on both sides"
    elif standing.why:
        text = standing.why
    elif len(names) == 1:
        text = f"its {names[0]} is not what it was when the baseline was recorded"
    else:
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        text = f"its {listed} are not what they were when the baseline was recorded"
    if candidate is not None and candidate.valid:
        text += f"; passed {_passed(candidate)}"
        if base is not None and base.valid:
            text += f", the release {_passed(base)}"
    if candidate is None:
        return text
    return text + _alone(candidate) + _invalid(candidate)


def of_standing(standing: Standing) -> str:
    """Where the release's trials are from, if not simply from its baseline; empty otherwise."""
    if standing.again:
        return "; the release was run again beside it"
    return "; the release's trials were graded again" if standing.regraded else ""


def of_silence(base: Trials | None, candidate: Trials | None) -> str:
    """A case that lacks valid trials on a side."""
    if candidate is None:
        return "it was selected, and no trial of it was recorded"
    if not candidate.valid:
        return f"no trial counts{_nothing_valid(candidate)}"
    assert base is not None
    return (
        f"passed {_passed(candidate)}; none of the {base.seen} trials of the release counts "
        f"({_causes(base)}){_alone(candidate)}{_invalid(candidate)}"
    )


def of_carried(base: Trials) -> str:
    """A case that was left out; the baseline's trials stand for it."""
    return f"carried, not run; the release passed {_passed(base)}"


def of_removed(base: Trials | None, required: bool) -> str:
    """A case that the candidate's suite no longer has."""
    what = "a required case was removed" if required else "removed"
    return f"{what}; the release passed {_passed(base)}" if base and base.valid else what


def _strength(judgement: Judgement, evidence: float | None) -> str:
    if judgement.p is not None:
        shown = f"{judgement.p:.2g}" if judgement.p >= 1e-6 else "less than 0.000001"
        return f"the chance of that without a change is {shown}"
    return against_chance(evidence or 1.0)


def _passed(trials: Trials) -> str:
    return f"{trials.passed} of {trials.valid}"


def _failed(trials: Trials) -> str:
    return f"{trials.valid - trials.passed} of {trials.valid}"


def _beside(live: Trials | None) -> str:
    return f"; beside it the release failed {_failed(live)}" if live and live.valid else ""


def _forbidden(base: Trials, candidate: Trials) -> str:
    if not candidate.forbidden:
        return ""
    text = f"; did something forbidden in {candidate.forbidden} of {candidate.seen} trials"
    return f"{text}, as the release in {base.forbidden} of {base.seen}" if base.forbidden else text


def _alone(candidate: Trials) -> str:
    if not candidate.forbidden:
        return ""
    return f"; did something forbidden in {candidate.forbidden} of {candidate.seen} trials"


def _nothing_valid(candidate: Trials) -> str:
    text = f"; all {candidate.seen} are invalid ({_causes(candidate)})"
    return text + _alone(candidate)


def _invalid(candidate: Trials) -> str:
    count = candidate.invalid.total()
    return f"; {count} invalid left out ({_causes(candidate)})" if count else ""


def _causes(trials: Trials) -> str:
    return ", ".join(f"{n} {cause}" for cause, n in sorted(trials.invalid.items()))
