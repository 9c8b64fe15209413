"""What is wrong inside one action of a world: names that stand for nothing, values that cannot fit."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, Literal

from pydantic import ValidationError

from seatrial.documents import placeholders
from seatrial.documents.conditions import Condition, Conditions
from seatrial.documents.world import (
    Action,
    AddToProperty,
    CreateObject,
    DeleteObject,
    Effect,
    Find,
    MakeLink,
    ObjectsWorld,
    SetProperties,
    ToolAsData,
)
from seatrial.state.formulas import FORMULAS, NUMBERS
from seatrial.state.names import Names, Thing
from seatrial.state.operators import AS_WRITTEN
from seatrial.state.schemas import did_you_mean, schema_problem, validator
from seatrial.state.scope import RESERVED, conditions_of
from seatrial.state.values import shown

Found = tuple[str, str]
"""Path inside the action (`.bind.order.key`), and what is wrong there."""


def action_problems(world: ObjectsWorld, action: Action) -> Iterator[Found]:
    """Every problem of one action, each with its path inside the action."""
    yield from tool_problems(action)
    if action.read_only and action.effects:
        yield ".effects", "a `read_only` action has no effects"
    declared = action.parameters.get("properties", {})
    names = Names(world, declared if isinstance(declared, dict) else {})
    yield from _looked_up(action, names)
    for computed, template in action.compute.items():
        yield from _new_name(computed, f".compute.{computed}", names)
        yield from _value(template, f".compute.{computed}", names)
        names.things[computed] = Thing("value")
    for number, precondition in enumerate(action.preconditions):
        path = f".preconditions[{number}]"
        own = yield from _repeated(precondition.for_each, f"{path}.for_each", names)
        yield from _when(precondition.when, path, own)
        problem = own.problem(precondition.of) if precondition.of is not None else None
        if problem:
            yield f"{path}.of", problem
        else:
            yield from _where(precondition.where, f"{path}.where", own, precondition.of)
        yield from _value(precondition.error, f"{path}.error", own)
    for number, effect in enumerate(action.effects):
        yield from _effect(effect, f".effects[{number}]", names)
    yield from _value(action.returns, ".returns", names)
    if action.output is not None:
        whole = isinstance(action.returns, str) and placeholders.whole(action.returns)
        if not whole and not isinstance(action.returns, dict):
            yield ".returns", "must be an object, since `output` is declared"


def names_in(world: ObjectsWorld, action: Action) -> Names:
    """The names that there are once an action has looked up and computed what it needs."""
    declared = action.parameters.get("properties", {})
    names = Names(world, declared if isinstance(declared, dict) else {})
    for _ in _looked_up(action, names):
        pass  # told where the action itself is looked at
    names.things |= {computed: Thing("value") for computed in action.compute}
    return names


def tool_problems(action: ToolAsData) -> Iterator[Found]:
    """What is wrong with how a tool is declared, whatever carries it out."""
    if action.read_only and action.destructive:
        yield ".destructive", "a `read_only` action destroys nothing"
    for path, schema in ((".parameters", action.parameters), (".output", action.output)):
        if schema is None:
            continue
        problem = schema_problem(schema)
        if problem:
            yield path, problem
        elif schema.get("type") != "object":
            yield path, "must be the schema of an object; write `type: object`"
    if schema_problem(action.parameters):
        return
    declared = action.parameters.get("properties", {})
    for number, name in enumerate(action.parameters.get("required", ())):
        if name not in declared:
            guess = did_you_mean(name, declared)
            yield f".parameters.required[{number}]", f"{name!r} is no declared argument{guess}"
    for name, schema in declared.items():
        if isinstance(schema, dict) and "default" in schema:
            misfits = validator(schema).misfits(schema["default"], lambda _: "the default")
            yield from ((f".parameters.properties.{name}.default", m) for m in misfits)


def _looked_up(action: Action, names: Names) -> Iterator[Found]:
    for bound, bind in action.bind.items():
        path = f".bind.{bound}"
        yield from _new_name(bound, path, names)
        yield from _type(bind.type, path, names)
        yield from _value(bind.key, f"{path}.key", names)
        yield from _value(bind.error, f"{path}.error", names)
        names.things[bound] = Thing("object", bind.type)
    for found, find in action.find.items():
        path = f".find.{found}"
        yield from _new_name(found, path, names)
        yield from _type(find.type, path, names)
        properties = names.properties(find.type)
        if properties:
            for number, name in enumerate(find.fields):
                if name not in properties:
                    guess = did_you_mean(name, properties)
                    yield (
                        f"{path}.fields[{number}]",
                        f"{name!r} is no property of {find.type}{guess}",
                    )
        yield from _where(find.where, f"{path}.where", names, Thing("object", find.type))
        yield from _linked(find, path, names)
        names.things[found] = Thing("list", find.type)


def _linked(find: Find, path: str, names: Names) -> Iterator[Found]:
    ends = {"linked_from": find.linked_from, "linked_to": find.linked_to}
    written = [end for end, key in ends.items() if key is not None]
    if find.link is not None and find.link not in names.world.links:
        guess = did_you_mean(find.link, names.world.links)
        yield f"{path}.link", f"there is no link type {find.link!r}{guess}"
    if (find.link is None) != (not written):
        yield path, "`link` and one of `linked_from` and `linked_to` go together"
    if len(written) > 1:
        yield path, "write either `linked_from` or `linked_to`"
    kind = names.world.links.get(find.link or "")
    for end in written:
        yield from _value(ends[end], f"{path}.{end}", names)
        if kind is not None:
            other = kind.target if end == "linked_from" else kind.source
            if other != find.type:
                yield f"{path}.type", f"{find.link!r} leads to {other!r} there, not {find.type!r}"


def _new_name(name: str, path: str, names: Names) -> Iterator[Found]:
    if name in RESERVED:
        yield path, f"{name!r} is a name with a meaning of its own; take another"
    elif name in names.things:
        yield path, f"{name!r} is the name of something else in this action; take another"


def _type(type: str, path: str, names: Names) -> Iterator[Found]:
    if type not in names.world.types:
        guess = did_you_mean(type, names.world.types)
        yield f"{path}.type", f"there is no object type {type!r}{guess}"


def _repeated(for_each: str | None, path: str, names: Names) -> Generator[Found, None, Names]:
    """The names for what is done for each item; yields what is wrong with `for_each`."""
    if for_each is None:
        return names
    problem = names.problem(for_each) or names.no_list(for_each)
    if problem:
        yield path, problem
    thing = names.things.get(for_each)
    of_objects = thing is not None and thing.kind == "list" and thing.type
    each = Thing("object", thing.type) if thing is not None and of_objects else Thing("value")
    return replace(names, each=each)


def _when(when: Conditions, path: str, names: Names) -> Iterator[Found]:
    for of, condition in when.items():
        problem = names.problem(of)
        if problem:
            yield f"{path}.when.{of}", problem
        yield from _operands(condition, f"{path}.when.{of}", names)


def _where(where: Conditions, path: str, names: Names, of: str | Thing | None) -> Iterator[Found]:
    for inner, condition in where.items():
        if isinstance(of, Thing):
            problem = names.inside(of, inner)
        else:
            problem = names.problem(inner if of is None else f"{of}.{inner}")
        if problem:
            yield f"{path}.{inner}", problem
        yield from _operands(condition, f"{path}.{inner}", names)


def _operands(condition: Condition, path: str, names: Names) -> Iterator[Found]:
    for operator, operand in condition.operators:
        if operator not in AS_WRITTEN:
            yield from _value(operand, path, names)
        elif next(placeholders.names(operand), None) is not None:
            yield path, f"`{operator}` holds no placeholders"


def _value(value: Any, path: str, names: Names) -> Iterator[Found]:
    """What is wrong with the placeholders and formulas of a value."""
    if isinstance(value, str):
        found = list(placeholders.names(value))
        for name in found:
            problem = names.problem(name)
            if problem:
                yield path, problem
        if value.count("{{") > len(found):
            yield path, "`{{` without its `}}`"
    elif isinstance(value, dict):
        if any(isinstance(key, str) and key.startswith("$") for key in value):
            yield from _formula(value, path, names)
            return
        for key, item in value.items():
            if not isinstance(key, str):
                yield path, f"a key must be text, not {shown(key)}"
                continue
            yield from _value(key, path, names)
            yield from _value(item, f"{path}.{key}", names)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _value(item, f"{path}[{number}]", names)


def _formula(value: dict[str, Any], path: str, names: Names) -> Iterator[Found]:
    if frozenset(value) not in FORMULAS:
        known = ["`$each` with `$value`", "`$find` with `$where` (and `$get`)", "`$first`"]
        there = ", ".join([*known, *(f"`{name}`" for name in NUMBERS)])
        yield path, f"{', '.join(map(repr, value))} is no formula; there are {there}"
    elif "$find" in value:
        yield from _find_formula(value, path, names)
    elif "$each" in value:
        if not isinstance(value["$each"], str):
            yield f"{path}.$each", "must be a path to a list, without braces"
            return
        own = yield from _repeated(value["$each"], f"{path}.$each", names)
        yield from _value(value["$value"], f"{path}.$value", own)
    else:
        [(name, operands)] = value.items()
        one = isinstance(operands, str) and placeholders.whole(operands) is not None
        if not one and not isinstance(operands, list | tuple | dict):
            yield f"{path}.{name}", "takes a list, or what stands for one: a placeholder, a formula"
        yield from _value(operands, f"{path}.{name}", names)


def _find_formula(value: dict[str, Any], path: str, names: Names) -> Iterator[Found]:
    if not isinstance(value["$find"], str):
        yield f"{path}.$find", "must be a path to a list, without braces"
        return
    items = yield from _repeated(value["$find"], f"{path}.$find", names)
    each = items.each or Thing("value")
    try:
        where = conditions_of(value["$where"])
    except ValidationError as error:
        said = "; ".join(e["msg"].removeprefix("Value error, ") for e in error.errors())
        yield f"{path}.$where", f"holds no conditions: {said}"
        return
    yield from _where(where, f"{path}.$where", names, each)
    problem = names.inside(each, value["$get"]) if isinstance(value.get("$get"), str) else None
    if problem:
        yield f"{path}.$get", problem


def _effect(effect: Effect, path: str, names: Names) -> Iterator[Found]:
    own = yield from _repeated(effect.for_each, f"{path}.for_each", names)
    yield from _when(effect.when, path, own)
    match effect:
        case CreateObject():
            yield from _create(effect, path, own)
            yield from _new_name(effect.name, f"{path}.name", names)
            kind: Literal["object", "list"] = "object" if effect.for_each is None else "list"
            names.things[effect.name] = Thing(kind, effect.type)
        case MakeLink():
            if effect.type not in names.world.links:
                guess = did_you_mean(effect.type, names.world.links)
                yield f"{path}.type", f"there is no link type {effect.type!r}{guess}"
            yield from _value(effect.source, f"{path}.from", own)
            yield from _value(effect.target, f"{path}.to", own)
        case SetProperties() | AddToProperty() | DeleteObject():
            target = own.target(effect.object)
            if isinstance(target, str):
                yield f"{path}.object", target
                target = Thing("object")
            if target.kind == "list":
                if effect.for_each is not None:
                    yield f"{path}.for_each", "`object` is a list already; leave `for_each` out"
                own = replace(own, each=Thing("object", target.type))
            if isinstance(effect, SetProperties):
                for written, value in effect.properties.items():
                    yield from _written(written, f"{path}.properties.{written}", own, target.type)
                    yield from _value(value, f"{path}.properties.{written}", own)
                    yield from _constant(
                        value, written, f"{path}.properties.{written}", own, target.type
                    )
            elif isinstance(effect, AddToProperty):
                yield from _written(effect.property, f"{path}.property", own, target.type)
                yield from _value(effect.value, f"{path}.value", own)


def _create(effect: CreateObject, path: str, names: Names) -> Iterator[Found]:
    yield from _type(effect.type, path, names)
    kind = names.world.types.get(effect.type)
    if kind is None:
        return
    own = replace(names, new_id=True)
    for property in sorted({kind.key, *kind.required} - effect.properties.keys()):
        yield f"{path}.properties", f"a new {effect.type} needs `{property}`"
    for property, value in effect.properties.items():
        where = f"{path}.properties.{property}"
        if property not in kind.properties:
            guess = did_you_mean(property, kind.properties)
            yield where, f"{property!r} is no property of {effect.type}{guess}"
        yield from _value(value, where, own)
        yield from _constant(value, property, where, own, effect.type)


def _written(property: str, path: str, names: Names, type: str) -> Iterator[Found]:
    """What is wrong with the path of a property that an effect writes."""
    thing = Thing("object", type) if type in names.world.types else Thing("value")
    problem = names.inside(thing, property)
    if problem:
        yield path, problem
    elif type in names.world.types and property == names.world.types[type].key:
        yield path, "the key of an object cannot be changed"


def _constant(value: Any, property: str, path: str, names: Names, type: str) -> Iterator[Found]:
    """A value that hangs on nothing must fit the property's schema."""
    schema = names.properties(type).get(property)
    if schema is None or schema_problem(schema) or not _is_constant(value):
        return
    yield from ((path, m) for m in validator(schema).misfits(value, lambda _: f"`{property}`"))


def _is_constant(value: Any) -> bool:
    if next(placeholders.names(value), None) is not None:
        return False
    if isinstance(value, dict):
        return not any(str(key).startswith("$") for key in value) and all(
            map(_is_constant, value.values())
        )
    return not isinstance(value, list | tuple) or all(map(_is_constant, value))
