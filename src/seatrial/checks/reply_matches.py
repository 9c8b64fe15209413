"""`reply_matches`: a regular expression is found in the reply."""

from __future__ import annotations

import re

from seatrial.checks import replies
from seatrial.checks.scope import Found, Scope, failed, passed, skipped
from seatrial.documents.checks import ReplyMatches
from seatrial.state.schemas import Unjudged, refuse_long
from seatrial.state.values import quoted


def find(check: ReplyMatches, scope: Scope) -> Found:
    """Whether the pattern is found in one of the replies asked about; skipped when there is none."""
    asked = replies.chosen(check.turn, scope)
    if not asked:
        return skipped(f"{replies.missing(check.turn, scope)}, so nothing can be looked for in it")
    unjudged: Unjudged | None = None
    for reply in asked:
        text = replies.readable(reply.text, ignore_case=False)
        try:
            refuse_long(text)
        except Unjudged as error:
            unjudged = error
            continue
        found = re.search(check.pattern, text)
        if found:
            return passed(f"the reply of turn {reply.turn} has {quoted(found[0])}", reply)
    if unjudged is not None:
        raise unjudged
    which = "no reply" if len(asked) > 1 else f"the reply of turn {asked[-1].turn}"
    said = " ".join(asked[-1].text.split())
    verb = "matches" if len(asked) > 1 else "does not match"
    return failed(f"{which} {verb} {check.pattern!r}; it says {quoted(said, 120)}", asked[-1])
