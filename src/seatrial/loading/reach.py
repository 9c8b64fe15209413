"""What a check asks for that is so at the start already, or that no agent of the case, or not every arm, can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.checks import Background, objects
from seatrial.checks.scope import Scope
from seatrial.documents import Arm, Case, Catalog, Check, Kind, ObjectsWorld, World
from seatrial.documents.checks import (
    AtLeast,
    CallOrStep,
    CallSequence,
    Changes,
    EndState,
    ExpectedChange,
    ObjectAbsent,
    ObjectExists,
    SkillNotUsed,
    SkillUsed,
    ToolArguments,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
)
from seatrial.documents.placeholders import names
from seatrial.loading.mistakes import cut
from seatrial.state import State, Unjudged, fulfils, state_from_json
from seatrial.state.access import beyond
from seatrial.trace import Trace

Doubts = Iterator[tuple[Kind, str, str, str, str, str]]
"""Kind and id of a document, the path in it, message, hint and code."""
_NEED_A_CALL = ("tool_arguments", "arguments_valid")
"""Checks that are skipped in every trial in which the agent calls nothing."""


# --- at the start already ---


Placed = tuple[tuple[str, int | None, Check], ...]
"""The checks of a case with their places, which are worked out once for all rules."""
Cases = list[tuple[Case, Placed]]


def already_so(catalog: Catalog, cases: Cases) -> Doubts:
    """Changes that no agent can bring about, and cases that ask for nothing but what there is."""
    starts = {world.id: _start_of(world) for world in catalog.worlds}
    for case, placed in cases:
        world, start = catalog.world(case.world), starts[case.world]
        if start is None:
            continue
        for path, _, check in placed:
            if isinstance(check, EndState):
                parts: list[tuple[str, Changes]] = [(path, check)]
                parts += [(f"{path}.any_of[{i}]", part) for i, part in enumerate(check.any_of)]
                for place, part in parts:
                    for where, what in _so_at_the_start(part, world, start):
                        yield _told(case, f"{place}.{where}", what, "expect another")
        if (first := _asks_for_nothing_new(case, placed, world)) is not None:
            what = "all that the critical checks ask for is so at the start already"
            yield _told(case, first, what, "ask for a change or a reply as well")


def _told(case: Case, path: str, message: str, other: str) -> tuple[Kind, str, str, str, str, str]:
    hint = f"No agent can bring this about; {other}, or begin otherwise"
    return "case", case.id, path, message, hint, "already-so"


def _so_at_the_start(
    part: Changes, world: World, start: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> Iterator[tuple[str, str]]:
    for index, change in enumerate(part.changed):
        object = start.get(change.type, {}).get(change.key)
        if object is not None and _is_so(change, object):
            told = f"{change.type} `{change.key}` is so at the start already"
            yield f"changed[{index}]", told
    for index, made in enumerate(part.created):
        key = made.key.equals if made.key is not None else None
        if isinstance(key, str) and key in start.get(made.type, {}):
            yield f"created[{index}].key", f"{made.type} `{key}` is there at the start already"
    if not isinstance(world, ObjectsWorld):
        return
    there = {(link.type, link.source, link.target) for link in world.linked}
    for key_of, links in (("linked", part.linked), ("unlinked", part.unlinked)):
        for index, link in enumerate(links):
            ends = (link.source, link.target)
            if any(not isinstance(end, str) or "{{" in end for end in ends):
                continue  # what only the trial knows
            if ((link.type, *ends) in there) == (key_of == "linked"):
                state = "is there" if key_of == "linked" else "is missing"
                told = (
                    f"link {link.type} from `{ends[0]}` to `{ends[1]}` {state} at the start already"
                )
                yield f"{key_of}[{index}]", told


def _start_of(world: World) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
    """Type → key → properties, as far as the document tells them."""
    if not isinstance(world, ObjectsWorld):
        return world.declared_start()
    return {
        name: {str(properties[world.types[name].key]): properties for properties in objects}
        for name, objects in world.objects.items()
    }


def _is_so(change: ExpectedChange, object: object) -> bool:
    """Whether every expected value is known, and stands there at the start."""
    if not isinstance(object, dict):
        return False
    for name, condition in change.properties.items():
        if condition.bind is not None or next(names(condition.operators), None) is not None:
            return False
        if name not in object or not fulfils(condition, object[name]):
            return False
    return True


def _asks_for_nothing_new(case: Case, placed: Placed, world: World) -> str | None:
    """Where, in a case whose critical checks are all of objects, and all pass in a world that nobody touched."""
    critical = [(path, check) for path, _, check in placed if check.severity == "critical"]
    if not all(isinstance(check, ObjectExists | ObjectAbsent) for _, check in critical):
        return None
    if case.weak is not None or case.attack is not None or not isinstance(world, ObjectsWorld):
        return None
    if next(names([check.model_dump() for _, check in critical]), None) is not None:
        return None
    untouched = Trace(case=case.id, arm="", number=1, events=(), changes=())
    scope = Scope(trace=untouched, background=Background(start=lambda _: _state_of(world)))
    passed = all(_passes(check, scope) for _, check in critical)
    return critical[0][0] if passed else None


def _passes(check: Check, scope: Scope) -> bool:
    if not isinstance(check, ObjectExists | ObjectAbsent):
        return False
    try:
        found = objects.search(check, scope)
        if isinstance(check, ObjectAbsent):
            return not found.fitting and not found.unknown
        if check.count is not None:
            return not found.unknown and fulfils(check.count, len(found.fitting))
    except Unjudged:
        return False
    return bool(found.fitting)


def _state_of(world: ObjectsWorld) -> State:
    start = _start_of(world) or {}
    links = [(link.type, link.source, link.target) for link in world.linked]
    return state_from_json({type: dict(objects) for type, objects in start.items()}, links)


# --- beyond what can be done ---


def beyond_reach(catalog: Catalog, cases: Cases) -> Doubts:
    """Calls that the role may not make, and tools of servers that not every arm of the agent has."""
    offered = {world.id: frozenset(world.declared_tools() or ()) for world in catalog.worlds}
    of_agent: dict[str, list[Arm]] = {}
    for arm in catalog.arms.values():
        of_agent.setdefault(arm.agent, []).append(arm)
    for case, placed in cases:
        world, arms = catalog.world(case.world), of_agent.get(case.agent, [])
        for path, _, check in placed:
            for tool in _demanded(check):
                why = _why_not(world, offered[world.id], case, tool)
                if why is not None and check.severity == "critical":
                    message = f"{why}, so that the check never passes"
                    hint = "Ask for another tool, let the role call it, or say `attempted`"
                    yield "case", case.id, path, message, hint, "beyond-role"
            for tool in (*_demanded(check), *_forbidden(check)):
                yield from _of_some_arms(case, path, tool, arms, world)


def _why_not(world: World, offered: frozenset[str], case: Case, tool: str) -> str | None:
    """Why the role may never call a tool of the world; None where it may, or the tool is not the world's."""
    name = tool.removeprefix(f"{world.id}/")
    role = world.roles.get(case.role or "")
    if role is None or name not in offered:
        return None
    return beyond(str(case.role), role, name, case.purpose)


def _of_some_arms(case: Case, path: str, tool: str, arms: list[Arm], world: World) -> Doubts:
    server = tool.rpartition("/")[0]
    if not server or server in (world.id, *case.servers):
        return
    without = [arm.id for arm in arms if server not in arm.servers]
    if without and len(without) < len(arms):
        message = f"arm `{without[0]}` has no server `{cut(server)}`, and cannot call `{cut(tool)}`"
        hint = f"Name `{server}` under `servers` of the case, or of every arm of `{case.agent}`"
        yield "case", case.id, path, message, hint, "not-every-arm"


def _demanded(check: Check) -> tuple[str, ...]:
    """Tools that have to be called, and not in vain."""
    match check:
        case ToolCalled(attempted=False):
            never = check.times is not None and fulfils(check.times, 0)
            return () if never else (check.tool,)
        case ToolOrder():
            return check.tools
        case AtLeast(tool=str(tool)):
            return (tool,)
        case CallSequence():
            return tuple(name for call in check.calls if (name := _tool_of(call)) is not None)
        case _:
            return ()


def _forbidden(check: Check) -> tuple[str, ...]:
    return (check.tool,) if isinstance(check, ToolNotCalled | ToolArguments) else ()


def _tool_of(call: CallOrStep) -> str | None:
    return call if isinstance(call, str) else call.tool


# --- never answered ---


def all_skippable(catalog: Catalog, cases: Cases) -> Doubts:
    """Cases of which no critical check answers when the agent calls nothing, or by one of its arms."""
    for case, placed in cases:
        critical = [check for _, _, check in placed if check.severity == "critical"]
        if case.attack is not None:
            continue
        rest = [check for check in critical if check.check not in _NEED_A_CALL]
        if not rest:
            message = "every critical check is skipped when the agent calls nothing, and its trials are then invalid"
            hint = "Add a check that answers always: `tool_called`, `end_state`, `reply_contains` …"
            yield "case", case.id, "checks", message, hint, "all-skippable"
            continue
        skills = [c.skill for c in rest if isinstance(c, SkillUsed | SkillNotUsed)]
        if len(skills) < len(rest):
            continue
        for arm in catalog.arms.values():
            if arm.agent == case.agent and not set(skills) & set(arm.skills):
                skill = f"arm `{arm.id}` declares no skill `{cut(skills[0])}`"
                message = f"{skill}, so that every critical check is skipped"
                hint = "Add a check that answers always, or declare the skill"
                yield "case", case.id, "checks", message, hint, "all-skippable"
