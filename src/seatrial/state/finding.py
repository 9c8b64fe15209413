"""The objects that an action looks up, of those that its role may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seatrial.documents.world import Find
from seatrial.state.objects import ObjectKey, Properties
from seatrial.state.operators import Operators, fulfils
from seatrial.state.scope import Scope, calls_say
from seatrial.state.sight import View
from seatrial.state.values import MISSING, FrozenDict, FrozenList, as_text, look_up
from seatrial.trace import Json


def find_objects(name: str, find: Find, scope: Scope) -> None:
    """Let `name` stand for the objects that fulfil what `find` asks for.

    What is hidden from the role is not looked at: conditions over it find it absent.

    Raises:
        BeyondSight: it asks for what is hidden, and the world refuses what is.
    """
    where = scope.filled_all(find.where)
    if isinstance(scope.state, View):
        _look(find, where, scope, scope.state)
    found: dict[ObjectKey, Json] = {}
    for key, properties in _candidates(find, scope):
        if len(found) == find.limit:
            break
        if all(fulfils(o, look_up(properties, path)) for path, o in where.items()):
            seen = {f: properties[f] for f in find.fields if f in properties}
            found[find.type, key] = FrozenDict(seen) if find.fields else properties
    scope.objects[name] = tuple(found)
    scope.lists[name] = FrozenList(found.values())


def _candidates(find: Find, scope: Scope) -> Iterator[tuple[str, Properties]]:
    """The objects of the type, or those at the other end of the links asked for."""
    linked: dict[str, None] | None = None
    for end, there, here in ((find.linked_from, 1, 2), (find.linked_to, 2, 1)):
        if end is not None and find.link is not None and not scope.hangs_on_omitted(end):
            key = scope.fill_text(end)
            kind = scope.world.links[find.link]
            scope.look_for((kind.source if there == 1 else kind.target, key), named=calls_say(end))
            links = scope.state.links_at(find.link, key)
            linked = {link[here]: None for link in links if link[there] == key}
    if linked is None:
        yield from scope.state.objects(find.type)
        return
    for key in linked:
        properties = scope.state.get(find.type, key)
        if properties is not MISSING:
            yield key, properties


def _look(find: Find, where: Mapping[str, Operators], scope: Scope, view: View) -> None:
    """Tell of conditions that filter by a hidden property, or ask for a hidden object by its key."""
    key_property = scope.world.types[find.type].key
    for (written, condition), (path, operators) in zip(
        find.where.items(), where.items(), strict=True
    ):
        if not operators:
            continue
        said = "[args" in written or any(
            calls_say(operand) for name, operand in condition.operators if name in dict(operators)
        )
        property = path.partition(".")[0]
        closed = view.sight.of_all(find.type, property)
        if closed is not None:
            what = f"{find.type}.{property[:80]}"
            scope.beyond(closed, "search by", what, named=said)
        elif path == key_property:
            for key in _keys(operators):
                scope.look_for((find.type, key), named=said)


def _keys(operators: Operators) -> Iterator[str]:
    """The keys that conditions over the key itself name."""
    for name, operand in operators:
        if name == "equals":
            yield as_text(operand)
        elif name == "one_of" and isinstance(operand, list | tuple):
            yield from map(as_text, operand)
