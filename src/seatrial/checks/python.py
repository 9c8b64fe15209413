"""`python`: a function of the repository reads the trace and answers.

It is called as `f(trace, **arguments)` with a copy of the trace (of one turn: without the other turns, and
without the changes, which belong to the whole trial), and answers `(status, reason)` or `(status, reason,
number of the call)`.
"""

from __future__ import annotations

import copy
import inspect
import traceback
from typing import Any

from seatrial.checks.scope import Found, Scope, broken
from seatrial.documents.checks import PythonCheck
from seatrial.state.values import quoted
from seatrial.trace import Trace
from seatrial.verdicts import Cause, Status

_OURS = __file__.rpartition("/checks/")[0]
_LONGEST = 200
"""Characters of what an exception says."""
_ANSWERS = (
    'it must answer ("passed" | "failed" | "skipped", reason), or with the number of a call third'
)


def find(check: PythonCheck, scope: Scope) -> Found:
    """What the function answers; what it raises is never held against the agent."""
    name = check.function
    function = scope.background.functions.get(name)
    if function is None:
        return broken(
            f"{name} is not at hand, so nobody knows what it would find", Cause.NO_EVIDENCE
        )
    try:
        return _found(name, function(_seen(scope), **copy.deepcopy(check.arguments)), scope)
    except KeyboardInterrupt:
        raise  # of whoever runs it, who wants to stop
    except BaseException as error:  # a cancellation that it made itself would end the whole run
        return broken(f"{name} raised {type(error).__name__}: {_told(error)}")


def _seen(scope: Scope) -> Trace:
    """A copy that shares nothing with the trace."""
    trace = scope.trace
    if scope.turn is not None:
        events = tuple(event for event in trace.events if event.turn == scope.turn)
        trace = trace.model_copy(update={"events": events, "changes": None})
    return trace.model_copy(deep=True)


def _told(error: BaseException) -> str:
    """What an exception says, and the last line of the repository's own code that it came through."""
    text = str(error)
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_OURS):
            return f"{text} ({frame.filename.rpartition('/')[2]}:{frame.lineno})"
    return text


def _found(name: str, answer: Any, scope: Scope) -> Found:
    if inspect.iscoroutine(answer):
        answer.close()
        return broken(f"{name} is an async function; write it as a plain one")
    if not isinstance(answer, tuple | list) or len(answer) not in (2, 3):
        return broken(f"{name} answered {type(answer).__name__}; {_ANSWERS}")
    status, reason, *at = answer
    if not isinstance(status, str) or status not in [str(s) for s in Status]:
        return broken(f"{name} answered {quoted(str(status))}; {_ANSWERS}")
    if not isinstance(reason, str) or not reason.strip():
        return broken(f"{name} answered {status} without a reason; {_ANSWERS}")
    call = next((c for c in scope.calls if at and c.number == at[0]), None)
    if at and at[0] is not None and call is None:
        return broken(f"{name} names call {at[0]!r}, which is not there; {_ANSWERS}")
    return Found(
        status=Status(status),
        reason=reason,
        turn=call.turn if call else None,
        call=call.number if call else None,
    )
