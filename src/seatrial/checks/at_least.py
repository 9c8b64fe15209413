"""`at_least`: so many calls or more, those in vain left out."""

from __future__ import annotations

from seatrial.checks import expectations, steps
from seatrial.checks.scope import Found, Scope, counted, failed, is_call_of, passed
from seatrial.documents.checks import AtLeast


def find(check: AtLeast, scope: Scope) -> Found:
    """Whether so many such calls were made and not in vain."""
    attempts = [
        call
        for call in scope.calls
        if (check.tool is None or is_call_of(check.tool, call))
        and expectations.hold(check.arguments, call.arguments)
    ]
    calls = steps.fruitful(attempts)
    of = f" of {check.tool}" if check.tool is not None else ""
    if check.arguments:
        of += f" with {expectations.told_all(check.arguments)}"
    found = f"{counted(len(calls), 'call')}{of}"
    if len(attempts) > len(calls):
        found += f" and {counted(len(attempts) - len(calls), 'attempt')} in vain"
    if len(calls) >= check.times:
        return passed(f"{found}, at least {check.times} expected", calls[check.times - 1])
    last = attempts[-1] if attempts else None
    return failed(f"{found}; expected at least {check.times}", last)
