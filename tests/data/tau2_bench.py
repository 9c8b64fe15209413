"""tau2-bench's runs as cases and traces: the recorded change of the state, and what was said."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seatrial.documents import Case
from seatrial.state import apply, difference, state_from_json
from seatrial.trace import Change, Replied, Said, Trace

BASE, TUNED = "gpt-4.1", "ft-gpt-4.1-tau2-full-sft"
DOMAINS = ("airline", "retail")

Objects = dict[str, dict[str, Any]]
"""Type → key → properties."""


@dataclass(frozen=True)
class Domain:
    """One domain's files, read."""

    folder: Path
    name: str

    @cached_property
    def tasks(self) -> dict[str, dict[str, Any]]:
        tasks = lines(self.folder / "tasks_paired.jsonl.gz")
        return {task["task_id"]: task for task in tasks if task["domain"] == self.name}

    @cached_property
    def start(self) -> Objects:
        """All objects before anything happens."""
        path = self.folder / f"state_{self.name}_initial.json.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            (objects,) = json.load(file).values()
        return dict(objects)

    def runs(self, arm: str) -> list[dict[str, Any]]:
        return lines(self.folder / f"runs_{self.name}_default_{arm}.jsonl.gz")

    def changes(self, patches: Sequence[Mapping[str, Any]]) -> tuple[Change, ...]:
        """The difference as Seatrial takes it, of the objects that the patches touch."""
        touched = {(patch["path"][1], patch["path"][2]) for patch in patches}
        start: Objects = {type: {} for type in self.start}
        for type, key in touched:
            if key in self.start[type]:
                start[type][key] = self.start[type][key]
        end = copy.deepcopy(start)
        for patch in patches:
            carry_out(patch, end, patch["path"][1:])
        return difference(state_from_json(start), state_from_json(end))

    def end(self, changes: Iterable[Change]) -> Objects:
        """The objects that changes lead to, of those that they touch."""
        start: Objects = {type: {} for type in self.start}
        changes = tuple(changes)
        for change in changes:
            if change.key in self.start[change.type]:
                start[change.type][change.key] = self.start[change.type][change.key]
        return apply(changes, state_from_json(start)).to_json()

    def digest(self, changes: Iterable[Change] = ()) -> str:
        """sha256 of the whole state after changes, as the benchmark's files write it."""
        changed, parts = self.end(changes), []
        for type in sorted(self.start):
            written = self._written[type] | {
                key: _canonical(value) for key, value in changed.get(type, {}).items()
            }
            items = (f"{_canonical(key)}:{written[key]}" for key in sorted(written))
            parts.append(f"{_canonical(type)}:{{{','.join(items)}}}")
        return hashlib.sha256(f'{{"agent_db":{{{",".join(parts)}}}}}'.encode()).hexdigest()

    @cached_property
    def _written(self) -> dict[str, dict[str, str]]:
        return {
            type: {key: _canonical(value) for key, value in objects.items()}
            for type, objects in self.start.items()
        }

    def case(self, task: Mapping[str, Any]) -> Case:
        """The end state exactly as the task expects it, and each text that has to be said."""
        return Case.model_validate(
            {
                "kind": "case",
                "id": f"{self.name}-{task['task_id']}",
                "title": f"Task {task['task_id']} of the {self.name} domain",
                "group": "task",
                "agent": "clerk",
                "world": self.name,
                "task": "See the benchmark.",
                "checks": [
                    expecting(self.changes(task["expected_state_diff"])),
                    *map(saying, task["communicate_info"]),
                ],
            }
        )

    def trace(self, run: Mapping[str, Any]) -> Trace:
        """What was said, and what changed."""
        return Trace(
            case=f"{self.name}-{run['task_id']}",
            arm=run["arm"],
            number=run["trial"] + 1,
            events=tuple(_events(run["messages"])),
            changes=self.changes(run["state"]["diff"]),
        )


def expecting(changes: Sequence[Change]) -> dict[str, Any]:
    """The strict end state that is exactly these changes."""
    check: dict[str, Any] = {"check": "end_state"}
    for change in changes:
        one: dict[str, Any] = {"type": change.type, "key": change.key}
        match change.what:
            case "created":
                one["properties"] = {name: {"equals": v} for name, v in change.new.items()}
            case "changed":
                asked = {"absent": True} if change.new_absent else {"equals": change.new}
                one["properties"] = {change.property: asked}
            case "deleted":
                pass
            case "linked" | "unlinked":
                raise ValueError("there are no links in this benchmark")
        check.setdefault(change.what, []).append(one)
    return check


def saying(text: str) -> dict[str, Any]:
    """The benchmark looks for the text in all that the agent says, without commas."""
    try:
        return {"check": "reply_number", "value": float(text), "turn": "any"}
    except ValueError:
        return {"check": "reply_contains", "text": text, "turn": "any"}


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as packed:
        return [json.loads(line) for line in packed]


def carry_out(patch: Mapping[str, Any], state: Any, path: Sequence[str | int]) -> None:
    """Apply one patch of the files; lists by index."""
    *way, last = path
    for step in way:
        state = state[step]
    if patch["op"] == "remove":
        del state[last]
    elif patch["op"] == "add" and isinstance(state, list):
        assert isinstance(last, int)
        state.insert(last, copy.deepcopy(patch["new"]))
    else:
        state[last] = copy.deepcopy(patch["new"])


def _events(messages: Sequence[Mapping[str, Any]]) -> Iterator[Said | Replied]:
    turn = 0
    for message in messages:
        if message["role"] == "user":
            turn += 1
            yield Said(turn=turn, text=message["content"] or "")
        elif message["role"] == "assistant" and message["content"]:
            yield Replied(turn=turn, text=message["content"])


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
