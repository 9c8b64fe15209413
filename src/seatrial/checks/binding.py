"""Names for values that only a trial knows, such as generated ids: which value each name stands for.

A name takes its value from where it stands alone: as the key or a property of a created object, as a
new value, or as the end of a link. Every way in which all those places agree is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from seatrial.checks.lenses import Lens
from seatrial.documents.checks import (
    Bindable,
    Bound,
    Changes,
    ExpectedChange,
    ExpectedLink,
    ExpectedObject,
)
from seatrial.documents.checks.states import bound_name, names_inside
from seatrial.state import MISSING, look_up, same
from seatrial.state.values import as_keys, walk
from seatrial.trace import Change, Json

MOST_WAYS = 100
"""Ways of giving names their values that are held against the expectations."""
_MOST_STEPS = 20_000
"""Steps of the search for them."""

Names = dict[str, Json]
Lenses = Callable[[str], Lens]
"""The lens of whole objects of a type."""


def bindings(expected: Changes, happened: Sequence[Change], lenses: Lenses) -> Iterator[Names]:
    """Values for the names of the expected changes: every way that fits, or one that nearly does."""
    found_at: list[list[Names] | None] = [
        *(_of_created(made, happened, lenses(made.type)) for made in expected.created),
        *(options for change in expected.changed for options in _of_changed(change, happened)),
        *(_of_link(link, "linked", happened) for link in expected.linked),
        *(_of_link(link, "unlinked", happened) for link in expected.unlinked),
    ]
    places = [options for options in found_at if options is not None]
    if not places:
        yield {}
        return
    found = False
    for names in _agreeing(places):
        found = True
        yield names
    if not found:
        yield _nearly(places)


def filled(expected: Changes, names: Names) -> Changes:
    """The expected changes with values in place of names; a name without a value is never fulfilled.

    A link that is written twice is one; those that become the same only by their names are two.
    """
    linked, unlinked = (
        tuple(dict.fromkeys(expected.linked)),
        tuple(dict.fromkeys(expected.unlinked)),
    )
    if not names and not _any_names(expected):
        if (linked, unlinked) == (expected.linked, expected.unlinked):
            return expected
        return expected.model_copy(update={"linked": linked, "unlinked": unlinked})
    return Changes.model_construct(
        created=tuple(
            made.model_copy(
                update={
                    "key": made.key and _condition(made.key, names),
                    "properties": _conditions(made.properties, names),
                }
            )
            for made in expected.created
        ),
        changed=tuple(
            change.model_copy(update={"properties": _conditions(change.properties, names)})
            for change in expected.changed
        ),
        deleted=expected.deleted,
        linked=tuple(_link(link, names) for link in linked),
        unlinked=tuple(_link(link, names) for link in unlinked),
    )


def changed_at(path: str, changes: Sequence[Change]) -> tuple[Change | None, tuple[str, ...]]:
    """The change of the property that `path` leads into, and the way on inside it, key by key.

    As in `look_up`, parts of a path come before a property or a key that has all of it for a name.
    """
    head, dot, rest = path.partition(".")
    steps = tuple(rest.split(".")) if dot else ()
    inside = next((change for change in changes if change.property == head), None)
    if inside is not None:
        for value in (inside.new, inside.old):
            keys = as_keys(value, steps)
            if keys is not None:
                return inside, keys
    whole = next((change for change in changes if change.property == path), None)
    if whole is not None:
        return whole, ()
    return inside, steps if inside is not None else ()


# --- where names get their values ---


def _of_created(made: ExpectedObject, happened: Sequence[Change], lens: Lens) -> list[Names] | None:
    """What each created object that could be meant makes of the names; None without any."""
    alone = {path: c.bind for path, c in made.properties.items() if c.bind is not None}
    key = made.key.bind if made.key is not None else None
    if key is None and not alone:
        return None
    options = []
    for change in happened:
        if change.what != "created" or change.type != made.type:
            continue
        if made.key is not None and not _may_be(made.key, change.key, Lens()):
            continue
        if not all(
            _may_be(condition, look_up(change.new, path), lens.at(path.split(".")))
            for path, condition in made.properties.items()
        ):
            continue
        found: list[tuple[str, Any]] = [] if key is None else [(key, change.key)]
        found += [(name, look_up(change.new, path)) for path, name in alone.items()]
        options += _merged({}, found)
    return options


def _of_changed(
    expected: ExpectedChange, happened: Sequence[Change]
) -> Iterator[list[Names] | None]:
    own = [
        change
        for change in happened
        if change.what == "changed" and (change.type, change.key) == (expected.type, expected.key)
    ]
    for path, condition in expected.properties.items():
        if condition.bind is not None:
            change, inside = changed_at(path, own)
            value: Any = MISSING
            if change is not None and not change.new_absent:
                value = walk(change.new, inside)
            yield _merged({}, [(condition.bind, value)])


def _of_link(link: ExpectedLink, what: str, happened: Sequence[Change]) -> list[Names] | None:
    ends = (link.source, link.target)
    if not any(isinstance(end, Bound) for end in ends):
        return None
    options = []
    for change in happened:
        if change.what != what or change.type != link.type:
            continue
        pairs = list(zip(ends, (change.key, change.to), strict=True))
        if all(isinstance(end, Bound) or end == found for end, found in pairs):
            options += _merged({}, [(e.bind, found) for e, found in pairs if isinstance(e, Bound)])
    return options


def _may_be(condition: Bindable, value: Any, lens: Lens) -> bool:
    """Whether a value fulfils what a condition asks apart from names."""
    known = [(n, operand) for n, operand in condition.operators if not any(names_inside(operand))]
    return all(lens.holds(name, operand, value) for name, operand in known)


def _merged(names: Names, found: Sequence[tuple[str, Any]]) -> list[Names]:
    """The names with further values, in a list; an empty one when a value is missing or another one."""
    merged = dict(names)
    for name, value in found:
        if value is MISSING or (name in merged and not same(merged[name], value)):
            return []
        merged[name] = value
    return [merged]


def _agreeing(places: Sequence[list[Names]]) -> Iterator[Names]:
    """Every way to take one option of each place so that all agree."""
    steps = 0
    ways = 0
    pending: list[tuple[int, Names]] = [(0, {})]
    while pending and steps < _MOST_STEPS and ways < MOST_WAYS:
        steps += 1
        at, names = pending.pop()
        if at == len(places):
            ways += 1
            yield names
            continue
        further = [
            merged for option in places[at] for merged in _merged(names, list(option.items()))
        ]
        pending.extend((at + 1, merged) for merged in reversed(further))


def _nearly(places: Sequence[list[Names]]) -> Names:
    """Of each place in turn the first option that agrees with those before it."""
    names: Names = {}
    for options in places:
        for option in options:
            merged = _merged(names, list(option.items()))
            if merged:
                names = merged[0]
                break
    return names


# --- values in place of names ---


def _any_names(expected: Changes) -> bool:
    conditions = [c for made in expected.created for c in made.properties.values()]
    conditions += [made.key for made in expected.created if made.key is not None]
    conditions += [c for change in expected.changed for c in change.properties.values()]
    return any(
        isinstance(end, Bound)
        for link in (*expected.linked, *expected.unlinked)
        for end in (link.source, link.target)
    ) or any(
        c.bind is not None or any(any(names_inside(o)) for _, o in c.operators) for c in conditions
    )


def _conditions(conditions: Mapping[str, Bindable], names: Names) -> dict[str, Bindable]:
    return {path: _condition(condition, names) for path, condition in conditions.items()}


def _condition(condition: Bindable, names: Names) -> Bindable:
    """The condition on the value itself; `bind` stays, to be told."""
    values = {
        field: _operand(getattr(condition, field), names) for field in condition.model_fields_set
    }
    if condition.bind is not None:
        values["equals"] = names.get(condition.bind, MISSING)
    return Bindable.model_construct(_fields_set=set(values), **values)


def _operand(operand: Any, names: Names) -> Any:
    name = bound_name(operand)
    if name is not None:
        return names.get(name, MISSING)
    if isinstance(operand, dict):
        return {key: _operand(item, names) for key, item in operand.items()}
    if isinstance(operand, list | tuple):
        return [_operand(item, names) for item in operand]
    return operand


def _link(link: ExpectedLink, names: Names) -> ExpectedLink:
    return link.model_copy(
        update={"source": _end(link.source, names), "target": _end(link.target, names)}
    )


def _end(end: str | Bound, names: Names) -> str | Bound:
    """The key itself; a name without one stays, and no link has it for an end."""
    if isinstance(end, str):
        return end
    found = names.get(end.bind)
    return found if isinstance(found, str) else end
