"""A real MCP server for the benchmark of the gateway: as little as answers at all, so that nobody waits for it."""

from __future__ import annotations

import json
import sys
from typing import Any

TEXT = {"type": "string"}
TOOL = {
    "name": "look_up",
    "inputSchema": {"type": "object", "properties": {"thing": TEXT}, "required": ["thing"]},
    "outputSchema": {
        "type": "object",
        "properties": {"thing": TEXT, "holder": TEXT},
        "required": ["thing", "holder"],
    },
}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "real", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case _:
            found = {"thing": message["params"]["arguments"]["thing"], "holder": "desk"}
            content = [{"type": "text", "text": json.dumps(found)}]
            return {"content": content, "structuredContent": found}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        response = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}
        print(json.dumps(response), flush=True)
