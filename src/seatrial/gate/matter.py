"""What is to be ruled on, and the phrases in which grounds speak of cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from seatrial.compare import CaseComparison, Comparison
from seatrial.gate.model import Effect, Ground, Profile, RuledChange
from seatrial.verdicts import Outcome

Brief = tuple[Ground, str]
"""A ground, and what the headline says of it."""

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be ruled on."""

    comparison: Comparison
    profile: Profile
    loosened: tuple[str, ...] = ()
    """Points of the policy that the change would loosen."""
    changes: tuple[RuledChange, ...] = ()
    """In what the change would be judged less strictly than its base says."""

    def approved(self, case: str, *kinds: str) -> bool:
        """Whether all that the change loosens of a case in these ways is approved, and there is any of it."""
        found = [
            c
            for c in self.changes
            if c.change.kind in kinds
            and c.change.case
            and (case == c.change.case or case.startswith(f"{c.change.case}--"))  # a variant of it
        ]
        return bool(found) and all(c.approved_by for c in found)

    @property
    def required(self) -> tuple[CaseComparison, ...]:
        """The required cases that the suite still has."""
        return tuple(c for c in self.comparison.cases if c.required and not removed(c))

    @property
    def stale(self) -> bool:
        """Live baseline trials contradict the stored ones: nothing relative can be said."""
        return any(c.lacks == "fresh_baseline" for c in self.comparison.cases)


def brief(
    kind: str,
    effect: Effect,
    text: str,
    short: str,
    cases: Iterable[CaseComparison] = (),
    numbers: Mapping[str, float] | None = None,
) -> Brief:
    """A ground with these cases and numbers."""
    named = tuple(c.case for c in cases)
    ground = Ground(kind=kind, effect=effect, text=text, cases=named, numbers=dict(numbers or {}))
    return ground, short


def removed(case: CaseComparison) -> bool:
    """The suite no longer has it."""
    return case.outcome is Outcome.REMOVED


def newly_forbidden(case: CaseComparison) -> bool:
    """Named among the forbidden actions already."""
    return case.forbidden and not case.forbidden_before


def listed(
    cases: Sequence[CaseComparison], say: Callable[[CaseComparison], str] = lambda c: c.case
) -> str:
    """The first few, and how many more."""
    named = "; ".join(say(c) for c in cases[:_NAMED])
    more = len(cases) - _NAMED
    return f"{named}; and {more:,} more" if more > 0 else named


def said(case: CaseComparison) -> str:
    """The case with what the comparison says of it."""
    return f"{case.case} ({case.sentence})"


def component(case: CaseComparison) -> str:
    """The case with the component that differs."""
    return f"{case.case} ({case.component})"


def passes(case: CaseComparison) -> str:
    """The case with how often the candidate passed it."""
    tally = case.candidate
    return f"{case.case} ({tally.passed} of {tally.valid})" if tally else case.case


def who(cases: Sequence[CaseComparison], kind: str = "") -> str:
    """For the headline: the case by name when it is one."""
    return cases[0].case if len(cases) == 1 else f"{len(cases):,} {kind}cases"


def counted(cases: Sequence[CaseComparison], what: str) -> str:
    """How many cases of what kind."""
    return number(len(cases), what)


def number(n: int, what: str) -> str:
    """A count with its noun."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def percent(share: float) -> str:
    """A share of 1 in percent."""
    return f"{100 * share:.1f} %"


def points(share: float) -> str:
    """A difference of two shares in percentage points."""
    return f"{100 * share:.1f} points"


def points_above(share: float) -> str:
    """The same, rounded up: never less than it is."""
    return points(math.ceil(1000 * share - 1e-9) / 1000)


def chance(p: float) -> str:
    """A p-value."""
    return f"{p:.2g}" if p >= 1e-6 else "less than 0.000001"
