"""Expected calls: which calls of a trace fulfil a step, and how to say what a step asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seatrial.checks import expectations
from seatrial.checks.scope import BEYOND_RIGHTS, is_call_of, succeeded, where
from seatrial.documents.checks import CallOrStep, ExpectedCall, calls_of
from seatrial.trace import Called


def fulfils(step: CallOrStep | ExpectedCall, call: Called) -> bool:
    """Whether a call is one that the step asks for, whatever came of it."""
    return any(
        is_call_of(asked.tool, call) and expectations.hold(asked.arguments, call.arguments)
        for asked in calls_of(step)
    )


def told(step: CallOrStep | ExpectedCall) -> str:
    """`refund with amount lte 50`, `mail or call`."""
    return " or ".join(_told(asked) for asked in calls_of(step))


def told_all(steps: Iterable[CallOrStep | ExpectedCall], between: str) -> str:
    """All of them, with `between` between them."""
    return between.join(told(step) for step in steps)


def instead(step: CallOrStep | ExpectedCall, calls: Sequence[Called]) -> tuple[str, Called | None]:
    """What there is in place of a call that a step asks for, and the call that shows it."""
    attempts = [call for call in calls if any(is_call_of(a.tool, call) for a in calls_of(step))]
    if not attempts:
        return "was never called", None
    fitting = [call for call in attempts if fulfils(step, call)]
    if fitting:
        last = fitting[-1]
        came_to = BEYOND_RIGHTS if last.refused is not None else "answered with an error"
        return f"was called in vain only, {came_to} the last time ({where(last)})", last
    missed, nearest = min(
        (
            (expectations.misses(asked.arguments, call.arguments), call)
            for call in attempts
            for asked in calls_of(step)
            if is_call_of(asked.tool, call)
        ),
        key=lambda entry: len(entry[0]),
    )
    return (
        f"was called with {expectations.found_in(missed)} at the nearest ({where(nearest)})",
        nearest,
    )


def fruitful(calls: Iterable[Called]) -> list[Called]:
    """The calls that were neither refused nor answered with an error."""
    return [call for call in calls if succeeded(call)]


def _told(asked: ExpectedCall) -> str:
    if not asked.arguments:
        return asked.tool
    return f"{asked.tool} with {expectations.told_all(asked.arguments)}"
