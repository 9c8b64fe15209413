"""A trace as steps a person reads: what was said, each call with its answer, what was replied."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from seatrial.costs import amount
from seatrial.trace import (
    Answer,
    Asked,
    Called,
    Completed,
    Json,
    Listed,
    Noted,
    Replied,
    Requested,
    Said,
    Trace,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, as it is shown and as two trials are compared.

    Forms for comparison have the trial's own token and clock replaced by `{{run}}` and `{{now}}`: two
    trials of one case differ in them by design.
    """

    kind: Literal["said", "called", "replied"]
    anchor: str
    """`t1` for what was said in turn 1, `c3` for call 3, `r1` for the reply of turn 1."""
    turn: int
    name: str
    """`said`, `replied`, or the tool as `server/tool`."""
    event: Said | Called | Replied
    arguments: dict[str, str] = field(default_factory=dict)
    """Path of each argument (`items[0].id`) → its value as JSON."""
    compared: dict[str, str] = field(default_factory=dict)
    """The arguments in the form for comparison."""
    result: str = ""
    """What was said, answered or replied, in the form for comparison."""
    remarks: tuple[str, ...] = ()
    """What the harness noted after this step."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What one trial did."""

    opening: tuple[str, ...] = ()
    """What the harness noted before the first step."""
    steps: tuple[Step, ...] = ()


def trajectory(trace: Trace) -> Trajectory:
    """The steps of a trial in order, each with what the harness noted after it."""
    steps: list[Step] = []
    remarks: list[list[str]] = [[]]
    for event in trace.events:
        match event:
            case Said():
                steps.append(_spoken("said", f"t{event.turn}", event, trace))
            case Replied():
                steps.append(_spoken("replied", f"r{event.turn}", event, trace))
            case Called():
                steps.append(_called(event, trace))
            case Completed():
                remarks[-1] += _thoughts(event)
                continue
            case Noted():
                remarks[-1].append(event.text)
                continue
            case Requested() | Asked():
                remarks[-1].append(_exchange(event))
                continue
            case Listed():
                continue
            case _:
                assert_never(event)
        remarks.append([])
    opening, *after = map(tuple, remarks)
    return Trajectory(
        opening, tuple(replace(s, remarks=r) for s, r in zip(steps, after, strict=True))
    )


def _thoughts(event: Completed) -> Iterator[str]:
    """What there is to say of a model's answer beside what came of it."""
    yield from event.retries
    if (used := event.usage) is not None:
        cost = "" if event.cost is None else f", cost {amount(event.cost)}"
        yield (
            f"the model read {used.input_tokens:,} tokens ({used.cached_input_tokens:,} from a cache) and wrote "
            f"{used.output_tokens:,} ({used.reasoning_tokens:,} thinking){cost}"
        )
    if event.reasoning:
        yield f"the model thought: {event.reasoning}"
    if event.calls and event.text:
        yield f"the model wrote beside its calls: {event.text}"
    if event.finish == "length":
        yield "the model was cut off at its limit of tokens"


def _exchange(event: Requested | Asked) -> str:
    """A sentence on what the agent and a server asked each other beside tool calls."""
    came_of_it = "answered" if event.error is None else f"refused: {event.error}"
    if isinstance(event, Requested):
        return f"the agent asked {event.server} for {event.method}: {came_of_it}"
    by = "" if event.error else f" by the {event.answered_by}"
    return f"{event.server} asked its client for {event.method}: {came_of_it}{by}"


def flattened(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a JSON value: path (`items[0].id`, empty for the whole) and value as JSON text."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flattened(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and value:
        for position, inner in enumerate(value):
            yield from flattened(inner, f"{path}[{position}]")
    else:
        yield path, json.dumps(value, ensure_ascii=False)


def answer_text(answer: Answer) -> str:
    """What a tool gave back: the structured value where there is one, else the parts as text.

    Parts that are no text are named by kind and size.
    """
    if answer.structured is not None:
        return json.dumps(answer.structured, ensure_ascii=False, indent=1)
    return "\n".join(_part_text(part) for part in answer.content)


def _part_text(part: dict[str, Json]) -> str:
    if part.get("type") == "text":
        return str(part.get("text", ""))
    kind = part.get("mimeType") or part.get("type") or "unknown"
    size = len(str(part.get("data") or part.get("resource") or ""))
    return f"[{kind}, {size:,} characters]"


def _spoken(
    kind: Literal["said", "replied"], anchor: str, event: Said | Replied, trace: Trace
) -> Step:
    return Step(
        kind=kind,
        anchor=anchor,
        turn=event.turn,
        name=kind,
        event=event,
        result=neutral(event.text, trace),
    )


def _called(event: Called, trace: Trace) -> Step:
    arguments = dict(flattened(event.arguments)) if event.arguments else {}
    outcome = f"{event.refused}|{event.answer.is_error}|{answer_text(event.answer)}"
    return Step(
        kind="called",
        anchor=f"c{event.number}",
        turn=event.turn,
        name=f"{event.server}/{event.tool}",
        event=event,
        arguments=arguments,
        compared={path: neutral(value, trace) for path, value in arguments.items()},
        result=neutral(outcome, trace),
    )


def neutral(text: str, trace: Trace) -> str:
    """`text` without what differs between two trials by design: the trial's token and its clock."""
    if trace.run_token:
        text = text.replace(trace.run_token, "{{run}}")
    if trace.now:
        for written in (trace.now, trace.now.replace("+00:00", "Z")):
            text = text.replace(written, "{{now}}")
        text = text.replace(trace.now[:10], "{{today}}")
    return text
