"""`object_absent`: there is no such object in the trial's own world at its end."""

from __future__ import annotations

from seatrial.checks import expectations, objects
from seatrial.checks.scope import Found, Scope, failed, passed, unproven
from seatrial.documents.checks import ObjectAbsent


def find(check: ObjectAbsent, scope: Scope) -> Found:
    """Whether no object is as described."""
    search = objects.search(check, scope)
    asked = objects.asked(check)
    if search.fitting:
        return failed(f"there is a {asked}: {expectations.listed(search.fitting)}")
    if search.unknown:
        return unproven(f"{search.unknown}, so whether there is a {asked} is not known")
    return passed(f"there is no {asked}")
