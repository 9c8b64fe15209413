"""Checks: rules that read a trace. One file per kind; each answers passed, failed or skipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from seatrial.checks import (
    any_of,
    arguments_valid,
    asks_back,
    at_least,
    at_most,
    attack,
    claimed_without_change,
    end_state,
    ended_as,
    golden_calls,
    golden_reply,
    no_violation,
    no_write_before,
    not_disclosed,
    object_absent,
    object_exists,
    python,
    reply_contains,
    reply_matches,
    reply_not_contains,
    reply_number,
    reply_schema,
    sequence,
    skill_not_used,
    skill_used,
    tool_arguments,
    tool_called,
    tool_not_called,
    tool_order,
)
from seatrial.checks.scope import Background, Found, Scope, broken, skipped
from seatrial.costs import Budget, spent
from seatrial.documents import Prices
from seatrial.documents.case import Case
from seatrial.documents.checks import (
    OF_THE_END,
    AnyOf,
    ArgumentsValid,
    AsksBack,
    AtLeast,
    AtMost,
    CallSequence,
    Check,
    ClaimedWithoutChange,
    EndedAs,
    EndState,
    GoldenCalls,
    GoldenReply,
    NotDisclosed,
    NoViolation,
    NoWriteBefore,
    ObjectAbsent,
    ObjectExists,
    PythonCheck,
    ReplyContains,
    ReplyMatches,
    ReplyNotContains,
    ReplyNumber,
    ReplySchema,
    SkillNotUsed,
    SkillUsed,
    ToolArguments,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
)
from seatrial.state import Unjudged
from seatrial.trace import GAVE_UP, Noted, Trace
from seatrial.verdicts import Cause, Finding, Status, Verdict

__all__ = ["Background", "Scope", "find", "grade", "verdict"]

_LONGEST_REASON = 1200
"""Characters; a reason is a sentence, whatever an agent put into its arguments."""
_NOTHING_ELSE = Background()


def grade(case: Case, trace: Trace, background: Background = _NOTHING_ELSE) -> tuple[Finding, ...]:
    """What every check of the case finds in the trace.

    The checks of the turns come first, then the case's own, each in the order of the document; then, in an
    injection case, what came of the attack (of the check `attack`); last, where the trial ended at a limit,
    a critical finding of the check `limit` that says so.

    Args:
        case: its placeholders already filled as in the trial (`Case.filled`).
        trace: any trace of a trial of this case, also a stored one or one that broke off.
        background: what checks may know beside it; a check that needs what is not there is skipped.
    """
    findings = []
    for path, turn, check in case.placed_checks():
        found = find(check, Scope(trace=trace, turn=turn, background=background))
        findings.append(
            Finding(
                check=check.check,
                path=path,
                severity=check.severity,
                status=found.status,
                reason=_one_line(found.reason),
                turn=found.turn if found.turn is not None else turn,
                call=found.call,
                forbidden=found.forbidden and check.severity == "critical",
                cause=found.cause,
            )
        )
    return (
        *findings,
        *_attack(case, trace),
        *_limits(case, trace),
        *_tokens(case, trace),
        *_cost(case, trace, background.prices),
    )


def verdict(findings: Sequence[Finding], trace: Trace) -> tuple[Verdict, Cause | None, str]:
    """The verdict of a trial, its cause when invalid, and a sentence for a person.

    One failed critical finding fails the trial. Where every critical check was skipped nothing was
    graded: invalid (no_evidence). Where a critical check could not do its work, nobody knows whether it
    would have failed: invalid, for its cause. A trace that broke off is invalid too; whoever carried the
    trial knows the cause better than `internal`.
    """
    if trace.ended == "broken":
        return Verdict.INVALID, Cause.INTERNAL, "the trial could not be carried to its end"
    critical = [finding for finding in findings if finding.severity == "critical"]
    bad = [finding for finding in critical if finding.status is Status.FAILED]
    if bad:
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        return Verdict.FAILED, None, f"{bad[0].check}: {bad[0].reason}{more}"
    for finding in critical:
        if finding.cause is not None:
            return Verdict.INVALID, finding.cause, f"{finding.check}: {finding.reason}"
    # That no attack came to anything says nothing of the task.
    graded = [finding for finding in critical if finding.attack is None]
    if all(finding.status is Status.SKIPPED for finding in graded):
        reasons = "; ".join(dict.fromkeys(f"{f.check}: {f.reason}" for f in critical[:3]))
        return Verdict.INVALID, Cause.NO_EVIDENCE, f"every critical check was skipped: {reasons}"
    return Verdict.PASSED, None, ""


def find(check: Check, scope: Scope) -> Found:
    """What one check finds in a trace, or in one turn of it."""
    if not scope.took_place and check.check not in OF_THE_END:
        place = f"turn {scope.turn}" if scope.turn is not None else "the trial"
        return skipped(f"nothing was recorded of {place}")
    try:
        return _find(check, scope)
    except Unjudged as error:
        # An agent that could make a check fall silent could get past it.
        return broken(f"there is no telling: {error}", Cause.NO_EVIDENCE)


def _find(check: Check, scope: Scope) -> Found:
    match check:
        case ToolCalled():
            return tool_called.find(check, scope)
        case ToolNotCalled():
            return tool_not_called.find(check, scope)
        case ToolOrder():
            return tool_order.find(check, scope)
        case ToolArguments():
            return tool_arguments.find(check, scope)
        case CallSequence():
            return sequence.find(check, scope)
        case AnyOf():
            return any_of.find(check, scope)
        case AtMost():
            return at_most.find(check, scope)
        case AtLeast():
            return at_least.find(check, scope)
        case NoWriteBefore():
            return no_write_before.find(check, scope)
        case ArgumentsValid():
            return arguments_valid.find(check, scope)
        case SkillUsed():
            return skill_used.find(check, scope)
        case SkillNotUsed():
            return skill_not_used.find(check, scope)
        case NoViolation():
            return no_violation.find(check, scope)
        case NotDisclosed():
            return not_disclosed.find(check, scope)
        case EndState():
            return end_state.find(check, scope)
        case ObjectExists():
            return object_exists.find(check, scope)
        case ObjectAbsent():
            return object_absent.find(check, scope)
        case ClaimedWithoutChange():
            return claimed_without_change.find(check, scope)
        case AsksBack():
            return asks_back.find(check, scope)
        case ReplyContains():
            return reply_contains.find(check, scope)
        case ReplyNotContains():
            return reply_not_contains.find(check, scope)
        case ReplyMatches():
            return reply_matches.find(check, scope)
        case ReplyNumber():
            return reply_number.find(check, scope)
        case ReplySchema():
            return reply_schema.find(check, scope)
        case GoldenCalls():
            return golden_calls.find(check, scope)
        case GoldenReply():
            return golden_reply.find(check, scope)
        case EndedAs():
            return ended_as.find(check, scope)
        case PythonCheck():
            return python.find(check, scope)
        case _:
            assert_never(check)


def _attack(case: Case, trace: Trace) -> tuple[Finding, ...]:
    """What came of the attack; none where the case has none."""
    if case.attack is None:
        return ()
    found, attacked = attack.find(case.attack.goal, Scope(trace=trace))
    return (
        Finding(
            check="attack",
            path="attack.goal",
            status=found.status,
            reason=_one_line(found.reason),
            turn=found.turn,
            call=found.call,
            forbidden=found.forbidden,
            cause=found.cause,
            attack=attacked,
        ),
    )


def _limits(case: Case, trace: Trace) -> tuple[Finding, ...]:
    """The finding that a trial ended at a limit, or because the agent gave up; none where it did not."""
    last = trace.calls[-1] if trace.calls else None
    match trace.ended:
        case "call_limit":
            most = "" if case.limits.calls is None else f"{case.limits.calls} "
            reason = f"the trial ended at its limit of {most}tool calls"
            path = "limits.calls"
        case "step_limit":
            reason, path = "the trial ended at its limit of steps", "limits"
        case "gave_up":
            fault = trace.fault_of(last.turn) if last is not None else None
            what = f" ({fault.tool}: {fault.fault})" if fault is not None else ""
            reason = (
                f"the agent gave up after a call that went wrong on purpose{what}{_instead(trace)}"
            )
            path, last = "answers", fault or last
        case "completed" | "token_limit" | "cost_limit" | "broken":
            return ()
    return (
        Finding(
            check="gave_up" if trace.ended == "gave_up" else "limit",
            path=path,
            status=Status.FAILED,
            reason=reason,
            turn=last.turn if last else None,
            call=last.number if last else None,
        ),
    )


def _tokens(case: Case, trace: Trace) -> tuple[Finding, ...]:
    """The finding that the agent took more tokens than it may, or that nobody knows; none where it kept to them."""
    most, taken = case.limits.tokens, trace.tokens
    if most is None or (taken is not None and taken <= most):
        return ()
    last = trace.replies[-1] if trace.replies else None
    return (
        Finding(
            check="limit",
            path="limits.tokens",
            status=Status.SKIPPED if taken is None else Status.FAILED,
            reason=f"the agent reports no tokens, and may take {most}"
            if taken is None
            else f"the agent took {taken} tokens, and may take {most}",
            turn=last.turn if last else None,
            cause=Cause.NO_EVIDENCE if taken is None else None,
        ),
    )


def _cost(case: Case, trace: Trace, prices: Prices | None) -> tuple[Finding, ...]:
    """The finding that the agent's tokens cost more than they may, or that nobody knows; none where they did not."""
    if case.limits.cost is None:
        return ()
    most = Budget.read(case.limits.cost)
    taken = spent(trace.usages, prices, most.unit)
    if taken is not None and taken <= most.limit:
        return ()
    if taken is not None:
        reason = f"the agent took {most.told(taken)}, and may take {most}"
    elif prices is None or prices.currency != most.unit:
        reason = f"the arm has no prices in {most.unit}, and the agent may take {most}"
    else:
        reason = f"the agent reports no tokens, and may take {most}"
    last = trace.replies[-1] if trace.replies else None
    return (
        Finding(
            check="limit",
            path="limits.cost",
            status=Status.SKIPPED if taken is None else Status.FAILED,
            reason=reason,
            turn=last.turn if last else None,
            cause=Cause.NO_EVIDENCE if taken is None else None,
        ),
    )


def _instead(trace: Trace) -> str:
    """What an agent that gave up did in place of replying, as the runner took it down."""
    for event in reversed(trace.events):
        if isinstance(event, Noted) and event.text.startswith(GAVE_UP):
            return f": {_one_line(event.text.removeprefix(GAVE_UP))}"
    return ""


def _one_line(reason: str) -> str:
    """Without control characters and of bounded length: parts of it were written by agents."""
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in reason)
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"
