"""Payloads put where a case places them: into objects, files and mocked answers, of copies of the fixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from seatrial.documents import Answers, Case, ObjectsWorld, World
from seatrial.documents.answers import Given, Reply
from seatrial.documents.attack import How, InAnswer, InFile, InObject, Place, placed_in
from seatrial.documents.world import DirectoryWorld, PythonWorld
from seatrial.documents.world.directory import Written
from seatrial.errors import WorldError
from seatrial.state.schemas import did_you_mean
from seatrial.state.values import is_index


class Misplaced(WorldError):
    """There is no text at the place that a case names for its payload."""


class Placed:
    """The worlds of many trials with their payloads, each made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str, tuple[Place, ...]], tuple[World, World]] = {}

    def world(self, case: Case, world: World) -> World:
        """The world in which a case takes place, the same object every time; see `world_of`."""
        attack = case.attack
        if attack is None or attack.text is None:
            return world
        key = (id(world), attack.text, attack.place)
        if key not in self._made:
            self._made[key] = (world, world_of(case, world))  # the identity must not be given again
        return self._made[key][1]


def world_of(case: Case, world: World) -> World:
    """The world in which a case takes place: with its payload, where one is placed there.

    Raises:
        Misplaced: the world has no text where the payload is placed.
    """
    attack = case.attack
    if attack is None or attack.text is None:
        return world
    for place in attack.place:
        if isinstance(place, InObject):
            world = in_object(world, place, attack.text)
        elif isinstance(place, InFile):
            world = in_file(world, place, attack.text)
    return world


def answers_of(case: Case, answers: Answers) -> Answers:
    """The mocked answers that a case is given: with its payload, where one is placed there.

    Raises:
        Misplaced: no answer has a text where the payload is placed.
    """
    attack = case.attack
    if attack is None or attack.text is None:
        return answers
    for place in attack.place:
        if isinstance(place, InAnswer):
            answers = in_answers(answers, place, attack.text)
    return answers


def in_object(world: World, place: InObject, payload: str) -> World:
    """A world with a payload in a text of one of its objects.

    Raises:
        Misplaced: there is no such text, or it does not stand in the document.
    """
    name = f"{place.type} {place.key}"
    match world:
        case ObjectsWorld(types=types, objects=objects):
            if place.type not in types:
                hint = did_you_mean(place.type, types)
                raise Misplaced(f"world `{world.id}` has no type `{place.type}`{hint}")
            key = types[place.type].key
            found = objects.get(place.type, ())
            index = next((i for i, o in enumerate(found) if str(o.get(key)) == place.key), None)
            if index is None:
                raise Misplaced(f"world `{world.id}` starts without {name}")
            own = _with(found[index], place.property.split("."), payload, place.how, name)
            changed = (*found[:index], own, *found[index + 1 :])
            return world.model_copy(update={"objects": {**objects, place.type: changed}})
        case PythonWorld(start=start) if start is not None:
            if place.key not in start.get(place.type, {}):
                raise Misplaced(f"world `{world.id}` starts without {name}")
            of_type = start[place.type]
            own = _with(of_type[place.key], place.property.split("."), payload, place.how, name)
            return world.model_copy(
                update={"start": {**start, place.type: {**of_type, place.key: own}}}
            )
        case _:
            raise Misplaced(
                f"the objects of world `{world.id}` do not stand in its document, so that no payload can be "
                "placed in them; place it in a mocked answer or in the message"
            )


def in_file(world: World, place: InFile, payload: str) -> World:
    """A world with a payload in one of its files.

    Raises:
        Misplaced: it is no folder.
    """
    if not isinstance(world, DirectoryWorld):
        raise Misplaced(
            f"world `{world.id}` is of kind `{world.world}`, and only one of kind `directory` has files"
        )
    if world.start is not None:
        text = placed_in(world.start.get(place.path, ""), payload, place.how)
        return world.model_copy(update={"start": {**world.start, place.path: text}})
    written = Written(path=place.path, text=payload, how=place.how)
    return world.model_copy(update={"written": (*world.written, written)})


def in_answers(answers: Answers, place: InAnswer, payload: str) -> Answers:
    """Mocked answers with a payload in those of one tool.

    Raises:
        Misplaced: the tool is not mocked, or none of its answers has such a text.
    """
    tool = answers.tools.get(place.tool)
    if tool is None:
        hint = did_you_mean(place.tool, answers.tools)
        raise Misplaced(f"fixture `{answers.id}` mocks no tool `{place.tool}`{hint}")
    rules = tuple(_in_reply(rule, place, payload) for rule in tool.rules)
    changed = _in_reply(tool, place, payload)
    if changed is tool and all(new is old for new, old in zip(rules, tool.rules, strict=True)):
        raise Misplaced(
            f"no answer of `{place.tool}` in fixture `{answers.id}` has a text at `{place.path}`"
        )
    changed = changed.model_copy(update={"rules": rules})
    return answers.model_copy(update={"tools": {**answers.tools, place.tool: changed}})


_GivenT = TypeVar("_GivenT", bound=Given)
_ReplyT = TypeVar("_ReplyT", bound=Reply)


def _in_reply(reply: _ReplyT, place: InAnswer, payload: str) -> _ReplyT:
    """What is answered, with a payload in the text at the place; the very same where there is no such text."""
    steps = tuple(_in_given(step, place, payload) for step in reply.sequence)
    if any(new is not old for new, old in zip(steps, reply.sequence, strict=True)):
        reply = reply.model_copy(update={"sequence": steps})
    return _in_given(reply, place, payload)


def _in_given(given: _GivenT, place: InAnswer, payload: str) -> _GivenT:
    if "answer" not in given.model_fields_set:
        return given
    steps = place.path.split(".") if place.path else []
    try:
        own = _with(given.answer, steps, payload, place.how, "the answer")
    except Misplaced:
        return given
    return given.model_copy(update={"answer": own})


def _with(value: Any, steps: Sequence[str], payload: str, how: How, name: str) -> Any:
    """A JSON value with a payload in the text at a path; all else is shared with the original."""
    if not steps:
        if not isinstance(value, str):
            raise Misplaced(f"{name} has no text there")
        return placed_in(value, payload, how)
    first, rest = steps[0], steps[1:]
    if isinstance(value, Mapping) and first in value:
        return {**value, first: _with(value[first], rest, payload, how, name)}
    if isinstance(value, list | tuple) and is_index(first, value):
        own = _with(value[int(first)], rest, payload, how, name)
        return [own if i == int(first) else item for i, item in enumerate(value)]
    raise Misplaced(f"{name} has no `{first}`")
