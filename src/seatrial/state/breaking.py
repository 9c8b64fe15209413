"""Answers that are broken on purpose: what a model reads when a tool answers wrongly."""

from __future__ import annotations

import json
from typing import Any

from seatrial.documents.behaviour import Broken
from seatrial.state.schemas import Validator
from seatrial.state.values import as_text
from seatrial.trace import Answer, Json

OVERSIZED = 1_000_000
STALE_HOURS = 24
KEPT = 2_000
"""Characters that are recorded of an answer that is too large on purpose."""

HTML = """\
<!DOCTYPE html>
<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>nginx</center>
</body>
</html>
"""
"""What a web server in between answers when there is nothing behind it."""


def broken(answer: Answer, how: Broken, schema: Validator | None) -> Answer:
    """An answer as it comes when it is broken in one way; `stale` is not, here: it is an answer like any other.

    Args:
        answer: as it would have been.
        how: the way.
        schema: of the tool's structured answer; None when it declares none. Clients refuse what does not fit
            it, so that the model would read nothing: where there is one, what does not fit is an error.
    """
    declared = schema is not None
    match how.how:
        case "cut_off":
            text = answer.text
            return Answer.of_text(text[: len(text) // 2], is_error=declared)
        case "html":
            return Answer.of_text(HTML, is_error=declared)
        case "empty":
            return Answer.of_text("", is_error=declared)
        case "wrong_type":
            return Answer.of_text(as_text(mistyped(_value(answer))), is_error=declared)
        case "oversized":
            return _oversized(answer, how.bytes or OVERSIZED, schema)
        case "stale":
            return answer


def kept(answer: Answer) -> Answer:
    """What is recorded of an answer that is too large on purpose: its beginning, and how large it was."""
    text = answer.text
    size = len(text.encode())
    told = f"{text[:KEPT]}… ({size:,} bytes in all)"
    return Answer.of_text(told, is_error=answer.is_error, code=answer.code)


def mistyped(value: Json) -> Json:
    """The value with every number and boolean in it as text; where there is none, the value in a list."""
    changed = _as_texts(value)
    return [value] if changed == value else changed


def _as_texts(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        return {key: _as_texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_texts(item) for item in value]
    return value


def _oversized(answer: Answer, size: int, schema: Validator | None) -> Answer:
    value = _value(answer)
    grown = enlarged(value, size)
    if schema is not None and not schema.fits(grown):
        # No larger one fits: the text is large then, beside the structured answer as it is.
        text = _repeated(answer.text or " ", size)
        return Answer.of_text(text, structured=answer.structured)
    structured = grown if answer.structured is not None or schema is not None else None
    return Answer.of_text(as_text(grown), structured=structured)


def enlarged(value: Json, size: int) -> Json:
    """The value made so large that its JSON has `size` bytes or a little more.

    There are more of the items of its first list, or there is more of its first text.
    """
    if isinstance(value, list | tuple) and value:
        each = max(1, len(as_text(list(value)).encode()))
        return [*value] * (size // each + 1)
    if isinstance(value, dict):
        for wanted in (list | tuple, dict, str):
            for key, item in value.items():
                if isinstance(item, wanted) and item:
                    larger = enlarged(item, size)
                    if larger != item:
                        return {**value, key: larger}
        return {**value, "filler": "x" * size}
    return _repeated(as_text(value) or " ", size)


def _repeated(text: str, size: int) -> str:
    return text * (size // len(text.encode()) + 1)


def _value(answer: Answer) -> Json:
    """What the answer says: its structured form, else its text read as JSON, else its text."""
    if answer.structured is not None:
        return answer.structured
    try:
        return json.loads(answer.text)
    except (ValueError, RecursionError):
        return answer.text
