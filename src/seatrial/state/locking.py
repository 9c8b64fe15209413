"""What is wrong with the locks of a world, and with what its roles say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seatrial.documents import placeholders
from seatrial.documents.conditions import Conditions
from seatrial.documents.world import Lock, ObjectsWorld, Role, World
from seatrial.state.access import may_ever
from seatrial.state.names import Names, Thing
from seatrial.state.references import names_in
from seatrial.state.schemas import did_you_mean
from seatrial.state.values import as_text, shown

Found = tuple[str, str]
"""Path inside the document (`locks[1].markings[0]`), and what is wrong there."""


def lock_problems(world: ObjectsWorld) -> Iterator[Found]:
    """Every problem of the locks of a world."""
    if world.locks and not world.roles:
        yield "locks", "nobody is kept out: the world has no roles"
    for number, lock in enumerate(world.locks):
        path = f"locks[{number}]"
        yield from _unknown(lock.markings, world.markings, "marking", f"{path}.markings")
        yield from _unknown(lock.purposes, world.purposes, "purpose", f"{path}.purposes")
        kind = world.types.get(lock.type)
        if kind is None:
            guess = did_you_mean(lock.type, world.types)
            yield f"{path}.type", f"there is no object type {lock.type!r}{guess}"
            continue
        for index, name in enumerate(lock.properties):
            where = f"{path}.properties[{index}]"
            if name not in kind.properties:
                guess = did_you_mean(name, kind.properties)
                yield where, f"{name!r} is no property of {lock.type}{guess}"
            elif name == kind.key:
                yield where, "is the key; lock the whole object instead, without `properties`"
        yield from _keys(world, lock, path)
        thing = Thing("object", lock.type)
        for inner, condition in lock.where.items():
            problem = Names(world, {}).inside(thing, inner)
            if problem:
                yield f"{path}.where.{inner}", problem
            for _, operand in condition.operators:
                for placeholder in placeholders.names(operand):
                    message = f"{shown(placeholder)}: locks hold no placeholders"
                    yield f"{path}.where.{inner}", message


def sight_problems(world: World, name: str, role: Role) -> Iterator[Found]:
    """Clearances and purposes of a role that its world does not know."""
    known = world.declared_markings()
    yield from _unknown(role.clearances, known, "marking", f"roles.{name}.clearances")
    known = world.declared_purposes()
    yield from _unknown(role.purposes, known, "purpose", f"roles.{name}.purposes")
    for purpose in role.allow_for:
        if purpose not in role.purposes:
            guess = did_you_mean(purpose, role.purposes)
            message = f"role {name!r} never acts under the purpose {purpose!r}{guess}"
            yield f"roles.{name}.allow_for.{purpose}", message


def where_problems(world: World, name: str, role: Role) -> Iterator[Found]:
    """What is wrong with a role's conditions over what an action works on."""
    for action, conditions in role.where.items():
        path = f"roles.{name}.where.{action}"
        if not isinstance(world, ObjectsWorld):
            kind = f"a world of kind `{world.world}`"
            yield path, f"{kind} does not say what its tools work on; write `when` over arguments"
            continue
        if action not in world.actions:
            guess = did_you_mean(action, world.actions)
            yield path, f"there is no action {action!r}{guess}"
            continue
        if not may_ever(role, action):
            yield path, f"role {name!r} may not call {action} at all; name it under `allow`"
        yield from _conditions(conditions, path, names_in(world, world.actions[action]))


def _conditions(conditions: Conditions, path: str, names: Names) -> Iterator[Found]:
    for of, condition in conditions.items():
        problem = names.problem(of)
        if problem:
            yield f"{path}.{of}", problem
        for _, operand in condition.operators:
            for placeholder in placeholders.names(operand):
                yield f"{path}.{of}", f"{shown(placeholder)}: rights hold no placeholders"


def _keys(world: ObjectsWorld, lock: Lock, path: str) -> Iterator[Found]:
    kind = world.types[lock.type]
    start = {as_text(properties.get(kind.key)) for properties in world.objects.get(lock.type, ())}
    known = start | set(kind.new_ids)
    for index, key in enumerate(lock.keys):
        if key not in known:
            guess = did_you_mean(key, known)
            yield f"{path}.keys[{index}]", f"there is no {lock.type} {key!r}{guess}"


def _unknown(names: Iterable[str], known: Iterable[str], what: str, path: str) -> Iterator[Found]:
    there = list(known)
    for number, name in enumerate(names):
        if name not in there:
            listed = f" (there are {', '.join(there)})" if there else " (the world has none)"
            guess = did_you_mean(name, there) or listed
            yield f"{path}[{number}]", f"there is no {what} {name!r}{guess}"
