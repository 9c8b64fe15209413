"""Text in replies, compared as people read it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal

from seatrial.checks.scope import Scope
from seatrial.trace import Replied

_LOOKS_ALIKE = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
)
"""Models write curly quotes and non-breaking hyphens where a case's author typed the plain ones."""


def readable(text: str, *, ignore_case: bool = True) -> str:
    """`text` in the form in which two texts that read alike are equal.

    Unicode compatibility form (NFKC), without invisible format characters, plain quotes and hyphens;
    with `ignore_case` also case folded and each run of white space one space.
    """
    text = unicodedata.normalize("NFKC", text).translate(_LOOKS_ALIKE)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    if not ignore_case:
        return text
    # Folding can undo the compatibility form (U+0345 and others), so it is taken once more.
    return " ".join(unicodedata.normalize("NFKC", text.casefold()).split())


def contained(texts: Sequence[str], reply: Replied, *, ignore_case: bool) -> list[str]:
    """Those of `texts` that the reply contains, in their order."""
    said = readable(reply.text, ignore_case=ignore_case)
    return [text for text in texts if readable(text, ignore_case=ignore_case) in said]


def chosen(turn: Literal["last", "any"] | int, scope: Scope) -> tuple[Replied, ...]:
    """The replies that a check asks about."""
    match turn:
        case "any":
            return scope.replies
        case "last":
            return scope.replies[-1:]
        case number:
            return tuple(r for r in scope.replies if r.turn == number)


def missing(turn: Literal["last", "any"] | int, scope: Scope) -> str:
    """Why there is nothing to look at."""
    if isinstance(turn, int) and scope.replies:
        return f"there is no reply in turn {turn}"
    if scope.turn is not None:
        return f"the agent gave no reply in turn {scope.turn}"
    return "the agent gave no reply"


def quoted(texts: Sequence[str]) -> str:
    """`'a', 'b'`."""
    return ", ".join(repr(text) for text in texts)
