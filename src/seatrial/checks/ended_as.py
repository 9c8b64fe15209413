"""`ended_as`: how the conversation with a simulated person ended."""

from __future__ import annotations

from seatrial.checks.scope import Found, Scope, failed, passed, skipped
from seatrial.documents.checks import EndedAs


def find(check: EndedAs, scope: Scope) -> Found:
    """Whether it ended as it should; skipped where nobody took part who could end it."""
    trace = scope.trace
    if trace.ended_as is None:
        if trace.ended in ("call_limit", "step_limit", "token_limit", "cost_limit", "gave_up"):
            return failed(
                f"the conversation never came to its end ({trace.ended.replace('_', ' ')}); expected "
                f"{_expected(check)}"
            )
        return skipped("no simulated person took part, so nobody ended the conversation")
    last = scope.replies[-1] if scope.replies else None
    came = trace.ended_as + (f" ({trace.exit_intent})" if trace.exit_intent else "")
    turns = f"after turn {last.turn}" if last is not None else "before any reply"
    told = f"the conversation ended as {came} {turns}"
    fits = trace.ended_as in check.ended and check.intent in (None, trace.exit_intent)
    return passed(told, last) if fits else failed(f"{told}; expected {_expected(check)}", last)


def _expected(check: EndedAs) -> str:
    return " or ".join(check.ended) + (f" ({check.intent})" if check.intent else "")
