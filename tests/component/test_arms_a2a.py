"""The `a2a` arm against a real agent of the official SDK on loopback, and against one that only claims to be one."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from a2a.helpers.proto_helpers import (
    new_task_from_user_message,
    new_text_message,
    new_text_part,
)
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from tests import bike_shop
from tests.servers import http_mcp

from seatrial import arms
from seatrial.documents import Arm
from seatrial.errors import ArmError, UsageError
from seatrial.runner.running import equip
from seatrial.trace import Answer

ROOT = Path(__file__).parents[2]


class Desk(AgentExecutor):
    """Does what the message says."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message = context.message
        assert message is not None
        text = message.parts[0].text
        self.heard.append(MessageToDict(message))
        known = [m["parts"][0]["text"] for m in self.heard if m["contextId"] == message.context_id]
        if text.startswith("say"):
            said = new_text_message(" ".join(known), context_id=context.context_id)
            await event_queue.enqueue_event(said)
            return
        task = context.current_task or new_task_from_user_message(message)
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        told = updater.new_agent_message([new_text_part("Which order?")])
        match text:
            case "ask":
                await updater.requires_input(told)
            case "refuse":
                await updater.reject(told)
            case "fail":
                await updater.failed(told)
            case "log in":
                await updater.requires_auth(told)
            case _:
                usage = {"in": 7, "out": 2}
                await updater.add_artifact([new_text_part("Done:")], metadata={"usage": usage})
                await updater.add_artifact([new_text_part(" ".join(known))])
                await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "JSONRPC 0.3"])
def test_turns_are_messages_of_one_context_over_each_binding(binding: str):
    desk = Desk()

    replies = _talk(desk, "say one", "do two", binding=binding)

    assert [reply.text for reply in replies] == ["say one", "Done:\nsay one do two"]
    assert len({message["contextId"] for message in desk.heard}) == 1


def test_an_agent_that_asks_back_goes_on_with_its_task():
    desk = Desk()

    replies = _talk(desk, "ask", "the second", "say bye")

    assert [reply.text for reply in replies] == [
        "Which order?",
        "Done:\nask the second",
        "ask the second say bye",
    ]
    assert desk.heard[0]["taskId"] == desk.heard[1]["taskId"] != desk.heard[2].get("taskId")


def test_an_agent_that_refuses_has_replied():
    (reply,) = _talk(Desk(), "refuse")

    assert reply.text == "Which order?"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fail", "says that its task is failed: Which order?"),
        ("log in", "says that its task is auth required: Which order?"),
    ],
)
def test_an_agent_that_fails_is_unreachable(text: str, says: str):
    with pytest.raises(ArmError, match=says) as failed:
        _talk(Desk(), text)

    assert failed.value.cause == "agent_unreachable"
    assert not failed.value.passing


def test_settings_and_tools_reach_the_agent_and_usage_is_read_by_path():
    desk = Desk()
    adapter: dict[str, Any] = {
        "metadata": {"tools": "{{mcp}}", "tone": "{{settings.tone}}", "turn": "{{turn}}"},
        "response": {
            "text": "$.artifacts[1:].parts[*].text",
            "usage": {
                "input_tokens": "$.artifacts[0].metadata.usage.in",
                "output_tokens": "$.artifacts[0].metadata.usage.out",
            },
        },
    }

    (reply,) = _talk(desk, "do", **adapter)

    assert (reply.text, reply.tokens) == ("do", 9)
    assert desk.heard[0]["metadata"] == {
        "tools": {"mcpServers": {"bike-shop": {"url": "…"}}},
        "tone": "kind",
        "turn": 1,
    }


CARD = {
    "name": "desk", "description": "d", "version": "1", "skills": [], "capabilities": {},
    "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"\xff\xfe", "cannot be spoken to: "),
        (b"[" * 100_000, "cannot be spoken to: "),
        ([1], "cannot be spoken to: Invalid JSON-RPC response"),
        ({"result": {}}, "cannot be spoken to: Response has neither task nor message"),
        ({"result": {"message": {"parts": "x"}}}, "cannot be spoken to: "),
        ({"result": {"message": {"parts": [{"data": 1}]}}}, "sent neither a message nor a task"),
        ({"result": {"task": {"status": {"state": 77}}}}, "its task is in a state that is none"),
        (
            {"result": {"message": {"metadata": json.loads('{"a":' * 300 + "1" + "}" * 300)}}},
            "cannot be spoken to: ",
        ),
        ({"error": {"code": -32603, "message": "no \x1b[31mcredit"}}, "no \\x1b[31mcredit"),
        (b" " * 8_000_001, "more than 8,000,000 bytes"),
    ],
)
def test_what_is_no_answer_of_a2a_makes_the_agent_unreachable(answer: Any, says: str):
    with pytest.raises(ArmError) as failed:
        _talk_to_a_claimant(answer)

    assert failed.value.cause == "agent_unreachable"
    assert not failed.value.passing
    assert says in failed.value.message, failed.value.message


def test_a_task_that_is_under_way_is_looked_at_until_it_is_done():
    answers = iter(["WORKING", "SUBMITTED", "COMPLETED"])

    def answer(method: str) -> Any:
        assert method in ("SendMessage", "GetTask")
        made = {"artifactId": "a", "parts": [{"text": "done"}]}
        status = {"state": f"TASK_STATE_{next(answers)}"}
        task = {"id": "t", "contextId": "c", "status": status, "artifacts": [made]}
        return {"result": task if method == "GetTask" else {"task": task}}

    (reply,) = _talk_to_a_claimant(answer)

    assert reply.text == "done"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "https://desk.example.com/", "http://[", ""]
)
def test_an_address_elsewhere_in_the_card_is_not_spoken_to(url: str):
    with pytest.raises(ArmError, match="is spoken to only at the host of `url`"):
        _talk_to_a_claimant({}, at=url)


@pytest.mark.parametrize(("status", "passing"), [(503, True), (404, False)])
def test_a_card_that_is_not_there_may_come_or_not(status: int, passing: bool):
    with pytest.raises(ArmError, match=f"HTTP {status}") as failed:
        _talk_to_a_claimant({}, status=status)

    assert failed.value.passing is passing


def test_an_agent_that_is_not_there_may_come_back():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

        with pytest.raises(ArmError, match="cannot be spoken to") as failed:
            anyio.run(_talking, url, {}, "Hello.")

    assert failed.value.passing


def test_a_run_without_the_sdk_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "a2a"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])

    with pytest.raises(UsageError, match="needed by arm x") as refused:
        equip([_arm("http://127.0.0.1:1")], ROOT)

    assert refused.value.hint == "pip install 'seatrial[a2a]'"


def _talk(desk: Desk, *texts: str, binding: str = "JSONRPC", **adapter: Any) -> list[arms.Reply]:
    async def talk() -> list[arms.Reply]:
        async with _serving(desk, binding) as url:
            return await _talking(url, adapter, *texts)

    return anyio.run(talk)


@asynccontextmanager
async def _serving(desk: Desk, binding: str) -> AsyncIterator[str]:
    name, _, version = binding.partition(" ")
    app = Starlette()
    async with http_mcp.serving(app) as url:
        at = AgentInterface(
            url=f"{url}/a2a", protocol_binding=name, protocol_version=version or "1.0"
        )
        card = AgentCard(
            name="desk", description="A desk.", version="1", supported_interfaces=[at],
            default_input_modes=["text"], default_output_modes=["text"],
            capabilities=AgentCapabilities(),
        )  # fmt: skip
        handler = DefaultRequestHandlerV2(desk, InMemoryTaskStore(), card)
        app.router.routes += create_agent_card_routes(card)
        if name == "JSONRPC":
            app.router.routes += create_jsonrpc_routes(handler, "/a2a", enable_v0_3_compat=True)
        else:
            app.router.routes += create_rest_routes(handler, path_prefix="/a2a")
        yield url


def _talk_to_a_claimant(answer: Any, *, at: str | None = None, status: int = 200) -> Any:
    """One turn with what answers everything alike, behind a card."""
    here = ""

    async def claimant(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        if scope["path"].endswith("agent-card.json"):
            where = {"url": here if at is None else at, "protocolBinding": "JSONRPC"}
            card = {**CARD, "supportedInterfaces": [{**where, "protocolVersion": "1.0"}]}
            await http_mcp.reply(send, status, json.dumps(card).encode())
            return
        said = answer(json.loads(body)["method"]) if callable(answer) else answer
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        await http_mcp.reply(send, 200, data)

    async def talk() -> list[arms.Reply]:
        nonlocal here
        async with http_mcp.serving(claimant) as url:
            here = url.replace("127.0.0.1", "localhost")
            return await _talking(url, {}, "Hello.")

    return anyio.run(talk)


async def _talking(url: str, adapter: dict[str, Any], *texts: str) -> list[arms.Reply]:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        raise AssertionError("a service calls over the network")

    seat = arms.Seat(
        run="r1", trial="t1", root=ROOT, now="2026-04-01T10:00:00Z", seed=11,
        settings={"tone": "kind"}, url="http://127.0.0.1:1/c/x", urls={}, token="t0ken",
        config={"mcpServers": {"bike-shop": {"url": "…"}}}, call=call,
    )  # fmt: skip
    with anyio.fail_after(60):
        async with (
            arms.connections() as shared,
            arms.open(_arm(url, **adapter), seat, shared) as conversation,
        ):
            return [await conversation.reply(n, t) for n, t in enumerate(texts, 1)]


def _arm(url: str, **adapter: Any) -> Arm:
    return bike_shop.arm("x", {"type": "a2a", "url": url, **adapter})
