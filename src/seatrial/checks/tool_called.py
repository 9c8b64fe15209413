"""`tool_called`: the tool is called, with these arguments, and not in vain."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.checks import expectations
from seatrial.checks.scope import (
    BEYOND_RIGHTS,
    Found,
    Scope,
    counted,
    failed,
    passed,
    succeeded,
    where,
)
from seatrial.documents.checks import ToolCalled
from seatrial.state import Unjudged, fulfils
from seatrial.state.operators import told
from seatrial.trace import Called


def find(check: ToolCalled, scope: Scope) -> Found:
    """Whether there are as many such calls as asked for; at least one where nothing is asked."""
    attempts = scope.calls_of(check.tool)
    counting = [call for call in attempts if check.attempted or succeeded(call)]
    fitting: list[Called] = []
    unjudged: Unjudged | None = None
    for call in counting:
        try:
            if expectations.hold(check.arguments, call.arguments):
                fitting.append(call)
        except Unjudged as error:
            unjudged = error
    if unjudged is not None and (check.times is not None or not fitting):
        raise unjudged
    if check.times is not None:
        return _counted(check, fitting)
    if fitting:
        return passed(f"{_asked(check)} was called ({where(fitting[0])})", fitting[0])
    if counting:
        return _with_other_arguments(check, counting)
    if attempts:
        last = attempts[-1]
        if last.refused is not None:
            came_to = BEYOND_RIGHTS if len(attempts) == 1 else f"{BEYOND_RIGHTS} the last time"
        else:
            came_to = "answered with an error" + (" the last time" if len(attempts) > 1 else "")
        return failed(
            f"{check.tool} was called in vain only: "
            f"{counted(len(attempts), 'attempt')}, {came_to} ({where(last)})",
            last,
        )
    return failed(f"{check.tool} was never called ({counted(len(scope.calls), 'call')} in all)")


def _counted(check: ToolCalled, fitting: Sequence[Called]) -> Found:
    assert check.times is not None
    numbers = f" ({'; '.join(where(call) for call in fitting[:5])})" if fitting else ""
    found = f"{_asked(check)} was called {counted(len(fitting), 'time')}{numbers}"
    last = fitting[-1] if fitting else None
    if fulfils(check.times, len(fitting)):
        return passed(found, last)
    return failed(f"{found}; expected times {told(check.times)}", last)


def _with_other_arguments(check: ToolCalled, calls: Sequence[Called]) -> Found:
    """The call that fulfils most of the conditions is the one worth showing."""
    missed, nearest = min(
        ((expectations.misses(check.arguments, call.arguments), call) for call in calls),
        key=lambda entry: len(entry[0]),
    )
    often = f" {counted(len(calls), 'time')}, the nearest" if len(calls) > 1 else ""
    return failed(
        f"{check.tool} was called{often} with {expectations.found_in(missed)}; "
        f"expected {expectations.expected_in(missed)} "
        f"({where(nearest)})",
        nearest,
    )


def _asked(check: ToolCalled) -> str:
    if not check.arguments:
        return check.tool
    return f"{check.tool} with {expectations.told_all(check.arguments)}"
