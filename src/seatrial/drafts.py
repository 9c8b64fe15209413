"""What happened in a trial, as a draft of documents: a case's solution, a golden conversation, mocked answers.

A draft is for a person to look over. What no document can say is left out, and named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from seatrial.documents import placeholders
from seatrial.documents.checks import GoldenReply
from seatrial.tools import Tool
from seatrial.trace import Called, Json, Trace

SHORTEST = 3
"""A shorter value that a call was given before is met by chance too often to be taken for that one."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A part of a document, and what is missing from it."""

    content: dict[str, Any]
    left_out: tuple[str, ...] = ()
    """Sentences, one for each call that is not in it."""


def solution(trace: Trace, turns: int) -> Draft:
    """The `solution` of the trace's case: the calls that were carried out, and the replies.

    A value that an earlier call gave, and nobody has said, becomes `{{calls.N.path}}`, so that it holds in
    other trials too; the trial's own token becomes `{{run}}`.

    Args:
        trace: what happened.
        turns: how many messages the case has; 0 where nobody wrote them.
    """
    turns = turns or max((event.turn for event in trace.events if event.event == "said"), default=1)
    left_out: list[str] = []
    kept: list[Called] = []
    by_turn: dict[int, dict[str, Any]] = {}
    said = " ".join(event.text for event in trace.events if event.event == "said")
    servers = {call.tool: call.server for call in trace.calls}
    ambiguous = {call.tool for call in trace.calls if servers[call.tool] != call.server}
    for call in trace.calls:
        if why := _not_done(call):
            left_out.append(_sentence(call, why))
            continue
        arguments = _with_origins(call.arguments, kept, said)
        tool = f"{call.server}/{call.tool}" if call.tool in ambiguous else call.tool
        step = {"tool": tool, "arguments": arguments} if arguments else {"tool": tool}
        if _reads_as_placeholder(call.arguments):
            left_out.append(_sentence(call, "its arguments hold what reads as a placeholder"))
            continue
        by_turn.setdefault(call.turn, {}).setdefault("calls", []).append(step)
        kept.append(call)
    for reply in trace.replies:
        if reply.text and not _reads_as_placeholder(reply.text):
            by_turn.setdefault(reply.turn, {})["reply"] = reply.text
    found = [by_turn.get(turn, {}) for turn in range(1, turns + 1)]
    content = {"solution": found[0] if turns == 1 else {"turns": found}}
    return Draft(_stable(content, trace), tuple(left_out))


def golden(trace: Trace, speakers: Mapping[str, str] = MappingProxyType({})) -> Draft:
    """The `golden` conversation of a case: what was said, the calls that do more than read, and the replies.

    Args:
        trace: what happened.
        speakers: where several people spoke, by whom a message is said to be → the name that the agent read before it.
    """
    left_out: list[str] = []
    replies = {reply.turn: reply.text for reply in trace.replies}
    steps: list[dict[str, Any]] = []
    for said in trace.events:
        if said.event != "said":
            continue
        calls: list[Any] = []
        for call in trace.calls:
            if call.turn != said.turn or (call.read_only is True and not _not_done(call)):
                continue
            if why := _not_done(call):
                left_out.append(_sentence(call, why))
            elif _reads_as_placeholder(call.arguments):
                left_out.append(_sentence(call, "its arguments hold what reads as a placeholder"))
            else:
                arguments = {name: _equals(value) for name, value in call.arguments.items()}
                step: Any = {"tool": call.tool, "arguments": arguments}
                calls.append(step if arguments else call.tool)
        name = speakers.get(said.by or "")
        words = said.text if name is None else said.text.removeprefix(f"{name}: ")
        steps.append({"say": words, **({} if name is None else {"by": said.by}), "calls": calls})
        reply = replies.get(said.turn)
        if reply and _reads_as_placeholder(reply):
            left_out.append(f"the reply to turn {said.turn}: it holds what reads as a placeholder")
        elif reply:
            steps[-1] |= (
                {"reply": reply} if _has_facts(reply) else {"reply": reply, "match": "shown"}
            )
    spoke = {step["by"] for step in steps if "by" in step}
    heard = {by: name for by, name in speakers.items() if by in spoke}
    content = {"speakers": heard, "golden": steps} if heard else {"golden": steps}
    return Draft(_stable(content, trace), tuple(left_out))


def answers(
    trace: Trace,
    id: str,
    tools: Mapping[str, Tool] = MappingProxyType({}),
    *,
    title: str = "",
    servers: Collection[str] | None = None,
    undeclared: str | None = None,
) -> Draft:
    """A fixture of mocked answers: what reading calls were answered, by their arguments.

    The same arguments with other answers later on become a sequence.

    Args:
        trace: what happened.
        id: the fixture's id.
        tools: the tools as they were declared; the answers are written for these schemas.
        title: the fixture's title.
        servers: whose answers are taken; everybody's when None.
        undeclared: why tools may be mocked that do not say whether they only read; None when they may not.
    """
    left_out: list[str] = []
    by_tool: dict[str, dict[str, list[Called]]] = {}
    for call in trace.calls:
        if servers is not None and call.server not in servers:
            continue
        if why := _not_done(call, errors=True) or _not_mockable(call, undeclared is not None):
            left_out.append(_sentence(call, why))
            continue
        key = json.dumps(call.arguments, sort_keys=True)
        by_tool.setdefault(call.tool, {}).setdefault(key, []).append(call)
    mocked = {
        name: {
            **_allowed(groups, undeclared),
            **_written_for(tools.get(name)),
            "rules": [_rule(alike, _names(groups)) for alike in groups.values()],
        }
        for name, groups in by_tool.items()
    }
    content = {
        "kind": "fixture",
        "type": "answers",
        "id": id,
        "title": title or f"What was answered when {trace.case} was played by hand",
        "tools": mocked,
    }
    return Draft(_stable(content, trace), tuple(left_out))


# --- golden conversations ---


def _has_facts(reply: str) -> bool:
    """Whether there is anything in a reply by which another can be held against it."""
    try:
        GoldenReply(check="golden_reply", text=reply, match="facts")
    except ValueError:
        return False
    return True


# --- all of them ---


def _not_done(call: Called, *, errors: bool = False) -> str:
    """Why a call shows nothing of what its tool does."""
    if call.refused:
        return "it was refused"
    if call.answered_by == "gateway":
        return "it was not carried out"
    return "it came to an error" if call.answer.is_error and not errors else ""


def _sentence(call: Called, why: str) -> str:
    return f"call {call.number}, {call.tool}: {why}"


def _stable(content: dict[str, Any], trace: Trace) -> dict[str, Any]:
    """The same without the token of this one trial."""
    if len(trace.run_token) <= SHORTEST:
        return content
    token = re.compile(rf"(?<![A-Za-z0-9]){re.escape(trace.run_token)}(?![A-Za-z0-9])")

    def replaced(value: Any) -> Any:
        match value:
            case str():
                return token.sub("{{run}}", value)
            case dict():
                return {replaced(key): replaced(item) for key, item in value.items()}
            case list():
                return [replaced(item) for item in value]
            case _:
                return value

    written: dict[str, Any] = replaced(content)
    return written


def _reads_as_placeholder(value: Json) -> bool:
    return next(placeholders.names(value), None) is not None


# --- solutions ---


def _with_origins(arguments: Mapping[str, Json], before: Sequence[Called], said: str) -> Any:
    """Arguments, where what can only be known from an earlier call says from which."""
    origins: dict[str, str] = {}
    for number, call in enumerate(before, 1):
        for path, value in _leaves(call.answer.structured):
            if isinstance(value, str) and len(value) >= SHORTEST and value not in said:
                origins.setdefault(value, f"{{{{calls.{number}.{path}}}}}")

    def traced(value: Json) -> Json:
        match value:
            case str():
                return origins.get(value, value)
            case dict():
                return {key: traced(item) for key, item in value.items()}
            case list():
                return [traced(item) for item in value]
            case _:
                return value

    return {name: traced(value) for name, value in arguments.items()}


def _leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Each scalar with its path, in which keys that hold a dot cannot stand."""
    inside: Iterable[tuple[Any, Json]] = ()
    if isinstance(value, dict):
        inside = ((key, item) for key, item in value.items() if key and "." not in key)
    elif isinstance(value, list):
        inside = enumerate(value)
    elif path:
        yield path, value
    for step, item in inside:
        yield from _leaves(item, f"{path}.{step}" if path else str(step))


# --- mocked answers ---


def _not_mockable(call: Called, undeclared: bool) -> str:
    """Why its answer cannot be written down as a mocked one."""
    if call.read_only is False or (call.read_only is None and not undeclared):
        return "the tool does not say that it only reads"
    if any("." in name for name in call.arguments):
        return "an argument has a dot in its name, where no condition reaches"
    parts = call.answer.content
    if call.answer.structured is None and [part.get("type") for part in parts] != ["text"]:
        return "its answer is more than one text"
    if _reads_as_placeholder([call.arguments, call.answer.structured, call.answer.text]):
        return "it holds what reads as a placeholder"
    return ""


def _allowed(groups: Mapping[str, Sequence[Called]], reason: str | None) -> dict[str, Any]:
    """What a tool needs to be mocked that does not say whether it only reads."""
    declares = all(call.read_only for calls in groups.values() for call in calls)
    return {} if declares else {"allow_undeclared": True, "reason": reason}


def _written_for(tool: Tool | None) -> dict[str, Any]:
    """What a tool declares, where documents can say it: what reads as a placeholder they cannot."""
    if tool is None:
        return {}
    schemas = {"parameters": tool.input_schema}
    if tool.output_schema is not None:
        schemas["output"] = tool.output_schema
    # Frozen schemas are no plain mappings, which a file is written of.
    plain: dict[str, Any] = json.loads(json.dumps(schemas))
    return {} if _reads_as_placeholder(plain) else {"written_for": plain}


def _names(groups: Mapping[str, Sequence[Called]]) -> set[str]:
    return {name for calls in groups.values() for name in calls[0].arguments}


def _rule(alike: Sequence[Called], names: set[str]) -> dict[str, Any]:
    """What calls with the same arguments are answered, when no other argument is given."""
    given = alike[0].arguments
    when: dict[str, Any] = {name: _equals(value) for name, value in given.items()}
    when |= {name: {"absent": True} for name in sorted(names - given.keys())}
    said: list[dict[str, Any]] = []
    for call in alike:
        answer = call.answer
        if answer.is_error:
            said.append({"error": answer.text})
        else:
            said.append({"answer": answer.text if answer.structured is None else answer.structured})
    rule: dict[str, Any] = {"when": when} if when else {}
    return rule | (said[0] if all(one == said[0] for one in said) else {"sequence": said})


def _equals(value: Json) -> Any:
    return value if isinstance(value, str | int | float) else {"equals": value}
