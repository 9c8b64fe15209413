"""`reply_contains`: one reply contains all these texts, and one of those."""

from __future__ import annotations

from seatrial.checks import replies
from seatrial.checks.scope import Found, Scope, failed, passed, skipped
from seatrial.documents.checks import ReplyContains
from seatrial.trace import Replied


def find(check: ReplyContains, scope: Scope) -> Found:
    """Whether one of the replies asked about contains what it must; skipped when there is none."""
    asked = replies.chosen(check.turn, scope)
    if not asked:
        return skipped(f"{replies.missing(check.turn, scope)}, so nothing can be looked for in it")
    # With several replies the one that lacks least is what a person wants to read about.
    lacks, _, reply = min(
        ((_lacking(check, reply), -at, reply) for at, reply in enumerate(asked)),
        key=lambda entry: (len(entry[0]), entry[1]),
    )
    if not lacks:
        wanted = [*check.text, *check.any_of]
        held = replies.contained(wanted, reply, ignore_case=check.ignore_case)
        return passed(f"the reply of turn {reply.turn} contains {replies.quoted(held)}", reply)
    which = "no reply contains all that it must; the nearest" if len(asked) > 1 else "the reply"
    return failed(f"{which} (turn {reply.turn}) {' and '.join(lacks)}", reply)


def _lacking(check: ReplyContains, reply: Replied) -> list[str]:
    """What the reply lacks, a phrase each."""
    phrases = []
    held = replies.contained(check.text, reply, ignore_case=check.ignore_case)
    absent = [text for text in check.text if text not in held]
    if absent:
        phrases.append(f"does not contain {replies.quoted(absent)}")
    if check.any_of and not replies.contained(check.any_of, reply, ignore_case=check.ignore_case):
        phrases.append(f"contains none of {replies.quoted(check.any_of)}")
    return phrases
