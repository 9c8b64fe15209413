"""What makes a JSON Schema another one for those who wrote something for it: by sentences, of what counts alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seatrial.state.values import shown

_SAYS_NOTHING = frozenset({
    "$anchor", "$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "readOnly",
    "title", "writeOnly",
})  # fmt: skip
"""Words that allow and forbid nothing."""
_LOOKED_INTO = frozenset({"properties", "required", "items", "enum", "additionalProperties"})


def no_longer_fits(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """Differences after which what was written for the first schema may not fit the second.

    What is described otherwise, and what may be given but need not be, is no such difference; nor is what a
    schema says of properties that it does not name.

    Args:
        before: the schema that something was written for.
        now: the schema there is.
        name: what sentences are about; the whole when empty.
    """
    if before == now:
        return
    if not isinstance(before, dict) or not isinstance(now, dict):
        if now is not True and now != {}:
            yield f"{name or 'all of it'} was {shown(before)} and is {shown(now)}"
        return
    yield from _properties(before, now, name)
    if ("items" in before or "items" in now) and "items" in now:
        yield from no_longer_fits(before.get("items", True), now["items"], _inside(name, "*"))
    if "enum" in now:
        gone = [v for v in before.get("enum", ()) if v not in now["enum"]]
        if "enum" not in before:
            yield f"{name or 'all of it'} is one of {shown(now['enum'])} now"
        for value in gone:
            yield f"{name or 'all of it'} is no longer {shown(value)}"
    others, are_now = before.get("additionalProperties"), now.get("additionalProperties")
    if isinstance(others, dict) and isinstance(are_now, dict):
        yield from no_longer_fits(others, are_now, _inside(name, "*"))
    for word in sorted((before.keys() | now.keys()) - _SAYS_NOTHING - _LOOKED_INTO):
        was, is_now = before.get(word), now.get(word)
        if was == is_now or word not in now:
            continue
        if word == "type" and was is not None and set(_kinds(was)) <= set(_kinds(is_now)):
            continue
        told = f"`{word}` {shown(was)}" if word in before else f"no `{word}`"
        yield f"{name or 'all of it'} had {told} and has {shown(is_now)}"


def _properties(before: dict[str, Any], now: dict[str, Any], name: str) -> Iterator[str]:
    old, new = before.get("properties", {}), now.get("properties", {})
    for key, schema in old.items():
        if key in new:
            yield from no_longer_fits(schema, new[key], _inside(name, key))
        else:
            yield f"{_inside(name, key)} is gone"
    for key in now.get("required", ()):
        if key not in before.get("required", ()):
            told = "is required now" if key in old else "is new, and required"
            yield f"{_inside(name, key)} {told}"


def _kinds(type: Any) -> list[Any]:
    kinds = type if isinstance(type, list) else [type]
    return [*kinds, "integer"] if "number" in kinds else kinds


def _inside(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
