"""tau-bench's airline runs as a Seatrial repository: a case per task, recordings per arm."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from seatrial.state import difference, state_from_json, thaw
from seatrial.trace import Change

KEYS = {"flights": "flight_number", "reservations": "reservation_id", "users": "user_id"}
ENDED = {True: "completed", False: "step_limit"}
"""The benchmark's word `terminated`: somebody ended the conversation; else its steps ran out."""


@dataclass(frozen=True)
class Airline:
    """The benchmark's files, read."""

    folder: Path

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        return _lines(self.folder / "runs_airline_gpt-4o.jsonl.gz")

    @cached_property
    def tasks(self) -> list[dict[str, Any]]:
        return _lines(self.folder / "tasks_airline.jsonl.gz")

    @cached_property
    def start(self) -> dict[str, Any]:
        with gzip.open(self.folder / "state_airline_initial.json.gz", "rt", encoding="utf-8") as f:
            return dict(json.load(f))

    @cached_property
    def tools(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "tools_airline.json").read_text(encoding="utf-8")))

    def end(self, patches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The objects of the start state that patches touch, and what they are afterwards."""
        state: dict[str, Any] = {
            type: {
                key: copy.deepcopy(self.start[type][key])
                for key in {p["path"][1] for p in patches if p["path"][0] == type}
                if key in self.start[type]
            }
            for type in self.start
        }
        for patch in patches:
            _carry_out(patch, state)
        return state

    def changes(self, patches: Sequence[Mapping[str, Any]]) -> tuple[Change, ...]:
        """The difference as Seatrial takes it, start → end."""
        end = self.end(patches)
        touched = {p["path"][1] for p in patches}
        start = {
            type: {key: self.start[type][key] for key in touched if key in self.start[type]}
            for type in self.start
        }
        return difference(state_from_json(start), state_from_json(end))

    def digest(self, patches: Sequence[Mapping[str, Any]] = ()) -> str:
        """sha256 of the whole end state as the benchmark's files write it.

        The 2,800 objects are written once; for each end state only those that differ are written anew.
        """
        end = self.end(patches)
        parts = []
        for type in sorted(self.start):
            written = self._written[type] | {k: _canonical(v) for k, v in end[type].items()}
            items = (f"{_canonical(key)}:{written[key]}" for key in sorted(written))
            parts.append(f"{_canonical(type)}:{{{','.join(items)}}}")
        return hashlib.sha256(f"{{{','.join(parts)}}}".encode()).hexdigest()

    @cached_property
    def _written(self) -> dict[str, dict[str, str]]:
        return {
            type: {key: _canonical(value) for key, value in objects.items()}
            for type, objects in self.start.items()
        }

    def write_repository(
        self, root: Path, arms: Mapping[str, Sequence[int]], *, required: bool = False
    ) -> None:
        """Cases, world, suite, and an arm for each name with the recordings of these trials."""
        cases = [self._case(task) | {"required": required} for task in self.tasks]
        suite = {"kind": "suite", "id": "airline", "cases": [{"tags": ["tau-bench"]}]}
        _write(root / "fixtures" / "airline.yaml", [self._world()])
        _write(root / "cases" / "airline.yaml", cases)
        _write(root / "suites" / "airline.yaml", [suite])
        for arm, trials in arms.items():
            self.write_arm(root, arm, trials)

    def write_arm(
        self, root: Path, arm: str, trials: Sequence[int], ended: str | None = None
    ) -> None:
        """An arm and its recordings, numbered from 1; `ended` in place of how they really did."""
        file = f"recordings/{arm}.jsonl.gz"
        (root / "recordings").mkdir(exist_ok=True)
        with gzip.open(root / file, "wt", encoding="utf-8") as packed:
            for run in self.runs:
                if run["trial"] in trials:
                    recording = self._recording(run, trials.index(run["trial"]) + 1)
                    if ended is not None:
                        recording["ended"] = ended
                    packed.write(json.dumps(recording) + "\n")
        document = {
            "kind": "arm",
            "id": arm,
            "agent": "airline",
            "version": "2024-06",
            "adapter": {"type": "recorded", "files": file},
        }
        _write(root / "arms" / f"{arm}.yaml", [document])

    def _world(self) -> dict[str, Any]:
        """The domain, with the objects of the start state that any task expects to change."""
        patches = [patch for task in self.tasks for patch in task["expected_state_diff"]]
        touched = {(p["path"][0], p["path"][1]) for p in patches}
        objects = {
            type: [
                {KEYS[type]: key, **properties}
                for key, properties in self.start[type].items()
                if (type, key) in touched
            ]
            for type in KEYS
        }
        names = {
            type: [name for properties in self.start[type].values() for name in properties]
            + [p["path"][2] for p in patches if p["path"][0] == type and len(p["path"]) > 2]
            for type in KEYS
        }
        return {
            "kind": "fixture",
            "type": "world",
            "id": "airline",
            "now": "2024-05-15T15:00:00-05:00",
            "types": {
                type: {
                    "key": KEYS[type],
                    "properties": {name: {} for name in dict.fromkeys([KEYS[type], *names[type]])},
                }
                for type in KEYS
            },
            "objects": objects,
            "actions": {
                tool["function"]["name"]: {
                    "description": tool["function"]["description"],
                    "parameters": tool["function"]["parameters"],
                    "read_only": tool["function"]["name"] not in self.tools["write_tools"],
                }
                for tool in self.tools["tools"]
            },
        }

    def _case(self, task: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "kind": "case",
            "id": case_of(task),
            "title": f"Task {task['task_id']} of the airline domain",
            "group": "task",
            "agent": "airline",
            "world": "airline",
            "tags": ["tau-bench"],
            "task": task["instruction"],
            "checks": [
                _expecting(self.changes(task["expected_state_diff"])),
                *map(_saying, task["expected_outputs"]),
            ],
        }

    def _recording(self, run: Mapping[str, Any], number: int) -> dict[str, Any]:
        return {
            "case": case_of(run),
            "trial": number,
            "messages": [
                message | {"x_error": True}
                if message["role"] == "tool" and message["content"].startswith("Error")
                else message
                for message in run["messages"]
            ],
            "changes": [
                change.model_dump(mode="json", exclude_defaults=True)
                for change in self.changes(run["state"]["diff"])
            ],
            "ended": ENDED[run["info"]["terminated"]],
            "model": run["arm"],
            "tools": {
                tool["function"]["name"]: {
                    "read_only": tool["function"]["name"] not in self.tools["write_tools"]
                }
                for tool in self.tools["tools"]
            },
        }


def case_of(task: Mapping[str, Any]) -> str:
    return f"airline-{int(task['task_id']):02}"


def _expecting(changes: Iterable[Change]) -> dict[str, Any]:
    """The strict end state that is exactly these changes."""
    check: dict[str, Any] = {"check": "end_state"}
    changed: dict[tuple[str, str], dict[str, Any]] = {}
    for change in changes:
        match change.what:
            case "created":
                properties = {name: {"equals": thaw(value)} for name, value in change.new.items()}
                check.setdefault("created", []).append(
                    {"type": change.type, "key": change.key, "properties": properties}
                )
            case "changed":
                asked = {"absent": True} if change.new_absent else {"equals": thaw(change.new)}
                changed.setdefault((change.type, change.key), {})[str(change.property)] = asked
            case "deleted" | "linked" | "unlinked":
                raise ValueError(f"no task of the airline leaves anything {change.what}")
    if changed:
        check["changed"] = [
            {"type": type, "key": key, "properties": properties}
            for (type, key), properties in changed.items()
        ]
    return check


def _saying(output: str) -> dict[str, Any]:
    """Four tasks also want a number said; the benchmark overlooks the commas in it."""
    asked = [output, f"{int(output):,}"]
    return {"check": "reply_contains", "any_of": asked, "turn": "any"}


def _carry_out(patch: Mapping[str, Any], state: Any) -> None:
    """One entry of the benchmark's patches: keys of mappings and indexes of lists."""
    *way, last = patch["path"]
    for step in way:
        state = state[step]
    match patch["op"]:
        case "add" if isinstance(state, list):
            state.insert(last, patch["new"])
        case "add" | "replace":
            state[last] = copy.deepcopy(patch["new"])
        case "remove":
            del state[last]
        case op:
            raise ValueError(f"unknown patch {op!r}")


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _write(path: Path, documents: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    text = yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
