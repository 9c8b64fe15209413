"""Tasks of tau2-bench, and of tau-bench, from which it comes.

Read are lists of tasks (`tasks*.json`, `.jsonl`), the start of the domain (`state_DOMAIN_initial.json`, `db.json`) and
its tools (`tools_DOMAIN.json`), where a folder is a domain as in the benchmark's repository, and where the files' names
have it. A case expects the difference that the task names; where it names none, the calls of the gold run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seatrial.importing.model import Document, Files, Imported, holds_braces, id_of, line, suite_of
from seatrial.importing.states import Objects, expected, patched, world

NOW = "2024-05-15T15:00:00-05:00"
"""The clock of the benchmark's domains."""


def tau2(files: Files, agent: str, person: Document | None = None) -> Imported:
    """Every task as a case; each domain as a world, and a suite of each.

    Args:
        files: what is there.
        agent: whom the cases are for.
        person: the model that plays the person of each task; without one the instruction is one message.
    """
    imported = Imported(invented_by="the authors of tau-bench and tau2-bench")
    tasks = [(path, task) for path, value in files.items() for task in _tasks(path, value)]
    for domain in dict.fromkeys(_domain(path, task) for path, task in tasks):
        own = [task for path, task in tasks if _domain(path, task) == domain]
        _import(imported, files, agent, domain, own, person)
    return imported


def _tasks(path: str, value: Any) -> Iterator[Document]:
    listed = value.get("tasks") if isinstance(value, dict) else value
    for task in listed if isinstance(listed, list) and "task" in path.rpartition("/")[2] else ():
        if isinstance(task, dict) and _named(task) is not None:
            yield task


def _named(task: Mapping[str, Any]) -> str | None:
    """The id of what looks like a task."""
    told = {"instruction", "user_scenario", "expected_actions", "evaluation_criteria"} & task.keys()
    name = task.get("task_id", task.get("id"))
    return str(name) if told and name is not None else None


def _domain(path: str, task: Mapping[str, Any]) -> str:
    named = task.get("domain")
    folder, _, file = path.rpartition("/")
    in_file = re.match(r"tasks_([a-z0-9]+)", file)
    return str(named or folder.rpartition("/")[2] or (in_file[1] if in_file else "tasks"))


def _import(
    imported: Imported,
    files: Files,
    agent: str,
    domain: str,
    tasks: Sequence[Document],
    person: Document | None,
) -> None:
    state, tools = _of_domain(files, domain)
    start: Objects = state or {}
    ends: list[Objects] = []
    known = {tool["function"]["name"] for tool in tools}
    id = id_of(tasks[0].get("benchmark", "tau2"), domain)
    for task in tasks:
        imported.tasks += 1
        name = f"{domain} {_named(task)}"
        case = _case(imported, name, task, id, agent, domain, known)
        begin = patched(start, map(_inside, task.get("initial_state_patch") or ()))
        if begin is not start:
            imported.lacks(name, "a start of its own", "the case begins as the domain does")
        diff = task.get("expected_state_diff")
        if diff is not None and state is not None:
            end = patched(begin, map(_inside, diff))
            ends.append(end)
            case["checks"].insert(0, expected(begin, end, lambda _: False))
        elif not _only_by_words(task):
            _by_calls(imported, name, task, case, known)
        if holds_braces(case):
            imported.lacks(name, "text in double braces", "the task is left out")
        elif not case["checks"]:
            imported.lacks(name, "nothing that can be graded", "the task is left out")
        else:
            if person is not None:
                imported.add(f"fixtures/{id}", _persona(case, task, person))
            else:
                detail = (
                    "the instruction is the one message; name one with --person-url, --person-model"
                )
                imported.lacks(name, "a model that plays the person", detail)
            imported.add(f"cases/{id}", case)
    told = tools or [{"function": {"name": "no_tool", "description": "There is none."}}]
    fixture = world(id, f"The {domain} domain", NOW, [start or _EMPTY, *ends], told, _reads)
    imported.add("fixtures", fixture)
    imported.add("suites", suite_of(id, f"The tasks of the {domain} domain", id))
    if tools:
        imported.lacks("", f"what the {len(tools)} tools of {domain} do",
                       f"code of the benchmark; they answer `done`: write `effects` in fixtures/{id}.yaml, or put a "
                       "server behind them")  # fmt: skip
    if state is None:
        imported.lacks("", f"the start of {domain}", "no file gives it; what changes is not graded")


_EMPTY: Objects = {"nothing": {}}


def _of_domain(files: Files, domain: str) -> tuple[Objects | None, list[Document]]:
    """The start of a domain and its tools, as far as they are there."""
    state: Objects | None = None
    tools: list[Document] = []
    for path, value in files.items():
        folder, _, file = path.rpartition("/")
        of_domain = domain in file or folder.rpartition("/")[2] == domain
        if not of_domain or not isinstance(value, dict):
            continue
        if file.startswith("state_") or file in ("db.json", "db.yaml"):
            (only,) = value.values() if set(value) == {"agent_db"} else (value,)
            state = {type: objects for type, objects in only.items() if isinstance(objects, dict)}
        elif file.startswith("tools_") and isinstance(value.get("tools"), list):
            writes = value.get("write_tools")
            tools = [
                tool if writes is None else tool | {"x_tool_type": _kind(tool, writes)}
                for tool in value["tools"]
            ]
    return state, tools


def _kind(tool: Mapping[str, Any], writes: Sequence[str]) -> str:
    return "write" if tool["function"]["name"] in writes else "read"


def _reads(tool: Mapping[str, Any]) -> bool:
    return bool(tool.get("x_tool_type", "read") != "write")


def _inside(patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """A patch of the domain's objects: what stands around them in tau2-bench is left out."""
    path = patch["path"]
    return {**patch, "path": path[1:]} if path[:1] == ["agent_db"] else patch


def _case(
    imported: Imported,
    name: str,
    task: Mapping[str, Any],
    world_id: str,
    agent: str,
    domain: str,
    known: set[str],
) -> Document:
    criteria = task.get("evaluation_criteria") or task
    purpose = (task.get("description") or {}).get("purpose") or f"Task {_named(task)} of {domain}"
    actions = [a for a in _actions(task) if a.get("requestor", "assistant") == "assistant"]
    said = criteria.get("communicate_info") or task.get("expected_outputs") or []
    case: Document = {
        "kind": "case",
        "id": id_of(world_id, _named(task)),
        "title": line(purpose),
        "group": "task",
        "agent": agent,
        "world": world_id,
        "tags": [world_id],
        "provenance": {"source": "hand", "author": imported.invented_by},
        "task": _instruction(task),
        "checks": [_saying(str(text)) for text in said],
    }
    if actions and all(action["name"] in known for action in actions):
        calls = [{"tool": a["name"], "arguments": a.get("arguments") or {}} for a in actions]
        case["solution"] = {"calls": calls}
    for key in ("nl_assertions", "env_assertions"):
        if asserted := criteria.get(key):
            imported.lacks(name, key, "; ".join(map(str, asserted)))
    if len(actions) < len(_actions(task)):
        imported.lacks(name, "actions of the person")
    if task.get("gold_action_errors"):
        imported.lacks(name, "gold actions that fail", "the solution holds them as they are")
    for key in ("ticket", "persona"):
        if task.get(key):
            imported.lacks(name, key, str(task[key]))
    return case


def _persona(case: Document, task: Mapping[str, Any], person: Document) -> Document:
    """Who talks in a case, in place of its one message."""
    told = task.get("instruction") or (task.get("user_scenario") or {}).get("instructions")
    parts = told if isinstance(told, dict) else {}
    persona: Document = {
        "kind": "fixture",
        "type": "persona",
        "id": case["id"],
        "title": case["title"],
        "goal": str(parts.get("reason_for_call") or case["task"]),
        "facts": {
            part.replace("_", " "): str(parts[part])
            for part in ("known_info", "unknown_info")
            if parts.get(part)
        },
        "manner": str(parts.get("task_instructions") or ""),
        "max_turns": MOST_TURNS,
        "model": person,
    }
    del case["task"]
    case["persona"] = persona["id"]
    return persona


MOST_TURNS = 30
"""Messages of a person, as many as the benchmark's runs have at most on the whole."""


def _actions(task: Mapping[str, Any]) -> list[Document]:
    criteria = task.get("evaluation_criteria") or {}
    return list(task.get("expected_actions") or criteria.get("actions") or ())


def _instruction(task: Mapping[str, Any]) -> str:
    told = task.get("instruction") or (task.get("user_scenario") or {}).get("instructions") or ""
    if isinstance(told, str):
        return told
    parts = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
    return "\n\n".join(str(told[part]).strip() for part in parts if told.get(part))


def _only_by_words(task: Mapping[str, Any]) -> bool:
    """Whether the task is graded by what is said alone."""
    basis = set((task.get("evaluation_criteria") or task).get("reward_basis") or ())
    return bool(basis) and not {"DB", "ACTION", "ENV_ASSERTION"} & basis


def _by_calls(
    imported: Imported, name: str, task: Mapping[str, Any], case: Document, known: set[str]
) -> None:
    """Where no end is known, the gold calls stand for it."""
    for action in _actions(task):
        if action.get("requestor", "assistant") == "assistant" and action["name"] in known:
            arguments = {k: {"equals": v} for k, v in (action.get("arguments") or {}).items()}
            asked = action.get("compare_args")
            kept = {k: v for k, v in arguments.items() if asked is None or k in asked}
            case["checks"].append(
                {"check": "tool_called", "tool": action["name"], "arguments": kept}
            )
    imported.lacks(name, "the end state", "graded by the gold calls instead")


def _saying(text: str) -> Document:
    """The benchmark looks for the text in all that the agent says, without commas."""
    try:
        return {"check": "reply_number", "value": float(text), "turn": "any"}
    except ValueError:
        return {"check": "reply_contains", "text": text, "turn": "any"}
