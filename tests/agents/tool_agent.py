"""An agent that is a tool of an MCP server, without an SDK: over stdio, misbehaving as its first argument says."""

import json
import os
import signal
import sys
from pathlib import Path

HOW = sys.argv[1] if len(sys.argv) > 1 else ""
said: list[str] = []


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def content(text, **more):
    return {"result": {"content": [{"type": "text", "text": text}], **more}}


def asked(arguments):
    said.append(arguments.get("text", ""))
    if HOW == "told":
        config = Path(sys.argv[2])
        given = {
            "arguments": arguments,
            "env": dict(os.environ),
            "config": json.loads(config.read_text(encoding="utf-8")),
            "cwd": str(Path.cwd()),
        }
        return content(json.dumps(given))
    if HOW == "structured":
        usage = {"in": 7, "out": 2}
        return content(
            "not this",
            structuredContent={"answer": " ".join(said), "thread": "th-1", "usage": usage},
            _meta={"model": "m-1"},
        )
    if HOW == "error":
        return content("no credit", isError=True)
    if HOW == "refused":
        return {"error": {"code": -32602, "message": "no such \x1b[31mthing"}}
    if HOW == "crash":
        sys.stderr.write("Segmentation fault, as it were\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    if HOW == "hang":
        sys.stdin.read()
    if HOW == "no-content":
        return {"result": {"content": 5}}
    if HOW == "pictures":
        return {"result": {"content": [{"type": "image"}, 7, {"type": "text", "text": 7}]}}
    if HOW == "no-result":
        return {}
    if HOW == "huge":
        return content("x" * 1_000_001)
    if HOW == "deep":
        return {"result": {"structuredContent": json.loads("[" * 300 + "]" * 300)}}
    if HOW == "no-text":
        os.write(1, b'{"jsonrpc":"2.0","id":%d,"result":\xff}\n' % arguments["id"])
        return None
    return content("hello")


def main():
    if HOW == "hang":
        sys.stderr.write("thinking\n")
        sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        id, params = message["id"], message.get("params", {})
        answer: object = {"result": {}}
        match message["method"]:
            case "initialize":
                if HOW == "mute":
                    sys.stdin.read()
                version = "1.0" if HOW == "old" else params["protocolVersion"]
                about = {"name": "tool-agent", "version": "1"}
                begun: dict[str, object] = {
                    "protocolVersion": version,
                    "serverInfo": about,
                    "capabilities": {"tools": {}},
                }
                answer = {"result": begun}
            case "tools/list":
                names = ["other", 5] if HOW == "nameless" else ["ask"]
                answer = {"result": {"tools": [{"name": name} for name in names]}}
                if HOW == "no-list":
                    answer = {"error": {"code": -32601, "message": "Method not found"}}
            case "tools/call":
                answer = asked({**params["arguments"], "id": id})
            case _:
                pass
        if isinstance(answer, dict):
            say({"id": id, **answer})


main()
