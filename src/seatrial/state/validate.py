"""What is wrong with a world document, beyond the shape of its parts: everything at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seatrial.documents import placeholders
from seatrial.documents.world import DeclaredTool, ObjectsWorld, Role, World
from seatrial.state.access import covers, may_ever
from seatrial.state.effects import object_validators
from seatrial.state.kinds import problems_of_its_kind
from seatrial.state.locking import lock_problems, sight_problems, where_problems
from seatrial.state.promises import promise_problems
from seatrial.state.references import action_problems
from seatrial.state.schemas import did_you_mean, schema_problem
from seatrial.state.values import as_text, freeze, shown

Found = tuple[str, str]
"""Path inside the document (`actions.refund.bind.order`), and what is wrong there."""


def world_problems(world: World) -> list[Found]:
    """Every problem of a world that its document alone can show; empty: its tools can be carried out.

    A part that hangs on a broken one (an object whose type's schema is no schema) is not looked at.
    """
    if isinstance(world, ObjectsWorld):
        return [
            *_clock(world),
            *_things(world),
            *role_problems(world, world.declared_tools()),
            *lock_problems(world),
            *_actions(world),
            *promise_problems(world),
        ]
    return [
        *_clock(world),
        *role_problems(world, world.declared_tools()),
        *problems_of_its_kind(world),
    ]


def _things(world: ObjectsWorld) -> Iterator[Found]:
    yield from _types(world)
    yield from _link_types(world)
    yield from _objects(world)
    yield from _links(world)


def _actions(world: ObjectsWorld) -> Iterator[Found]:
    for name, action in world.actions.items():
        for path, message in action_problems(world, action):
            yield f"actions.{name}{path}", message


def _clock(world: World) -> Iterator[Found]:
    if world.now.tzinfo is None:
        yield "now", "has no time zone; write `Z` for UTC or an offset such as `+01:00` behind it"


def _types(world: ObjectsWorld) -> Iterator[Found]:
    for name, kind in world.types.items():
        path = f"types.{name}"
        broken = {
            p: why for p, schema in kind.properties.items() if (why := schema_problem(schema))
        }
        for property, problem in broken.items():
            yield f"{path}.properties.{property}", problem
        if kind.key not in kind.properties:
            guess = did_you_mean(kind.key, kind.properties)
            yield f"{path}.key", f"{kind.key!r} is no property of {name}{guess}"
        elif kind.key not in broken and not {"string", "integer"} & _allowed_types(
            kind.properties[kind.key]
        ):
            yield (
                f"{path}.properties.{kind.key}",
                "is the key, so it must be text or a whole number",
            )
        for number, property in enumerate(kind.required):
            if property not in kind.properties:
                guess = did_you_mean(property, kind.properties)
                yield f"{path}.required[{number}]", f"{property!r} is no property of {name}{guess}"
        start = {as_text(o.get(kind.key)) for o in world.objects.get(name, ())}
        seen: set[str] = set()
        for number, id in enumerate(kind.new_ids):
            if id in seen or id in start:
                yield f"{path}.new_ids[{number}]", f"{id!r} is taken already"
            seen.add(id)


def _allowed_types(schema: dict[str, Any]) -> set[str]:
    written = schema.get("type", ["string", "integer"])
    return {written} if isinstance(written, str) else set(written)


def _link_types(world: ObjectsWorld) -> Iterator[Found]:
    for name, link in world.links.items():
        for end, type in (("from", link.source), ("to", link.target)):
            if type not in world.types:
                yield f"links.{name}.{end}", _no_type(type, world)


def _objects(world: ObjectsWorld) -> Iterator[Found]:
    broken = {
        name
        for name, kind in world.types.items()
        if any(map(schema_problem, kind.properties.values()))
    }
    validators = {n: v for n, v in object_validators(world).items() if n not in broken}
    for type, objects in world.objects.items():
        if type not in world.types:
            yield f"objects.{type}", _no_type(type, world)
            continue
        seen: dict[str, int] = {}
        for number, properties in enumerate(objects):
            path = f"objects.{type}[{number}]"
            try:
                freeze(properties)
            except TypeError as error:
                yield path, f"is no JSON: {error}"
                continue
            if type in validators:
                yield from (
                    (path, sentence)
                    for sentence in validators[type].misfits(properties, _named(type))
                )
            key = as_text(properties.get(world.types[type].key))
            if key and key in seen:
                first = f"objects.{type}[{seen[key]}]"
                yield path, f"there is already a {type} {key!r} (at {first})"
            seen.setdefault(key, number)


def _named(type: str) -> Callable[[str], str]:
    return lambda path: f"`{path}`" if path else f"this {type}"


def _links(world: ObjectsWorld) -> Iterator[Found]:
    keys = {
        type: {as_text(o.get(kind.key)) for o in world.objects.get(type, ())}
        for type, kind in world.types.items()
    }
    seen: set[tuple[str, str, str]] = set()
    for number, link in enumerate(world.linked):
        path = f"linked[{number}]"
        kind = world.links.get(link.type)
        if kind is None:
            guess = did_you_mean(link.type, world.links)
            yield f"{path}.type", f"there is no link type {link.type!r}{guess}"
            continue
        ends = (("from", kind.source, link.source), ("to", kind.target, link.target))
        for end, type, key in ends:
            if key not in keys.get(type, {key}):
                guess = did_you_mean(key, keys[type])
                yield f"{path}.{end}", f"there is no {type} {key!r}{guess}"
        if (link.type, link.source, link.target) in seen:
            yield path, "this link is there already"
        seen.add((link.type, link.source, link.target))


def role_problems(world: World, tools: Mapping[str, DeclaredTool] | None) -> Iterator[Found]:
    """What roles name that the world does not offer; `tools` are None where they are not known yet."""
    for name, role in world.roles.items():
        for number, entry in enumerate(role.allow):
            if tools is not None and not any(covers(entry, tool) for tool in tools):
                guess = did_you_mean(entry, tools)
                yield f"roles.{name}.allow[{number}]", f"there is no action {entry!r}{guess}"
        for purpose, entries in role.allow_for.items():
            for number, entry in enumerate(entries):
                if tools is not None and not any(covers(entry, tool) for tool in tools):
                    guess = did_you_mean(entry, tools)
                    path = f"roles.{name}.allow_for.{purpose}[{number}]"
                    yield path, f"there is no action {entry!r}{guess}"
        yield from _role_conditions(name, role, tools)
        yield from where_problems(world, name, role)
        yield from sight_problems(world, name, role)


def _role_conditions(
    name: str, role: Role, tools: Mapping[str, DeclaredTool] | None
) -> Iterator[Found]:
    for action, conditions in role.when.items():
        path = f"roles.{name}.when.{action}"
        if tools is not None and action not in tools:
            yield path, f"there is no action {action!r}{did_you_mean(action, tools)}"
            continue
        if not may_ever(role, action):
            yield path, f"role {name!r} may not call {action} at all; name it under `allow`"
        parameters = tools[action].parameters if tools is not None else None
        for argument, condition in conditions.items():
            if parameters is not None:
                yield from _no_argument(action, argument, parameters, path)
            for _, operand in condition.operators:
                for placeholder in placeholders.names(operand):
                    yield f"{path}.{argument}", f"{shown(placeholder)}: rights hold no placeholders"


def _no_argument(
    action: str, argument: str, parameters: Mapping[str, Any], path: str
) -> Iterator[Found]:
    declared = parameters.get("properties", {})
    first = argument.partition(".")[0]
    if argument not in declared and first not in declared:
        guess = did_you_mean(first, declared)
        yield f"{path}.{argument}", f"{action} has no argument {first!r}{guess}"


def _no_type(type: str, world: ObjectsWorld) -> str:
    return f"there is no object type {type!r}{did_you_mean(type, world.types)}"
