"""The protocol of 2026-07-28 on the wire: every request stands alone."""

import json
from typing import Any

import anyio
import httpx
import pytest
from tests import mcp_wire
from tests.lending_desk import LendingDesk
from tests.mcp_wire import CAPABILITIES, ENVELOPE, JSON, SERVER, VERSION, modern

from seatrial.gateway import Gateway
from seatrial.trace import Called


def test_discovery_says_what_is_spoken_here():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        answer = await modern(client, gateway.open([LendingDesk()]), "server/discover")

        assert "mcp-session-id" not in answer.headers
        assert answer.json()["result"] == {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": False}},
            "instructions": "Ask before you scrap anything.",
            "ttlMs": 0,
            "cacheScope": "private",
            "resultType": "complete",
            "_meta": SERVER,
        }

    mcp_wire.run(check)


def test_tools_are_listed_and_called_without_a_handshake():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        listed = (await modern(client, channel, "tools/list")).json()["result"]
        called = (
            await modern(client, channel, "tools/call", {"name": "count", "arguments": {}}, id="x")
        ).json()

        assert (listed["ttlMs"], listed["cacheScope"]) == (0, "private")
        assert listed["resultType"] == "complete"
        count = next(tool for tool in listed["tools"] if tool["name"] == "count")
        assert count["outputSchema"] == {"type": "integer"}
        assert called == {
            "jsonrpc": "2.0",
            "id": "x",
            "result": {
                "content": [{"type": "text", "text": "2"}],
                "isError": False,
                "structuredContent": 2,
                "resultType": "complete",
                "_meta": SERVER,
            },
        }
        assert [e.event for e in channel.events] == ["listed", "called"]

    mcp_wire.run(check)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"meta": {}}, -32602),
        ({"meta": {VERSION: "2026-07-28"}}, -32602),
        ({"meta": {CAPABILITIES: {}}}, -32602),
        ({"meta": {**ENVELOPE, VERSION: "2027-01-01"}}, -32020),
        ({"meta": {**ENVELOPE, VERSION: 7}}, -32020),
        ({"headers": {"mcp-method": "tools/list"}}, -32020),
        ({"headers": {"mcp-method": None}}, -32020),
        ({"headers": {"mcp-name": "scrap"}}, -32020),
        ({"headers": {"mcp-name": None}}, -32020),
        ({"headers": {"mcp-name": "=?base64?!!?="}}, -32020),
    ],
)
def test_a_request_that_contradicts_itself_is_refused_and_not_recorded(
    changes: dict[str, Any], code: int
):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = await modern(
            client, channel, "tools/call", {"name": "count", "arguments": {}}, **changes
        )

        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == code
        assert answer.json()["id"] == 1
        assert channel.events == ()

    mcp_wire.run(check)


def test_an_unknown_version_is_told_which_are_known():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = await modern(client, channel, "server/discover", version="2031-01-01")

        assert answer.status_code == 400
        assert answer.json()["error"] == {
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": {"supported": ["2026-07-28"], "requested": "2031-01-01"},
        }

    mcp_wire.run(check)


def test_a_name_that_no_header_can_carry_comes_encoded():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = await modern(
            client,
            channel,
            "tools/call",
            {"name": "süß", "arguments": {}},
            headers={"mcp-name": "=?base64?c8O8w58=?="},
        )

        assert answer.json()["result"]["content"][0]["text"] == "Unknown tool: süß"

    mcp_wire.run(check)


@pytest.mark.parametrize("method", ["ping", "initialize", "resources/list", "logging/setLevel"])
def test_a_method_this_era_or_this_server_lacks_is_not_found(method: str):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        answer = await modern(client, gateway.open([LendingDesk()]), method)

        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == -32601

    mcp_wire.run(check)


def test_notifications_are_accepted_and_responses_are_not():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        headers = {**JSON, **channel.headers, "mcp-protocol-version": "2026-07-28"}
        for message, status in (
            ({"jsonrpc": "2.0", "method": "notifications/cancelled"}, 202),
            ({"jsonrpc": "2.0", "id": 1, "result": {}}, 400),
            ([{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}], 400),
        ):
            answer = await client.post(channel.url("desk"), json=message, headers=headers)
            assert answer.status_code == status

    mcp_wire.run(check)


def test_a_call_whose_stream_is_closed_is_cancelled():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        params = {"name": "queue", "arguments": {"thing": "saw"}}
        async with httpx.AsyncClient() as leaving, anyio.create_task_group() as tasks:
            tasks.start_soon(modern, leaving, channel, "tools/call", params)
            await desk.someone_waits.wait()
            tasks.cancel_scope.cancel()
        await desk.someone_left.wait()
        await anyio.wait_all_tasks_blocked()

        (event,) = channel.events
        assert isinstance(event, Called)
        assert event.answer.text == "Not answered: the client closed the connection."

    mcp_wire.run(check)


def test_a_subscription_is_acknowledged_and_held_until_the_trial_ends():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        meta = {"io.modelcontextprotocol/subscriptionId": "sub"}
        message = {
            "jsonrpc": "2.0",
            "id": "sub",
            "method": "subscriptions/listen",
            "params": {"_meta": ENVELOPE, "notifications": {"toolsListChanged": True}},
        }
        headers = {
            **JSON,
            **channel.headers,
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "subscriptions/listen",
        }
        async with client.stream(
            "POST", channel.url("desk"), json=message, headers=headers
        ) as stream:
            assert stream.headers["content-type"] == "text/event-stream"
            events = (
                json.loads(line.removeprefix("data: "))
                async for line in stream.aiter_lines()
                if line.startswith("data: ")
            )
            assert await anext(events) == {
                "jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {"notifications": {}, "_meta": meta},
            }
            channel.close()
            last = await anext(events)
            assert last["id"] == "sub"
            assert last["result"]["_meta"] == meta | SERVER
            assert [event async for event in events] == []
        refused = await client.post(
            channel.url("desk"), json=message, headers={**headers, "accept": "application/json"}
        )
        assert refused.status_code == 404

    mcp_wire.run(check)


def test_a_subscription_needs_a_client_that_reads_streams():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        answer = await modern(
            client,
            gateway.open([LendingDesk()]),
            "subscriptions/listen",
            {"notifications": {}},
            headers={"accept": "application/json"},
        )

        assert answer.status_code == 406

    mcp_wire.run(check)
