"""What a right agent does in a case: its written solution, or as much as its checks tell.

Worked out from the checks are the calls that they ask for, where all their arguments can be told, and a reply
with the texts that they ask for. What cannot be told is never guessed: then the case has to say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.documents import Case, Check, Condition, SolutionCall, World
from seatrial.documents.checks import (
    AnyOf,
    AsksBack,
    AtLeast,
    CallOrStep,
    CallSequence,
    EndState,
    ExpectedCall,
    GoldenCalls,
    GoldenReply,
    NoWriteBefore,
    ObjectExists,
    ReplyContains,
    ReplyMatches,
    ReplyNumber,
    ReplySchema,
    SkillUsed,
    ToolArguments,
    ToolCalled,
    ToolOrder,
    calls_of,
)
from seatrial.documents.world import DeclaredTool
from seatrial.state import MISSING, fulfils
from seatrial.state.values import Missing, as_text

NEUTRAL = "Here is my answer."
"""Said where no check asks for any words; claims nothing."""


@dataclass(frozen=True, slots=True)
class SolvedTurn:
    """What a right agent does in one turn; placeholders not yet filled."""

    calls: tuple[SolutionCall, ...]
    reply: str


@dataclass(frozen=True, slots=True)
class Solved:
    """What a right agent does in a case."""

    turns: tuple[SolvedTurn, ...]
    written: bool
    """The case says it; otherwise its checks do."""


@dataclass(frozen=True, slots=True)
class Unsolved:
    """What the case has to say before anybody can tell what a right agent does."""

    why: tuple[str, ...]
    """A sentence for each part."""
    for_good: bool = False
    """Nothing that the case could say would change that."""


def solution_of(
    case: Case, world: World, skills: Mapping[str, CallOrStep] | None = None
) -> Solved | Unsolved:
    """What a right agent does in a case.

    Args:
        case: as it is written, its placeholders not filled.
        world: where it takes place.
        skills: the skills of its agent, each with the call that shows that it was read.
    """
    written = case.solution_turns
    unsolved: list[str] = []
    turns: list[SolvedTurn] = []
    last = len(case.script) or _turns_of(case)
    for number in range(1, last + 1):
        checks = list(_of_turn(case, number, last))
        calls: tuple[SolutionCall, ...]
        if written:
            calls = written[number - 1].calls if number <= len(written) else ()
        else:
            calls, missing = _calls(checks, world, skills or {})
            unsolved += missing
        reply = written[number - 1].reply if number <= len(written) else ""
        if not reply:
            reply, missing = _reply(checks)
            unsolved += missing
        turns.append(SolvedTurn(calls, reply))
    if not written and not unsolved and _changes_something(case):
        tools = world.declared_tools() or {}
        made = [_named(call.tool, world) for turn in turns for call in turn.calls]
        if not any(tool not in tools or tools[tool].read_only is not True for tool in made):
            unsolved.append("no check says by which call the world comes to change as expected")
    return (
        Unsolved(tuple(dict.fromkeys(unsolved)))
        if unsolved
        else Solved(tuple(turns), bool(written))
    )


def _turns_of(case: Case) -> int:
    """Turns of a solution where somebody talks: as many as are written, or as the checks ask about."""
    asked = (getattr(check, "turn", None) for _, _, check in case.placed_checks())
    numbers = [turn for turn in asked if isinstance(turn, int)]
    return max([1, len(case.solution_turns), *numbers])


def _of_turn(case: Case, number: int, last: int) -> Iterator[Check]:
    """The checks that this turn can answer: its own, and in the last one those of the whole trial."""
    for _, own, check in case.placed_checks():
        asked = getattr(check, "turn", None)
        wanted = own if own is not None else asked if isinstance(asked, int) else last
        if wanted == number:
            yield check


def _changes_something(case: Case) -> bool:
    for check in case.checks:
        if isinstance(check, EndState):
            expected = check.any_of or (check,)
            if check.anything or all(alternative.anything for alternative in expected):
                return True
        if isinstance(check, ObjectExists) and check.created_during_trial:
            return True
    return False


def _named(tool: str, world: World) -> str:
    return tool.removeprefix(f"{world.id}/")


# --- calls ---


@dataclass(slots=True)
class _Planned:
    """A call that checks ask for, with what they say of its arguments."""

    tool: str
    asked: dict[str, list[Condition]] = field(default_factory=dict)

    def takes(self, asked: ExpectedCall) -> bool:
        """Whether the same call can be what another check asks for as well."""
        if asked.tool != self.tool:
            return False
        for path, condition in asked.arguments.items():
            value = _value([condition])
            others = self.asked.get(path, ()) if value is not MISSING else ()
            if any(not fulfils(other, value) for other in others):
                return False
        return True

    def add(self, arguments: Mapping[str, Condition]) -> None:
        for path, condition in arguments.items():
            self.asked.setdefault(path, []).append(condition)


def _calls(
    checks: Sequence[Check], world: World, skills: Mapping[str, CallOrStep]
) -> tuple[tuple[SolutionCall, ...], list[str]]:
    """The calls that checks ask for, in order, and what cannot be told of them."""
    planned: list[_Planned] = []
    # Those that say an order come first: the others ask for calls of it, or for further ones.
    for check in sorted(
        checks, key=lambda check: not isinstance(check, ToolOrder | CallSequence | GoldenCalls)
    ):
        for step, times in _asked(check, skills):
            own = calls_of(step)[0]
            found = [one for one in planned if one.takes(own)]
            for one in found[:times]:
                one.add(own.arguments)
            for _ in range(times - len(found)):
                planned.append(new := _Planned(own.tool))
                new.add(own.arguments)
    for check in checks:
        if isinstance(check, ToolArguments):
            for one in planned:
                if one.tool == check.tool:
                    one.add(check.arguments)
    for check in checks:
        if isinstance(check, NoWriteBefore) and planned:
            own = calls_of(check.call)[0]
            if not any(one.takes(own) for one in planned):
                planned.insert(0, first := _Planned(own.tool))
                first.add(own.arguments)
    unsolved: list[str] = []
    tools = world.declared_tools() or {}
    return tuple(
        _call(one, tools.get(_named(one.tool, world)), unsolved) for one in planned
    ), unsolved


def _asked(
    check: Check, skills: Mapping[str, CallOrStep]
) -> Iterator[tuple[CallOrStep | ExpectedCall, int]]:
    """The calls that a check asks for, and how many of each."""
    match check:
        case ToolOrder(tools=names):
            yield from ((name, 1) for name in names)
        case CallSequence(calls=calls) | GoldenCalls(calls=calls):
            yield from ((call, 1) for call in calls)
        case AnyOf(calls=calls):
            yield calls[0], 1
        case ToolCalled(tool=tool, arguments=arguments, times=times):
            number = 1 if times is None else _value([times])
            if isinstance(number, int) and number > 0:
                yield ExpectedCall(tool=tool, arguments=arguments), number
        case AtLeast(tool=str(tool), arguments=arguments, times=times):
            yield ExpectedCall(tool=tool, arguments=arguments), times
        case SkillUsed(skill=skill) if skill in skills:
            yield skills[skill], 1
        case _:
            return


def _call(planned: _Planned, declared: DeclaredTool | None, unsolved: list[str]) -> SolutionCall:
    arguments: dict[str, Any] = {}
    for path, conditions in planned.asked.items():
        value = _value(conditions)
        if value is MISSING:
            if all(fulfils(condition, MISSING) for condition in conditions):
                continue
            unsolved.append(f"no check says exactly what `{path}` of `{planned.tool}` is")
        elif not _put(arguments, path.split("."), value):
            unsolved.append(f"`{path}` of `{planned.tool}` lies inside of a list")
    needed = (declared.parameters or {}).get("required", ()) if declared else ()
    given = {path.partition(".")[0] for path in planned.asked}
    unsolved += (
        f"no check says what `{name}` of `{planned.tool}` is"
        for name in needed
        if name not in given
    )
    return SolutionCall.model_construct(tool=planned.tool, arguments=arguments)


def _value(conditions: Iterable[Condition]) -> Any | Missing:
    """A value that fulfils all conditions, taken from what they name; MISSING where none does."""
    written = tuple(conditions)
    for condition in written:
        for name, operand in condition.operators:
            for value in _candidates(name, operand):
                if all(fulfils(other, value) for other in written):
                    return value
    return MISSING


def _candidates(operator: str, operand: Any) -> Iterator[Any]:
    match operator:
        case "equals" | "contains" | "starts_with" | "gte" | "lte":
            yield operand
        case "one_of" if isinstance(operand, tuple | list):
            yield from operand
        case "between":
            yield operand[0]
        case "gt" if isinstance(operand, int):
            yield operand + 1
        case "lt" if isinstance(operand, int):
            yield operand - 1
        case _:
            return


def _put(into: dict[str, Any], steps: Sequence[str], value: Any) -> bool:
    for step in steps[:-1]:
        inner = into.setdefault(step, {})
        if not isinstance(inner, dict):
            return False
        into = inner
    if any(step.isdecimal() or step in ("*", "count") for step in steps[1:]):
        return False
    into[steps[-1]] = value
    return True


# --- replies ---


def _reply(checks: Iterable[Check]) -> tuple[str, list[str]]:
    """A reply with all that checks ask for, and what cannot be told of it."""
    said: list[str] = []
    unsolved: list[str] = []
    asks = False
    for check in checks:
        match check:
            case ReplyContains(text=texts, any_of=any_of):
                said += texts
                if any_of and not any(text in " ".join(said) for text in any_of):
                    said.append(any_of[0])
            case ReplyNumber(value=condition, unit=unit, decimal=decimal):
                number = _value([condition])
                if isinstance(number, int | float):
                    said.append(_number(number, decimal) + (f" {unit[0]}" if unit else ""))
                else:
                    unsolved.append("no check says which number the reply names")
            case GoldenReply(text=text):
                said.append(text.rstrip("."))
            case ReplyMatches():
                unsolved.append("a reply that fits a pattern must be written out")
            case ReplySchema():
                unsolved.append("a reply that fits a schema must be written out")
            case AsksBack():
                asks = True
            case _:
                pass
    if asks:
        return (
            f"{', '.join(said)}: which do you mean?" if said else "Which one do you mean?",
            unsolved,
        )
    return ". ".join(said) + "." if said else NEUTRAL, unsolved


def _number(number: float, decimal: str) -> str:
    text = as_text(number)
    return text.replace(".", ",") if decimal == "," else text
