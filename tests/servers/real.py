"""A real MCP server without an SDK, quick to start, that misbehaves as its first argument says.

It takes requests while it works on others: each is answered by a thread of its own.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

HOW = sys.argv[1] if len(sys.argv) > 1 else ""
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
writing = threading.Lock()
answers = {}
answered = threading.Condition()
cancelled = set()
extra_tools: list[object] = []
watched: list[str] = []


def write(text):
    with writing:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def say(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def ask(id, method, params):
    """Ask the client; what it answers."""
    say({"id": id, "method": method, "params": params})
    with answered:
        answered.wait_for(lambda: id in answers, timeout=20)
        return answers.pop(id, None)


def tool(name, properties=None, **more):
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": properties or {},
        "additionalProperties": False,
    }
    return {
        "name": name,
        "title": name.title(),
        "inputSchema": schema,
        "execution": {"taskSupport": "forbidden"},
        **more,
    }


TEXT = {"type": "string"}
TOOLS = [
    tool("echo", {"text": TEXT}, description="Say it again.", annotations={"readOnlyHint": True}),
    tool("show", description="A picture.", annotations={"openWorldHint": False}),
    tool("fail", description="An error of the tool."),
    tool("refuse", description="An error of the protocol."),
    tool("break", description="An internal error."),
    tool("work", {"steps": {"type": "integer"}}, description="Tell how far it is."),
    tool("wait", {"seconds": {"type": "number"}}, description="Take its time."),
    tool("large", {"megabytes": {"type": "integer"}}, description="A large answer."),
    tool("die", description="The server is killed."),
    tool("garbage", {"what": TEXT}, description="What is no answer."),
    tool("flood", {"what": TEXT}, description="More than anybody wants."),
    tool("log", description="Say something beside the answer."),
    tool("grow", description="Have one more tool."),
    tool("touch", description="Change every resource that is watched."),
    tool("sample", description="Ask for a completion."),
    tool("elicit", description="Ask the person."),
    tool("roots", description="Ask for the roots."),
    tool("seen", description="What the server was given."),
    tool("route", {"region": {**TEXT, "x-mcp-header": "Region"}}, description="Go there."),
    tool("secret", description="Never shown."),
]


def text(said, **more):
    return {"result": {"content": [{"type": "text", "text": said}], **more}}


def called(id, params):
    name, given = params["name"], params.get("arguments", {})
    match name:
        case "echo":
            return text(
                str(given.get("text")), structuredContent={"n": 1.0, "e": 1e2}, _meta={"x/y": 1}
            )
        case "show":
            part = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
            return {"result": {"content": [{**part, "annotations": {"audience": ["user"]}}]}}
        case "fail":
            return text("it did not work", isError=True)
        case "refuse":
            return {"error": {"code": -32602, "message": "not like this", "data": {"field": "x"}}}
        case "break":
            return {"error": {"code": -32603, "message": "it broke"}}
        case "work":
            for step in range(given["steps"]):
                told = {
                    "progress": step + 1,
                    "total": given["steps"],
                    "message": f"step {step + 1}",
                }
                token = params.get("_meta", {}).get("progressToken")
                say(
                    {"method": "notifications/progress", "params": {"progressToken": token, **told}}
                )
            return text("worked")
        case "wait":
            end = time.monotonic() + given["seconds"]
            while time.monotonic() < end and id not in cancelled:
                time.sleep(0.01)
            return text("waited")
        case "large":
            return text("x" * (given["megabytes"] * 1_000_000))
        case "die":
            sys.stderr.write("Segmentation fault, as it were \x1b[31m\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        case "garbage":
            odd = {
                "half": f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[',
                "no-content": json.dumps({"id": id, "result": {"content": "text"}}),
                "no-result": json.dumps({"id": id}),
                "half-character": json.dumps(
                    {"id": id, "result": {"content": [{"type": "text", "text": "\ud800"}]}}
                ),
                "huge": f'{{"id":{id},"result":{{"structuredContent":{{"n":1e999}}}}}}',
                "list": json.dumps({"id": id, "result": [1]}),
            }
            write(odd[given["what"]])
            return None
        case "flood":
            if given["what"] == "stray":
                for _ in range(3000):
                    write("x" * 1000)
            elif given["what"] == "pings":
                for number in range(2000):
                    say({"id": number, "method": "sampling/createMessage", "params": {}})
            elif given["what"] == "logs":
                for _ in range(2000):
                    say(
                        {
                            "method": "notifications/message",
                            "params": {"level": "info", "data": "x" * 10_000},
                        }
                    )
            elif given["what"] == "progress":
                token = params.get("_meta", {}).get("progressToken")
                for step in range(2000):
                    told = {"progressToken": token, "progress": step, "message": "x" * 10_000}
                    say({"method": "notifications/progress", "params": told})
            elif given["what"] == "line":
                for _ in range(70):
                    with writing:
                        sys.stdout.write("x" * 1_000_000)
            time.sleep(60)
        case "log":
            say({"method": "notifications/message", "params": {"level": "info", "data": "a word"}})
            return text("logged")
        case "touch":
            for uri in watched:
                say({"method": "notifications/resources/updated", "params": {"uri": uri}})
            return text("touched")
        case "grow":
            extra_tools.append(tool(f"tool{len(extra_tools)}"))
            say({"method": "notifications/tools/list_changed"})
            return text("grown")
        case "sample":
            asked = {"messages": [], "maxTokens": 5}
            return text(json.dumps(ask("s-1", "sampling/createMessage", asked)))
        case "elicit":
            asked = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
            return text(json.dumps(ask("s-2", "elicitation/create", asked)))
        case "roots":
            return text(json.dumps(ask("s-3", "roots/list", {})))
        case "route":
            return text(given["region"])
        case "seen":
            seen = {
                "env": dict(os.environ),
                "cwd": os.getcwd(),
                "argv": sys.argv[1:],
                "client": client,
            }
            return text(json.dumps(seen))
        case _:
            pass
    return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}


def answer(message):
    id, method, params = message["id"], message["method"], message.get("params", {})
    match method:
        case "initialize":
            client.update(params)
            about = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {
                    "tools": {"listChanged": True},
                    "resources": {"subscribe": True},
                    "prompts": {},
                    "logging": {},
                    "completions": {},
                },
                "serverInfo": {"name": "real", "version": "9.9", "title": "A real one"},
                "instructions": "Be gentle.",
            }
            found = {"result": about}
        case "tools/list":
            if HOW == "lists-nothing":
                found = {"error": {"code": -32000, "message": "not today"}}
            elif params.get("cursor") is None:
                found = {"result": {"tools": TOOLS[:5], "nextCursor": "2"}}
            else:
                found = {"result": {"tools": [*TOOLS[5:], *extra_tools]}}
        case "tools/call":
            found = called(id, params)
        case "resources/list":
            listed = [{"uri": "memo://1", "name": "one", "size": 3}]
            found = {"result": {"resources": listed, "nextCursor": params.get("cursor", "more")}}
        case "resources/read":
            while params["uri"] == "memo://slow" and id not in cancelled:
                time.sleep(0.01)
            found = {"result": {"contents": [{"uri": params["uri"], "text": "abc", "odd": None}]}}
            if params["uri"] != "memo://1":
                found = {
                    "error": {
                        "code": -32002,
                        "message": "Resource not found",
                        "data": {"uri": params["uri"]},
                    }
                }
        case "prompts/list":
            found = {"result": {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]}}
        case "prompts/get":
            part = {"type": "text", "text": f"Hello {params['arguments']['who']}"}
            found = {"result": {"messages": [{"role": "user", "content": part}]}}
        case "completion/complete":
            found = {"result": {"completion": {"values": ["a", "b"], "total": 2}}}
        case "resources/subscribe":
            watched.append(params["uri"])
            found = {"result": {}}
        case "logging/setLevel":
            found = {"result": {}}
        case _:
            found = {"error": {"code": -32601, "message": "Method not found"}}
    if found is not None:
        say({"id": id, **found})


client: dict[str, object] = {}
if HOW == "greets":
    print("Welcome to the server!", flush=True)
if HOW == "stays":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "120"], start_new_session=True)
if HOW == "exits":
    sys.exit("no licence")
if HOW == "mute":
    time.sleep(60)
if HOW == "deaf":
    # It begins, and then reads no more.
    for _ in range(3):
        line = json.loads(sys.stdin.readline())
        if "id" in line:
            answer(line)
    answer(json.loads(sys.stdin.readline()))
    time.sleep(60)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "notifications/cancelled":
        cancelled.add(message["params"]["requestId"])
    elif "method" not in message:
        with answered:
            answers[message["id"]] = {
                key: message[key] for key in ("result", "error") if key in message
            }
            answered.notify_all()
    elif "id" in message:
        threading.Thread(target=answer, args=[message], daemon=True).start()
if HOW == "stays":
    time.sleep(120)
