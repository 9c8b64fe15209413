"""Reading what an agent sent: hostile bytes become a reply, or an `ArmError` that says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seatrial.arms.seat import Reply
from seatrial.errors import ArmError
from seatrial.trace import MOST_COUNTED, USAGE_PARTS, Usage

MOST_TEXT = 1_000_000
"""The longest reply, in characters."""

EXAMPLE = '{"text": "…"}'


def parse_json(data: bytes) -> Any:
    """The JSON value in `data`.

    Raises:
        ValueError: there is none (also when it is nested beyond all reason).
    """
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def reply_of(value: Any, *, who: str) -> Reply:
    """The reply in `{"text": …, "usage": {…}, "model": …}`; other keys are not looked at.

    Raises:
        ArmError: it is no such thing; the message names the key.
    """
    if not isinstance(value, Mapping):
        raise wrong(who, f"{kind(value)} where an object like {EXAMPLE} belongs")
    text = value.get("text")
    if not isinstance(text, str):
        raise wrong(who, f"{kind(text)} under `text`, where text belongs")
    if len(text) > MOST_TEXT:
        raise wrong(who, f"a reply of {len(text):,} characters; at most {MOST_TEXT:,} are read")
    model = value.get("model")
    if model is not None and not isinstance(model, str):
        raise wrong(who, f"{kind(model)} under `model`, where text belongs")
    return Reply(
        clean(text), _usage(value.get("usage"), who), None if model is None else clean(model[:200])
    )


def _usage(value: Any, who: str) -> Usage | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise wrong(who, f"{kind(value)} under `usage`, where an object belongs")
    numbers: dict[str, float] = {}
    for key in (*(key for parts in USAGE_PARTS for key in parts), "cost"):
        number = value.get(key, 0)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise wrong(who, f"{kind(number)} under `usage.{key}`, where a number belongs")
        if not 0 <= number <= MOST_COUNTED:  # nor is it NaN
            raise wrong(who, f"{excerpt(f'{number}', 30)} under `usage.{key}`")
        numbers[key] = number
    tokens = {key: int(number) for key, number in numbers.items() if key != "cost"}
    for part, whole in USAGE_PARTS:
        if tokens[part] > tokens[whole]:
            raise wrong(
                who,
                f"more `usage.{part}` ({tokens[part]}) than `usage.{whole}` ({tokens[whole]}), "
                "of which they are a part",
            )
    return Usage(**tokens, cost=numbers["cost"])


def clean(text: str) -> str:
    """The text with what cannot be written as UTF-8 (half a surrogate pair) replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def excerpt(data: bytes | str, most: int = 200) -> str:
    """The beginning of what an agent wrote, fit for a message: no control characters."""
    text = data[: 4 * most].decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = " ".join(text.split())
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[: most + 1])
    return text if len(text) <= most else text[:most] + "…"


def wrong(who: str, what: str) -> ArmError:
    """The error of an agent that sent what is no reply."""
    return ArmError("agent_unreachable", f"{who} sent {what}")


def kind(value: Any) -> str:
    """What kind of JSON a value is, in words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return f"a {type(value).__name__}"
