"""The protocol up to 2025-11-25 on the wire: handshake, sessions, notifications, batches."""

from typing import Any

import anyio
import httpx
import pytest
from tests import mcp_wire
from tests.lending_desk import LendingDesk
from tests.mcp_wire import JSON, call, post, request

from seatrial.gateway import Channel, Gateway
from seatrial.trace import Called


def hello(version: str = "2025-11-25") -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    return request(
        "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    )


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_a_handshake_agrees_on_a_version_and_opens_a_session(asked: str, given: str):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        answer = await post(client, gateway.open([LendingDesk()]), hello(asked))

        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["mcp-session-id"].isascii()
        assert answer.json() == {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {
                "protocolVersion": given,
                "capabilities": {"tools": {"listChanged": False}},
                "serverInfo": {"name": "desk", "version": "1"},
                "instructions": "Ask before you scrap anything.",
            },
        }

    mcp_wire.run(check)


def test_tools_are_listed_with_their_schemas_and_annotations():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        answer = await post(client, gateway.open([LendingDesk()]), request("tools/list"))

        tools = {tool["name"]: tool for tool in answer.json()["result"]["tools"]}
        text = {"type": "string"}
        assert tools["look_up"] == {
            "name": "look_up",
            "description": "Who has a thing.",
            "inputSchema": {
                "type": "object",
                "properties": {"thing": text},
                "required": ["thing"],
                "additionalProperties": False,
            },
            "outputSchema": {
                "type": "object",
                "properties": {"thing": text, "holder": text},
                "required": ["thing", "holder"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": True, "destructiveHint": False},
        }
        assert "annotations" not in tools["lend"]

    mcp_wire.run(check)


def test_what_is_no_object_is_not_offered_as_structured_content_in_this_era():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        tools = (await post(client, channel, request("tools/list"))).json()["result"]["tools"]
        counted = (await post(client, channel, call("count"))).json()

        assert "outputSchema" not in next(tool for tool in tools if tool["name"] == "count")
        assert counted["result"] == {"content": [{"type": "text", "text": "2"}], "isError": False}

    mcp_wire.run(check)


def test_a_call_is_answered_with_content_structure_and_error_flag():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        found = (await post(client, channel, call("look_up", thing="saw", id="a-1"))).json()
        lost = (await post(client, channel, call("look_up", thing="lamp"))).json()
        picture = (await post(client, channel, call("picture"))).json()

        assert found == {
            "jsonrpc": "2.0",
            "id": "a-1",
            "result": {
                "content": [{"type": "text", "text": '{"thing": "saw", "holder": "desk"}'}],
                "isError": False,
                "structuredContent": {"thing": "saw", "holder": "desk"},
            },
        }
        assert lost["result"] == {
            "content": [{"type": "text", "text": "no lamp here"}],
            "isError": True,
        }
        assert picture["result"]["content"][1]["type"] == "image"

    mcp_wire.run(check)


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("resources/list", {}, -32601),
        ("prompts/list", {}, -32601),
        ("logging/setLevel", {"level": "debug"}, -32601),
        ("server/discover", {}, -32601),
        ("made/up", {}, -32601),
        ("", {}, -32601),
        ("initialize", {}, -32602),
        ("initialize", {"protocolVersion": 7}, -32602),
        ("tools/list", {"cursor": "next"}, -32602),
        ("tools/list", [1], -32602),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", "look_up", -32602),
    ],
)
def test_what_is_not_understood_is_an_error_of_the_protocol(method: str, params: Any, code: int):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = await post(client, channel, request(method) | {"params": params})

        assert answer.status_code == 200
        assert answer.json()["error"]["code"] == code
        assert answer.json()["id"] == 1
        assert channel.events == ()

    mcp_wire.run(check)


@pytest.mark.parametrize(
    "message",
    [7, "ping", {}, {"jsonrpc": "2.0"}, {"jsonrpc": "1.0", "id": 1, "method": "ping"},
     {"jsonrpc": "2.0", "id": 1, "method": 5}, {"jsonrpc": "2.0", "id": None, "method": "ping"},
     {"jsonrpc": "2.0", "id": True, "method": "ping"}, {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
     {"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}, {"jsonrpc": "2.0", "id": 1}],
)  # fmt: skip
def test_what_is_no_message_is_an_invalid_request(message: Any):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        answer = await post(client, gateway.open([LendingDesk()]), message)

        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == -32600

    mcp_wire.run(check)


def test_arguments_that_are_no_object_are_recorded_as_a_mistake_of_the_agent():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        message = request("tools/call", {"name": "look_up", "arguments": ["saw"]})
        answer = (await post(client, channel, message)).json()

        assert answer["result"]["isError"]
        assert "an object is needed" in answer["result"]["content"][0]["text"]
        assert len(channel.events) == 1

    mcp_wire.run(check)


def test_notifications_and_responses_are_accepted_in_silence():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        for message in (
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "method": "notifications/unheard_of", "params": {"x": 1}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled"},
            {"jsonrpc": "2.0", "id": 5, "result": {}},
            {"jsonrpc": "2.0", "id": 5, "error": {"code": -1, "message": "no"}},
        ):
            answer = await post(client, channel, message)
            assert (answer.status_code, answer.content) == (202, b"")

    mcp_wire.run(check)


def test_a_session_lasts_until_its_client_ends_it():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk(), LendingDesk("other")])
        session = (await post(client, channel, hello())).headers["mcp-session-id"]
        ping = request("ping")
        mine = {"mcp-session-id": session}

        assert (await post(client, channel, ping, mcp_session_id=session)).json()["result"] == {}
        elsewhere = await post(client, channel, ping, server="other", mcp_session_id=session)
        assert elsewhere.status_code == 404
        url, headers = channel.url("desk"), {**channel.headers, **mine}
        assert (await client.delete(url, headers=headers)).status_code == 200
        assert (await client.delete(url, headers=headers)).status_code == 404
        assert (await client.delete(url, headers=channel.headers)).status_code == 404
        assert (await post(client, channel, ping, mcp_session_id=session)).status_code == 404
        assert (await post(client, channel, ping)).status_code == 200

    mcp_wire.run(check)


def test_a_batch_is_answered_in_order_where_the_version_has_batches():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        batch = [
            request("ping", id=1),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            call("lend", thing="saw", to="Ada", id=2),
            hello() | {"id": 3},
            {"jsonrpc": "2.0", "id": 4},
            request("made/up", id=5),
        ]
        old = {"mcp_protocol_version": "2025-03-26"}

        answers = (await post(client, channel, batch, **old)).json()

        assert [(a["id"], a.get("error", {}).get("code")) for a in answers] == [
            (1, None),
            (2, None),
            (3, -32600),
            (4, -32600),
            (5, -32601),
        ]
        silent = await post(client, channel, [batch[1]], **old)
        assert (silent.status_code, silent.content) == (202, b"")
        assert (await post(client, channel, [], **old)).status_code == 400
        assert (await post(client, channel, [batch[0]] * 1001, **old)).status_code == 400
        for version in ("2025-06-18", "2025-11-25", "2026-07-28"):
            refused = await post(client, channel, batch, mcp_protocol_version=version)
            assert refused.status_code == 400
        session = (await post(client, channel, hello("2025-11-25"))).headers["mcp-session-id"]
        refused = await post(client, channel, batch, mcp_session_id=session)
        assert refused.status_code == 400

    mcp_wire.run(check)


async def _queue(client: httpx.AsyncClient, channel: Channel, into: list[Any], **more: str) -> None:
    into.append((await post(client, channel, call("queue", thing="saw", id=7), **more)).json())


def test_a_cancelled_call_is_stopped_and_recorded():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        session = (await post(client, channel, hello())).headers["mcp-session-id"]
        answers: list[Any] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_queue, client, channel, answers)
            await desk.someone_waits.wait()
            cancelled = request("notifications/cancelled", {"requestId": 7})
            del cancelled["id"]
            await post(client, channel, cancelled, mcp_session_id=session)
            assert answers == []  # another session's call of the same number is not ours to cancel
            await post(client, channel, cancelled)

        assert answers[0]["error"]["code"] == -32800
        assert answers[0]["id"] == 7
        (event,) = channel.events
        assert isinstance(event, Called)
        assert event.answer.text == "Not answered: the client cancelled it."
        assert desk.holders["saw"] == "desk"

    mcp_wire.run(check)


def test_a_call_whose_client_goes_away_is_stopped_and_recorded():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        async with httpx.AsyncClient() as leaving, anyio.create_task_group() as tasks:
            tasks.start_soon(_queue, leaving, channel, [])
            await desk.someone_waits.wait()
            tasks.cancel_scope.cancel()
        await desk.someone_left.wait()
        await anyio.wait_all_tasks_blocked()

        (event,) = channel.events
        assert isinstance(event, Called)
        assert event.answer.text == "Not answered: the client closed the connection."
        assert event.answer.is_error
        assert (await post(client, channel, call("list_all"))).status_code == 200

    mcp_wire.run(check)


def test_a_trial_that_ends_answers_the_call_under_way():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        answers: list[Any] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_queue, client, channel, answers)
            await desk.someone_waits.wait()
            channel.close()

        assert answers[0]["error"]["message"] == "Not answered: the conversation ended."
        assert len(channel.events) == 1

    mcp_wire.run(check)


@pytest.mark.parametrize("tool", ["die", "stumble", "babble"])
def test_a_server_that_fails_is_an_error_of_the_protocol_and_of_the_trial(tool: str):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = (await post(client, channel, call(tool))).json()

        assert answer["error"] == {"code": -32603, "message": "The tool server desk failed."}
        assert len(channel.faults) == 1
        assert len(channel.events) == 1

    mcp_wire.run(check)


def test_hundreds_of_calls_under_way_at_once_are_each_answered_and_recorded():
    count = 300

    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        desk = LendingDesk(things=[f"t{n}" for n in range(count)])
        desk.expected = count
        channel = gateway.open([desk])
        right = []

        async def lend(number: int) -> None:
            message = call("queue", thing=f"t{number}", id=number)
            # A client each: httpx has a hundred connections, and we want all to wait at once.
            async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(verify=False)) as own:
                answer = (await post(own, channel, message)).json()
            right.append(answer["id"] == number and not answer["result"]["isError"])

        async with anyio.create_task_group() as tasks:
            for number in range(count):
                tasks.start_soon(lend, number)
            await desk.someone_waits.wait()
            assert channel.events == ()
            desk.clerk.set()

        assert right == [True] * count
        calls = [event for event in channel.events if isinstance(event, Called)]
        assert [event.number for event in calls] == list(range(1, count + 1))
        assert len({event.arguments["thing"] for event in calls}) == count
        assert desk.version == count

    mcp_wire.run(check)


def test_an_answer_of_twenty_megabytes_arrives_whole():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = await post(client, channel, call("print", letters=20_000_000))

        assert answer.json()["result"]["content"] == [{"type": "text", "text": "x" * 20_000_000}]

    mcp_wire.run(check)


def test_a_body_may_come_in_pieces():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        async def pieces():
            for byte in b'{"jsonrpc":"2.0","id":1,"method":"ping"}':
                yield bytes([byte])

        answer = await client.post(
            channel.url("desk"), content=pieces(), headers={**JSON, **channel.headers}
        )

        assert answer.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}

    mcp_wire.run(check)
