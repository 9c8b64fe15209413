"""Refusals of a server itself, and tools under an arm's own descriptions, as clients meet them."""

from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests import bike_shop, practice, shop_trials
from tests.lending_desk import LendingDesk

from seatrial.documents import ShownTool
from seatrial.documents.world import Denial
from seatrial.errors import UsageError
from seatrial.gateway import Channel, Gateway
from seatrial.state.rights import Rights
from seatrial.trace import Called
from seatrial.worlds import WorldCopy

SERVERS = Path(__file__).parents[1] / "servers"
RAW = """
kind: fixture
type: world
world: mcp
id: strict
now: 2026-05-04T11:30:00Z
start: {offer.md: An offer.}
command: ["{python}", "{root}/raw_mcp.py", invalid]
state: {read: json, file: state.json}
denied_when:
  - {code: -32602}
"""


def test_a_refusal_of_the_server_itself_is_a_violation():
    channel = Channel([LendingDesk()], denials={"desk": (Denial(text="is not here"),)})

    async def call() -> None:
        await channel.call("lend", {"thing": "saw", "to": "Ada"})
        await channel.call("lend", {"thing": "saw", "to": "Eve"})
        await channel.call("look_up", {"thing": "lamp"})

    anyio.run(call)

    lent, again, lost = (event for event in channel.events if isinstance(event, Called))
    assert lent.refused is None
    assert again.refused == "the server itself refused it: 'is not here' (denied_when[0])"
    assert again.answered_by == "world"
    assert (lost.answer.is_error, lost.refused) == (True, None)


def test_a_real_server_that_answers_with_the_declared_code_has_refused():
    world = practice.world(RAW)

    async def use(copy: WorldCopy) -> Channel:
        channel = Channel([copy], denials={copy.name: world.denied_when})
        await channel.call("do", {})
        return channel

    channel = practice.opened(world, SERVERS, use)

    (event,) = channel.events
    assert event.answer.code == -32602
    assert event.refused == "the server itself refused it: code -32602 (denied_when[0])"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_lists_a_tool_as_the_arm_describes_it(mode):
    shown = {"look_up": ShownTool(description="Find out.", parameters={"thing": "Its name."})}

    async def check() -> None:
        with anyio.fail_after(30):
            async with Gateway.serving() as gateway:
                channel = gateway.open([LendingDesk()], shown=shown)
                async with (
                    httpx2.AsyncClient(headers=channel.headers) as http,
                    Client(
                        streamable_http_client(channel.url("desk"), http_client=http), mode=mode
                    ) as client,
                ):
                    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                    assert tools["look_up"].description == "Find out."
                    thing = tools["look_up"].input_schema["properties"]["thing"]
                    assert thing == {"type": "string", "description": "Its name."}
                    assert tools["list_all"].description == "Everything."
                    found = await client.call_tool("look_up", {"thing": "saw"})
                    assert found.structured_content == {"thing": "saw", "holder": "desk"}

    anyio.run(check)


def test_a_description_of_an_argument_that_is_not_there_is_the_arms_mistake():
    with pytest.raises(UsageError, match="look_up has no argument 'owner'"):
        Channel([LendingDesk()], shown={"look_up": ShownTool(parameters={"owner": "Who."})})


@pytest.mark.parametrize(("see_refused", "listed"), [(None, True), (True, True), (False, False)])
def test_a_case_says_whether_what_is_beyond_the_rights_is_listed(see_refused, listed):
    rights = Rights(bike_shop.WORLD, "clerk", see_refused=see_refused)

    assert rights.visible("scrap") is listed
    assert rights.visible("rent")
    assert rights.refusal("scrap", {"bike": "b-1"}) is not None


def test_a_trial_shows_its_agent_the_arms_descriptions_and_hides_what_the_case_hides(
    tmp_path: Path,
):
    case = bike_shop.case(see_refused=False)
    arm = bike_shop.arm(
        "looks_around",
        {"type": "command", "command": ["{python}", "looks_around.py"]},
        tools={"rent": {"description": "Hand a bike out."}},
    )
    (tmp_path / "looks_around.py").write_text(AGENT, encoding="utf-8")

    ((_, trace),) = shop_trials.carried_out(tmp_path, bike_shop.catalog(case, arm))

    assert trace.replies[0].text == "get_bike: Look a bike up.; rent: Hand a bike out."


AGENT = """\
import json, os, sys, urllib.request

url = next(iter(json.load(open(os.environ["SEATRIAL_MCP_CONFIG"]))["mcpServers"].values()))
for line in sys.stdin:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"content-type": "application/json", "accept": "application/json", **url["headers"]}
    request = urllib.request.Request(url["url"], json.dumps(message).encode(), headers)
    tools = json.load(urllib.request.urlopen(request))["result"]["tools"]
    text = "; ".join(f"{tool['name']}: {tool['description']}" for tool in tools)
    print(json.dumps({"type": "reply", "text": text}), flush=True)
"""
