"""`tool_arguments`: what a tool is called with; skipped when it never is."""

from __future__ import annotations

from seatrial.checks import expectations
from seatrial.checks.scope import Found, Scope, counted, failed, passed, skipped, where
from seatrial.documents.checks import ToolArguments
from seatrial.state import Unjudged
from seatrial.trace import Called


def find(check: ToolArguments, scope: Scope) -> Found:
    """Whether the arguments of the calls asked about hold.

    Calls in vain are looked at too: what they were called with is the agent's doing, whatever
    came of it.
    """
    calls = scope.calls_of(check.tool)
    if not calls:
        return skipped(f"{check.tool} was never called, so there are no arguments to look at")
    match check.which:
        case "first":
            calls = calls[:1]
        case "last":
            calls = calls[-1:]
        case "every" | "any":
            pass
    wrong: list[tuple[tuple[expectations.Miss, ...], Called]] = []
    right: list[Called] = []
    unjudged: Unjudged | None = None
    for call in calls:
        try:
            if expectations.hold(check.arguments, call.arguments):
                right.append(call)
            else:
                wrong.append((expectations.misses(check.arguments, call.arguments), call))
        except Unjudged as error:
            unjudged = error
    if unjudged is not None and not (right if check.which == "any" else wrong):
        raise unjudged
    if not wrong or (check.which == "any" and right):
        return passed(
            f"{check.tool} was called with {expectations.told_all(check.arguments)} "
            f"({where(right[0])}{'' if len(right) == 1 else f', and {len(right) - 1} more'})",
            right[0],
        )
    # Of several that had a choice the nearest is shown, of calls that all count the first.
    missed, call = min(wrong, key=lambda entry: len(entry[0])) if check.which == "any" else wrong[0]
    how, rest = "", ""
    if check.which in ("first", "last"):
        how = f" {check.which}"
    elif check.which == "any" and len(wrong) > 1:
        rest = f"; the nearest of {counted(len(wrong), 'call')}"
    elif len(calls) > 1:
        verb = "falls" if len(wrong) == 1 else "fall"
        rest = f"; {len(wrong)} of {len(calls)} calls {verb} short"
    return failed(
        f"{check.tool} was{how} called with {expectations.found_in(missed)}; "
        f"expected {expectations.expected_in(missed)} ({where(call)}{rest})",
        call,
    )
