"""Answers that would break their own promise: what `output` requires, and a lock may hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from seatrial.documents import placeholders
from seatrial.documents.world import Action, CreateObject, ObjectsWorld
from seatrial.state.access import allows
from seatrial.state.names import Thing
from seatrial.state.paths import parse
from seatrial.state.references import names_in
from seatrial.state.schemas import schema_problem

Found = tuple[str, str]
"""Path inside the document (`actions.get_visit.output.required[1]`), and what is wrong there."""


def promise_problems(world: ObjectsWorld) -> Iterator[Found]:
    """Each required part of an answer that is left out for a role that may make the call.

    Such a trial would be invalid for the world's fault: its answer does not fit what the tool declares.
    """
    if not world.locks:
        return
    for name, action in world.actions.items():
        if action.output is None or schema_problem(action.output):
            continue
        promise = _Promise(world, name, action)
        path = f"actions.{name}.output"
        yield from promise.broken(action.returns, action.output, path)


@dataclass(frozen=True, slots=True)
class _Promise:
    world: ObjectsWorld
    name: str
    action: Action

    def broken(self, template: Any, schema: Any, path: str) -> Iterator[Found]:
        """The required parts that a value made of a template may lack."""
        if not isinstance(schema, Mapping):
            return
        thing = self._thing(template)
        if thing is not None and thing.kind == "list":
            items = schema.get("items")
            if isinstance(items, Mapping):
                yield from self._of_object(thing.type, items, f"{path}.items")
        elif thing is not None:
            yield from self._of_object(thing.type, schema, path)
        elif isinstance(template, Mapping):
            properties = schema.get("properties")
            inner = properties if isinstance(properties, Mapping) else {}
            for number, key in enumerate(schema.get("required", ())):
                hidden = self._property(template.get(key))
                # A world that refuses answers such a call with a refusal, which fits any schema.
                if hidden is not None and self.world.hidden == "absent":
                    yield from self._hidden(*hidden, f"{path}.required[{number}]", key)
            for key, item in template.items():
                if key in inner:
                    yield from self.broken(item, inner[key], f"{path}.properties.{key}")

    def _of_object(self, type: str, schema: Mapping[str, Any], path: str) -> Iterator[Found]:
        for number, key in enumerate(schema.get("required", ())):
            yield from self._hidden(type, key, f"{path}.required[{number}]", key)

    def _hidden(self, type: str, property: str, path: str, key: str) -> Iterator[Found]:
        """Says so when a lock on the property is closed to a role that may make the call."""
        for number, lock in enumerate(self.world.locks):
            if lock.type != type or property not in lock.properties:
                continue
            for name, role in self.world.roles.items():
                for purpose in (None, *role.purposes):
                    lacks = set(lock.markings) - set(role.clearances)
                    closed = lacks or (lock.purposes and purpose not in lock.purposes)
                    if closed and allows(role, self.name, purpose):
                        under = f" under the purpose {purpose!r}" if purpose is not None else ""
                        yield (
                            path,
                            f"{key!r} may be missing: {type}.{property} is hidden from role {name!r}"
                            f"{under} (locks[{number}]); take it out of `required`",
                        )
                        return

    def _thing(self, template: Any) -> Thing | None:
        """The object, or the list of objects, that a template stands for."""
        steps = self._steps(template)
        if len(steps) == 3 and steps[0] == "objects" and isinstance(steps[1], str):
            return Thing("object", steps[1])
        thing = self._named(steps[0]) if len(steps) == 1 else None
        return None if thing is None or thing.kind == "value" else thing

    def _property(self, template: Any) -> tuple[str, str] | None:
        """The type and the property, when a template stands for a property of an object or a part of it."""
        steps = self._steps(template)
        if len(steps) > 3 and steps[0] == "objects":
            type, property = steps[1], steps[3]
        elif len(steps) > 1 and (thing := self._named(steps[0])) and thing.kind == "object":
            type, property = thing.type, steps[1]
        else:
            return None
        return (type, property) if isinstance(type, str) and isinstance(property, str) else None

    def _steps(self, template: Any) -> tuple[Any, ...]:
        name = placeholders.whole(template) if isinstance(template, str) else None
        if name is None or self.world.clock(name) is not None:
            return ()
        try:
            return parse(name)
        except ValueError:
            return ()  # told where the action itself is looked at

    def _named(self, root: Any) -> Thing | None:
        made = {e.name: e for e in self.action.effects if isinstance(e, CreateObject)}
        if root in made:
            one = made[root]
            return Thing("object" if one.for_each is None else "list", one.type)
        return names_in(self.world, self.action).things.get(root)
