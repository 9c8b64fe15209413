"""`golden_calls`: the calls of a reviewed step are made, and no others that matter."""

from __future__ import annotations

from seatrial.checks import sequence, steps
from seatrial.checks.assignment import assign
from seatrial.checks.scope import Found, Scope, failed, passed, where
from seatrial.documents.checks import CallSequence, GoldenCalls
from seatrial.trace import Called

_REFUSED = {
    "reads": "which is not known to read only",
    "none": "and no other call belongs here",
}


def find(check: GoldenCalls, scope: Scope) -> Found:
    """Whether each expected call has one of its own in order, and no other is made that may not be."""
    told = "no call was expected"
    if check.calls:
        asked = CallSequence(check="sequence", calls=check.calls, order=check.order)
        found = sequence.find(asked, scope)
        if found.status != "passed":
            return found
        told = found.reason
    taken = _taken(check, scope)
    for call in scope.calls:
        if call.number in taken or check.others == "any":
            continue
        if check.others == "none" or call.read_only is not True:
            return failed(
                f"{call.tool} was called as well ({where(call)}), {_REFUSED[check.others]}", call
            )
    others = len(scope.calls) - len(taken)
    return passed(f"{told}; {others} other calls, all allowed" if others else told)


def _taken(check: GoldenCalls, scope: Scope) -> set[int]:
    """The numbers of the calls that stand for the expected ones."""
    calls: list[Called] = steps.fruitful(scope.calls)
    options = [
        [at for at, call in enumerate(calls) if steps.fulfils(step, call)] for step in check.calls
    ]
    return {calls[at].number for at in assign(options) if at is not None}
