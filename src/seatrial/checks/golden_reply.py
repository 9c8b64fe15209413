"""`golden_reply`: the reply says what the reviewed one says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from seatrial.checks import replies
from seatrial.checks.reply_number import numbers
from seatrial.checks.scope import Found, Scope, failed, passed, skipped
from seatrial.documents.checks import GoldenReply
from seatrial.documents.checks.golden import facts
from seatrial.state.values import quoted
from seatrial.trace import Replied

_MOST_TOLD = 8


def find(check: GoldenReply, scope: Scope) -> Found:
    """Whether one of the replies asked about says it; skipped without a reply."""
    asked = replies.chosen(check.turn, scope)
    if not asked:
        return skipped(f"{replies.missing(check.turn, scope)}, so nothing can be compared")
    if check.match == "exact":
        return _exact(check, asked)
    wanted = facts(replies.readable(check.text, ignore_case=False))
    lacks, reply = min(
        ((_lacking(wanted, reply), reply) for reply in reversed(asked)), key=lambda one: len(one[0])
    )
    if not lacks:
        told = _listed(wanted)
        return passed(f"the reply of turn {reply.turn} has all of the reviewed one: {told}", reply)
    return failed(
        f"the reply of turn {reply.turn} lacks {_listed(lacks)} of the reviewed one, "
        f"{quoted(check.text, 200)}",
        reply,
    )


def _exact(check: GoldenReply, asked: Iterable[Replied]) -> Found:
    wanted = replies.readable(check.text).strip()
    last = None
    for last in asked:
        if replies.readable(last.text).strip() == wanted:
            return passed(f"the reply of turn {last.turn} is the reviewed one", last)
    assert last is not None
    return failed(
        f"the reply of turn {last.turn} is not the reviewed one, {quoted(check.text, 200)}", last
    )


def _lacking(wanted: Iterable[str], reply: Replied) -> list[str]:
    said = replies.readable(reply.text)
    values: set[int | float] | None = None
    missing = []
    for fact in wanted:
        folded = replies.readable(fact)
        if re.search(rf"(?<![\w]){re.escape(folded)}(?![\w])", said):
            continue
        value = next(numbers(fact, decimal="."), None)
        if value is not None:
            # `84` for `84.00`, `1,200` for `1200`: the same number, written otherwise.
            values = set(numbers(said, decimal=".")) if values is None else values
            if value in values:
                continue
        missing.append(fact)
    return missing


def _listed(found: Iterable[str]) -> str:
    named = list(found)
    rest = f" and {len(named) - _MOST_TOLD} more" if len(named) > _MOST_TOLD else ""
    return replies.quoted(named[:_MOST_TOLD]) + rest
