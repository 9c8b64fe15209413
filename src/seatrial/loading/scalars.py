"""Plain scalars → values, by YAML 1.2's core schema."""

from __future__ import annotations

import re
from typing import Any

from seatrial.loading.bounds import MAX_DIGITS

_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BEGIN_NUMBERS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
NO_TEXT = frozenset("~nNtTfF") | _BEGIN_NUMBERS
"""What a plain scalar starts with that may be something else than text."""


def resolve(text: str) -> Any:
    """The value of a plain scalar by YAML 1.2's core schema (section 10.3.2).

    Raises:
        ValueError: for a number that is not finite or too long; the text says so.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _BEGIN_NUMBERS:
        return text
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is no finite number")
    if _INTEGER.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError(f"a number of {len(text)} characters; at most {MAX_DIGITS} are read")
        base = 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10
        return int(text, base)
    if _DECIMAL.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError(f"a number of {len(text)} characters; at most {MAX_DIGITS} are read")
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise ValueError(f"{text} is too large for a number")
        return number
    return text
