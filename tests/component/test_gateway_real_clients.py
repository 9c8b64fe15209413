"""The official MCP SDK in front of the gateway, over HTTP and over stdio, and a real server behind it."""

import json
from typing import Any

import anyio
import pytest
from mcp import MCPError, types
from tests.connecting import over_http, over_stdio
from tests.real_servers import House, fixture, run

from seatrial.trace import Asked


async def sampled(context: Any, params: types.CreateMessageRequestParams) -> Any:
    content = types.TextContent(type="text", text=f"{params.max_tokens} tokens")
    return types.CreateMessageResult(role="assistant", content=content, model="m-1")


async def elicited(context: Any, params: Any) -> Any:
    return types.ElicitResult(action="accept", content={"sure": True})


async def rooted(context: Any) -> Any:
    return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///mine"})])


class Hearing:
    """What a client was told of the server's own accord."""

    def __init__(self) -> None:
        self.logs: list[Any] = []
        self.changed = anyio.Event()

    async def log(self, params: Any) -> None:
        self.logs.append(params.data)

    async def message(self, message: Any) -> None:
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            self.changed.set()


@pytest.mark.parametrize("connected", [over_http, over_stdio])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_uses_all_that_a_real_server_has(mode: str, connected: Any):
    async def check(house: House) -> None:
        async with (
            house.trial(fixture()) as trial,
            connected(trial.channel, "real", mode) as agent,
        ):
            done: list[float] = []

            async def told(
                progress: float, total: float | None, message: str | None = None
            ) -> None:
                done.append(progress)

            listed = await agent.list_tools()
            echoed = await agent.call_tool("echo", {"text": "ahoi"})
            worked = await agent.call_tool("work", {"steps": 3}, progress_callback=told)
            shown = await agent.call_tool("show", {})
            # A client of the second era repeats this argument in a header.
            routed = await agent.call_tool("route", {"region": "Käfer, north"})
            failed = await agent.call_tool("fail", {})
            resource = await agent.read_resource("memo://1")
            prompt = await agent.get_prompt("greet", {"who": "gull"})
            with pytest.raises(MCPError) as refused:
                await agent.call_tool("refuse", {})

            assert agent.server_info is not None
            assert agent.server_info.name == "real"
            assert agent.instructions == "Be gentle."
            assert "wait" in [tool.name for tool in listed.tools]
            assert echoed.structured_content == {"n": 1.0, "e": 100.0}
            assert worked.content[0].text == "worked"
            assert done == [1, 2, 3]
            assert routed.content[0].text == "Käfer, north"
            assert shown.content[0].type == "image"
            assert failed.is_error
            assert resource.contents[0].text == "abc"
            assert prompt.messages[0].content.text == "Hello gull"
            assert (refused.value.code, refused.value.data) == (-32602, {"field": "x"})
            assert trial.channel.faults == ()

    run(check)


@pytest.mark.parametrize("region", ["north", "Käfer, north"])
def test_an_argument_that_a_header_repeats_is_repeated_for_a_client_on_stdio(region: str):
    async def check(house: House) -> None:
        async with (
            house.trial(fixture()) as trial,
            over_stdio(trial.channel, "real", "2026-07-28") as agent,
        ):
            answers = [await agent.call_tool("route", {"region": r}) for r in (region, "south")]

            assert [part.text for a in answers for part in a.content if part.type == "text"] == [
                region,
                "south",
            ]
            assert trial.channel.faults == ()

    run(check)


@pytest.mark.parametrize("connected", [over_http, over_stdio])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_answers_what_a_real_server_asks(mode: str, connected: Any):
    async def check(house: House) -> None:
        asking = {
            "sampling": "pass_through",
            "elicitation": "pass_through",
            "roots": "pass_through",
        }
        hearing = Hearing()
        async with (
            house.trial(fixture(client=asking)) as trial,
            connected(
                trial.channel,
                "real",
                mode,
                sampling_callback=sampled,
                elicitation_callback=elicited,
                list_roots_callback=rooted,
                logging_callback=hearing.log,
                message_handler=hearing.message,
            ) as agent,
        ):
            said = {}
            for tool in ("sample", "elicit", "roots"):
                answer = await agent.call_tool(tool, {})
                said[tool] = json.loads(answer.content[0].text)
            await agent.call_tool("log", {})
            await agent.call_tool("grow", {})
            await hearing.changed.wait()
            grown = await agent.list_tools()

            assert said["sample"]["result"]["content"]["text"] == "5 tokens"
            assert said["elicit"]["result"]["content"] == {"sure": True}
            assert said["roots"]["result"]["roots"] == [{"uri": "file:///mine"}]
            assert hearing.logs == ["a word"]
            assert grown.tools[-1].name == "tool0"
            asked = [event for event in trial.channel.events if isinstance(event, Asked)]
            assert {event.answered_by for event in asked} == {"agent"}
            assert trial.channel.faults == ()

    run(check)
