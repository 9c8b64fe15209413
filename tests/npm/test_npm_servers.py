"""Servers from npm behind the gateway and talked to directly: the same tools, and the same answers byte for byte.

`make test-npm` installs them. Each is given a thousand requests on both ways, in the same order.
"""

import base64
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from tests import mcp_wire
from tests.real_servers import House, Trial, run

from seatrial.documents import Server

MODULES = Path(os.environ.get("SEATRIAL_NPM", "no such folder")) / "node_modules"
SERVERS = MODULES / "@modelcontextprotocol"
COUNT = 1000
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

pytestmark = [
    pytest.mark.npm,
    pytest.mark.skipif(
        not SERVERS.is_dir(), reason="no servers from npm: SEATRIAL_NPM names no folder with them"
    ),
]

Request = tuple[str, dict[str, Any]]


class Direct:
    """A server that is talked to on its stdin and stdout, with nothing between."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout
        self._unread = b""

    async def line(self) -> bytes:
        """The next line that it writes."""
        while b"\n" not in self._unread:
            self._unread += await self._stdout.receive()
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    async def send(self, message: Mapping[str, Any]) -> None:
        await self._stdin.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def ask(self, id: int, method: str, params: Mapping[str, Any]) -> list[bytes]:
        """What it writes until it has answered: its answer comes last."""
        await self.send({"id": id, "method": method, "params": params})
        lines = []
        while True:
            lines.append(await self.line())
            if json.loads(lines[-1]).get("id") == id:
                return lines


@asynccontextmanager
async def direct(command: list[str], env: dict[str, str]) -> AsyncIterator[Direct]:
    async with await anyio.open_process(command, env=env, stderr=None) as process:
        server = Direct(process)
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        await server.ask(0, "initialize", hello)
        await server.send({"method": "notifications/initialized"})
        yield server
        process.terminate()


async def asked(trial: Trial, id: int, method: str, params: Mapping[str, Any]) -> list[bytes]:
    """What the gateway sends until it has answered."""
    reply = await trial.post(mcp_wire.request(method, params, id))
    if reply.headers["content-type"] != "text/event-stream":
        return [reply.content]
    lines = reply.content.splitlines()
    return [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]


def result_in(lines: list[bytes]) -> str:
    """The result of an answer as text: its keys in their order, its numbers as they are written."""
    return json.dumps(json.loads(lines[-1])["result"])


def compare(
    name: str,
    arguments: list[str],
    requests: Iterator[Request],
    *,
    env: Mapping[str, str] | None = None,
    direct_env: Mapping[str, str] | None = None,
) -> None:
    """Make every request on both ways, and hold what comes against each other."""
    command = ["node", str(SERVERS / name / "dist" / "index.js"), *arguments]
    fixture = Server.model_validate(
        {
            "kind": "fixture",
            "type": "server",
            "id": "real",
            "command": command,
            "env": dict(env or {}),
        }
    )
    environ = {"PATH": os.environ["PATH"], "HOME": "/", "TMPDIR": "/tmp", **(direct_env or {})}

    async def check(house: House) -> None:
        async with (
            direct(command, environ) as plain,
            house.trial(fixture) as trial,
        ):
            await trial.hello()
            made = 0
            for made, (method, params) in enumerate(requests, 1):
                here = await plain.ask(made, method, params)
                there = await asked(trial, made, method, params)
                if method == "tools/list":  # the gateway's own message, for it may hide some
                    assert result_in(there) == result_in(here)
                else:
                    assert there == here, (method, params)
            assert made >= COUNT
            assert trial.channel.faults == ()
            assert len(trial.channel.events) == made

    run(check)


def call(name: str, **arguments: Any) -> Request:
    return "tools/call", {"name": name, "arguments": arguments}


def test_the_everything_server_is_the_same_behind_the_gateway():
    def requests() -> Iterator[Request]:
        yield "tools/list", {}
        yield "resources/list", {}
        yield "resources/templates/list", {}
        yield "prompts/list", {}
        yield "no/such/method", {}
        yield "resources/read", {"uri": "demo://no/such"}
        yield "prompts/get", {"name": "simple-prompt"}
        yield "prompts/get", {"name": "args-prompt", "arguments": {"city": "Brest"}}
        yield "prompts/get", {"name": "no-such-prompt"}
        for steps in (1, 4):
            yield (
                "tools/call",
                {
                    "name": "trigger-long-running-operation",
                    "arguments": {"duration": 0.1, "steps": steps},
                    "_meta": {"progressToken": f"p-{steps}"},
                },
            )
        for number in range(COUNT // 8):
            yield call("echo", message=f'Ahoi {number} äöü \u2028 \\ " </script>')
            yield call("get-sum", a=number, b=0.1)
            yield call("get-tiny-image")
            yield call("get-annotated-message", messageType="error", includeImage=True)
            yield call("get-structured-content", location="New York")
            yield call("get-resource-links", count=number % 5 + 1)
            yield call("get-sum", a="one")
            yield call("no-such-tool", x=[number, None, {}])

    compare("server-everything", ["stdio"], requests())


def test_the_everything_server_has_the_same_tools_for_a_client_that_can_be_asked():
    client = {
        "roots": [{"uri": "file:///data"}],
        "sampling": {"text": "yes"},
        "elicitation": {"action": "decline"},
    }

    async def check(house: House) -> None:
        command = ["node", str(SERVERS / "server-everything" / "dist" / "index.js"), "stdio"]
        fixture = Server.model_validate(
            {
                "kind": "fixture", "type": "server", "id": "real", "command": command,
                "client": client,
            }
        )  # fmt: skip
        async with house.trial(fixture) as trial:
            listed = (await trial.ask("tools/list"))["result"]["tools"]
            names = {tool["name"] for tool in listed}
            sampled = await trial.call("trigger-sampling-request", prompt="Hello", maxTokens=5)
            elicited = await trial.call("trigger-elicitation-request")

            assert {"trigger-sampling-request", "trigger-elicitation-request"} <= names
            assert "yes" in sampled["result"]["content"][0]["text"]
            assert "declined" in elicited["result"]["content"][0]["text"]

    run(check)


def test_the_filesystem_server_is_the_same_behind_the_gateway(tmp_path: Path):
    folder = tmp_path.resolve() / "files"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "one.txt").write_text("first\nsecond\nthird\n", encoding="utf-8")
    (folder / "deep" / "two.md").write_text("# Title\n\nä\n", encoding="utf-8")
    (folder / "pixel.png").write_bytes(base64.b64decode(PIXEL))

    def requests() -> Iterator[Request]:
        yield "tools/list", {}
        yield call("list_allowed_directories")
        for number in range(COUNT // 10):
            yield call("read_text_file", path=str(folder / "one.txt"))
            yield call("read_text_file", path=str(folder / "one.txt"), head=1)
            yield call("read_media_file", path=str(folder / "pixel.png"))
            yield call("list_directory", path=str(folder))
            yield call("directory_tree", path=str(folder))
            yield call("search_files", path=str(folder), pattern="**/*.md")
            yield call("write_file", path=str(folder / "new.txt"), content=f"no. {number}")
            yield call("read_text_file", path="/etc/passwd")
            yield call("read_text_file", path=str(folder / "absent.txt"))
            yield call("move_file", source=str(folder / "absent.txt"))

    compare("server-filesystem", [str(folder)], requests())


def test_the_memory_server_is_the_same_behind_the_gateway(tmp_path: Path):
    def requests() -> Iterator[Request]:
        yield "tools/list", {}
        for number in range(COUNT // 5):
            name = f"e-{number % 8}"
            entity = {"name": name, "entityType": "boat", "observations": [f"seen {number}"]}
            yield call("create_entities", entities=[entity])
            yield call("open_nodes", names=[name])
            yield call("search_nodes", query=f"seen {number - 1}")
            yield call("delete_entities", entityNames=[f"e-{(number + 4) % 8}"])
            yield call("add_observations", observations=[{"entityName": "none", "contents": []}])

    compare(
        "server-memory",
        [],
        requests(),
        # Each way has its own file: both start from nothing.
        env={"MEMORY_FILE_PATH": "{scratch}/memory.jsonl"},
        direct_env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
    )
