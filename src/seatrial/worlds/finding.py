"""Objects in what a service, a tool or a file tells of its state."""

from __future__ import annotations

import json

from seatrial.state import look_up
from seatrial.state.values import as_text, unkeepable
from seatrial.trace import Json


def parsed(content: str | bytes) -> Json:
    """The JSON value that was told.

    Raises:
        ValueError: it is no JSON, or nested very deep.
    """
    try:
        value = json.loads(content, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested very deep") from None
    if why := unkeepable(value):
        raise ValueError(why)
    return value


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def objects_at(value: Json, type: str, at: str, key: str, where: str) -> dict[str, Json]:
    """Key → object, of the objects of a type that stand at a dotted path.

    Args:
        value: what was told.
        type: the object type, for messages.
        at: where they stand: a list of objects, or a mapping from keys to objects.
        key: in a list, the property that is an object's key.
        where: where it was told, for messages.

    Raises:
        ValueError: there are no objects, one has no key, or two have the same.
    """
    found = look_up(value, at) if at else value
    where += f", at {at}," if at else ""
    if isinstance(found, dict):
        return found
    if not isinstance(found, list):
        raise ValueError(f"{where} gives neither a list of {type} objects nor a mapping")
    keyed: dict[str, Json] = {}
    for item in found:
        its_key = item.get(key) if isinstance(item, dict) else None
        if not isinstance(its_key, str | int) or isinstance(its_key, bool):
            raise ValueError(f"{where} gives a {type} without `{key}`")
        if as_text(its_key) in keyed:
            raise ValueError(f"{where} gives two {type} objects with {key} {its_key!r}")
        keyed[as_text(its_key)] = item
    return keyed
