"""What an agent may do in a world or with a server, what it may read, and who talks to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.documents import Server, World
from seatrial.documents.world.base import Grants
from seatrial.loosening.sides import Sides
from seatrial.records import Loosening, PolicyChange

_NO_MATTER = frozenset({"title", "owner", "reviewed"})
_HINTS = ("leaves_world", "read_only", "destructive")


def of(sides: Sides, id: str) -> Iterator[PolicyChange]:
    """In what a fixture that is on both sides allows more, or may."""
    old, new = sides.before.fixtures[id], sides.now.fixtures[id]
    if type(old) is not type(new):
        text = f"the fixture {id} is of another type"
        yield _told(sides, id, "fixture_changed", text, "type", old.type, new.type, "changed")
        return
    if old.type in ("persona", "payloads"):
        yield from _whole(sides, id)
        return
    if not isinstance(old, World | Server) or not isinstance(new, World | Server):
        return
    for role, grants in old.roles.items():
        if role in new.roles:
            yield from _rights(sides, id, role, grants, new.roles[role])
    for denial in old.denied_when:
        if denial not in new.denied_when:
            text = f"{id}: an error that counts as a violation no longer does"
            yield _told(sides, id, "denial_removed", text, "denied_when", denial, None)
    yield from _locks(sides, id, old, new)
    yield from _hints(sides, id, old, new)


def _whole(sides: Sides, id: str) -> Iterator[PolicyChange]:
    """People who talk, and what attackers write: whether others ask less of the agent, nobody can tell."""
    old, new = (
        {k: v for k, v in of.fixtures[id].model_dump(mode="json", by_alias=True).items() if k not in _NO_MATTER}
        for of in (sides.before, sides.now)
    )  # fmt: skip
    what = sides.before.fixtures[id].type
    said = "the person {} is played otherwise" if what == "persona" else "the payloads {} differ"
    kind = "persona_changed" if what == "persona" else "attack_changed"
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            text = f"{said.format(id)} (`{key}`)"
            yield _told(sides, id, kind, text, key, old.get(key), new.get(key), "changed")


def _rights(sides: Sides, id: str, role: str, old: Grants, new: Grants) -> Iterator[PolicyChange]:
    at, who = f"roles.{role}", f"{id}: the role {role}"
    for name in new.allow:
        if not _covered(name, old.allow):
            text = f"{who} may call {name}"
            yield _told(sides, id, "rights_widened", text, f"{at}.allow", None, name)
    for purpose, names in new.allow_for.items():
        for name in names:
            if not _covered(name, (*old.allow, *old.allow_for.get(purpose, ()))):
                text = f"{who} may call {name} for {purpose}"
                path = f"{at}.allow_for.{purpose}"
                yield _told(sides, id, "rights_widened", text, path, None, name)
    for key in ("when", "where"):
        yield from _conditions(sides, id, f"{at}.{key}", who, getattr(old, key, {}), getattr(new, key, {}))  # fmt: skip
    for key in ("clearances", "purposes"):
        for name in getattr(new, key, ()):
            if name not in getattr(old, key, ()):
                text = f"{who} has {name} among its {key}"
                yield _told(sides, id, "rights_widened", text, f"{at}.{key}", None, name)
    if old.see_refused and not new.see_refused:
        text = f"{who} no longer sees what it may not call"
        yield _told(sides, id, "rights_changed", text, f"{at}.see_refused", True, False, "changed")


def _conditions(
    sides: Sides, id: str, path: str, who: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[PolicyChange]:
    """Conditions under which an action is within the rights."""
    for action, asked in old.items():
        now = new.get(action)
        if now is not None and all(name in now and now[name] == c for name, c in asked.items()):
            continue
        at, text = f"{path}.{action}", f"{who} may call {action} under other conditions"
        if now is None or all(name in asked and asked[name] == c for name, c in now.items()):
            text = f"{who} may call {action} under fewer conditions"
            yield _told(sides, id, "rights_widened", text, at, asked, now)
        else:
            yield _told(sides, id, "rights_changed", text, at, asked, now, "changed")


def _locks(
    sides: Sides, id: str, old: World | Server, new: World | Server
) -> Iterator[PolicyChange]:
    after = getattr(new, "locks", ())
    for number, lock in enumerate(getattr(old, "locks", ())):
        if lock not in after:
            text = f"{id}: what was locked of {lock.type} is no longer locked so"
            yield _told(sides, id, "lock_removed", text, f"locks[{number}]", lock, None, "changed")
    was, now = getattr(old, "hidden", None), getattr(new, "hidden", None)
    if was != now:
        text = f"{id}: a call that needs what is locked is answered otherwise"
        yield _told(sides, id, "rights_changed", text, "hidden", was, now, "changed")


def _hints(
    sides: Sides, id: str, old: World | Server, new: World | Server
) -> Iterator[PolicyChange]:
    """What checks read of a tool: whether it writes, and whether its arguments reach somebody."""
    key = getattr(old, "tools_key", "tools")
    before, after = getattr(old, key, None), getattr(new, key, None)
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return
    for name in before.keys() & after.keys():
        for hint in _HINTS:
            was, now = getattr(before[name], hint, None), getattr(after[name], hint, None)
            if was != now:
                text = f"{id}: `{hint}` of the tool {name}, which checks read, is {now} instead of {was}"
                path = f"{key}.{name}.{hint}"
                yield _told(sides, id, "tool_hint_changed", text, path, was, now, "changed")


def _covered(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether all that a name with a `*` at its end stands for is allowed already."""
    return name in patterns or any(
        pattern.endswith("*") and name.startswith(pattern[:-1]) for pattern in patterns
    )


def _told(
    sides: Sides,
    id: str,
    kind: str,
    text: str,
    path: str,
    old: Any,
    new: Any,
    effect: Loosening = "loosened",
) -> PolicyChange:
    return sides.told(kind, ("fixture", id), text, path=path, old=old, new=new, effect=effect)
