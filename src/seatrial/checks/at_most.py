"""`at_most`: no more than so many calls, those in vain included."""

from __future__ import annotations

from seatrial.checks import steps
from seatrial.checks.scope import Found, Scope, counted, failed, passed, where
from seatrial.documents.checks import AtMost, ExpectedCall


def find(check: AtMost, scope: Scope) -> Found:
    """Whether no more such calls were made; an attempt costs the same, whatever comes of it."""
    calls, asked = list(scope.calls), "calls"
    if check.tool is not None:
        wanted = ExpectedCall(tool=check.tool, arguments=check.arguments)
        calls, asked = [c for c in calls if steps.fulfils(wanted, c)], f"of {steps.told(wanted)}"
    found = f"{counted(len(calls), 'call')}" + ("" if check.tool is None else f" {asked}")
    if len(calls) <= check.times:
        return passed(f"{found}, at most {check.times} expected", calls[-1] if calls else None)
    first = calls[check.times]
    return failed(f"{found}; expected at most {check.times}, exceeded at {where(first)}", first)
