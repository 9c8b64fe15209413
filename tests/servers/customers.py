"""A real MCP server with customers, that only reads, and one tool that writes; without an SDK, quick to start.

Its first argument is how often it has changed: from 1 on `find_customer` takes another argument.
"""

import json
import sys
import uuid
from typing import Any

CHANGED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
TEXT = {"type": "string"}
CUSTOMER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^cus_[A-Za-z0-9]{8}$"},
        "name": TEXT,
        "email": {"type": "string", "pattern": "@"},
        "phone": TEXT,
        "api_token": TEXT,
        "order_ids": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["id", "name"],
}
CUSTOMERS: list[dict[str, Any]] = [
    {
        "id": "cus_8Hk29xAb",
        "name": "Maria López",
        "email": "maria.lopez@harbourmail.org",
        "phone": "+49 30 901820",
        "api_token": "tok-4711-abcdef",
        "order_ids": [1029384],
    },
    {"id": "cus_1Zz00yBc", "name": "Ada Byron", "email": "ada@byron.org", "order_ids": []},
]
WORD = "customer" if CHANGED else "word"
TOOLS: list[dict[str, Any]] = [
    {
        "name": "find_customer",
        "description": "Find customers.",
        "inputSchema": {"type": "object", "properties": {WORD: TEXT}, "required": [WORD]},
        "outputSchema": {
            "type": "object",
            "properties": {"customers": {"type": "array", "items": CUSTOMER}},
            "required": ["customers"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "show_order",
        "description": "Show an order.",
        "inputSchema": {
            "type": "object",
            "properties": {"order_id": {"type": "integer"}, "of": TEXT},
            "required": ["order_id"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "remark",
        "description": "Says nothing of itself.",
        "inputSchema": {"type": "object", "properties": {"about": TEXT}},
    },
    {
        "name": "cancel_order",
        "description": "Cancel an order.",
        "inputSchema": {"type": "object", "properties": {"order_id": {"type": "integer"}}},
        "annotations": {"readOnlyHint": False},
    },
]
shown: dict[int, int] = {}


def call(name, given):
    match name:
        case "find_customer":
            word = given[WORD]
            if word == "misfit":
                return {"content": [], "structuredContent": {"customers": [{"id": "x"}]}}
            found = {
                "customers": [c for c in CUSTOMERS if word in json.dumps(c, ensure_ascii=False)]
            }
            return {
                "content": [{"type": "text", "text": json.dumps(found)}],
                "structuredContent": found,
            }
        case "show_order":
            id = given["order_id"]
            shown[id] = shown.get(id, 0) + 1
            if id != 1029384:
                return {"content": [{"type": "text", "text": f"no order {id}"}], "isError": True}
            state = "packed" if shown[id] == 1 else "sent"
            told = f"Order 1029384 of cus_8Hk29xAb is {state}. Dear Ms López, thank you! Trace {uuid.UUID(int=7)}"
            return {"content": [{"type": "text", "text": told}]}
        case _:
            return {"content": [{"type": "text", "text": "done"}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    match message["method"]:
        case "initialize":
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "customers", "version": "1"},
            }
        case "tools/list":
            result = {"tools": TOOLS}
        case "tools/call":
            result = call(message["params"]["name"], message["params"].get("arguments", {}))
        case _:
            result = {}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
    sys.stdout.flush()
