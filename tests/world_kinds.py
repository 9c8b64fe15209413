"""A repository with a practice world of each kind, the same small lending desk in all of them."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

HEAD = "kind: fixture\ntype: world\nworld: {kind}\nid: {kind}-desk\nnow: 2026-05-04T11:30:00Z\n"

MODULE = '''
def look(state, id: str) -> dict:
    """Look a book up."""
    return state["book"][id]


def lend(state, id: str):
    """Lend a book."""
    state["book"][id]["state"] = "lent"


def scrap(state, id: str):
    """Scrap a book."""
    del state["book"][id]


def fall_over(state):
    """Fail."""
    raise RuntimeError("as asked")
'''

SQL = """
CREATE TABLE book (id TEXT PRIMARY KEY, state TEXT NOT NULL);
INSERT INTO book VALUES ('b-1', 'in'), ('b-2', 'in');
"""

_ID = "parameters: {type: object, properties: {id: {type: string}}, required: [id]}"

WORLDS: dict[str, str] = {
    "python": """
        module: desk_functions
        start: {book: {b-1: {state: in}, b-2: {state: in}}}
        roles: {clerk: {allow: [look, lend, fall_over], when: {lend: {id: {not_equals: b-2}}}}}
        tools: {look: {read_only: true}, lend: {}, scrap: {destructive: true}, fall_over: {}}
        """,
    "sqlite": f"""
        script: fixtures/desk.sql
        roles: {{clerk: {{allow: [look, lend, fall_over], when: {{lend: {{id: {{not_equals: b-2}}}}}}}}}}
        tools:
          look:
            read_only: true
            description: Look a book up.
            answer: row
            {_ID}
            sql: SELECT * FROM book WHERE id = :id
          lend: {{description: Lend a book., {_ID}, sql: "UPDATE book SET state = 'lent' WHERE id = :id"}}
          scrap: {{description: Scrap a book., destructive: true, {_ID}, sql: "DELETE FROM book WHERE id = :id"}}
          fall_over: {{description: Fail., sql: "SELECT abs(-9223372036854775808)"}}
        """,
    "directory": """
        tree: fixtures/desk
        roles: {clerk: {allow: [read_file, write_file], when: {write_file: {path: {not_equals: b-2}}}}}
        """,
    "http": f"""
        url: http://127.0.0.1:PORT/t/{{{{run}}}}
        reset: {{path: /reset}}
        state: {{order: {{path: /orders, at: by_id}}}}
        roles: {{clerk: {{allow: [look, place, fall_over], when: {{place: {{total: {{lt: 100}}}}}}}}}}
        tools:
          look: {{description: Look an order up., read_only: true, {_ID}, path: "/orders/{{{{args.id}}}}"}}
          place:
            description: Place an order.
            parameters: {{type: object, properties: {{total: {{type: number}}}}, required: [total]}}
            method: POST
            path: /orders
            json: {{total: "{{{{args.total}}}}"}}
          scrap: {{description: Scrap an order., method: DELETE, {_ID}, path: "/orders/{{{{args.id}}}}"}}
          fall_over: {{description: Fail., path: /status/500}}
        """,
    "mcp": """
        start: {state.json: '{"thing": {}}'}
        command: ["{python}", "{root}/servers/raw_mcp.py", crash]
        state: {read: json, file: state.json}
        roles: {clerk: {allow: [get, put, do], when: {put: {value: {not_equals: b-2}}}}}
        """,
}
"""Kind → the rest of its document."""

CALLS: dict[str, dict[str, str]] = {
    "python": {
        "read": 'look {"id": "b-1"}',
        "write": 'lend {"id": "b-1"}',
        "refused": 'scrap {"id": "b-1"}',
        "beyond": 'lend {"id": "b-2"}',
        "fault": "fall_over",
    },
    "directory": {
        "read": 'read_file {"path": "b-1"}',
        "write": 'write_file {"path": "b-1", "text": "lent"}',
        "refused": 'delete_file {"path": "b-1"}',
        "beyond": 'write_file {"path": "b-2", "text": "lent"}',
    },
    "http": {
        "read": 'look {"id": "A-1"}',
        "write": 'place {"total": 7}',
        "refused": 'scrap {"id": "A-1"}',
        "beyond": 'place {"total": 700}',
        "fault": "fall_over",
    },
    "mcp": {
        "read": "get",
        "write": 'put {"value": 1}',
        "refused": "tell",
        "beyond": 'put {"value": "b-2"}',
        "fault": "do",
    },
}
CALLS["sqlite"] = CALLS["python"]
"""Kind → what to write into a task: a call that reads, writes, is refused, goes beyond a condition, fails."""

_LENT = {"changed": [{"type": "book", "key": "b-1", "properties": {"state": "lent"}}]}
EXPECTED: dict[str, dict[str, Any]] = {
    "python": _LENT,
    "sqlite": _LENT,
    "directory": {"changed": [{"type": "file", "key": "b-1", "properties": {"text": "lent"}}]},
    "http": {"created": [{"type": "order", "properties": {"total": 7}}]},
    "mcp": {"created": [{"type": "thing", "key": "t-1", "properties": {"value": 1}}]},
}
"""Kind → what the call that writes must come to."""


def write_repository(root: Path, *, port: int) -> None:
    """The repository: per kind a world, and cases `KIND-write`, `-nothing`, `-refused`, `-beyond`, `-fault`."""
    files = {
        "desk_functions.py": MODULE,
        "fixtures/desk.sql": SQL,
        "fixtures/desk/b-1": "in",
        "fixtures/desk/b-2": "in",
        "agents/obedient.py": _source("agents/obedient.py"),
        "servers/raw_mcp.py": _source("servers/raw_mcp.py"),
        "arms/obedient.yaml": "kind: arm\nid: obedient\nagent: clerk\nversion: '1'\n"
        "adapter: {type: python, target: 'agents.obedient:obey'}\n",
        "suites/all.yaml": "kind: suite\nid: all\ntrials: 2\ncases: [{group: task}]\n",
    }
    for kind, rest in WORLDS.items():
        document = HEAD.format(kind=kind) + textwrap.dedent(rest).replace("PORT", str(port))
        files[f"fixtures/{kind}.yaml"] = document
        if kind == "mcp":
            files["fixtures/mcp-half.yaml"] = document.replace(
                "id: mcp-desk", "id: half-desk"
            ).replace(", crash]", ", half-error]")
            files["cases/half-fault.yaml"] = json.dumps(_case("half", "fault", "do"))
        for name, call in {"nothing": "", **CALLS[kind]}.items():
            files[f"cases/{kind}-{name}.yaml"] = json.dumps(_case(kind, name, call))
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def _case(kind: str, name: str, call: str) -> dict[str, Any]:
    expected = EXPECTED[kind] if name in ("write", "nothing") else {}
    checks: list[dict[str, Any]] = [{"check": "end_state", **expected}]
    if name in ("refused", "beyond"):
        checks.append({"check": "no_violation"})
    return {
        "kind": "case",
        "id": f"{kind}-{name}",
        "title": f"{name} in a world of kind {kind}",
        "group": "task",
        "agent": "clerk",
        "world": f"{kind}-desk",
        "role": "clerk",
        "task": call or " ",
        "checks": checks,
    }


def _source(path: str) -> str:
    return (Path(__file__).parent / path).read_text(encoding="utf-8")
