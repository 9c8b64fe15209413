"""A starting state and patches of it → objects of a world, and the changes that a case expects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from seatrial.importing.model import Document
from seatrial.state import difference, state_from_json, thaw

Objects = dict[str, dict[str, dict[str, Any]]]
"""Type → key → properties, without the key unless it is one of them."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def patched(state: Any, patches: Iterable[Mapping[str, Any]]) -> Any:
    """The state after patches; what they do not touch is shared with the state before.

    A patch is `{op: add|remove|replace, path: [...], new}`; lists by index.
    """
    for patch in patches:
        state = _patched(state, patch["path"], patch)
    return state


def _patched(state: Any, path: Sequence[Any], patch: Mapping[str, Any]) -> Any:
    step, *rest = path
    fresh = list(state) if isinstance(state, list) else dict(state)
    if rest:
        fresh[step] = _patched(state[step], rest, patch)
    elif patch["op"] == "remove":
        del fresh[step]
    elif patch["op"] == "add" and isinstance(fresh, list):
        fresh.insert(step, patch["new"])
    else:
        fresh[step] = patch["new"]
    return fresh


def expected(before: Objects, after: Objects, free: Callable[[Any], bool]) -> Document:
    """The check that exactly this has changed.

    Args:
        before: what there is at the start.
        after: what there is at the end.
        free: of a property of a new object, whether it may be anything.
    """
    start: Objects = {type: {} for type in {**before, **after}}
    end: Objects = {type: {} for type in start}
    for type in start:
        old, new = before.get(type, {}), after.get(type, {})
        for key in {*old, *new}:
            if old.get(key) is not new.get(key):
                if key in old:
                    start[type][key] = old[key]
                if key in new:
                    end[type][key] = new[key]
    check: Document = {"check": "end_state"}
    changed: dict[tuple[str, str], Document] = {}
    for change in difference(state_from_json(start), state_from_json(end)):
        one: Document = {"type": change.type, "key": change.key}
        if change.what == "created":
            new = {name: thaw(value) for name, value in change.new.items()}
            one["properties"] = {
                name: {"equals": value} for name, value in new.items() if not free(value)
            }
            check.setdefault("created", []).append(one)
        elif change.what == "deleted":
            check.setdefault("deleted", []).append(one)
        else:
            asked = {"absent": True} if change.new_absent else {"equals": thaw(change.new)}
            changed.setdefault((change.type, change.key), {})[str(change.property)] = asked
    if changed:
        check["changed"] = [
            {"type": type, "key": key, "properties": properties}
            for (type, key), properties in changed.items()
        ]
    return check


def world(
    world_id: str,
    title: str,
    now: str,
    states: Sequence[Objects],
    tools: Iterable[Mapping[str, Any]],
    read_only: Callable[[Mapping[str, Any]], bool],
) -> Document:
    """A world of kind `objects` that begins as the first of some states, and has the types of all of them.

    Args:
        world_id: its id.
        title: one line for people.
        now: its frozen clock.
        states: the start, and states that cases end in.
        tools: in the form of OpenAI's `tools`.
        read_only: whether a tool changes nothing.
    """
    types, objects = {}, {}
    for type in dict.fromkeys(type for state in states for type in state):
        # Most objects are one and the same in all states.
        every = {id(one): (k, one) for state in states for k, one in state.get(type, {}).items()}
        names = dict.fromkeys(name for _, one in every.values() for name in one)
        own = next(
            (n for n in names if all(str(one.get(n)) == k for k, one in every.values())), None
        )
        key = own or next(name for name in ("key", "object_key", "_key") if name not in names)
        types[type] = {
            "key": key,
            "properties": {name: {} for name in dict.fromkeys([key, *names])},
        }
        objects[type] = [
            {key: one_key, **one} if own is None else one
            for one_key, one in states[0].get(type, {}).items()
        ]
    actions = {}
    for tool in tools:
        function = tool["function"]
        actions[function["name"]] = {
            "description": function.get("description") or function["name"],
            "parameters": function.get("parameters") or {"type": "object", "properties": {}},
            "read_only": read_only(tool),
        }
    return {
        "kind": "fixture", "type": "world", "id": world_id, "title": title, "now": now, "types": types,
        "objects": objects, "actions": actions,
    }  # fmt: skip


def is_name(text: str) -> bool:
    """Whether a text can be the name of a type or a property."""
    return _NAME.fullmatch(text) is not None
