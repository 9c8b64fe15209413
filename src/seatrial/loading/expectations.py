"""Expectations that no agent could meet or miss: of tools, arguments, types and objects the world lacks.

A check that forbids a tool nobody has can never fail, and one that demands it can never pass; either
way the case says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from seatrial.documents import Arm, Attack, Case, Check, World
from seatrial.documents.checks import (
    AnyOf,
    ArgumentsValid,
    AsksBack,
    AtLeast,
    AtMost,
    CallOrStep,
    CallSequence,
    Changes,
    ClaimedWithoutChange,
    EndState,
    ExpectedCall,
    ExpectedChange,
    ExpectedDeletion,
    GoldenCalls,
    NoWriteBefore,
    ObjectAbsent,
    ObjectExists,
    SkillNotUsed,
    SkillUsed,
    ToolArguments,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
)
from seatrial.documents.persona import MOST_TURNS
from seatrial.documents.world import DeclaredTool
from seatrial.loading.library import Found, Library
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.places import Steps


def impossible_expectations(library: Library) -> Found:
    """Checks of a case about what its world does not have, or about a turn it does not have."""
    offers: dict[tuple[str, frozenset[str]], Offer] = {}
    for draft, case in library.of(Case):
        turns = most_turns(library, case)
        world = library.world_of(case)
        offer = None
        if world is not None:
            servers = frozenset(server.id for _, server in library.servers_of(case))
            offer = offers.setdefault((world.id, servers), Offer(world, servers))
        for steps, check in _checks(case):
            for mistake in _of_turns(check, steps, turns):
                yield draft, mistake
            if offer is not None:
                for mistake in offer.mistakes(check, steps):
                    yield draft, mistake
        if offer is not None:
            for mistake in (
                *offer.mistakes_of_goal(case.attack),
                *offer.mistakes_of_solution(case),
            ):
                yield draft, mistake


def unknown_skills(library: Library) -> Found:
    """Checks of a skill that no arm of the case's agent declares: they would be skipped in every trial."""
    skills: dict[str, set[str]] = {}
    for _, arm in library.of(Arm):
        skills.setdefault(arm.agent, set()).update(arm.skills)
    for draft, case in library.of(Case):
        for steps, check in _checks(case):
            if isinstance(check, SkillUsed | SkillNotUsed) and case.agent in skills:
                known = skills[case.agent]
                if check.skill not in known:
                    message = (
                        f"no arm of agent `{case.agent}` declares a skill `{cut(check.skill)}`"
                    )
                    worded = guessed(message, check.skill, known)
                    yield draft, Mistake((*steps, "skill"), *worded, "unknown-skill")


def unknown_shown_tools(library: Library) -> Found:
    """Descriptions in an arm of tools or arguments that no world of its agent's cases offers."""
    worlds: dict[str, dict[str, World]] = {}
    unknown: set[str] = set()
    for _, case in library.of(Case):
        world = library.world_of(case)
        served = next(library.servers_of(case), None) is not None
        if world is None or served or world.declared_tools() is None:
            unknown.add(case.agent)
        else:
            worlds.setdefault(case.agent, {})[world.id] = world
    for draft, arm in library.of(Arm):
        offered = [w.declared_tools() or {} for w in worlds.get(arm.agent, {}).values()]
        if arm.agent in unknown or arm.servers or not offered:
            continue
        known = {name for tools in offered for name in tools}
        for name, shown in arm.tools.items():
            if name not in known:
                message = f"no world of agent `{cut(arm.agent)}` offers a tool `{cut(name)}`"
                worded = guessed(message, name, known)
                yield draft, Mistake(("tools", name), *worded, "unknown-tool", True)
            for tools in offered:
                parameters = tools[name].parameters if name in tools else None
                arguments = (parameters or {}).get("properties", {})
                for argument in shown.parameters if parameters is not None else ():
                    if argument not in arguments:
                        where = ("tools", name, "parameters", argument)
                        message = f"tool `{cut(name)}` takes no argument `{cut(argument)}`"
                        worded = guessed(message, argument, arguments)
                        yield draft, Mistake(where, *worded, "unknown-argument", True)


def _checks(case: Case) -> Iterator[tuple[Steps, Check]]:
    for number, turn in enumerate(case.turns):
        for index, check in enumerate(turn.checks):
            yield ("turns", number, "checks", index), check
    for number, step in enumerate(case.golden):
        for key, check in step.graded():
            at, bracket, place = key.partition("[")
            inner: Steps = (at, int(place.rstrip("]"))) if bracket else ()
            yield ("golden", number, *inner), check
    for index, check in enumerate(case.checks):
        yield ("checks", index), check


def most_turns(library: Library, case: Case) -> int:
    """Turns that a conversation of this case can have, at most."""
    if not case.persona:
        return 1 if case.task is not None else len(case.script)
    people = library.personas_of(case)
    # Where somebody is not there, that is said already.
    return MOST_TURNS if people is None else sum(person.max_turns for person in people)


def _of_turns(check: Check, steps: Steps, turns: int) -> Iterator[Mistake]:
    # Asking a model for what it lacks costs more than the rest of a check.
    turn = getattr(check, "turn", None) if "turn" in type(check).model_fields else None
    if isinstance(turn, int) and not 1 <= turn <= turns:
        message = f"there is no turn {turn}: the case has {turns}, counted from 1"
        yield Mistake((*steps, "turn"), message, code="unknown-turn")


@dataclass
class Offer:
    """What one world has to offer to expectations."""

    world: World
    servers: frozenset[str] = frozenset()
    """Ids of the real servers beside it, of whose tools only they themselves know."""
    _known_keys: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def mistakes(self, check: Check, steps: Steps) -> Iterator[Mistake]:
        """What a check expects that this world can neither do nor hold."""
        match check:
            case ToolCalled() | ToolNotCalled() | ToolArguments():
                yield from self._tool(check.tool, (*steps, "tool"))
                yield from self._arguments(check.tool, check.arguments, (*steps, "arguments"))
            case ToolOrder():
                for index, tool in enumerate(check.tools):
                    yield from self._tool(tool, (*steps, "tools", index))
            case CallSequence() | AnyOf() | GoldenCalls():
                for index, call in enumerate(check.calls):
                    yield from self._step(call, (*steps, "calls", index))
            case NoWriteBefore():
                yield from self._step(check.call, (*steps, "call"))
            case AtMost() | AtLeast():
                if check.tool is not None:
                    yield from self._tool(check.tool, (*steps, "tool"))
                    yield from self._arguments(check.tool, check.arguments, (*steps, "arguments"))
            case ArgumentsValid():
                if check.tool is not None:
                    yield from self._tool(check.tool, (*steps, "tool"))
            case EndState():
                yield from self._end_state(check, steps)
            case ObjectExists() | ObjectAbsent():
                yield from self._type(check.type, check.properties, steps)
                for index, tie in enumerate(check.linked):
                    yield from self._link(tie.type, (*steps, "linked", index, "type"))
            case ClaimedWithoutChange():
                for index, name in enumerate(check.types):
                    if name not in self.world.declared_links():
                        yield from self._type(name, (), (*steps, "types", index), within=True)
            case AsksBack():
                yield from self._paths(check.ignore, (*steps, "ignore"))
            case _:
                return

    def mistakes_of_goal(self, attack: Attack | None) -> Iterator[Mistake]:
        """What an attacker wants that this world can neither do nor hold."""
        if attack is None:
            return
        steps: Steps = ("attack", "goal")
        for index, call in enumerate(attack.goal.calls):
            yield from self._step(call, (*steps, "calls", index))
        if attack.goal.state is not None:
            yield from self._changes(attack.goal.state, (*steps, "state"))

    def mistakes_of_solution(self, case: Case) -> Iterator[Mistake]:
        """Calls of a solution that this world does not offer."""
        for number, turn in enumerate(case.solution_turns):
            by_turn = case.solution is not None and case.solution.turns
            steps: Steps = ("solution", "turns", number) if by_turn else ("solution",)
            for index, call in enumerate(turn.calls):
                where = (*steps, "calls", index)
                yield from self._tool(call.tool, (*where, "tool"))
                yield from self._arguments(call.tool, call.arguments, (*where, "arguments"))

    def _step(self, step: CallOrStep | ExpectedCall, steps: Steps) -> Iterator[Mistake]:
        if isinstance(step, str):
            yield from self._tool(step, steps)
            return
        if step.tool is not None:
            yield from self._tool(step.tool, (*steps, "tool"))
            yield from self._arguments(step.tool, step.arguments, (*steps, "arguments"))
        for index, call in enumerate(getattr(step, "any_of", ())):
            yield from self._step(call, (*steps, "any_of", index))

    def _name(self, tool: str) -> str:
        """The action behind `tool` or `server/tool`; the server of a world is named as the world."""
        return tool.removeprefix(f"{self.world.id}/")

    @cached_property
    def _tools(self) -> Mapping[str, DeclaredTool] | None:
        return self.world.declared_tools()

    @cached_property
    def _types(self) -> Mapping[str, frozenset[str] | None] | None:
        return self.world.declared_types()

    def _tool(self, tool: str, steps: Steps) -> Iterator[Mistake]:
        """A tool that nobody offers; one without its server's name may be of any server there is."""
        server, slash, _ = tool.rpartition("/")
        if self._tools is None or server in self.servers or (self.servers and not slash):
            return
        if self._name(tool) not in self._tools:
            message = f"world `{self.world.id}` offers no tool `{cut(tool)}`"
            yield Mistake(steps, *guessed(message, tool, self._tools), "unknown-tool")

    @cached_property
    def _parameters(self) -> dict[str, frozenset[str] | None]:
        """Tool → names of its arguments; None where its schema leaves them open, or is not known."""
        return {
            name: named_properties(tool.parameters or {})
            for name, tool in (self._tools or {}).items()
        }

    def _arguments(self, tool: str, paths: Iterable[str], steps: Steps) -> Iterator[Mistake]:
        known = self._parameters.get(self._name(tool))
        if known is None:
            return
        for path in paths:
            name = path.partition(".")[0]
            if name not in known:
                message = f"tool `{cut(tool)}` takes no argument `{cut(name)}`"
                where = (*steps, path)
                yield Mistake(where, *guessed(message, name, known), "unknown-argument", True)

    def _end_state(self, check: EndState, steps: Steps) -> Iterator[Mistake]:
        yield from self._changes(check, steps)
        for index, alternative in enumerate(check.any_of):
            yield from self._changes(alternative, (*steps, "any_of", index))
        yield from self._paths(check.ignore, (*steps, "ignore"))
        for path in check.normalize:
            name, _, rest = path.partition(".")
            for mistake in self._type(name, [rest] if rest else (), (), within=True):
                yield replace(mistake, steps=(*steps, "normalize", path), on_key=True)

    def _changes(self, changes: Changes, steps: Steps) -> Iterator[Mistake]:
        for index, new in enumerate(changes.created):
            where = (*steps, "created", index)
            yield from self._type(new.type, new.properties, where)
        for index, change in enumerate(changes.changed):
            where = (*steps, "changed", index)
            yield from self._type(change.type, change.properties, where)
            yield from self._object(change, where)
        for index, gone in enumerate(changes.deleted):
            where = (*steps, "deleted", index)
            yield from self._type(gone.type, (), where)
            yield from self._object(gone, where)
        for key, links in (("linked", changes.linked), ("unlinked", changes.unlinked)):
            for index, link in enumerate(links):
                yield from self._link(link.type, (*steps, key, index, "type"))

    def _link(self, name: str, steps: Steps) -> Iterator[Mistake]:
        known = self.world.declared_links()
        if name not in known:
            message = f"world `{self.world.id}` has no link type `{cut(name)}`"
            yield Mistake(steps, *guessed(message, name, known), "unknown-link")

    def _paths(self, paths: Iterable[str], steps: Steps) -> Iterator[Mistake]:
        """Paths such as `type.property`, of objects or links."""
        for index, path in enumerate(paths):
            name, _, rest = path.partition(".")
            if name not in self.world.declared_links():
                where = (*steps, index)
                yield from self._type(name, [rest] if rest else (), where, within=True)

    def _type(
        self, name: str, properties: Iterable[str], steps: Steps, *, within: bool = False
    ) -> Iterator[Mistake]:
        """An unknown type, or unknown properties of a known one; `within`: both stand in one text."""
        if self._types is None:
            return
        if name not in self._types:
            message = f"world `{self.world.id}` has no type `{cut(name)}`"
            where = steps if within else (*steps, "type")
            yield Mistake(where, *guessed(message, name, self._types), "unknown-type")
            return
        known = self._types[name]
        for path in properties:
            first = path.partition(".")[0]
            if known is not None and first not in {*known, "*"}:
                message = f"type `{name}` has no property `{cut(first)}`"
                where = steps if within else (*steps, "properties", path)
                worded = guessed(message, first, known)
                yield Mistake(where, *worded, "unknown-property", not within)

    def _keys(self, type: str) -> frozenset[str] | None:
        """Keys of the objects of a type at the start; None where they are not known."""
        if type not in self._known_keys:
            self._known_keys[type] = self.world.declared_keys(type)
        return self._known_keys[type]

    def _object(
        self, expected: ExpectedChange | ExpectedDeletion, steps: Steps
    ) -> Iterator[Mistake]:
        if self._types is None or expected.type not in self._types:
            return
        known = self._keys(expected.type)
        if known is None or "{{" in expected.key or expected.key in known:
            return
        message = f"world `{self.world.id}` starts without {expected.type} `{cut(expected.key)}`"
        yield Mistake((*steps, "key"), *guessed(message, expected.key, known), "unknown-object")


def named_properties(schema: dict[str, Any]) -> frozenset[str] | None:
    """The properties an object schema names; None when there may be others."""
    if not isinstance(schema.get("properties"), dict):
        return None
    open_ended = {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"}
    if open_ended & schema.keys() or schema.get("additionalProperties", False) is not False:
        return None
    return frozenset(schema["properties"])


def guessed(message: str, word: str, known: Iterable[str]) -> tuple[str, str]:
    """The message with a guess at what was meant, and a hint when there is none."""
    names = list(known)
    guess = closest(word, names)
    if guess:
        return f"{message}; did you mean `{guess}`?", ""
    listed = ", ".join(f"`{name}`" for name in sorted(names)[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return message, f"It has {listed}{more}" if names else "It has none"


MOST_NAMED = 12
"""Names that a hint lists, at most."""
