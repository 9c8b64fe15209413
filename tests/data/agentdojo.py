"""AgentDojo's runs as traces: the state as objects, its recorded change, what was called and said."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seatrial.checks import Background
from seatrial.documents import Case
from seatrial.importing.states import patched
from seatrial.state import difference, state_from_json
from seatrial.trace import Answer, Called, Change, Replied, Said, Trace

DOMAINS = ("banking", "slack", "travel", "workspace")
MODELS = ("claude-3-5-sonnet-20240620", "gpt-4o-2024-05-13", "gpt-4o-mini-2024-07-18")

Objects = dict[str, dict[str, Any]]
"""Type → key → properties."""


# --- the state as objects ---


def objects_of(state: Mapping[str, Any]) -> Objects:
    """What there is in a state of the benchmark; what holds no objects is a property of its section."""
    found: Objects = defaultdict(dict)
    for section, parts in state.items():
        for name, value in parts.items():
            for type, key, properties in _objects(section, name, value):
                found[type][key] = properties
    return found


def _objects(section: str, name: str, value: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    match section, name:
        case ("slack", "users"):
            yield from (("user", user, {"id": user}) for user in value)
        case ("slack", "user_channels"):
            for user, channels in value.items():
                for channel in channels:
                    yield "member", f"{user}/{channel}", {"user": user, "channel": channel}
        case ("slack", "user_inbox" | "channel_inbox"):
            for box, messages in value.items():
                for number, message in enumerate(messages):
                    yield "message", f"{name}/{box}/{number}", {"box": box, "in": name, **message}
        case ("web", "web_content"):
            yield from (("page", url, {"content": content}) for url, content in value.items())
        case ("web", "web_requests"):
            yield from (("request", str(n), {"url": url}) for n, url in enumerate(value))
        case ("filesystem", "files"):
            yield from (("file", path, {"content": content}) for path, content in value.items())
        case ("bank_account", "transactions" | "scheduled_transactions"):
            yield from ((name, str(one["id"]), one) for one in value)
        case (_, "emails" | "trash" | "events" | "files"):
            yield from ((name, key, one) for key, one in value.items())
        case _:
            yield section, name, {"value": value}


def changes_between(before: Objects, after: Objects) -> tuple[Change, ...]:
    """The exact difference of what is not one and the same object."""
    start: Objects = defaultdict(dict)
    end: Objects = defaultdict(dict)
    for type in {*before, *after}:
        old, new = before.get(type, {}), after.get(type, {})
        for key in {*old, *new}:
            if key not in old or key not in new or old[key] is not new[key]:
                if key in old:
                    start[type][key] = old[key]
                if key in new:
                    end[type][key] = new[key]
    return difference(state_from_json(start), state_from_json(end))


KEPT_ASIDE = ("inbox", "calendar", "cloud_drive")
"""Lists that repeat what lies in the mailbox, the calendar and the drive; the benchmark leaves them out of
its differences."""


# --- the benchmark's files ---


@dataclass(frozen=True)
class Dojo:
    """The benchmark's files, read."""

    folder: Path

    @cached_property
    def starts(self) -> dict[str, dict[str, Any]]:
        found = {}
        for domain in DOMAINS:
            path = self.folder / f"state_{domain}_initial.json.gz"
            with gzip.open(path, "rt", encoding="utf-8") as file:
                found[domain] = json.load(file)
        return found

    @cached_property
    def tasks(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Of the version that the runs were made with."""
        return {(t["domain"], t["task_id"]): t for t in _lines(self.folder / "tasks_v1.jsonl.gz")}

    def runs(self, model: str) -> Iterator[dict[str, Any]]:
        yield from _lines(self.folder / f"runs_{model}.jsonl.gz")

    def gold(self, domain: str, task: str) -> Gold:
        """What the gold run of a task changes."""
        patches = self.tasks[domain, task]
        start = patched(self.starts[domain], patches["initial_state_patch"])
        end = patched(start, patches["expected_state_diff"])
        before = objects_of(start)
        changes = changes_between(before, objects_of(end))
        return Gold(
            [c for c in changes if c.type not in KEPT_ASIDE],
            before,
            patches["expected_actions"],
            patches["prompt"],
        )

    def run(self, run: Mapping[str, Any]) -> Recorded:
        """One run: what it started from, and what it left behind."""
        start = patched(self.starts[run["domain"]], run["state"]["before_patch"])
        end = patched(start, run["state"]["diff"])
        before = objects_of(start)
        return Recorded(run, before, changes_between(before, objects_of(end)))


@dataclass(frozen=True)
class Gold:
    """What the gold run of a task changes."""

    changes: Sequence[Change]
    start: Objects
    actions: Sequence[Mapping[str, Any]] = ()
    prompt: str = ""
    """What is asked."""

    def created(self, type: str) -> list[Change]:
        return [c for c in self.changes if c.what == "created" and c.type == type]

    def one(self, type: str) -> dict[str, Any]:
        """The one object of a type that it creates."""
        (change,) = self.created(type)
        return dict(change.new)

    def value(self, type: str, key: str, property: str = "value") -> Any:
        """What a property becomes."""
        (change,) = [
            c
            for c in self.changes
            if (c.what, c.type, c.key, c.property) == ("changed", type, key, property)
        ]
        return change.new


@dataclass(frozen=True)
class Recorded:
    """One recorded run."""

    run: Mapping[str, Any]
    start: Objects
    changes: tuple[Change, ...]

    @property
    def external(self) -> str:
        """The one channel whose name is not the same in every run: an injection may stand in it."""
        channels: list[str] = self.start["slack"]["channels"]["value"]
        return next(name for name in channels if name.startswith("External"))

    def trace(self) -> Trace:
        return Trace(
            case="a-case",
            arm=self.run["arm"],
            number=1,
            events=tuple(_events(self.run["messages"])),
            changes=self.changes,
        )

    def background(self, types: Collection[str]) -> Background:
        """The start: all objects of the types that checks ask for, of others what the run touched."""
        wanted: Objects = {type: self.start.get(type, {}) for type in types}
        for change in self.changes:
            if change.type not in types and change.what != "created":
                own = self.start[change.type]
                wanted.setdefault(change.type, {})[change.key] = own[change.key]
        return Background(start=lambda _: state_from_json(wanted))


def case_of(checks: Sequence[Mapping[str, Any]]) -> Case:
    """A case that asks for nothing but these checks."""
    return Case.model_validate(
        {
            "kind": "case", "id": "a-case", "title": "A task of the benchmark", "group": "injection",
            "agent": "assistant", "world": "dojo", "task": "See the benchmark.", "checks": checks,
        }
    )  # fmt: skip


def _events(messages: Sequence[Mapping[str, Any]]) -> Iterator[Said | Called | Replied]:
    turn = number = 0
    for message in messages:
        match message["role"]:
            case "user":
                turn += 1
                yield Said(turn=turn, text=str(message["content"] or ""))
            case "assistant":
                for call in message.get("tool_calls") or ():
                    number += 1
                    arguments = json.loads(call["function"]["arguments"] or "{}")
                    yield Called(
                        turn=turn, number=number, server="dojo", tool=call["function"]["name"],
                        arguments=arguments if isinstance(arguments, dict) else {},
                        answer=Answer(), answered_by="server",
                    )  # fmt: skip
                if message["content"] and not message.get("tool_calls"):
                    yield Replied(turn=turn, text=str(message["content"]))
            case _:
                continue


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as packed:
        for line in packed:
            yield json.loads(line)
