"""What a tool call costs in the gateway's process, beside a server built on the MCP SDK, in one run.

`real` is a call that goes on to a real MCP server, a child process; it is held against a gateway that is
built on the SDK's low-level server in front and its client behind.

Each server runs in a process of its own and does nothing else; the load comes from this one, over
sockets kept open. The time counted is the CPU time of the server's process alone. Rounds alternate
between the servers, so that a busy machine slows all of them alike; medians are shown.

    python benchmarks/bench_gateway.py [--calls 2000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp import Client, StdioServerParameters, types
from mcp.server.lowlevel import Server

from seatrial.documents import Answers
from seatrial.documents import Server as ServerFixture
from seatrial.gateway import Channel, Gateway
from seatrial.gateway import record as records
from seatrial.servers import ready
from seatrial.tools import Tool
from seatrial.trace import Answer

TEXT = {"type": "string"}
ARGUMENTS = {"type": "object", "properties": {"thing": TEXT}, "required": ["thing"]}
ANSWER = {
    "type": "object",
    "properties": {"thing": TEXT, "holder": TEXT},
    "required": ["thing", "holder"],
}
CONNECTIONS = 4
LANES = ("mock", "script", "world", "real")
ROLES = ("gateway", "gateway on the SDK", "SDK alone", "real gateway", "real gateway on the SDK")
CHILD = Path(__file__).with_name("real_server.py")

TARGETS = {"world": 0.7, "mock": 0.4, "script": 0.4, "real": 0.7, "ratio": 0.5, "open": 0.1}
"""ms of CPU; `ratio` to a gateway with the same channel and the SDK's server on the wire. `script`: a mocked answer
by rules over arguments and state, with a sequence, placeholders, and draws of what goes wrong."""


# The servers, each in its own process: they print where they are, then answer `cpu` on stdin


def tool_server() -> Any:
    class Desk:
        name, instructions, version = "desk", "", 0
        _tools = tuple(
            Tool(
                name=name,
                description="Who has a thing.",
                input_schema=ARGUMENTS,
                output_schema=ANSWER,
                read_only=True,
            )
            for name in ("look_up", "mocked", "scripted")
        )

        def tools(self) -> tuple[Tool, ...]:
            return self._tools

        async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
            found = {"thing": arguments["thing"], "holder": "desk"}
            return Answer.of_text(json.dumps(found), structured=found)

    return Desk()


def mocked_answers() -> Answers:
    rules = [
        {"when": {"thing": {"starts_with": "x"}}, "answer": {"thing": "x", "holder": "x"}},
        {"answer": {"thing": "{{args.thing}}", "holder": "desk"}},
    ]
    scripted = {
        "rules": [
            {"when": {"thing": {"starts_with": "x"}}, "answer": {"thing": "x", "holder": "x"}},
            {"state": {"calls": {"lt": 0}}, "answer": {"thing": "x", "holder": "x"}},
            {
                "when": {"thing": {"present": True}},
                "sequence": [{"answer": {"thing": "{{args.thing}}", "holder": "{{state.desk}}"}}],
                "add": {"calls": 1},
            },
        ],
        "fail": {"share": 1e-12},
        "broken": {"how": "html", "share": 1e-12},
    }
    fixture = {
        "kind": "fixture",
        "type": "answers",
        "id": "a",
        "state": {"calls": 0, "desk": "desk"},
        "tools": {"mocked": {"rules": rules}, "scripted": scripted},
    }
    return Answers.model_validate(fixture)


async def serve_real() -> None:
    command = [sys.executable, str(CHILD)]
    fixture = {"kind": "fixture", "type": "server", "id": "desk", "command": command}
    document = ServerFixture.model_validate(fixture)
    async with (
        ready(Path.cwd(), dict(os.environ)) as servers,
        Gateway.serving() as gateway,
        servers.open([document], environment="test", mocked=()) as opened,
    ):
        channel = gateway.open(opened)
        await report(channel.url("desk"), channel.headers)


async def serve_real_on_sdk() -> None:
    behind = StdioServerParameters(command=sys.executable, args=[str(CHILD)])
    async with Client(behind, mode="legacy") as client:

        async def on_list_tools(context: Any, params: Any) -> types.ListToolsResult:
            return await client.list_tools()

        async def on_call_tool(context: Any, params: Any) -> types.CallToolResult:
            return await client.call_tool(params.name, params.arguments)

        await serve_on_sdk(on_list_tools, on_call_tool)


async def serve_gateway() -> None:
    async with Gateway.serving() as gateway:
        channel = gateway.open([tool_server()], answers=mocked_answers())
        await report(channel.url("desk"), channel.headers)


async def serve_sdk(*, gateway: bool) -> None:
    """A server on the SDK that only answers, or one that has a channel behind it: a gateway."""
    channel = Channel([tool_server()], answers=mocked_answers())
    line = channel.lines["desk"]

    async def on_list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool(name="look_up", input_schema=ARGUMENTS, output_schema=ANSWER)]
        )

    async def on_call_tool(context: Any, params: Any) -> types.CallToolResult:
        if gateway:
            answer = await channel.finish(
                channel.begin(line, params.name, params.arguments, size=20)
            )
            text, found = answer.text, answer.structured
        else:
            found = {"thing": params.arguments["thing"], "holder": "desk"}
            text = json.dumps(found)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=found
        )

    await serve_on_sdk(on_list_tools, on_call_tool)


async def serve_on_sdk(on_list_tools: Any, on_call_tool: Any) -> None:
    server: Any = Server(
        "desk",
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
        get_tool_input_schema=lambda name: None,  # else it lists the tools before every call
    )
    app = server.streamable_http_app(json_response=True)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", access_log=False)
    config.load()
    web = uvicorn.Server(config)
    web.lifespan = config.lifespan_class(config)
    await web.startup([listener])
    await report(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", {})
    await web.shutdown([listener])


async def serve(role: str) -> None:
    # One trial makes more calls here than any may: beyond its limit a call would cost next to nothing.
    records.MOST_RECORDED = 10**12
    match role:
        case "gateway":
            await serve_gateway()
        case "real gateway":
            await serve_real()
        case "real gateway on the SDK":
            await serve_real_on_sdk()
        case _:
            await serve_sdk(gateway=role != "SDK alone")


async def report(url: str, headers: dict[str, str]) -> None:
    print(json.dumps({"url": url, "headers": headers}), flush=True)
    while (await anyio.to_thread.run_sync(sys.stdin.readline)).strip() == "cpu":
        print(time.process_time(), flush=True)


# The load


@dataclass
class Process:
    """A server in its own process."""

    process: subprocess.Popen[str]
    port: int
    path: str
    headers: dict[str, str]

    @classmethod
    def start(cls, role: str) -> Process:
        process = subprocess.Popen(
            [sys.executable, __file__, "--serve", role],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        place = json.loads(process.stdout.readline())
        port, _, path = place["url"].removeprefix("http://127.0.0.1:").partition("/")
        return cls(process, int(port), "/" + path, place["headers"])

    def cpu(self) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("cpu\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def stop(self) -> None:
        self.process.communicate("stop\n", timeout=20)

    def request(self, message: dict[str, Any], headers: dict[str, str]) -> bytes:
        body = json.dumps(message).encode()
        head = {
            "host": f"127.0.0.1:{self.port}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "user-agent": "bench",
            "content-length": str(len(body)),
            **self.headers,
            **headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        return f"POST {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + body

    def post(self, message: dict[str, Any], headers: dict[str, str]) -> tuple[dict[str, str], Any]:
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(self.request(message, headers))
            got, body = _response(connection)
        return got, json.loads(body) if body else None

    def cost(self, message: dict[str, Any], headers: dict[str, str], calls: int) -> float:
        """Milliseconds of the server's CPU per call."""

        def load(number: int) -> int:
            # A request id of its own: the SDK's server mixes up two under way with the same one.
            request = self.request({**message, "id": number}, headers)
            with socket.create_connection(("127.0.0.1", self.port)) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for _ in range(calls // CONNECTIONS):
                    connection.sendall(request)
                    _response(connection)
            return calls // CONNECTIONS

        before = self.cpu()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            made = sum(pool.map(load, range(CONNECTIONS)))
        return (self.cpu() - before) / made * 1000


def _response(connection: socket.socket) -> tuple[dict[str, str], bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    assert status.split()[1][0] == "2", (status, body)
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return headers, body


def handshake_era(server: Process) -> Callable[[str], tuple[dict[str, Any], dict[str, str]]]:
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    }
    got, _ = server.post(hello, {})
    headers = {"mcp-protocol-version": "2025-11-25", "mcp-session-id": got["mcp-session-id"]}
    server.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers)
    return lambda tool: (_call(tool, {}), headers)


def modern_era(server: Process) -> Callable[[str], tuple[dict[str, Any], dict[str, str]]]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"}
    return lambda tool: (_call(tool, {"_meta": meta}), {**headers, "mcp-name": tool})


def _call(tool: str, more: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": {"thing": "saw"}, **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def over_http(calls: int, rounds: int) -> dict[str, Any]:
    gateway, on_sdk, sdk, real, real_on_sdk = map(Process.start, ROLES)
    figures: dict[str, Any] = {}
    try:
        for era, prepare in (("2025-11-25", handshake_era), ("2026-07-28", modern_era)):
            ours, theirs, bare = prepare(gateway), prepare(on_sdk), prepare(sdk)
            our_real, their_real = prepare(real), prepare(real_on_sdk)
            lanes = {
                "mock": (gateway, ours("mocked")),
                "mock on the SDK": (on_sdk, theirs("mocked")),
                "script": (gateway, ours("scripted")),
                "script on the SDK": (on_sdk, theirs("scripted")),
                "world": (gateway, ours("look_up")),
                "world on the SDK": (on_sdk, theirs("look_up")),
                "real": (real, our_real("look_up")),
                "real on the SDK": (real_on_sdk, their_real("look_up")),
                "SDK alone": (sdk, bare("look_up")),
            }
            for server, request in lanes.values():
                _, answer = server.post(*request)
                found = answer["result"].get("structuredContent")
                assert found == {"thing": "saw", "holder": "desk"}, answer
                server.cost(*request, 200)
            costs: dict[str, list[float]] = {name: [] for name in lanes}
            for _ in range(rounds):
                for name, (server, request) in lanes.items():
                    costs[name].append(server.cost(*request, calls))
            figures[era] = {name: round(statistics.median(c), 3) for name, c in costs.items()}
            for lane in LANES:
                pairs = zip(costs[lane], costs[f"{lane} on the SDK"], strict=True)
                figures[era][f"{lane} ratio"] = round(statistics.median(a / b for a, b in pairs), 2)
    finally:
        for server in (gateway, on_sdk, sdk, real, real_on_sdk):
            server.stop()
    return figures


def in_process(calls: int, rounds: int) -> dict[str, float]:
    answers, gateway, desk = mocked_answers(), Gateway(), tool_server()

    def open_all() -> None:
        for _ in range(calls):
            gateway.open([desk], answers=answers, lookup={"run": "r"}, clock=lambda: 0.0).close()

    async def call(tool: str) -> None:
        channel = gateway.open([desk], answers=answers)
        for _ in range(calls):
            await channel.call(tool, {"thing": "saw"})
        channel.close()

    def per_call(work: Callable[[], object], count: int) -> float:
        times = []
        for _ in range(rounds):
            start = time.process_time()
            work()
            times.append((time.process_time() - start) / count * 1000)
        return round(statistics.median(times), 4)

    return {
        "open": per_call(open_all, calls),
        "mock": per_call(lambda: anyio.run(call, "mocked"), calls),
        "script": per_call(lambda: anyio.run(call, "scripted"), calls),
        "world": per_call(lambda: anyio.run(call, "look_up"), calls),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", choices=ROLES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        anyio.run(serve, options.serve)
        return 0
    http = over_http(options.calls, options.rounds)
    local = in_process(options.calls, options.rounds)
    print("ms of CPU per call over HTTP, in the server's process alone")
    for era, figures in http.items():
        print(f"  {era}  " + "  ".join(f"{name} {value}" for name, value in figures.items()))
    print("ms of CPU in this process")
    print("  " + "  ".join(f"{name} {value}" for name, value in local.items()))
    missed = [
        f"{era} {lane}"
        for era, figures in http.items()
        for lane in LANES
        if figures[lane] > TARGETS[lane] or figures[f"{lane} ratio"] > TARGETS["ratio"]
    ]
    missed += ["open"] if local["open"] > TARGETS["open"] else []
    print("missed: " + ", ".join(missed) if missed else "all targets reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
