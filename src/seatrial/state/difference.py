"""The exact difference of two states, typed and per property, and how to carry it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seatrial.state.objects import Draft, LinkKey, ObjectKey, Properties, State
from seatrial.state.values import MISSING, Missing, same
from seatrial.trace import Change, Json


def difference(start: State, end: State) -> tuple[Change, ...]:
    """Every change from start to end, sorted by type, key, property and target.

    It does not depend on the order of keys. `1` and `1.0` are the same number, a property that is
    null is not one that is absent (see `Change`), and a value changes as a whole, however deep.
    States that grew from the same start are compared only where one of them was written to.
    """
    objects, links = _candidates(start, end)
    changes = [change for key in objects for change in _of_object(key, start, end)]
    for link in links:
        before, after = start.linked(link), end.linked(link)
        if before != after:
            type, source, target = link
            changes.append(
                Change(what="linked" if after else "unlinked", type=type, key=source, to=target)
            )
    return tuple(sorted(changes, key=_order))


def apply(changes: Iterable[Change], start: State) -> State:
    """The state after the changes.

    Raises:
        ValueError: a change does not fit the state, so it was not made of this one.
    """
    draft = Draft(start)
    for change in changes:
        _carry_out(change, draft)
    return draft.state()


def _candidates(start: State, end: State) -> tuple[Iterable[ObjectKey], Iterable[LinkKey]]:
    if start.shares_start(end):
        (a, a_links), (b, b_links) = start.touched(), end.touched()
        return {*a, *b}, {*a_links, *b_links}
    keys = (
        (t, key) for state in (start, end) for t in state.types() for key, _ in state.objects(t)
    )
    return set(keys), {*start.links(), *end.links()}


def _of_object(key: ObjectKey, start: State, end: State) -> Iterator[Change]:
    type, name = key
    before, after = start.get(type, name), end.get(type, name)
    if before is after:
        return
    if before is MISSING:
        yield Change(what="created", type=type, key=name, new=after)
    elif after is MISSING:
        yield Change(what="deleted", type=type, key=name, old=before)
    else:
        for property in {**before, **after}:
            old, new = before.get(property, MISSING), after.get(property, MISSING)
            if not same(old, new):
                yield Change(
                    what="changed",
                    type=type,
                    key=name,
                    property=property,
                    old=_or_null(old),
                    new=_or_null(new),
                    old_absent=old is MISSING,
                    new_absent=new is MISSING,
                )


def _or_null(value: Json | Missing) -> Json:
    return None if value is MISSING else value


def _order(change: Change) -> tuple[str, str, str, str, str]:
    return change.type, change.key, change.property or "", change.to or "", change.what


def _carry_out(change: Change, draft: Draft) -> None:
    type, key = change.type, change.key
    if change.what in ("linked", "unlinked"):
        link = (type, key, change.to or "")
        if draft.now.linked(link) == (change.what == "linked"):
            raise ValueError(f"{type!r} from {key!r} to {change.to!r} is {change.what} already")
        draft.link(link, change.what == "linked")
        return
    found = draft.now.get(type, key)
    if (found is MISSING) != (change.what == "created"):
        there = "is not there" if found is MISSING else "is there already"
        raise ValueError(f"{type} {key!r} {there}, so it cannot be {change.what}")
    if change.what == "created" and not isinstance(change.new, dict):
        raise ValueError(f"{type} {key!r} is created without properties")
    if found is MISSING:
        draft.put(type, key, change.new)
    elif change.what == "deleted":
        _expect(found, change.old, f"{type} {key!r}")
        draft.delete(type, key)
    else:
        draft.put(type, key, _changed(found, change))


def _changed(found: Properties, change: Change) -> dict[str, Json]:
    name = change.property
    if name is None:
        raise ValueError(f"a change of {change.type} {change.key!r} names no property")
    where = f"{change.type} {change.key!r} {name}"
    _expect(found.get(name, MISSING), MISSING if change.old_absent else change.old, where)
    after = {**found, name: change.new}
    if change.new_absent:
        del after[name]
    return after


def _expect(found: Json | Missing, old: Json | Missing, where: str) -> None:
    if not same(found, old):
        raise ValueError(f"{where} is not what the change starts from")
