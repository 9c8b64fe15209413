"""Comparison → ruling."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.compare import Comparison
from seatrial.gate import grounds
from seatrial.gate.matter import Brief, Matter
from seatrial.gate.model import Profile, RuledChange, Ruling
from seatrial.verdicts import Gate

_LONGEST = 140


def rule(
    comparison: Comparison,
    *,
    profile: Profile | None = None,
    loosened: Sequence[str] = (),
    changes: Sequence[RuledChange] = (),
) -> Ruling:
    """Rule open, closed or undecided, with every ground.

    Closed when something was shown: a forbidden action, a required case that regressed or was taken away,
    a suite that is worse by more than its margin. Undecided when something is missing that could
    have been shown. Open otherwise.

    Args:
        comparison: carries the policy it was made under.
        profile: instead of the policy's.
        loosened: points in which the change would loosen its policy (`stricter` names them).
        changes: in what the change would be judged less strictly than its base says, and who approved it.
    """
    chosen = profile or comparison.policy.profile
    found = grounds.all_of(Matter(comparison, chosen, tuple(loosened), tuple(changes)))
    effects = {ground.effect for ground, _ in found}
    if "closed" in effects:
        ruling = Gate.CLOSED
    elif "undecided" in effects:
        ruling = Gate.UNDECIDED
    else:
        ruling = Gate.OPEN
    return Ruling(
        ruling=ruling,
        profile=chosen,
        headline=_headline(ruling, found, comparison),
        policy_changes=tuple(changes),
        grounds=tuple(ground for ground, _ in found),
    )


def _headline(ruling: Gate, found: list[Brief], comparison: Comparison) -> str:
    if ruling is Gate.OPEN:
        tested = sum(c.required and c.candidate is not None for c in comparison.cases)
        said = [f"none of {tested} required case{'s' if tested != 1 else ''} shown worse"]
        said += [short for ground, short in found if ground.kind == "forbidden_none"]
        said += [short for ground, short in found if ground.effect == "warning"]
    else:
        said = [short for ground, short in found if ground.effect == ruling.value]
    text = f"{ruling.value.capitalize()}: {said[0]}"
    for place, short in enumerate(said[1:], 1):
        more = f"; {len(said) - place} more"
        longer = f"{text}; {short}"
        last = place == len(said) - 1
        if len(longer) + (0 if last else len(more)) > _LONGEST:
            return _cut(text + more)
        text = longer
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
