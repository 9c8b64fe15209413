"""`object_exists`: there is such an object in the trial's own world at its end."""

from __future__ import annotations

from seatrial.checks import expectations, objects
from seatrial.checks.scope import Found, Scope, counted, failed, passed, unproven
from seatrial.documents.checks import ObjectExists
from seatrial.state import fulfils


def find(check: ObjectExists, scope: Scope) -> Found:
    """Whether there are as many such objects as asked for; at least one where nothing is asked."""
    search = objects.search(check, scope)
    asked = objects.asked(check)
    if search.unknown and not (search.fitting and check.count is None):
        return unproven(f"{search.unknown}, so whether there is a {asked} is not known")
    if check.count is not None:
        found = f"there are {len(search.fitting)} of {asked}"
        if fulfils(check.count, len(search.fitting)):
            return passed(found)
        return failed(f"{found}; expected {expectations.asked(check.count)}")
    if search.fitting:
        more = f" and {len(search.fitting) - 1} more" if len(search.fitting) > 1 else ""
        return passed(f"there is a {asked}: {search.fitting[0]}{more}")
    if search.nearest is None:
        what = "that this trial created" if check.created_during_trial else "in the world"
        return failed(f"there is no {asked}; there is no {check.type} {what} at all")
    key, missed = search.nearest
    return failed(
        f"there is no {asked}; of {counted(search.others, check.type)} the nearest, {key}, has "
        f"{expectations.held_against(missed)}"
    )
