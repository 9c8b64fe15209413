"""`sequence`: these calls in this order; calls that overlap in time are in no order to each other."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.checks import steps
from seatrial.checks.assignment import assign
from seatrial.checks.scope import Found, Scope, broken, counted, failed, passed, where
from seatrial.documents.checks import CallSequence
from seatrial.trace import Called

_MOST_TRIED = 20_000
"""Ways to order overlapping calls that are tried."""


def find(check: CallSequence, scope: Scope) -> Found:
    """Whether there is a call of its own for each step, in an order in which they may have been made."""
    calls = steps.fruitful(scope.calls)
    options = [
        [at for at, call in enumerate(calls) if steps.fulfils(step, call)] for step in check.calls
    ]
    given = assign(options)
    if None in given:
        return _missing(check, given.index(None), options, scope)
    if check.order == "any_order":
        return passed(_told(check, [calls[at] for at in given if at is not None]))
    if check.order == "strict" and len(scope.calls) > len(check.calls):
        taken = {id(calls[at]) for at in given if at is not None}
        other = next(call for call in scope.calls if id(call) not in taken)
        return failed(
            f"{counted(len(scope.calls), 'call')} were made, {other.tool} among them "
            f"({where(other)}); expected {_order(check)} and no other calls",
            other,
        )
    try:
        found, furthest = _ordered(options, calls)
    except _TooManyWaysError:
        return broken(
            f"{counted(len(calls), 'call')} overlap in so many ways that their order could not be told"
        )
    if found is not None:
        return passed(_told(check, found), found[-1])
    return _out_of_order(check, furthest, calls)


class _TooManyWaysError(Exception):
    """The search was given up."""


def _ordered(
    options: Sequence[Sequence[int]], calls: Sequence[Called]
) -> tuple[list[Called] | None, list[Called]]:
    """One call for each step so that none was over before an earlier step's began; else how far it goes.

    Taking the earliest call that fits is right as long as no two overlap; where they do, others are
    tried. What a way can still come to depends on the step and on the calls taken that are not over
    yet, so a way that came to nothing is not gone again.
    """
    furthest: list[int] = []
    hopeless: set[tuple[int, float, frozenset[int]]] = set()
    tried = 0
    pending: list[list[int]] = [[]]
    while pending:
        taken = pending.pop()
        if len(taken) > len(furthest):
            furthest = taken
        if len(taken) == len(options):
            return [calls[at] for at in taken], []
        latest = max((calls[at].at_ms for at in taken), default=float("-inf"))
        running = frozenset(at for at in taken if _end(calls[at]) >= latest)
        state = (len(taken), latest, running)
        if state in hopeless:
            continue
        hopeless.add(state)
        tried += 1
        if tried > _MOST_TRIED:
            raise _TooManyWaysError
        further = [
            at
            for at in options[len(taken)]
            if at not in taken and not any(_before(calls[at], calls[t]) for t in taken)
        ]
        pending.extend([*taken, at] for at in reversed(further))
    return None, [calls[at] for at in furthest]


def _before(a: Called, b: Called) -> bool:
    """Whether a call was over when another one came."""
    return a.number < b.number and _end(a) <= b.at_ms


def _end(call: Called) -> float:
    return call.at_ms + call.took_ms


def _missing(check: CallSequence, at: int, options: Sequence[Sequence[int]], scope: Scope) -> Found:
    step = check.calls[at]
    expected = f"expected {_order(check)}"
    if options[at]:
        needed = sum(steps.told(other) == steps.told(step) for other in check.calls)
        return failed(
            f"{steps.told(step)} was called {counted(len(options[at]), 'time')}, "
            f"too few for {counted(needed, 'step')}; {expected}"
            if needed > 1
            else f"there are too few calls for {steps.told(step)} and other steps; {expected}"
        )
    instead, call = steps.instead(step, scope.calls)
    return failed(f"{steps.told(step)} {instead}; {expected}", call)


def _out_of_order(
    check: CallSequence, furthest: Sequence[Called], calls: Sequence[Called]
) -> Found:
    step = check.calls[len(furthest)]
    early = [call for call in calls if steps.fulfils(step, call)][-1]
    last = furthest[-1]
    return failed(
        f"{steps.told(step)} was called too early ({where(early)}), before {last.tool} "
        f"({where(last)}); expected {_order(check)}",
        early,
    )


def _order(check: CallSequence) -> str:
    between = ", " if check.order == "any_order" else " → "
    return ("exactly " if check.order == "strict" else "") + steps.told_all(check.calls, between)


def _told(check: CallSequence, found: Sequence[Called]) -> str:
    how = "in any order" if check.order == "any_order" else "in order"
    return f"called {how}: " + ", ".join(f"{call.tool} ({where(call)})" for call in found)
