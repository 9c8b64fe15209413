"""Tasks of AgentDojo: user tasks, and the goals of attackers as tasks of their own.

Read are lists of tasks (`tasks*.jsonl`), the start of each suite (`state_SUITE_initial.json`) and its tools
(`tools_SUITE.json`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from seatrial.importing.model import Document, Files, Imported, holds_braces, id_of, line, suite_of
from seatrial.importing.states import Objects, expected, is_name, patched, world

NOW = "2024-05-15T00:00:00Z"
"""The day of the benchmark's suites."""
LONGEST_FIXED = 3
"""Words of a text in a new object beyond which it may be worded otherwise."""


def agentdojo(files: Files, agent: str, person: Document | None = None) -> Imported:
    """Every task of every version as a case; each suite as a world, and a suite of each version."""
    imported = Imported(invented_by="the authors of AgentDojo")
    tasks = [
        task
        for path, value in files.items()
        if path.rpartition("/")[2].startswith("tasks") and isinstance(value, list)
        for task in value
        if isinstance(task, dict) and {"domain", "task_id", "prompt"} <= task.keys()
    ]
    for domain in dict.fromkeys(task["domain"] for task in tasks):
        _import(imported, files, agent, domain, [t for t in tasks if t["domain"] == domain])
    return imported


def _import(
    imported: Imported, files: Files, agent: str, domain: str, tasks: list[Document]
) -> None:
    state, described = _of_domain(files, domain)
    tools = described.get("tools") or []
    known = {tool["function"]["name"] for tool in tools}
    id = id_of("agentdojo", domain)
    begins = [patched(state, task.get("initial_state_patch") or ()) for task in tasks]
    ends = [
        patched(begin, task.get("expected_state_diff") or ())
        for begin, task in zip(begins, tasks, strict=True)
    ]
    held = held_in([state, *ends])
    start = objects_of(state, held)
    left = [objects_of(end, held) for end in ends]
    for task, begin, end in zip(tasks, begins, left, strict=True):
        imported.tasks += 1
        version = task.get("suite_version", "")
        name = f"{version} {domain} {task['task_id']}".strip()
        if begin is not state:
            imported.lacks(name, "a start of its own", "the case begins as the suite does")
        case = _case(task, id, agent, name)
        case["checks"] = [expected(_shared(start, end), end, _is_wording)]
        actions = task.get("expected_actions") or []
        if actions and all(action["name"] in known for action in actions):
            calls = [{"tool": a["name"], "arguments": a.get("arguments") or {}} for a in actions]
            case["solution"] = {"calls": calls}
        _tell(imported, name, task)
        if holds_braces(case):
            imported.lacks(name, "text in double braces", "the task is left out")
        else:
            imported.add(f"cases/{id}", case)
    imported.add("fixtures", world(id, f"The {domain} suite", NOW, [start, *left], tools, _reads))
    imported.add("suites", suite_of(id, f"The tasks of the {domain} suite", id))
    imported.lacks("", f"what the {len(tools)} tools of {domain} do",
                   f"code of the benchmark; they answer `done`: write `effects` in fixtures/{id}.yaml, or put a server "
                   "behind them")  # fmt: skip
    imported.lacks("", f"which tools of {domain} write", "guessed by their names")
    if vectors := described.get("injection_vectors"):
        imported.lacks("", f"{len(vectors)} places for injections in {domain}",
                       f"{', '.join(vectors)}: write `attack` with `place` where they are to stand")  # fmt: skip


def _of_domain(files: Files, domain: str) -> tuple[Any, Document]:
    def named(begin: str) -> Document:
        for path, value in files.items():
            if path.rpartition("/")[2].startswith(begin + domain) and isinstance(value, dict):
                return value
        return {}

    return named("state_"), named("tools_")


def _case(task: Document, world_id: str, agent: str, name: str) -> Document:
    provenance = {"source": "hand", "author": "the authors of AgentDojo"}
    if task.get("expected_output"):
        provenance["answer"] = task["expected_output"]
    attack = task.get("kind") == "injection_task"
    tags = (
        [world_id, f"agentdojo-{task['suite_version']}"] if "suite_version" in task else [world_id]
    )
    return {
        "kind": "case",
        "id": id_of(world_id, task.get("suite_version", ""), task["task_id"]),
        "title": line(task["prompt"]),
        "group": "task",
        "agent": agent,
        "world": world_id,
        "tags": [*tags, "attackers-goal"] if attack else tags,
        "provenance": provenance,
        "task": task["prompt"],
    }


def _tell(imported: Imported, name: str, task: Mapping[str, Any]) -> None:
    imported.lacks(name, "a function that grades",
                   "graded by what the gold run changes; long texts in new objects may be any")  # fmt: skip
    if task.get("expected_output"):
        imported.lacks(name, "an expected output", "kept under `provenance.answer`")
    if task.get("kind") == "injection_task":
        imported.lacks(name, "an attack on user tasks", "the goal is asked for by the user instead")
    if task.get("gold_action_errors"):
        imported.lacks(name, "gold actions that fail", "the solution holds them as they are")


def held_in(states: Iterable[Any]) -> frozenset[str]:
    """The parts, `section_name`, that hold things in one of the states; in another they may be empty."""
    return frozenset(
        f"{section}_{name}"
        for state in states
        for section, parts in (state or {}).items()
        for name, value in parts.items()
        if is_name(f"{section}_{name}") and any(True for _ in _things(value))
    )


def objects_of(state: Any, held: frozenset[str]) -> Objects:
    """What there is in a state: a part that holds things is a type, and all else is one object of its section."""
    found: Objects = {}
    for section, parts in (state or {}).items():
        rest = {}
        for name, value in parts.items():
            if f"{section}_{name}" in held:
                found[f"{section}_{name}"] = dict(_things(value))
            elif is_name(name):
                rest[name] = value
        if rest:
            found[section] = {section: rest}
    return found


def _things(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The things of a part, each with its key."""
    if isinstance(value, dict):
        for key, one in value.items():
            fits = isinstance(one, dict) and all(map(is_name, one))
            yield key, one if fits else {"value": one}
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        for number, one in enumerate(value):
            yield str(number), one


def _shared(before: Objects, after: Objects) -> Objects:
    """The objects before, each the same one as after where nothing differs."""
    return {
        type: {
            key: after.get(type, {}).get(key, one) if after.get(type, {}).get(key) == one else one
            for key, one in objects.items()
        }
        for type, objects in before.items()
    }


def _is_wording(value: Any) -> bool:
    return isinstance(value, str) and len(value.split()) > LONGEST_FIXED


def _reads(tool: Mapping[str, Any]) -> bool:
    """The files do not say which tools write; names that begin with a word for reading do not."""
    words = ("get_", "read_", "search_", "list_", "check_")
    return str(tool["function"]["name"]).startswith(words)
