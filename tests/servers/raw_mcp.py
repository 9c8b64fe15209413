"""An MCP server without an SDK, quick to start, that misbehaves as its first argument says."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HOW = sys.argv[1] if len(sys.argv) > 1 else ""
STATE = Path("state.json")


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name, **more):
    schema = {"type": "object", "properties": {"value": {}}}
    return {"name": name, "description": f"{name}.", "inputSchema": schema, **more}


def listed(cursor):
    if HOW == "no-tools":
        return {"tools": "none"}
    if HOW == "endless-pages":
        return {"tools": [], "nextCursor": "more"}
    if HOW == "bad-schema":
        return {"tools": [tool("put", inputSchema={"type": "list"})]}
    if HOW == "nameless":
        return {"tools": [{"inputSchema": {}}]}
    if HOW == "twice":
        return {"tools": [tool("put"), tool("put")]}
    if cursor is None:
        return {"tools": [tool("put")], "nextCursor": "2"}
    return {"tools": [tool("get", annotations={"readOnlyHint": True}), tool("do"), tool("tell")]}


def called(id, name, arguments):
    state = json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {}
    if name == "put":
        state.setdefault("thing", {})["t-1"] = {"value": arguments.get("value")}
        STATE.write_text(json.dumps(state), encoding="utf-8")
        return {
            "result": {"content": [{"type": "text", "text": "done"}], "structuredContent": state}
        }
    if name == "get":
        return {"result": {"content": [{"type": "text", "text": json.dumps(state)}]}}
    if name == "tell":
        if HOW == "tells-nonsense":
            return {"result": {"content": [{"type": "text", "text": "nonsense"}]}}
        return {"result": {"content": [], "structuredContent": state}}
    if HOW == "crash":
        sys.stderr.write("Segmentation fault, as it were \x1b[31m\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    if HOW == "hang":
        time.sleep(60)
    if HOW == "garbage":
        return {"result": {"content": "text"}}
    if HOW == "no-result":
        return {}
    if HOW == "flood":
        for _ in range(3000):
            sys.stdout.write("x" * 1000 + "\n")
        sys.stdout.flush()
        time.sleep(60)
    if HOW == "pings":
        for number in range(100_000):
            say({"id": number, "method": "ping"})
        time.sleep(60)
    if HOW == "odd-ids":
        for odd in json.loads(f'[[1], {{}}, null, true, "{id}", {id + 1000}, {id}.0]'):
            say({"id": odd, "result": {"content": []}})
    if HOW == "half":
        STATE.write_text('{"thing": {"t-1": {"value": "\\ud800"}}}', encoding="utf-8")
        return {"result": {"content": [{"type": "text", "text": "half \ud800"}]}}
    if HOW == "half-error":
        return {"error": {"code": -32603, "message": "half \ud800"}}
    if HOW == "internal":
        return {"error": {"code": -32603, "message": "it broke"}}
    if HOW == "invalid":
        return {"error": {"code": -32602, "message": "no such value"}}
    if HOW == "asks":
        say({"id": "s-1", "method": "ping"})
        first = json.loads(sys.stdin.readline())
        say({"id": "s-2", "method": "sampling/createMessage", "params": {}})
        second = json.loads(sys.stdin.readline())
        say({"method": "notifications/message", "params": {"data": "x"}})
        return {"result": {"content": [{"type": "text", "text": json.dumps([first, second])}]}}
    if HOW == "environment":
        seen = {"env": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv[1:]}
        return {"result": {"content": [{"type": "text", "text": json.dumps(seen)}]}}
    return {"result": {"content": [{"type": "text", "text": "ok"}]}}


if HOW == "greets":
    print("Welcome to the server!", flush=True)
if HOW == "stays":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "120"], start_new_session=True)
    Path("pid").write_text(str(os.getpid()), encoding="utf-8")
if HOW == "exits":
    sys.exit("no licence")
if HOW == "mute":
    time.sleep(60)
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message["method"], message.get("params", {})
    if method == "initialize":
        if HOW == "refuses":
            say({"id": id, "error": {"code": -32000, "message": "not today"}})
            continue
        version = "2099-01-01" if HOW == "future" else params["protocolVersion"]
        info = {"protocolVersion": version, "serverInfo": {"name": "raw"}}
        say({"id": id, "result": info})
    elif method == "tools/list":
        say({"id": id, "result": listed(params.get("cursor"))})
    elif method == "tools/call":
        say({"id": id, **called(id, params["name"], params["arguments"])})
if HOW == "writes-late":
    STATE.write_text(json.dumps({"thing": {"late": {"value": 1}}}), encoding="utf-8")
if HOW == "stays":
    time.sleep(120)
