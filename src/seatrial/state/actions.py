"""The actions of a world at work: an action and arguments on a state give an answer and the next state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from seatrial.documents.world import Action, Bind, Find, ObjectsWorld, Precondition, ToolAsData
from seatrial.state.answers import tool_answer
from seatrial.state.effects import Effects, object_validators
from seatrial.state.objects import Draft, ObjectKey, Properties, State, start_state
from seatrial.state.operators import all_fulfilled, fulfils
from seatrial.state.schemas import did_you_mean, validator
from seatrial.state.scope import Scope, ToldByAuthor, ToolError, Trial
from seatrial.state.values import (
    MISSING,
    FrozenDict,
    FrozenList,
    deeper_than,
    freeze,
    look_up,
    quoted,
)
from seatrial.tools import Tool
from seatrial.trace import Answer, Json

DEEPEST = 100
"""Levels of lists and mappings in arguments: looking into values must not exhaust the stack."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to."""

    answer: Answer
    state: State
    """The state after the call: the very same one when nothing changed."""


class Actions:
    """The actions of a world, made ready once and used by all its trials."""

    def __init__(self, world: ObjectsWorld) -> None:
        self.world = world
        self.start = start_state(world)
        """The state that every trial starts from."""
        self.tools = tuple(tool(name, action) for name, action in world.actions.items())
        """The actions as tools, in the document's order."""
        self._arguments = {tool.name: validator(tool.input_schema) for tool in self.tools}
        self._outputs = {
            name: validator(action.output)
            for name, action in world.actions.items()
            if action.output is not None
        }
        self._objects = object_validators(world)

    def carry_out(
        self, name: str, arguments: Mapping[str, Any], state: State, trial: Trial
    ) -> Outcome:
        """What the agent gets for a call, and the state after it.

        What the agent did wrong is an answer (`is_error`) that says what to do otherwise, and
        leaves the state as it is.

        Raises:
            WorldError: the action cannot do what the document says.
        """
        action = self.world.actions.get(name)
        try:
            if action is None:
                known = ", ".join(self.world.actions)
                guess = did_you_mean(name, self.world.actions)
                raise ToolError(f"there is no such tool (there are {known}){guess}")
            return self._carry_out(action, name, self._read(name, arguments), state, trial)
        except ToldByAuthor as told:
            return Outcome(Answer.of_text(str(told), is_error=True), state)
        except ToolError as error:
            end = "" if str(error).endswith("?") else "."
            return Outcome(Answer.of_text(f"{name[:80]}: {error}{end}", is_error=True), state)

    def _read(self, name: str, arguments: Mapping[str, Any]) -> FrozenDict:
        """The arguments, frozen, when they fit."""
        if deeper_than(arguments, DEEPEST):
            raise ToolError(f"the arguments are nested deeper than {DEEPEST} levels")
        try:
            args = freeze(dict(arguments))
            json.dumps(args, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ToolError(f"the arguments are no JSON: {error}") from error
        misfits = self._arguments[name].misfits(args, _argument)
        if misfits:
            raise ToolError("; ".join(misfits))
        return with_defaults(self.world.actions[name].parameters, args)

    def _carry_out(
        self, action: Action, name: str, args: FrozenDict, state: State, trial: Trial
    ) -> Outcome:
        scope = Scope(world=self.world, trial=trial, state=state, args=args)
        for bound, bind in action.bind.items():
            _bind(bound, bind, scope)
        for found, find in action.find.items():
            _find(found, find, scope)
        for computed, template in action.compute.items():
            value = scope.fill(template)
            scope.computed[computed] = value if value is MISSING else freeze(value)
            if value is MISSING and scope.hangs_on_omitted(template):
                scope.unbound.add(computed)
        for precondition in action.preconditions:
            _hold(precondition, scope)
        if action.effects:
            state = self._affect(action, name, scope)
        return Outcome(self._answer(action, name, scope), state)

    def _affect(self, action: Action, name: str, scope: Scope) -> State:
        draft = Draft(scope.state)
        scope.state = draft.now
        effects = Effects(self.world, scope, draft)
        effects.carry_out(action, name)
        effects.check(self._objects)
        return draft.state()

    def _answer(self, action: Action, name: str, scope: Scope) -> Answer:
        value, output = scope.fill(action.returns), self._outputs.get(name)
        return tool_answer(value, output, world=self.world.id, tool=f"actions.{name}")


def tool(name: str, action: ToolAsData) -> Tool:
    """A tool as the agent sees it. Arguments that are not declared are refused, and it says so."""
    return Tool(
        name=name,
        description=action.description,
        input_schema=freeze({"additionalProperties": False} | action.parameters),
        output_schema=None if action.output is None else freeze(action.output),
        read_only=action.read_only,
        destructive=action.destructive,
    )


def with_defaults(parameters: Mapping[str, Any], arguments: Mapping[str, Json]) -> FrozenDict:
    """The arguments, and the `default` of each parameter that has one and was not given."""
    declared = parameters.get("properties", {})
    defaults = {
        name: freeze(schema["default"])
        for name, schema in declared.items()
        if isinstance(schema, dict) and "default" in schema
    }
    return FrozenDict(defaults | dict(arguments))


def _bind(name: str, bind: Bind, scope: Scope) -> None:
    omitted = scope.hangs_on_omitted(bind.key)
    if omitted and bind.optional:
        scope.unbound.add(name)
        return
    key = scope.fill_text(bind.key)
    if omitted or scope.state.get(bind.type, key) is MISSING:
        if bind.error:
            raise ToldByAuthor(scope.fill_text(bind.error))
        raise ToolError(
            f"there is no {bind.type} {quoted(key)}" if key else f"no {bind.type} was named"
        )
    scope.bind(name, (bind.type, key))


def _find(name: str, find: Find, scope: Scope) -> None:
    where = scope.filled_all(find.where)
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
            links = scope.state.links_at(find.link, key)
            linked = {link[here]: None for link in links if link[there] == key}
    if linked is None:
        yield from scope.state.objects(find.type)
        return
    for key in linked:
        properties = scope.state.get(find.type, key)
        if properties is not MISSING:
            yield key, properties


def _hold(precondition: Precondition, scope: Scope) -> None:
    for each in scope.repeated(precondition.for_each):
        of = precondition.of
        if (of is not None and each.omitted(of)) or not each.all_hold(precondition.when):
            continue
        if of is None:
            holds = each.all_hold(precondition.where)
        else:
            holds = not all_fulfilled(each.filled_all(precondition.where), each.resolve(of))
        if not holds:
            raise ToldByAuthor(each.fill_text(precondition.error))


def _argument(path: str) -> str:
    return f"argument `{path[:80]}`" if path else "the arguments"
