"""Whether anything changed at all, in a whole trial or up to the end of one turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from seatrial.checks.scope import Scope, succeeded, where
from seatrial.trace import Called, Change


@dataclass(frozen=True, slots=True)
class Stillness:
    """What is known about whether something changed."""

    changed: bool | None
    """None where it is not known."""
    told: str
    """What changed, or why it is not known; empty when nothing did."""
    call: Called | None = None


def stillness(scope: Scope, counts: Callable[[Change], bool]) -> Stillness:
    """Whether something changed that counts; of one turn every change does, for a call tells only that."""
    if scope.turn is None:
        return _of_trial(scope, counts)
    for call in scope.calls:
        if call.changed:
            return Stillness(True, f"{call.tool} changed the world ({where(call)})", call)
    for call in scope.calls:
        # Only of what was answered here it is known whether it changed anything.
        if call.answered_by == "server" and call.read_only is not True and succeeded(call):
            return Stillness(
                None, f"whether {call.tool} changed anything is not known ({where(call)})"
            )
    return Stillness(False, "")


def _of_trial(scope: Scope, counts: Callable[[Change], bool]) -> Stillness:
    if scope.trace.changes is None:
        return Stillness(None, "the end state was not captured")
    counting = [change for change in scope.trace.changes if counts(change)]
    if not counting:
        return Stillness(False, "")
    call = next((call for call in scope.calls if call.changed), None)
    first = counting[0]
    what = f"{first.what} {first.type} {first.key}" + (
        f".{first.property}" if first.property else ""
    )
    rest = f" and {len(counting) - 1} more" if counting[1:] else ""
    return Stillness(True, f"{what}{rest}", call)
