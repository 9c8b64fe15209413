"""`asks_back`: the agent asks a question back, and changes nothing."""

from __future__ import annotations

import re

from seatrial.checks import replies
from seatrial.checks.lenses import ignored
from seatrial.checks.scope import Found, Scope, failed, passed, skipped, unproven
from seatrial.checks.stillness import stillness
from seatrial.documents.checks import AsksBack
from seatrial.state.values import quoted

_END = re.compile(r"(?P<asks>[?\u061f\u037e]+(?=[\s\"')\]*_`]|$))|[.!?\n\u061f\u037e]")
"""What ends a sentence, and which end makes it a question (NFKC has made the full-width mark plain)."""
_COURTESY = re.compile(
    r"\banything else\b|\b(?:help|assist) you\b|\bfurther (?:help|assistance|questions)\b"
)
"""Questions that ask nothing about the task."""
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)]|[a-z][.)])\s")


def find(check: AsksBack, scope: Scope) -> Found:
    """Whether the last reply asks something and nothing has changed; unproven without the changes."""
    if not scope.replies:
        return skipped(f"{replies.missing('last', scope)}, so nothing was asked in one")
    reply = scope.replies[-1]
    question = question_in(reply.text, at_end=check.where == "end")
    if question is None:
        where = "does not end with" if check.where == "end" else "does not ask"
        return failed(f"the reply of turn {reply.turn} {where} a question about the task", reply)
    asked = f"the reply of turn {reply.turn} asks {quoted(question, 120)}"
    still = stillness(scope, lambda c: not ignored(c.type, _path(c.property), check.ignore))
    if still.changed is None:
        return unproven(f"{asked}, but {still.told}")
    if still.changed:
        return failed(f"{asked}, but something changed already: {still.told}", still.call or reply)
    return passed(f"{asked}, and nothing has changed", reply)


def question_in(text: str, *, at_end: bool = False) -> str | None:
    """The last question about the task that a reply asks, anywhere or in its last paragraph."""
    text = _CODE.sub(" ", replies.readable(text, ignore_case=False))
    return _question(_end(text) if at_end else text)


def _question(text: str) -> str | None:
    """The last question about the task."""
    found, begin = [], 0
    for end in _END.finditer(text):
        if end["asks"]:
            found.append(" ".join(text[begin : end.end()].split()))
        begin = end.end()
    return next((q for q in reversed(found) if q and not _COURTESY.search(q.casefold())), None)


def _end(text: str) -> str:
    """The last paragraph, with the one before it when it only lists things to choose from."""
    paragraphs = [part for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]
    end: list[str] = []
    for paragraph in reversed(paragraphs):
        end.insert(0, paragraph)
        if not all(_LIST_ITEM.match(line) for line in paragraph.splitlines() if line.strip()):
            break
    return "\n\n".join(end)


def _path(property: str | None) -> tuple[str, ...]:
    return () if property is None else (property,)
