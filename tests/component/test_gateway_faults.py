"""What goes wrong on purpose, as real clients meet it: the official SDK on its 2.x and 1.x line, and plain HTTP."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from tests.lending_desk import LendingDesk
from tests.mcp_wire import call, post, run, serving

from seatrial.documents import Answers
from seatrial.gateway import Channel, Gateway
from seatrial.trace import Called

ROOT = Path(__file__).parents[2]
FOUND = {"thing": "{{args.thing}}", "holder": "Ada"}


def opened(gateway: Gateway, sleep: Any = anyio.sleep, **entry: Any) -> Channel:
    entry = {"answer": FOUND, **entry}
    fixture = {"kind": "fixture", "type": "answers", "id": "a", "tools": {"look_up": entry}}
    return gateway.open([LendingDesk()], answers=Answers.model_validate(fixture), sleep=sleep)


def only_call(channel: Channel) -> Called:
    (event,) = (event for event in channel.events if isinstance(event, Called))
    assert channel.faults == ()
    return event


def with_client(mode: Any, entry: dict[str, Any], use: Callable[[Any, Channel], Any]) -> None:
    async def check() -> None:
        with anyio.fail_after(30):
            async with Gateway.serving() as gateway:
                channel = opened(gateway, **entry)
                async with (
                    httpx2.AsyncClient(headers=channel.headers) as http,
                    Client(
                        streamable_http_client(channel.url("desk"), http_client=http), mode=mode
                    ) as client,
                ):
                    await client.list_tools()  # clients hold answers against what was listed
                    await use(client, channel)

    anyio.run(check)


TOOL_LEVEL: list[tuple[dict[str, Any], str]] = [
    (
        {"fail": {"message": "Busy.", "code": 429, "retry_after": 3}},
        "Busy. (code 429; retry after 3 s)",
    ),
    ({"broken": "cut_off"}, '{"thing": "saw",'),
    ({"broken": "html"}, "<!DOCTYPE html>"),
    ({"broken": "empty"}, ""),
    ({"broken": "wrong_type"}, '[{"thing": "saw", "holder": "Ada"}]'),
]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("entry", "text"), TOOL_LEVEL, ids=lambda value: str(value)[:30])
def test_what_goes_wrong_at_the_tool_is_read_by_the_model_and_refused_by_no_client(
    mode: str, entry: dict[str, Any], text: str
):
    async def use(client: Any, channel: Channel) -> None:
        result = await client.call_tool("look_up", {"thing": "saw"})
        assert result.is_error
        assert result.content[0].text.startswith(text)
        assert only_call(channel).fault is not None

    with_client(mode, entry, use)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_oversized_answer_fits_the_schema_and_reaches_the_client(mode: str):
    async def use(client: Any, channel: Channel) -> None:
        result = await client.call_tool("look_up", {"thing": "saw"})
        assert not result.is_error
        assert len(result.content[0].text) >= 300_000
        assert set(result.structured_content) == {"thing", "holder"}
        assert len(only_call(channel).answer.text) < 3000

    with_client(mode, {"broken": {"how": "oversized", "bytes": 300_000}}, use)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("how", ["status", "html", "empty", "rpc_error"])
def test_what_goes_wrong_on_the_wire_is_the_clients_to_report_and_the_next_call_works(
    mode: str, how: str
):
    async def use(client: Any, channel: Channel) -> None:
        with pytest.raises(MCPError):
            await client.call_tool("look_up", {"thing": "saw"}, read_timeout_seconds=5)
        event = only_call(channel)
        assert event.fault == f"wire: {how}"
        assert event.answer.is_error
        again = await client.call_tool("look_up", {"thing": "lamp"})
        assert again.structured_content == {"thing": "lamp", "holder": "Ada"}

    with_client(mode, {"wire": {"how": how, "calls": [1]}}, use)


# --- byte for byte ---


def test_a_status_comes_with_a_page_and_the_time_to_wait():
    async def test(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = opened(gateway, wire={"how": "status", "status": 429, "retry_after": 7})

        response = await post(client, channel, call("look_up", thing="saw"))

        assert response.status_code == 429
        assert response.headers["retry-after"] == "7"
        assert response.headers["content-type"].startswith("text/html")
        assert only_call(channel).fault == "wire: status"

    run(test)


@pytest.mark.parametrize(("how", "body"), [("html", "<!DOCTYPE html>"), ("empty", "")])
def test_a_page_or_nothing_comes_with_status_200(how: str, body: str):
    async def test(gateway: Gateway, client: httpx.AsyncClient) -> None:
        response = await post(client, opened(gateway, wire=how), call("look_up", thing="saw"))

        assert response.status_code == 200
        assert response.text[:15] == body

    run(test)


def test_an_error_of_the_protocol_has_the_code_and_the_words_that_were_asked_for():
    async def test(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = opened(gateway, wire={"how": "rpc_error", "code": -32050, "message": "Not now"})

        response = await post(client, channel, call("look_up", thing="saw"))

        assert response.json()["error"] == {"code": -32050, "message": "Not now"}
        assert only_call(channel).fault == "wire: rpc_error"

    run(test)


def test_a_dropped_connection_gives_no_response_and_harms_no_other_trial():
    async def test(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel, sibling = opened(gateway, wire="dropped"), opened(gateway)

        with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
            await post(client, channel, call("look_up", thing="saw"))

        assert only_call(channel).fault == "wire: dropped"
        assert (await post(client, sibling, call("look_up", thing="saw"))).status_code == 200

    run(test)


def test_a_body_that_is_cut_off_is_shorter_than_it_was_announced():
    async def test(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = opened(gateway, wire="cut_off")

        with pytest.raises(httpx.RemoteProtocolError, match="closed connection without sending"):
            await post(client, channel, call("look_up", thing="saw"))

        # What was answered is recorded as it would have been.
        event = only_call(channel)
        assert event.fault == "wire: cut_off"
        assert event.answer.structured == {"thing": "saw", "holder": "Ada"}

    run(test)


def test_a_trickle_brings_the_whole_answer_drop_by_drop():
    naps: list[float] = []

    async def sleep(seconds: float) -> None:
        naps.append(seconds)
        await anyio.lowlevel.checkpoint()

    async def test(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = opened(gateway, sleep, wire={"how": "trickle", "bytes_per_second": 50})

        response = await post(client, channel, call("look_up", thing="saw"))

        size = len(response.content)
        assert response.json()["result"]["structuredContent"]["holder"] == "Ada"
        assert len(naps) == -(-size // 5)
        assert set(naps) == {0.1}

    run(test)


def test_a_trickle_ends_when_its_trial_ends_or_its_client_is_gone():
    async def test(gateway: Gateway, client: httpx.AsyncClient) -> None:
        napping = anyio.Event()

        async def sleep(seconds: float) -> None:
            napping.set()
            await anyio.sleep_forever()

        ended = opened(gateway, sleep, wire="trickle")
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(httpx.RemoteProtocolError):
                    await post(client, ended, call("look_up", thing="saw"))

            tasks.start_soon(ask)
            await napping.wait()
            ended.close()

        napping = anyio.Event()
        left = opened(gateway, sleep, wire="trickle")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post, client, left, call("look_up", thing="saw"))
            await napping.wait()
            tasks.cancel_scope.cancel()
        await anyio.wait_all_tasks_blocked()

    run(test)


def test_a_client_that_gives_up_on_a_slow_answer_leaves_a_record_of_it():
    async def check() -> None:
        with anyio.fail_after(30):
            async with serving() as (gateway, _):
                channel = opened(gateway, delay_ms=60_000)
                async with httpx.AsyncClient(timeout=0.2) as hasty:
                    with pytest.raises(httpx.ReadTimeout):
                        await post(hasty, channel, call("look_up", thing="saw"))
                while not channel.events:
                    await anyio.lowlevel.checkpoint()
                event = only_call(channel)
                assert event.fault == "delay"
                assert "the client closed the connection" in event.answer.text

    anyio.run(check)


# --- the 1.x line ---

CLIENT = """\
import asyncio, json, sys
from datetime import timedelta
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamablehttp_client

async def main():
    server = json.load(open(sys.argv[1]))["mcpServers"]["desk"]
    async with (
        streamablehttp_client(server["url"], headers=server["headers"]) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        await session.list_tools()
        seen = []
        for _ in range(int(sys.argv[2])):
            try:
                result = await session.call_tool(
                    "look_up", {"thing": "saw"}, read_timeout_seconds=timedelta(seconds=10)
                )
                seen.append([result.isError, result.content[0].text[:60]])
            except McpError as error:
                seen.append([error.error.code, error.error.message])
    print(json.dumps(seen))

asyncio.run(main())
"""


def test_a_client_on_the_1_x_line_reads_the_same(tmp_path: Path):
    python = _python_with_mcp_1()
    tmp_path.joinpath("client.py").write_text(CLIENT, encoding="utf-8")

    async def check() -> None:
        with anyio.fail_after(60):
            async with Gateway.serving() as gateway:
                steps = [{"answer": FOUND, **entry} for entry, _ in TOOL_LEVEL]
                wire = {"how": "rpc_error", "code": -32050, "message": "Not now"}
                fixture = {
                    "kind": "fixture",
                    "type": "answers",
                    "id": "a",
                    "tools": {
                        "look_up": {
                            "sequence": [
                                *({"fail": s["fail"]} if "fail" in s else s for s in steps[1:]),
                                {"answer": FOUND, "wire": wire},
                            ],
                            "fail": {"calls": [1], **TOOL_LEVEL[0][0]["fail"]},
                        }
                    },
                }
                channel = gateway.open([LendingDesk()], answers=Answers.model_validate(fixture))
                config = tmp_path / "mcp.json"
                config.write_text(json.dumps(channel.config()), encoding="utf-8")
                done = await anyio.run_process(
                    [python, str(tmp_path / "client.py"), str(config), str(len(steps) + 1)],
                    check=False,
                )
                assert done.returncode == 0, done.stderr.decode()
                seen = json.loads(done.stdout)
                assert seen[-1] == [-32050, "Not now"]
                for (is_error, text), (_, expected) in zip(seen[:-1], TOOL_LEVEL, strict=True):
                    assert is_error
                    assert text.startswith(expected)

    anyio.run(check)


def _python_with_mcp_1() -> str:
    named = os.environ.get("SEATRIAL_MCP1_PYTHON")
    usual = ROOT / ".venvs" / "mcp1" / "bin" / "python"
    if named is None and not usual.exists():
        pytest.skip(f"no interpreter with mcp 1.x: {usual} is absent (`make setup` makes it)")
    return named or str(usual)
