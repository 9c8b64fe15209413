"""Real MCP servers over streamable HTTP behind the gateway."""

import json
from typing import Any

import pytest
from mcp.server import MCPServer
from tests import mcp_wire
from tests.real_servers import House, fixture, given_up, run, until
from tests.servers.http_mcp import Service, serving

from seatrial.errors import ToolServerError
from seatrial.trace import Asked, Called

FAILED = {"code": -32603, "message": "The tool server real failed."}


def of(url: str, **more: Any) -> Any:
    return fixture(url=f"{url}/mcp", **more)


def text_of(answer: dict[str, Any]) -> str:
    text: str = answer["result"]["content"][0]["text"]
    return text


def test_a_service_is_reached_with_its_session_and_its_secrets():
    async def check(house: House) -> None:
        service = Service()
        async with serving(service) as url:
            headers = {"Authorization": "Bearer {TOKEN}", "x-tenant": "harbour"}
            document = of(url, headers=headers, pass_env=["TOKEN"])
            async with house.trial(document) as trial:
                assert text_of(await trial.call("echo")) == "echo"
                (recorded,) = trial.channel.events
                assert isinstance(recorded, Called)
                assert recorded.answered_by == "server"
                assert trial.channel.faults == ()

            assert service.ended
            for seen in service.seen:
                assert seen["authorization"] == "Bearer s3cret"
                assert seen["x-tenant"] == "harbour"
            assert {seen.get("mcp-session-id") for seen in service.seen[1:]} == {"session-7"}
            assert {seen.get("mcp-protocol-version") for seen in service.seen[1:]} == {"2025-11-25"}

    run(check, {"TOKEN": "s3cret"})


def test_progress_questions_and_announcements_of_a_service_pass_through():
    async def check(house: House) -> None:
        async with serving(Service()) as url:
            client = {"roots": [{"uri": "file:///data"}]}
            async with house.trial(of(url, client=client)) as trial:
                params = {"name": "work", "arguments": {}, "_meta": {"progressToken": "mine"}}
                worked = await trial.post(mcp_wire.request("tools/call", params))
                asked = json.loads(text_of(await trial.call("ask")))
                announced = await trial.call("announce")

                assert '"progressToken":"mine"' in worked.text
                assert asked == {"roots": [{"uri": "file:///data"}]}
                assert text_of(announced) == "announce"
                (event,) = [e for e in trial.channel.events if isinstance(e, Asked)]
                assert event.answered_by == "fixture"
                assert trial.channel.faults == ()

    run(check)


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("bad-gateway", "answered with HTTP status 502: <html><h1>Bad \\x1b[31mGateway"),
        ("page", "answered with what is no JSON (text/html): <html>Sign in</html>"),
        ("cut-off", 'answered with what is no JSON (application/json): {"jsonrpc"'),
        ("empty", "does not answer tools/call: it ends its reply without"),
        ("silent-stream", "does not answer tools/call: it ends its reply without"),
        ("bad-event", "answered with an event that is no JSON: {nothing"),
        ("reset", "cannot be reached: "),
        ("gone", "has ended the session (HTTP status 404)"),
        ("hang", "did not answer tools/call within 1 s"),
    ],
)
def test_a_service_that_fails_is_an_error_for_the_agent_and_a_fault_of_the_trial(
    tool: str, why: str
):
    async def check(house: House) -> None:
        service = Service()
        async with serving(service) as url, house.trial(of(url, seconds=1)) as trial:
            answer = await trial.call(tool)

            assert answer["error"] == FAILED
            assert trial.channel.faults[0].cause == "tool_server"
            assert why in trial.channel.faults[0].message
            if tool == "hang":
                assert len(service.cancelled) == 1

    run(check)


def test_an_error_of_the_protocol_under_another_status_is_still_that_error():
    async def check(house: House) -> None:
        async with serving(Service()) as url, house.trial(of(url)) as trial:
            answer = await trial.call("not-now")

            assert answer["error"] == {"code": -32000, "message": "slow down"}
            assert trial.channel.faults == ()

    run(check)


def test_a_service_that_is_not_there_is_told():
    async def check(house: House) -> None:
        with pytest.raises(ToolServerError, match="server 'real' cannot be reached"):
            async with house.trial(of("http://127.0.0.1:9")):
                raise AssertionError("it begins")

    run(check)


def test_a_cancelled_call_is_cancelled_at_the_service():
    async def check(house: House) -> None:
        service = Service()
        async with serving(service) as url, house.trial(of(url, seconds=20)) as trial:
            await given_up(trial, "hang")
            await until(lambda: trial.channel.events)
            assert text_of(await trial.call("echo")) == "echo"
            assert len(service.cancelled) == 1
            assert trial.channel.faults == ()

    run(check)


def test_a_server_on_the_sdk_is_the_same_over_http_as_it_says():
    server = MCPServer("desk", instructions="Ask first.")

    @server.tool(description="Add two numbers.")
    def add(a: int, b: int) -> int:
        return a + b

    @server.resource("memo://one", description="A memo.")
    def memo() -> str:
        return "remember"

    async def check(house: House) -> None:
        async with serving(server.streamable_http_app()) as url, house.trial(of(url)) as trial:
            about = await trial.hello()
            (listed,) = (await trial.ask("tools/list"))["result"]["tools"]
            added = await trial.call("add", a=2, b=3)
            wrong = await trial.call("add", a="x")
            read = await trial.ask("resources/read", uri="memo://one")

            assert about["instructions"] == "Ask first."
            assert listed["name"] == "add"
            assert added["result"]["structuredContent"] == {"result": 5}
            assert wrong["result"]["isError"] is True
            assert read["result"]["contents"][0]["text"] == "remember"
            assert trial.channel.faults == ()

    run(check)
