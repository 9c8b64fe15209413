"""What the names in an action stand for, as far as the document tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from seatrial.documents.world import ObjectsWorld
from seatrial.state.paths import Steps, parse
from seatrial.state.schemas import did_you_mean

OF_LISTS = ("*", "count")
"""Steps into a list beside its indices."""


@dataclass(frozen=True, slots=True)
class Thing:
    """What a name stands for, as far as the document tells."""

    kind: Literal["object", "list", "value"]
    type: str = ""
    """The object type of an object, or of a list of them; empty: unknown."""


@dataclass(slots=True)
class Names:
    """The names that may be used at one place of an action."""

    world: ObjectsWorld
    parameters: Mapping[str, Any]
    things: dict[str, Thing] = field(default_factory=dict)
    each: Thing | None = None
    new_id: bool = False

    def problem(self, name: str) -> str | None:
        """What is wrong with a placeholder, or with a path outside braces."""
        if self.world.clock(name) is not None:
            return None
        try:
            steps = parse(name)
        except ValueError as error:
            if name.startswith(("now", "today")):
                return f"{name!r} is no moment; one moves like `today - 30 days` or `now + 2 hours`"
            return str(error)
        return self._of(steps, name)

    def inside(self, thing: Thing, path: str) -> str | None:
        """What is wrong with a path inside a thing."""
        try:
            steps = parse(f"property.{path}")[1:]
        except ValueError as error:
            return str(error).replace("property.", "", 1)
        nested = (self._of(step, path) for step in steps if not isinstance(step, str))
        return next(filter(None, nested), None) or self._of_thing(thing, steps)

    def no_list(self, path: str) -> str | None:
        """What says that a path without problems leads to something else than a list."""
        steps = parse(path)
        thing = self.things.get(str(steps[0]))
        schema: Any = {}
        if len(steps) == 1 and thing is not None and thing.kind == "object":
            return f"{path!r} is one {thing.type}, no list"
        if len(steps) == 2 and steps[0] == "args":
            schema = self.parameters.get(str(steps[1]))
        elif len(steps) == 2 and thing is not None and thing.kind == "object":
            schema = self.properties(thing.type).get(str(steps[1]))
        kind = schema.get("type", "array") if isinstance(schema, dict) else "array"
        return None if "array" in kind else f"{path!r} is of type {kind}, no list"

    def target(self, name: str) -> Thing | str:
        """The object or list that `object:` leads to, or what is wrong with it."""
        if name in self.things and self.things[name].kind != "value":
            return self.things[name]
        problem = self.problem(name)
        if problem:
            return problem
        steps = parse(name)
        if steps[0] == "objects" and len(steps) == 3 and isinstance(steps[1], str):
            return Thing("object", steps[1])
        return f"{name!r} is no bound, found or created object, and no `objects.type[path]`"

    def properties(self, type: str) -> Mapping[str, Any]:
        """The properties of an object type."""
        kind = self.world.types.get(type)
        return {} if kind is None else kind.properties

    def _of(self, steps: Steps, name: str) -> str | None:
        for step in steps:
            if not isinstance(step, str):
                problem = self._of(step, name)
                if problem:
                    return problem
        root, rest = steps[0], steps[1:]
        assert isinstance(root, str)  # the first step of a path is a name
        if root in ("run", "now", "today"):
            return f"{name!r}: {root} is a text and holds nothing" if rest else None
        if root == "new_id":
            return None if self.new_id else "`new_id` is only for the properties of a `create`"
        if root == "args":
            return _unknown("argument", rest, self.parameters) if rest else None
        if root == "objects":
            return self._of_world(rest, name)
        thing = self.each if root == "each" else self.things.get(root)
        if thing is None:
            if root == "each":
                return "`each` stands for something only with `for_each` or a list as `object`"
            known = sorted({*self.things, "args", "objects", "run", "now", "today"})
            near = did_you_mean(root, known) or f" (there are {', '.join(known)})"
            return f"{name!r} names nothing here{near}"
        return self._of_thing(thing, rest)

    def _of_thing(self, thing: Thing, rest: Steps) -> str | None:
        if not rest or thing.kind == "value" or not isinstance(rest[0], str):
            return None
        if thing.kind == "object":
            return _unknown(f"property of {thing.type}", rest, self.properties(thing.type))
        first, after = rest[0], rest[1:]
        if first not in OF_LISTS and not first.isdecimal():
            return f"a list has no {first!r}; it has indices from 0 and {', '.join(OF_LISTS)}"
        if first == "count":
            return "the count of a list is a number and holds nothing" if after else None
        return self._of_thing(Thing("object", thing.type), after) if thing.type else None

    def _of_world(self, rest: Steps, name: str) -> str | None:
        if len(rest) < 2:
            return f"{name!r} is no object: write `objects.type[path of its key]`"
        type = rest[0]
        if not isinstance(type, str):
            return f"{name!r}: the object type cannot be looked up"
        if type not in self.world.types:
            return f"there is no object type {type!r}{did_you_mean(type, self.world.types)}"
        return self._of_thing(Thing("object", type), rest[2:])


def _unknown(what: str, rest: Steps, known: Mapping[str, Any]) -> str | None:
    first = rest[0]
    if not isinstance(first, str) or first in known or ".".join(map(str, rest)) in known:
        return None
    there = f" (there are {', '.join(known)})" if known else ""
    return f"{first!r} is no {what}{did_you_mean(first, known) or there}"
