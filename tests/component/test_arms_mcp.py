"""The `mcp` arm: an agent that is a tool of an MCP server, real sessions, and every way in which they fail."""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests import bike_shop
from tests.servers import http_mcp

from seatrial import arms
from seatrial.errors import ArmError
from seatrial.trace import Answer

ROOT = Path(__file__).parents[2]
STRUCTURED = {
    "text": "$.structuredContent.answer",
    "session": "$.structuredContent.thread",
    "model": "$._meta.model",
    "usage": {
        "input_tokens": "$.structuredContent.usage.in",
        "output_tokens": "$.structuredContent.usage.out",
    },
}
OF_SDK = {
    "type": "mcp",
    "tool": "ask",
    "arguments": {"text": "{{text}}", "thread": "{{session}}", "tone": "{{settings.tone}}"},
    "response": {"text": "$.structuredContent.answer", "session": "$.structuredContent.thread"},
}


def test_each_turn_is_a_call_in_one_session_with_a_program_of_the_official_sdk():
    # Of its first line where there is one: the service below is of the second.
    python = os.environ.get("SEATRIAL_MCP1_PYTHON") or sys.executable

    replies = _talk({**OF_SDK, "command": [python, "tests/agents/sdk_agent.py"]}, "One.", "Two.")

    assert [reply.text for reply in replies] == ["kind: One.", "kind: One. Two."]


def test_each_turn_is_a_call_in_one_session_with_a_service_of_the_official_sdk():
    agent = importlib.import_module("tests.agents.sdk_agent")
    application = agent.build().streamable_http_app()

    async def talk() -> list[arms.Reply]:
        async with http_mcp.serving(application) as url:
            return await _talking({**OF_SDK, "url": f"{url}/mcp"}, "One.", "Two.")

    replies = anyio.run(talk)

    assert [reply.text for reply in replies] == ["kind: One.", "kind: One. Two."]


def test_a_program_is_told_everything_in_arguments_environment_and_config_file():
    arguments = {"text": "{{text}}", "turn": "{{turn}}", "style": "formal", "at": "{{mcp.url}}"}
    adapter = _agent(
        "told", "{config}", arguments=arguments, env={"TONE": "kind"}, pass_env=["KEY"],
        config_format="claude-code", config_transport="stdio",
    )  # fmt: skip

    (reply,) = _talk(adapter, "Hello.")

    given = json.loads(reply.text)
    del given["arguments"]["id"]
    assert given["arguments"] == {
        "text": "Hello.",
        "turn": 1,
        "style": "formal",
        "at": "http://127.0.0.1:1/c/x",
    }
    assert (given["env"]["TONE"], given["env"]["KEY"]) == ("kind", "s3cret")
    assert json.loads(given["env"]["SEATRIAL_SETTINGS"]) == {"tone": "kind"}
    assert given["env"]["SEATRIAL_MCP_TOKEN"] == "t0ken"
    assert "GITHUB_TOKEN" not in given["env"]
    assert given["config"]["mcpServers"]["bike-shop"]["command"] == sys.executable
    assert given["cwd"] == str(ROOT)
    assert not Path(given["env"]["HOME"]).parent.exists()


def test_the_reply_is_read_by_path_with_usage_and_model():
    first, second = _talk(_agent("structured", response=STRUCTURED), "One.", "Two.")

    assert (first.text, second.text) == ("One.", "One. Two.")
    assert (first.served_model, first.tokens) == ("m-1", 9)


def test_without_a_path_the_reply_is_the_text_of_the_content():
    (reply,) = _talk(_agent(""), "One.")

    assert reply.text == "hello"


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("nameless", "the agent's server has no tool `ask`; it has other, 5"),
        ("no-list", "the agent's server does not list its tools: Method not found (-32601)"),
        ("old", "the agent speaks version '1.0' of the protocol"),
        ("error", "the agent's tool `ask` answers with an error: no credit"),
        ("refused", "the agent's tool `ask` was refused: no such \\x1b[31mthing (-32602)"),
        ("crash", "the agent was killed by SIGKILL; its last words on stderr: Segmentation fault"),
        ("no-content", "the agent's tool `ask` sent no text in its `content`; say in `response.text`"),
        ("pictures", "the agent's tool `ask` sent no text in its `content`"),
        ("no-result", "the agent answers tools/call with neither a result nor an error"),
        ("huge", "the agent's tool `ask` sent a reply of 1,000,001 characters"),
        ("no-text", "the agent answers with what is no JSON"),
    ],
)  # fmt: skip
def test_an_agent_that_cannot_be_carried_on_is_unreachable_and_says_why(how: str, says: str):
    with pytest.raises(ArmError) as failed:
        _talk(_agent(how), "Hello.")

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.message.startswith(says), failed.value.message


def test_a_result_that_goes_down_too_deep_is_told():
    with pytest.raises(ArmError, match="cannot be looked through: it is nested too deeply"):
        _talk(_agent("deep", response={"text": "$..answer"}), "Hello.")


def test_a_server_that_begins_no_session_is_given_up():
    with pytest.raises(ArmError, match=r"did not answer initialize within 0\.3 s") as failed:
        _talk(_agent("mute", start_seconds=0.3), "Hello.")

    assert failed.value.cause == "agent_unreachable"


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(ArmError, match=r"the agent cannot be started: '\./nobody'"):
        _talk({**_agent(""), "command": ["./nobody"]}, "Hello.")


def test_a_hanging_call_is_left_when_its_time_is_up_and_the_program_ended():
    async def hang() -> tuple[str, list[str]]:
        arm = bike_shop.arm("x", _agent("hang"))
        async with arms.connections() as shared:
            async with arms.open(arm, _seat(), shared) as conversation:
                with anyio.move_on_after(0.2) as scope:
                    await conversation.reply(1, "Hello.")
                assert scope.cancelled_caught
                meanwhile = conversation.meanwhile
            return meanwhile, list(conversation.notes)

    meanwhile, notes = anyio.run(hang)

    assert meanwhile == "its last words on stderr: thinking"
    assert notes == ["the end of stderr:\nthinking"]


@pytest.mark.parametrize(
    ("tool", "says", "passing"),
    [
        ("bad-gateway", "answered with HTTP status 502: <html>", True),
        ("page", "answered with what is no JSON (text/html)", False),
        ("cut-off", "answered with what is no JSON", False),
        ("bad-event", "answered with an event that is no JSON", False),
        ("reset", "cannot be reached", True),
        ("gone", "has ended the session (HTTP status 404)", False),
    ],
)
def test_a_service_that_fails_is_unreachable_and_whether_it_may_pass_is_known(
    tool: str, says: str, passing: bool
):
    async def talk() -> None:
        async with http_mcp.serving(http_mcp.Service()) as url:
            await _talking({**OF_SDK, "url": url, "tool": tool, "response": {}}, "Hello.")

    with pytest.raises(ArmError) as failed:
        anyio.run(talk)

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.passing is passing
    assert says in failed.value.message


def test_headers_carry_what_belongs_to_the_trial():
    service = http_mcp.Service()

    async def talk() -> list[arms.Reply]:
        async with http_mcp.serving(service) as url:
            headers = {"X-Tools": "{{mcp.url.bike-shop}} {{mcp.token}}", "X-Key": "{KEY}"}
            adapter = {**OF_SDK, "url": url, "tool": "echo", "headers": headers, "response": {}}
            return await _talking({**adapter, "pass_env": ["KEY"]}, "Hello.")

    (reply,) = anyio.run(talk)

    assert reply.text == "echo"
    assert {seen["x-tools"] for seen in service.seen} == {
        "http://127.0.0.1:1/c/x/bike-shop/mcp t0ken"
    }
    assert service.seen[0]["x-key"] == "s3cret"
    assert service.ended


def test_a_service_that_is_not_there_may_come_back():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"

        with pytest.raises(ArmError, match="cannot be reached") as failed:
            _talk({**OF_SDK, "url": url}, "Hello.")

    assert failed.value.passing


def _agent(how: str, *more: str, **adapter: Any) -> dict[str, Any]:
    return {
        "type": "mcp",
        "command": ["{python}", "tests/agents/tool_agent.py", how, *more],
        "tool": "ask",
        "arguments": {"text": "{{text}}"},
        **adapter,
    }


def _talk(adapter: dict[str, Any], *texts: str) -> list[arms.Reply]:
    return anyio.run(_talking, adapter, *texts)


async def _talking(adapter: dict[str, Any], *texts: str) -> list[arms.Reply]:
    arm = bike_shop.arm("x", adapter)
    with anyio.fail_after(60):
        async with arms.connections() as shared, arms.open(arm, _seat(), shared) as conversation:
            return [await conversation.reply(n, t) for n, t in enumerate(texts, 1)]


def _seat() -> arms.Seat:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        raise AssertionError("an agent of its own calls over the network")

    return arms.Seat(
        run="r1",
        trial="t1-of-the-mcp-arm",
        root=ROOT,
        now="2026-04-01T10:00:00Z",
        seed=11,
        settings={"tone": "kind"},
        url="http://127.0.0.1:1/c/x",
        urls={"bike-shop": "http://127.0.0.1:1/c/x/bike-shop/mcp"},
        token="t0ken",
        config={"mcpServers": {"bike-shop": {"type": "http", "url": "…"}}},
        call=call,
        environ={"PATH": os.environ["PATH"], "KEY": "s3cret", "GITHUB_TOKEN": "no"},
    )
