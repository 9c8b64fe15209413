"""`any_of`: at least one of several calls that serve the same end."""

from __future__ import annotations

from seatrial.checks import steps
from seatrial.checks.scope import Found, Scope, counted, failed, passed, where
from seatrial.documents.checks import AnyOf


def find(check: AnyOf, scope: Scope) -> Found:
    """Whether one of the calls was made, and not in vain."""
    for call in steps.fruitful(scope.calls):
        for asked in check.calls:
            if steps.fulfils(asked, call):
                return passed(f"{steps.told(asked)} was called ({where(call)})", call)
    found = [(steps.told(asked), *steps.instead(asked, scope.calls)) for asked in check.calls]
    tried = [(f"{asked} {what}", call) for asked, what, call in found if call is not None]
    if tried:
        return failed("; ".join(text for text, _ in tried), tried[0][1])
    return failed(
        f"none of {steps.told_all(check.calls, ', ')} was called "
        f"({counted(len(scope.calls), 'call')} in all)"
    )
