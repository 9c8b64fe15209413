"""The official MCP SDK in front of the gateway: 2.x in each of its modes, and 1.x; over HTTP and over stdio."""

import json
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult
from tests.connecting import over_http, over_stdio, program
from tests.lending_desk import TOOLS, LendingDesk

from seatrial.documents import Answers
from seatrial.gateway import Channel, Gateway
from seatrial.trace import Called, Json

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "fixtures" / "mcp1_client.py"

ANSWERS = Answers.model_validate(
    {
        "kind": "fixture",
        "type": "answers",
        "id": "quiet-day",
        "tools": {"list_all": {"rules": [{"answer": "nothing on {{today}}", "delay_ms": 1}]}},
    }
)


class NoScrapping:
    def refusal(self, action: str, arguments: dict[str, Json]) -> str | None:
        return "nobody may scrap" if action == "scrap" else None

    def visible(self, action: str) -> bool:
        return True


def opened(gateway: Gateway) -> Channel:
    return gateway.open(
        [LendingDesk()], rights=NoScrapping(), answers=ANSWERS, lookup={"today": "2026-04-01"}
    )


def found(version: str, *, modern: bool) -> dict[str, Any]:
    """What every client must see."""
    return {
        "version": version,
        "server": "desk",
        "instructions": "Ask before you scrap anything.",
        "tools": [tool.name for tool in TOOLS],
        "read_only": [tool.name for tool in TOOLS if tool.read_only],
        "found": {
            "text": '{"thing": "saw", "holder": "desk"}',
            "kinds": ["text"],
            "structured": {"thing": "saw", "holder": "desk"},
            "error": False,
        },
        "lost": _said("no lamp here", error=True),
        "mocked": _said("nothing on 2026-04-01"),
        "unknown": _said("Unknown tool: steal", error=True),
        "misfit": _said("Invalid arguments for look_up: thing is required", error=True),
        "refused": _said("Not allowed: nobody may scrap", error=True),
        "picture": {
            "text": "a drill",
            "kinds": ["text", "image"],
            "structured": None,
            "error": False,
        },
        "counted": _said("2") | {"structured": 2 if modern else None},
        "large": 3_000_000,
        "together": ["desk"] * 20,
        "died": -32603,
        "resources": -32601,
    }


def _said(text: str, *, error: bool = False) -> dict[str, Any]:
    return {"text": text, "kinds": ["text"], "structured": None, "error": error}


def check_record(channel: Channel) -> None:
    """What a client did is written down, whichever client it was."""
    calls = [event for event in channel.events if isinstance(event, Called)]
    assert [call.number for call in calls] == list(range(1, len(calls) + 1))
    assert [call.tool for call in calls] == (
        ["look_up"] * 22
        + ["list_all", "steal", "look_up", "scrap", "picture", "count", "print", "die"]
    )
    assert [call.tool for call in calls if call.refused] == ["scrap"]
    assert [call.tool for call in calls if call.answered_by == "mock"] == ["list_all"]
    assert [call.tool for call in calls if call.answered_by == "gateway"] == [
        "steal", "look_up", "scrap", "die",
    ]  # fmt: skip
    assert not any(call.changed for call in calls)
    assert [fault.cause for fault in channel.faults] == ["tool_server"]


@pytest.mark.parametrize("connected", [over_http, over_stdio])
@pytest.mark.parametrize(
    ("mode", "version"),
    [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")],
)
def test_a_client_on_the_2_x_line_sees_what_an_agent_should(
    connected: Any, mode: Any, version: str
):
    modern = version == "2026-07-28"

    async def check() -> None:
        with anyio.fail_after(60):
            async with Gateway.serving() as gateway:
                channel = opened(gateway)
                async with connected(channel, "desk", mode) as client:
                    seen = await _look_around(client)
                    assert client.protocol_version == version
                # A pinned version skips discovery, and with it what the server says of itself.
                expected = found(version, modern=modern)
                if mode == version:
                    expected |= {"server": None, "instructions": None}
                assert seen == expected
                check_record(channel)

    anyio.run(check)


async def _look_around(client: Client) -> dict[str, Any]:
    tools = (await client.list_tools()).tools
    together: list[Json] = []

    async def look_up() -> None:
        result = await client.call_tool("look_up", {"thing": "saw"})
        together.append(result.structured_content["holder"])

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(look_up)
    return {
        "version": client.protocol_version,
        "server": client.server_info.name if client.server_info else None,
        "instructions": client.instructions,
        "tools": [tool.name for tool in tools],
        "read_only": [t.name for t in tools if t.annotations and t.annotations.read_only_hint],
        "found": _shown(await client.call_tool("look_up", {"thing": "saw"})),
        "lost": _shown(await client.call_tool("look_up", {"thing": "lamp"})),
        "mocked": _shown(await client.call_tool("list_all", {})),
        "unknown": _shown(await client.call_tool("steal", {})),
        "misfit": _shown(await client.call_tool("look_up", {})),
        "refused": _shown(await client.call_tool("scrap", {"thing": "saw"})),
        "picture": _shown(await client.call_tool("picture", {})),
        "counted": _shown(await client.call_tool("count", {})),
        "large": len(_shown(await client.call_tool("print", {"letters": 3_000_000}))["text"]),
        "together": together,
        "died": await _code_of(client.call_tool("die", {})),
        "resources": await _code_of(client.list_resources()),
    }


def _shown(result: CallToolResult) -> dict[str, Any]:
    return {
        "text": "".join(part.text for part in result.content if part.type == "text"),
        "kinds": [part.type for part in result.content],
        "structured": result.structured_content,
        "error": result.is_error,
    }


async def _code_of(call: Coroutine[Any, Any, object]) -> int | None:
    try:
        await call
    except MCPError as error:
        return error.code
    return None


@pytest.mark.parametrize("connected", [over_http, over_stdio])
def test_a_client_that_listens_is_acknowledged_and_told_when_the_trial_ends(connected: Any):
    async def check() -> None:
        with anyio.fail_after(30):
            async with Gateway.serving() as gateway:
                channel = opened(gateway)
                async with (
                    connected(channel, "desk", "auto") as client,
                    client.listen(tools_list_changed=True) as subscription,
                ):
                    assert not subscription.honored.tools_list_changed
                    channel.close()
                    assert [event async for event in subscription] == []

    anyio.run(check)


@pytest.mark.parametrize("connected", [over_http, over_stdio])
def test_a_call_a_client_gives_up_on_is_stopped_and_recorded(connected: Any):
    async def check() -> None:
        with anyio.fail_after(30):
            async with Gateway.serving() as gateway:
                for mode in ("auto", "legacy"):
                    desk = LendingDesk()
                    channel = gateway.open([desk])
                    async with connected(channel, "desk", mode) as client:
                        async with anyio.create_task_group() as tasks:
                            tasks.start_soon(client.call_tool, "queue", {"thing": "saw"})
                            await desk.someone_waits.wait()
                            tasks.cancel_scope.cancel()
                        await desk.someone_left.wait()
                        await anyio.wait_all_tasks_blocked()
                    (event,) = (e for e in channel.events if isinstance(e, Called))
                    assert event.answer.is_error
                    assert "the client" in event.answer.text
                    assert desk.holders["saw"] == "desk"

    anyio.run(check)


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_client_on_the_1_x_line_sees_what_an_agent_should(tmp_path: Path, transport: str):
    python = _python_with_mcp_1()

    async def check() -> None:
        with anyio.fail_after(60):
            async with Gateway.serving() as gateway:
                channel = opened(gateway)
                config = tmp_path / "mcp.json"
                servers = channel.config()
                if transport == "stdio":
                    servers = {"mcpServers": {"desk": program(channel, "desk")}}
                config.write_text(json.dumps(servers), encoding="utf-8")
                done = await anyio.run_process([python, str(SCRIPT), str(config)], check=False)
                assert done.returncode == 0, done.stderr.decode()
                assert json.loads(done.stdout) == found("2025-11-25", modern=False)
                check_record(channel)

    anyio.run(check)


def _python_with_mcp_1() -> str:
    """The interpreter that `make test` sets up; the test is left out only where nobody has."""
    named = os.environ.get("SEATRIAL_MCP1_PYTHON")
    if named:
        return named
    usual = ROOT / ".venvs" / "mcp1" / "bin" / "python"
    if not usual.exists():
        pytest.skip(f"no interpreter with mcp 1.x: {usual} is absent (`make setup` makes it)")
    return str(usual)
