"""The effects of an action, carried out on a draft of the next state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import assert_never

from seatrial.documents import placeholders
from seatrial.documents.world import (
    Action,
    AddToProperty,
    CreateObject,
    DeleteObject,
    Effect,
    MakeLink,
    ObjectsWorld,
    SetProperties,
)
from seatrial.state.formulas import calculated
from seatrial.state.objects import Draft, ObjectKey, Properties
from seatrial.state.paths import parse
from seatrial.state.schemas import Validator
from seatrial.state.scope import Scope, ToolError, agents_say, calls_say, from_call
from seatrial.state.sight import BeyondSight, Closed, View, written_out
from seatrial.state.values import (
    MISSING,
    Missing,
    as_text,
    freeze,
    is_index,
    is_number,
    quoted,
    same,
    shown,
    walk,
)
from seatrial.trace import Json


def object_validators(world: ObjectsWorld) -> dict[str, Validator]:
    """For each object type the compiled schema of its objects."""
    return {
        name: Validator(
            {
                "type": "object",
                "properties": kind.properties,
                "required": sorted({kind.key, *kind.required}),
                "additionalProperties": False,
            }
        )
        for name, kind in world.types.items()
    }


class Effects:
    """All effects of one call; what they come to is in `draft`.

    Raises from `carry_out` and `check`:
        ToolError: they cannot be carried out as the agent asked.
        WorldError: they cannot be carried out whatever the agent asks.
        BeyondSight: they write what the role may not see.
    """

    def __init__(self, world: ObjectsWorld, scope: Scope, draft: Draft) -> None:
        self._world = world
        self._scope = scope
        self._draft = draft
        self._before = draft.now.copy()
        """Whom a lock lies on is told by how things were, whatever the order of the effects."""
        self._absent: set[ObjectKey] = set()
        """Hidden objects that are led to all the same: as if they were not there."""
        self._agents: set[tuple[str, str, str]] = set()
        """Type, key and property of what hangs on the call, and not on the document alone."""

    def carry_out(self, action: Action, name: str) -> None:
        """Carry out all effects in order."""
        for number, effect in enumerate(action.effects):
            scope = replace(self._scope, sure_at=f"actions.{name}.effects[{number}]")
            if effect.effect == "create" and effect.for_each is not None:
                self._scope.objects[effect.name] = ()
            for each in scope.repeated(effect.for_each):
                if each.all_hold(effect.when):
                    self._one(effect, each)

    def check(self, validators: dict[str, Validator]) -> None:
        """Hold every object that was written against its type."""
        for type, key in self._draft.objects_written:
            properties = self._draft.now.get(type, key)
            if properties is MISSING:
                continue
            paths: list[str] = []

            def named(path: str, type: str = type, paths: list[str] = paths) -> str:
                paths.append(path)
                return f"`{type}.{path}`" if path else f"`{type}`"

            misfits = "; ".join(validators[type].misfits(properties, named))
            if not misfits:
                continue
            by_agent = any((type, key, path.partition(".")[0]) in self._agents for path in paths)
            raise self._scope.fault(
                f"{type} {quoted(key)} would not fit: {misfits}", by_agent=by_agent
            )

    def _one(self, effect: Effect, scope: Scope) -> None:
        match effect:
            case SetProperties():
                for key, each in self._targets(effect.object, scope):
                    self._set(effect, key, each)
            case AddToProperty():
                for key, each in self._targets(effect.object, scope):
                    self._add(effect, key, each)
            case DeleteObject():
                for key, _ in self._targets(effect.object, scope):
                    self._delete(key)
            case CreateObject():
                self._create(effect, scope)
            case MakeLink():
                self._link(effect, scope)
            case _:
                assert_never(effect)

    def _targets(self, name: str, scope: Scope) -> Iterator[tuple[ObjectKey, Scope]]:
        """The objects that `object:` leads to, each with the scope to work on it."""
        if name in scope.single:
            yield scope.objects[name][0], scope
        elif name in scope.objects:
            yield from ((key, scope.with_each(key)) for key in scope.objects[name])
        elif not scope.omitted(name):
            names = scope.steps(parse(name))
            if names is None or len(names) != 3:
                raise scope.fault(f"there is no object `{name}`", by_agent=True)
            key, step = (names[1], names[2]), parse(name)[2]
            if self._hidden(key, scope, named=from_call(step)):
                self._absent.add(key)
            yield key, scope

    def _set(self, effect: SetProperties, key: ObjectKey, scope: Scope) -> None:
        for path, template in effect.properties.items():
            value = scope.fill(template)
            if value is not MISSING:
                self._write(key, path, value, scope, by_agent=agents_say(template))

    def _add(self, effect: AddToProperty, key: ObjectKey, scope: Scope) -> None:
        value = scope.fill(effect.value)
        if value is MISSING:
            return
        by_agent = agents_say(effect.value)
        steps = self._steps(effect.property, scope)
        self._refuse_hidden(key, steps[0], scope)
        now = walk(self._found(key), steps)
        what = f"`{key[0]}.{'.'.join(steps)[:80]}` of {quoted(key[1])}"
        if effect.effect == "remove":
            after = _without(now, value)
            if after is MISSING:
                raise ToolError(f"{what} has no {shown(value)}")
        elif isinstance(now, list) and effect.effect == "add":
            after = [*now, value]
        elif is_number(now) and is_number(value):
            after = calculated("$sum" if effect.effect == "add" else "$minus", [now, value])
        else:
            after = MISSING
        if after is MISSING:
            message = f"cannot {effect.effect} {shown(value)}: {what} is {shown(now)}"
            raise scope.fault(message, by_agent=by_agent)
        self._write(key, effect.property, after, scope, by_agent=by_agent)

    def _create(self, effect: CreateObject, scope: Scope) -> None:
        type, now = effect.type, self._draft.now
        key_property = self._world.types[type].key
        key_template = effect.properties.get(key_property)
        drawn = "new_id" in placeholders.names(effect.properties)
        while True:
            if drawn:
                scope = replace(scope, new_id=self._new_id(type, scope))
            properties = {
                name: value
                for name, template in effect.properties.items()
                if (value := scope.fill(template)) is not MISSING
            }
            key = as_text(properties.get(key_property))
            if not now.known(type, key) or "new_id" not in placeholders.names(key_template):
                break
        if not key or now.get(type, key) is not MISSING:
            if closed := self._hides((type, key), scope):
                raise self._beyond(closed, written_out(type, key), scope)
            message = (
                f"there is already a {type} {quoted(key)}" if key else f"the new {type} has no key"
            )
            raise scope.fault(message, by_agent=agents_say(key_template))
        self._refuse_hidden_new((type, key), properties, scope)
        self._draft.put(type, key, properties)
        self._agents |= {(type, key, n) for n, t in effect.properties.items() if agents_say(t)}
        if effect.for_each is None:
            self._scope.bind(effect.name, (type, key))
        else:
            self._scope.objects[effect.name] += ((type, key),)

    def _new_id(self, type: str, scope: Scope) -> str:
        number = self._draft.draw(type)
        given = self._world.types[type].new_ids
        if number < len(given):
            return given[number]
        return sha256(f"{scope.trial.seed}/{type}/{number}".encode()).hexdigest()[:10]

    def _delete(self, key: ObjectKey) -> None:
        type, name = key
        if key in self._absent:
            return
        for link_type, kind in self._world.links.items():
            for link in tuple(self._draft.now.links_at(link_type, name)):
                if (kind.source == type and link[1] == name) or (
                    kind.target == type and link[2] == name
                ):
                    self._draft.link(link, False)
        self._draft.delete(type, name)

    def _link(self, effect: MakeLink, scope: Scope) -> None:
        if scope.hangs_on_omitted([effect.source, effect.target]):
            return
        kind = self._world.links[effect.type]
        source, target = scope.fill_text(effect.source), scope.fill_text(effect.target)
        ends = ((kind.source, source), (kind.target, target))
        for end, template in zip(ends, (effect.source, effect.target), strict=True):
            if self._hidden(end, scope, named=calls_say(template)):
                self._absent.add(end)
            self._found(end)
        self._draft.link((effect.type, source, target), effect.effect == "link")

    def _found(self, key: ObjectKey) -> Properties:
        properties = self._draft.now.get(*key)
        if properties is MISSING or key in self._absent:
            raise ToolError(f"there is no {key[0]} {quoted(key[1])}")
        return properties

    # what the role may not see

    def _hides(self, key: ObjectKey, scope: Scope) -> Closed | None:
        if not isinstance(scope.state, View):
            return None
        return scope.state.sight.of_object(*key, self._was(key))

    def _hidden(self, key: ObjectKey, scope: Scope, *, named: bool) -> bool:
        """Whether an object that an effect leads to is hidden; the world may refuse it."""
        closed = self._hides(key, scope)
        if closed is not None:
            scope.beyond(closed, "write", written_out(*key), named=named)
        return closed is not None

    def _refuse_hidden(self, key: ObjectKey, property: str, scope: Scope) -> None:
        """Refuse to write a property that the role may not read, or that a lock hangs on."""
        if not isinstance(scope.state, View) or key in self._absent:
            return
        closed = scope.state.sight.against_writing(*key, self._was(key), property)
        if closed is not None:
            raise self._beyond(closed, written_out(*key, property), scope)

    def _refuse_hidden_new(self, key: ObjectKey, properties: dict[str, Json], scope: Scope) -> None:
        """Refuse to create what the role could not read."""
        if not isinstance(scope.state, View):
            return
        sight, frozen = scope.state.sight, freeze(properties)
        closed = sight.of_object(*key, frozen)
        if closed is not None:
            raise self._beyond(closed, written_out(*key), scope)
        for name in properties:
            closed = sight.of_property(*key, frozen, name)
            if closed is not None:
                raise self._beyond(closed, written_out(*key, name), scope)

    def _was(self, key: ObjectKey) -> Properties | Missing:
        """An object as it was before the call; one that the call made as it is."""
        before = self._before.get(*key)
        return self._draft.now.get(*key) if before is MISSING else before

    def _beyond(self, closed: Closed, what: str, scope: Scope) -> BeyondSight:
        assert isinstance(scope.state, View)
        return BeyondSight(scope.state.sight.beyond("write", what, closed))

    def _steps(self, path: str, scope: Scope) -> list[str]:
        steps = scope.steps(parse(f"property.{path}"))
        if steps is None:
            raise ToolError(f"there is no `{path}`")
        return steps[1:]

    def _write(
        self, key: ObjectKey, path: str, value: Json, scope: Scope, *, by_agent: bool
    ) -> None:
        by_agent = by_agent or "[" in path
        steps = self._steps(path, scope)
        self._refuse_hidden(key, steps[0], scope)
        after = _with(self._found(key), steps, value)
        if after is MISSING:
            message = f"{key[0]} {quoted(key[1])} has no place `{'.'.join(steps)[:80]}`"
            raise scope.fault(message, by_agent=by_agent)
        if as_text(after.get(self._world.types[key[0]].key)) != key[1]:
            message = f"the key of {key[0]} {quoted(key[1])} cannot be changed"
            raise scope.fault(message, by_agent=False)
        self._draft.put(*key, after)
        if by_agent:
            self._agents.add((*key, steps[0]))


def _with(value: Json, steps: Sequence[str], new: Json) -> Json | Missing:
    """`value` with something else at a path; only the last step of it may be new."""
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict) and (not rest or step in value):
        inner = _with(value[step], rest, new) if rest else new
        return inner if inner is MISSING else {**value, step: inner}
    if isinstance(value, list) and is_index(step, value):
        inner = _with(value[int(step)], rest, new) if rest else new
        return inner if inner is MISSING else [*value[: int(step)], inner, *value[int(step) + 1 :]]
    return MISSING


def _without(now: Json | Missing, value: Json) -> Json | Missing:
    """A list without the first such item, or a mapping without such a key."""
    if isinstance(now, list):
        for number, item in enumerate(now):
            if same(item, value):
                return [*now[:number], *now[number + 1 :]]
    elif isinstance(now, dict) and as_text(value) in now:
        return {key: item for key, item in now.items() if key != as_text(value)}
    return MISSING
