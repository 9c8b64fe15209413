"""`no_write_before`: nothing is written before a call that has to come first."""

from __future__ import annotations

from seatrial.checks import steps
from seatrial.checks.scope import Found, Scope, counted, failed, passed, skipped, succeeded, where
from seatrial.documents.checks import NoWriteBefore
from seatrial.trace import Called


def find(check: NoWriteBefore, scope: Scope) -> Found:
    """Whether every writing call came after the one that has to come first.

    A call writes when it changed the world, or when its tool says that it is not read-only. Whether a
    tool that says nothing about itself wrote, nobody knows: then there is no answer.
    """
    first = next(
        (c for c in scope.calls if succeeded(c) and steps.fulfils(check.call, c)),
        None,
    )
    asked = steps.told(check.call)
    unknown: list[Called] = []
    before = [c for c in scope.calls if first is None or c.number < first.number]
    for call in before:
        if not (check.attempted or succeeded(call) or call.changed):
            continue
        if steps.fulfils(check.call, call):
            continue  # it is what has to come first, though in vain or not counted
        writes = _writes(call)
        if writes:
            came = f"before {asked} ({where(first)})" if first else f"and {asked} never was"
            return failed(f"{call.tool} was called ({where(call)}) {came}", call)
        if writes is None:
            unknown.append(call)
    if unknown:
        call = unknown[0]
        return skipped(
            f"{call.tool} ({where(call)}) declares neither that it only reads nor that it is destructive, "
            f"so whether anything was written before {asked} is not known"
        )
    came = f"{asked} was called ({where(first)})" if first else f"{asked} was never called"
    return passed(f"{counted(len(before), 'call')} before, none of them writes; {came}", first)


def _writes(call: Called) -> bool | None:
    """Whether the call writes; None where its tool says nothing about itself."""
    if call.changed:
        return True
    if call.read_only is not None:
        return not call.read_only
    return None if call.destructive is None else True
