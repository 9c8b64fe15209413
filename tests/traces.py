"""Traces built by hand: a line per event, numbered and put into turns as the gateway would."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from seatrial.trace import Answer, Called, Change, Event, Replied, Said, Trace


def said(text: str = "Please.") -> dict[str, Any]:
    return {"event": "said", "text": text}


def called(tool: str, *, refused: str | None = None, error: bool = False, answer: str = "done",
           server: str = "shop", changed: bool = False, answered_by: str = "world",
           read_only: bool | None = None, destructive: bool | None = None, at_ms: float = 0.0,
           leaves_world: bool | None = None,
           took_ms: float = 0.0, misfits: tuple[str, ...] | None = None,
           **arguments: Any) -> dict[str, Any]:  # fmt: skip
    return {
        "event": "called",
        "server": server,
        "tool": tool,
        "arguments": arguments,
        "answer": Answer.of_text(answer, is_error=error or refused is not None),
        "answered_by": answered_by if refused is None else "gateway",
        "refused": refused,
        "read_only": read_only,
        "destructive": destructive,
        "leaves_world": leaves_world,
        "changed": changed,
        "misfits": misfits,
        "at_ms": at_ms,
        "took_ms": took_ms,
    }


def replied(text: str = "Done.") -> dict[str, Any]:
    return {"event": "replied", "text": text}


def trace(*events: dict[str, Any], changes: Iterable[Change] | None = (), **more: Any) -> Trace:
    """A trace of these events; without a first `said` they are all turn 1."""
    turn, number = 0 if events and events[0]["event"] == "said" else 1, 0
    made: list[Event] = []
    for event in events:
        match event["event"]:
            case "said":
                turn += 1
                made.append(Said(turn=turn, **event))
            case "called":
                number += 1
                made.append(Called(turn=turn, number=number, **event))
            case _:
                made.append(Replied(turn=turn, **event))
    return Trace(
        case="a-case",
        arm="an-arm",
        number=1,
        events=tuple(made),
        changes=None if changes is None else tuple(changes),
        **more,
    )


def created(type: str, key: str, **new: Any) -> Change:
    return Change(what="created", type=type, key=key, new={"id": key, **new})


def changed(type: str, key: str, property: str, old: Any, new: Any) -> Change:
    return Change(what="changed", type=type, key=key, property=property, old=old, new=new)


def deleted(type: str, key: str, **old: Any) -> Change:
    return Change(what="deleted", type=type, key=key, old={"id": key, **old})
