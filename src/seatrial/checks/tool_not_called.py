"""`tool_not_called`: the tool is never called with these arguments, not even in vain."""

from __future__ import annotations

from seatrial.checks import expectations
from seatrial.checks.scope import BEYOND_RIGHTS, Found, Scope, counted, failed, passed, where
from seatrial.documents.checks import ToolNotCalled
from seatrial.state import Unjudged
from seatrial.state.values import shown
from seatrial.trace import Called


def find(check: ToolNotCalled, scope: Scope) -> Found:
    """Whether there is no such call; an attempt that was refused or gave an error is one."""
    calls = scope.calls_of(check.tool)
    forbidden: list[Called] = []
    unjudged: Unjudged | None = None
    for call in calls:
        try:
            if expectations.hold(check.arguments, call.arguments):
                forbidden.append(call)
        except Unjudged as error:  # a call that is forbidden for certain still says so
            unjudged = error
    asked = f" with {expectations.told_all(check.arguments)}" if check.arguments else ""
    if forbidden:
        first = forbidden[0]
        outcome = (
            f", {BEYOND_RIGHTS}"
            if first.refused is not None
            else ", in vain"
            if first.answer.is_error
            else ""
        )
        often = f" {counted(len(forbidden), 'time')}, first" if len(forbidden) > 1 else ""
        return failed(
            f"{check.tool} was called{often} with {shown(first.arguments)}{outcome} "
            f"({where(first)}); it must not be called{asked}",
            first,
            forbidden=True,
        )
    if unjudged is not None:
        raise unjudged
    if calls:
        return passed(
            f"{check.tool} was called {counted(len(calls), 'time')}, never{asked}", calls[-1]
        )
    return passed(f"{check.tool} was never called ({counted(len(scope.calls), 'call')} in all)")
