"""`arguments_valid`: every call is of a tool that there is, with arguments that fit its schema."""

from __future__ import annotations

from seatrial.checks.scope import Found, Scope, counted, failed, is_call_of, passed, skipped, where
from seatrial.documents.checks import ArgumentsValid


def find(check: ArgumentsValid, scope: Scope) -> Found:
    """Whether nothing was found that does not fit when the calls were made.

    The schema is the one that the tool had in that trial; where nobody held a call against it, there is
    no answer for that call.
    """
    calls = [call for call in scope.calls if check.tool is None or is_call_of(check.tool, call)]
    if not calls:
        of = f" of {check.tool}" if check.tool is not None else ""
        return skipped(f"there was no call{of}, so there are no arguments to look at")
    wrong = [call for call in calls if call.misfits]
    if wrong:
        first = wrong[0]
        rest = f"; {len(wrong)} of {counted(len(calls), 'call')} do not fit" if wrong[1:] else ""
        return failed(
            f"{first.tool}: {'; '.join(first.misfits or ())} ({where(first)}){rest}", first
        )
    unknown = [call for call in calls if call.misfits is None]
    if unknown:
        return skipped(
            f"{unknown[0].tool} ({where(unknown[0])}) was not held against a schema when it was called"
            + (f", nor were {len(unknown) - 1} more" if unknown[1:] else "")
        )
    return passed(f"{counted(len(calls), 'call')}, all of them fit the schemas of their tools")
