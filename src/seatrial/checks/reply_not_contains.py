"""`reply_not_contains`: no reply contains any of these texts."""

from __future__ import annotations

from seatrial.checks import replies
from seatrial.checks.scope import Found, Scope, counted, failed, passed, skipped
from seatrial.documents.checks import ReplyNotContains


def find(check: ReplyNotContains, scope: Scope) -> Found:
    """Whether every reply asked about is free of the texts; skipped when there is none."""
    asked = replies.chosen(check.turn, scope)
    if not asked:
        return skipped(f"{replies.missing(check.turn, scope)}, so nothing can be looked for in it")
    for reply in asked:
        held = replies.contained(check.text, reply, ignore_case=check.ignore_case)
        if held:
            return failed(
                f"the reply of turn {reply.turn} contains {replies.quoted(held)}, "
                "which no reply may",
                reply,
            )
    looked_at = f"{counted(len(asked), 'reply', 'replies')} looked at"
    return passed(f"{looked_at}, none contains {' or '.join(map(repr, check.text))}", asked[-1])
