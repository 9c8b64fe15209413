"""Trials with a real MCP server behind the gateway, for tests: opened as a run opens them."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
from tests import mcp_wire

from seatrial.documents import Answers, Server
from seatrial.gateway import Channel, Gateway
from seatrial.servers import ready

ROOT = Path(__file__).parents[1]
SCRIPT = "tests/servers/real.py"


def fixture(how: str = "", **more: Any) -> Server:
    """A fixture of the server in `tests/servers/real.py`, which behaves as `how` says."""
    reached = {"command": ["{python}", "{root}/" + SCRIPT, how]}
    if "url" in more or "command" in more:
        reached = {}
    return Server.model_validate(
        {"kind": "fixture", "type": "server", "id": "real", "seconds": 5, **reached, **more}
    )


def answers(**tools: Any) -> Answers:
    """Mocked answers: tool → what it answers."""
    mocked = {name: {"rules": [{"answer": answer}]} for name, answer in tools.items()}
    return Answers.model_validate(
        {"kind": "fixture", "type": "answers", "id": "mocks", "tools": mocked}
    )


@dataclass
class Trial:
    """One trial, and a client of it."""

    channel: Channel
    servers: tuple[Any, ...]
    http: httpx.AsyncClient
    server: str = "real"
    session: Mapping[str, str] | None = None

    async def post(self, message: Any, **headers: str) -> httpx.Response:
        more = {**(self.session or {}), **headers}
        return await mcp_wire.post(self.http, self.channel, message, server=self.server, **more)

    async def hello(self, **capabilities: Any) -> dict[str, Any]:
        """Begin a session; what the server says of itself."""
        asked = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        }
        reply = await self.post(mcp_wire.request("initialize", asked))
        self.session = {
            "mcp_session_id": reply.headers["mcp-session-id"],
            "mcp_protocol_version": "2025-11-25",
        }
        result: dict[str, Any] = reply.json()["result"]
        return result

    async def call(self, tool: str, id: Any = 1, **arguments: Any) -> dict[str, Any]:
        """Call a tool; the response."""
        response: dict[str, Any] = (await self.post(mcp_wire.call(tool, id, **arguments))).json()
        return response

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask for something else; the response."""
        response: dict[str, Any] = (await self.post(mcp_wire.request(method, params))).json()
        return response


@dataclass
class House:
    """A gateway, and servers behind it."""

    gateway: Gateway
    servers: Any
    http: httpx.AsyncClient

    @asynccontextmanager
    async def trial(
        self, *documents: Server, environment: str = "test", mocks: Answers | None = None
    ) -> AsyncIterator[Trial]:
        """A trial with these servers."""
        mocked = mocks.answered_here if mocks is not None else ()
        async with self.servers.open(documents, environment=environment, mocked=mocked) as servers:
            channel = self.gateway.open(servers, answers=mocks)
            try:
                yield Trial(channel, servers, self.http, documents[0].id)
            finally:
                channel.close()


@asynccontextmanager
async def house(environ: Mapping[str, str] | None = None) -> AsyncIterator[House]:
    """A gateway, and room for servers behind it."""
    given = {"PATH": os.environ["PATH"], **(environ or {})}
    async with (
        ready(ROOT, given) as servers,
        Gateway.serving() as gateway,
        httpx.AsyncClient(
            timeout=30, limits=httpx.Limits(max_connections=None), trust_env=False
        ) as http,
    ):
        yield House(gateway, servers, http)


def run(test: Callable[[House], Awaitable[None]], environ: Mapping[str, str] | None = None) -> None:
    """Run a test in a house; everything within a minute, and nothing left afterwards (Linux only)."""
    runs: list[str] = []

    async def within() -> None:
        with anyio.fail_after(60):
            async with house(environ) as opened:
                runs.append(opened.servers.run)
                await test(opened)

    before = descriptors()
    anyio.run(within)
    assert not processes_of(runs[0]), "processes are left"
    assert descriptors() <= before, "descriptors are left"


def under_way(trial: Trial) -> bool:
    """Whether a request of the trial has reached the gateway, and waits there for its server."""
    lines = trial.channel.lines.values()
    sessions = [s for line in lines for s in (line.sessionless, *line.sessions.values())]
    return any(session.calls for session in sessions)


async def until(happened: Callable[[], object]) -> None:
    """Look again and again; every test has an end."""
    while not happened():  # noqa: ASYNC110  (nothing tells of it)
        await anyio.sleep(0.005)


async def given_up(trial: Trial, tool: str, **arguments: Any) -> None:
    """Call a tool, and hang up while the server works on it."""
    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            await trial.call(tool, **arguments)

        tasks.start_soon(call)
        await until(lambda: under_way(trial))
        tasks.cancel_scope.cancel()


def processes_of(run: str) -> set[str]:
    """Every process that carries the mark of a run."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"SEATRIAL_RUN={run}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.add(f"{entry.name} {(entry / 'cmdline').read_bytes()!r}")
        except OSError:  # another's, or gone by now
            continue
    return found


def descriptors() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
