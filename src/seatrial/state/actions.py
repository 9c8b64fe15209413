"""The actions of a world at work: an action and arguments on a state give an answer and the next state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from seatrial.documents import placeholders
from seatrial.documents.world import Action, Bind, ObjectsWorld, Precondition, ToolAsData
from seatrial.state.answers import tool_answer
from seatrial.state.effects import Effects, object_validators
from seatrial.state.finding import find_objects
from seatrial.state.holding import hold_to_role
from seatrial.state.objects import Draft, State, start_state
from seatrial.state.operators import all_fulfilled
from seatrial.state.schemas import did_you_mean, validator
from seatrial.state.scope import Scope, ToldByAuthor, ToolError, Trial, calls_say
from seatrial.state.sight import BeyondSight, View
from seatrial.state.values import (
    MISSING,
    FrozenDict,
    deeper_than,
    freeze,
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
    beyond: str | None = None
    """Why the call is beyond the role's rights, whatever it was answered; None when it is not."""


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
        attempts: list[str] = []
        try:
            if action is None:
                known = ", ".join(self.world.actions)
                guess = did_you_mean(name, self.world.actions)
                raise ToolError(f"there is no such tool (there are {known}){guess}")
            args = self._read(name, arguments)
            answer, after = self._carry_out(action, name, args, state, trial, attempts)
            return Outcome(answer, after, next(iter(attempts), None))
        except BeyondSight as error:
            text = f"Not allowed: {error}"
            return Outcome(Answer.of_text(text, is_error=True), state, str(error))
        except ToldByAuthor as told:
            text = str(told)
        except ToolError as error:
            end = "" if str(error).endswith("?") else "."
            text = f"{name[:80]}: {error}{end}"
        return Outcome(Answer.of_text(text, is_error=True), state, next(iter(attempts), None))

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
        self,
        action: Action,
        name: str,
        args: FrozenDict,
        state: State,
        trial: Trial,
        attempts: list[str],
    ) -> tuple[Answer, State]:
        sight = trial.sight
        seen = state if sight is None or sight.unlimited else View(state, sight)
        scope = Scope(world=self.world, trial=trial, state=seen, args=args, attempts=attempts)
        for bound, bind in action.bind.items():
            _bind(bound, bind, scope)
        for found, find in action.find.items():
            find_objects(found, find, scope)
        for computed, template in action.compute.items():
            value = scope.fill(template)
            scope.computed[computed] = value if value is MISSING else freeze(value)
            if value is MISSING and scope.hangs_on_omitted(template):
                scope.unbound.add(computed)
        if sight is not None:
            hold_to_role(name, scope, sight)
        for precondition in action.preconditions:
            _hold(precondition, scope)
        if action.effects:
            state = self._affect(action, name, scope, state)
        return self._answer(action, name, scope), state

    def _affect(self, action: Action, name: str, scope: Scope, state: State) -> State:
        draft = Draft(state)
        scope.state = scope.state.over(draft.now) if isinstance(scope.state, View) else draft.now
        effects = Effects(self.world, scope, draft)
        effects.carry_out(action, name)
        effects.check(self._objects)
        return draft.state()

    def _answer(self, action: Action, name: str, scope: Scope) -> Answer:
        if isinstance(action.returns, str) and placeholders.whole(action.returns):
            scope = replace(scope, asks=True)
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
        leaves_world=action.leaves_world or None,
    )


def with_defaults(parameters: Mapping[str, Any], arguments: Mapping[str, Json]) -> FrozenDict:
    """The arguments, and the `default` of each parameter that has one and was not given.

    Where a whole number is declared, `1.0` is `1` (JSON Schema takes either): as a key both must be the same.
    """
    declared = parameters.get("properties", {})
    defaults = {
        name: freeze(schema["default"])
        for name, schema in declared.items()
        if isinstance(schema, dict) and "default" in schema
    }
    given = {name: _whole(value, declared.get(name)) for name, value in arguments.items()}
    return FrozenDict(defaults | given)


def _whole(value: Json, schema: Any) -> Json:
    declared = schema.get("type") if isinstance(schema, dict) else None
    if declared == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _bind(name: str, bind: Bind, scope: Scope) -> None:
    omitted = scope.hangs_on_omitted(bind.key)
    if omitted and bind.optional:
        scope.unbound.add(name)
        return
    key = scope.fill_text(bind.key)
    if omitted or scope.state.get(bind.type, key) is MISSING:
        scope.look_for((bind.type, key), named=calls_say(bind.key))
        if bind.error:
            raise ToldByAuthor(scope.fill_text(bind.error))
        raise ToolError(
            f"there is no {bind.type} {quoted(key)}" if key else f"no {bind.type} was named"
        )
    scope.bind(name, (bind.type, key))


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
