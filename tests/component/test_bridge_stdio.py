"""`seatrial gateway connect`: what it does when things end, break or come all at once, as a real process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import anyio.abc
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from tests.lending_desk import LendingDesk
from tests.mcp_wire import CAPABILITIES, VERSION, call, request

from seatrial import bridge
from seatrial.gateway import Channel, Gateway
from seatrial.trace import Called

MAIN = "import os, sys; from seatrial.bridge import main; sys.exit(main(os.environ))"
MEASURED = (sys.executable, "-c", MAIN)
"""What config files start (as in test_gateway_clients), in a way in which its lines are counted."""
COMMAND = (sys.executable, "-m", "seatrial", "gateway", "connect")
HELLO = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}, "hello")
META = {VERSION: "2026-07-28", CAPABILITIES: {}}


class Bridged:
    """A bridge as its client sees it."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self.stdin = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)

    async def send(self, *messages: Any) -> None:
        lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        await self.stdin.send(lines)

    async def receive(self) -> Any:
        return json.loads(await self._lines.receive_until(b"\n", 64_000_000))

    async def ask(self, message: Any) -> Any:
        await self.send(message)
        return await self.receive()

    async def shake_hands(self) -> None:
        assert (await self.ask(HELLO))["id"] == "hello"
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def end(self) -> tuple[int, str, bytes]:
        """Exit code, stderr, and what was left on stdout."""
        rest, told = bytearray(self._lines.buffer), bytearray()
        assert self.process.stdout
        assert self.process.stderr
        async with anyio.create_task_group() as tasks:

            async def drain(stream: anyio.abc.ByteReceiveStream, into: bytearray) -> None:
                async for received in stream:
                    into += received

            tasks.start_soon(drain, self.process.stdout, rest)
            tasks.start_soon(drain, self.process.stderr, told)
        return await self.process.wait(), told.decode(), bytes(rest)


@asynccontextmanager
async def bridged(
    url: str, token: str, command: tuple[str, ...] = MEASURED
) -> AsyncIterator[Bridged]:
    environment = {**os.environ, "SEATRIAL_MCP_URL": url, "SEATRIAL_MCP_TOKEN": token}
    process = await anyio.open_process(command, env=environment)
    try:
        yield Bridged(process)
    finally:
        with anyio.CancelScope(shield=True):
            assert process.stdin
            await process.stdin.aclose()
            with anyio.move_on_after(5):  # it leaves by itself
                await process.wait()
            if process.returncode is None:
                process.kill()
            await process.aclose()


def run(test: Callable[[Gateway], Awaitable[None]]) -> None:
    async def served() -> None:
        with anyio.fail_after(60):
            async with Gateway.serving() as gateway:
                await test(gateway)

    anyio.run(served)


def calls_of(channel: Channel) -> list[Called]:
    return [event for event in channel.events if isinstance(event, Called)]


def modern(method: str, id: Any, **params: Any) -> dict[str, Any]:
    return request(method, {**params, "_meta": META}, id)


def test_the_command_speaks_the_protocol_and_ends_with_its_stdin():
    async def check(gateway: Gateway) -> None:
        channel = gateway.open([LendingDesk()])
        async with bridged(channel.url("desk"), channel.token, COMMAND) as client:
            await client.shake_hands()
            answer = await client.ask(call("look_up", thing="saw"))
            assert answer["result"]["structuredContent"] == {"thing": "saw", "holder": "desk"}
            await client.stdin.aclose()
            assert await client.end() == (0, "", b"")
        assert channel.lines["desk"].sessions == {}

    run(check)


def test_answers_on_their_way_arrive_when_a_pipe_is_closed_behind_the_question():
    async def check(gateway: Gateway) -> None:
        channel = gateway.open([LendingDesk()])
        async with bridged(channel.url("desk"), channel.token) as client:
            await client.send(HELLO, *(call("look_up", n, thing="saw") for n in range(20)))
            await client.stdin.aclose()
            code, told, written = await client.end()
        lines = [json.loads(line) for line in written.splitlines()]
        assert (code, told) == (0, "")
        assert {line["id"] for line in lines} == {"hello", *range(20)}
        assert all("result" in line for line in lines)

    run(check)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_with_its_calls_answered_and_its_session_closed(
    number: signal.Signals, status: int
):
    async def check(gateway: Gateway) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        async with bridged(channel.url("desk"), channel.token) as client:
            await client.shake_hands()
            await client.send(call("queue", 7, thing="saw"))
            await desk.someone_waits.wait()
            client.process.send_signal(number)
            code, told, written = await client.end()
            assert (code, told) == (status, "")
            (answer,) = [json.loads(line) for line in written.splitlines()]
            assert answer["id"] == 7
            assert "error" in answer
            await desk.someone_left.wait()
        await anyio.wait_all_tasks_blocked()
        (event,) = calls_of(channel)
        assert event.answer.text in {
            "Not answered: the client ended its session.",
            "Not answered: the client closed the connection.",
        }
        assert desk.holders["saw"] == "desk"

    run(check)


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_cancelled_call_is_stopped_and_gets_no_answer(era: str):
    async def check(gateway: Gateway) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        async with bridged(channel.url("desk"), channel.token) as client:
            if era == "handshake":
                await client.shake_hands()
                await client.send(call("queue", 7, thing="saw"))
            else:
                saw = {"name": "queue", "arguments": {"thing": "saw"}}
                await client.send(modern("tools/call", 7, **saw))
            await desk.someone_waits.wait()
            cancelled = {"requestId": 7, "reason": "changed my mind"}
            gone = {"requestId": "no such id"}
            for params in (gone, cancelled):
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                await client.send(note)
            await desk.someone_left.wait()
            after = modern("tools/list", 8) if era == "modern" else request("tools/list", id=8)
            assert (await client.ask(after))["id"] == 8
            await client.stdin.aclose()
            assert await client.end() == (0, "", b"")
        (event,) = calls_of(channel)
        assert event.answer.text.startswith("Not answered: the client c")

    run(check)


def test_a_killed_agent_leaves_no_call_and_no_bridge_behind():
    async def check(gateway: Gateway) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        async with bridged(channel.url("desk"), channel.token) as client:
            await client.send(modern("tools/call", 1, name="queue", arguments={"thing": "saw"}))
            await desk.someone_waits.wait()
            client.process.kill()
            await desk.someone_left.wait()
        await anyio.wait_all_tasks_blocked()
        (event,) = calls_of(channel)
        assert event.answer.text == "Not answered: the client closed the connection."

    run(check)


def test_nobody_reading_its_stdout_ends_it():
    async def check(gateway: Gateway) -> None:
        channel = gateway.open([LendingDesk()])
        environment = {"SEATRIAL_MCP_URL": channel.url("desk"), "SEATRIAL_MCP_TOKEN": channel.token}
        read, write = os.pipe()
        os.close(read)
        async with await anyio.open_process(
            bridge.PROGRAM, stdout=write, env=environment
        ) as process:
            os.close(write)
            assert process.stdin
            await process.stdin.send(json.dumps(HELLO).encode() + b"\n")
            assert await process.wait() == 0

    run(check)


def test_the_end_of_the_trial_is_told_and_ends_it():
    async def check(gateway: Gateway) -> None:
        desk = LendingDesk()
        channel = gateway.open([desk])
        async with bridged(channel.url("desk"), channel.token) as client:
            await client.shake_hands()
            await client.send(call("queue", 1, thing="saw"))
            await desk.someone_waits.wait()
            channel.close()
            ended = await client.receive()
            assert "the conversation ended" in ended["error"]["message"]
            late = await client.ask(call("look_up", 2, thing="saw"))
            assert late["error"]["message"].startswith("the conversation is over")
            code, told, rest = await client.end()
        assert (code, rest) == (0, b"")
        assert told == (
            "seatrial gateway connect: the conversation is over: there are no tools at this address\n"
        )

    run(check)


def test_a_gateway_that_is_gone_is_told_and_ends_it():
    async def check() -> None:
        with anyio.fail_after(60):
            async with Gateway.serving() as gateway:
                channel = gateway.open([LendingDesk()])
                client_of = bridged(channel.url("desk"), channel.token)
                client = await client_of.__aenter__()
                await client.shake_hands()
                assert "result" in await client.ask(call("look_up", 2, thing="saw"))
            try:
                with suppress(anyio.BrokenResourceError):  # it may have noticed by itself
                    await client.send(call("look_up", 3, thing="saw"))
                code, told, rest = await client.end()
                assert code == 0
                says = "the conversation is over: nothing answers at port"
                assert told.startswith(f"seatrial gateway connect: {says}")
                assert told.count("\n") == 1
                for line in rest.splitlines():
                    assert json.loads(line)["error"]["message"].startswith(says)
            finally:
                await client_of.__aexit__(None, None, None)

    anyio.run(check)


def test_a_wrong_token_and_a_wrong_address_are_told_and_end_it():
    async def check(gateway: Gateway) -> None:
        channel, other = gateway.open([LendingDesk()]), gateway.open([LendingDesk()])
        for url, token, says in (
            (channel.url("desk"), other.token, "the token is not accepted (SEATRIAL_MCP_TOKEN)"),
            (channel.url("desk") + "/c/mcp", channel.token, "there are no tools at this address"),
            ("http://127.0.0.1:1/c/x/desk/mcp", channel.token, "nothing answers at port 1"),
        ):
            async with bridged(url, token) as client:
                refused = await client.ask(HELLO)
                assert says in refused["error"]["message"]
                code, told, rest = await client.end()
            assert (code, rest) == (2, b"")
            assert says in told
            assert channel.token not in told
        assert {event.event for event in (*channel.events, *other.events)} == {"noted"}

    run(check)


def test_what_is_no_message_is_refused_and_the_next_one_answered():
    async def check(gateway: Gateway) -> None:
        channel = gateway.open([LendingDesk()])
        async with bridged(channel.url("desk"), channel.token) as client:
            for line in (b"{\n", b"5\n", b'"x"\n', b"\xff\xfe\n", b"[" * 5000 + b"\n"):
                await client.stdin.send(b"\n" + line)
                assert (await client.receive())["error"]["code"] == -32700
            odd = await client.ask({"jsonrpc": "1.0", "id": 3, "method": "ping"})
            assert (odd["id"], odd["error"]["code"]) == (3, -32600)
            assert (await client.ask(request("ping", id="p")))["result"] == {}

    run(check)


def test_a_batch_is_passed_on_in_the_versions_that_have_them():
    async def check(gateway: Gateway) -> None:
        channel = gateway.open([LendingDesk()])
        async with bridged(channel.url("desk"), channel.token) as client:
            old = {"protocolVersion": "2025-03-26", "capabilities": {}}
            await client.ask(request("initialize", old))
            answers = await client.ask([request("ping", id=1), call("look_up", 2, thing="saw")])
            assert [answer["id"] for answer in answers] == [1, 2]

    run(check)


def test_a_name_that_cannot_stand_in_a_header_arrives_all_the_same():
    async def check(gateway: Gateway) -> None:
        channel = gateway.open([LendingDesk()])
        async with bridged(channel.url("desk"), channel.token) as client:
            for name in ("Säge", " saw ", "=?base64?", "a\nb", ""):
                answer = await client.ask(modern("tools/call", 1, name=name, arguments={}))
                assert answer["result"]["content"][0]["text"] == f"Unknown tool: {name}"

    run(check)


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_thousand_calls_at_once_are_all_answered_and_recorded(era: str):
    async def check(gateway: Gateway) -> None:
        channel = gateway.open([LendingDesk()])
        async with bridged(channel.url("desk"), channel.token) as client:
            if era == "handshake":
                await client.shake_hands()
                asked = [call("look_up", n, thing="saw") for n in range(1000)]
            else:
                saw = {"name": "look_up", "arguments": {"thing": "saw"}}
                asked = [modern("tools/call", n, **saw) for n in range(1000)]
            ids = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.send, *asked)
                for _ in asked:
                    answer = await client.receive()
                    assert answer["result"]["structuredContent"]["holder"] == "desk"
                    ids.append(answer["id"])
            await client.stdin.aclose()
            assert await client.end() == (0, "", b"")
        assert sorted(ids) == list(range(1000))
        assert sorted(event.number for event in calls_of(channel)) == list(range(1, 1001))

    run(check)


@contextmanager
def answering(*answers: bytes, heard: list[Any] | None = None) -> Iterator[str]:
    """An endpoint that writes these bytes, one after the other, whatever it is asked; its address.

    The headers of each request are added to `heard`.
    """
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            if heard is not None:
                heard.append(self.headers)
            self.wfile.write(left.pop(0))
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/c/x/desk/mcp"
        finally:
            server.shutdown()
            thread.join(10)


def http(status: str, body: bytes, type: str = "application/json", *, length: int = -1) -> bytes:
    size = len(body) if length < 0 else length
    head = f"HTTP/1.1 {status}\r\ncontent-type: {type}\r\ncontent-length: {size}\r\n"
    return head.encode() + b"connection: close\r\nretry-after: 7\r\n\r\n" + body


PONG = b'{"jsonrpc": "2.0",\r\n "id": 1,\n "result": {}}'


@pytest.mark.parametrize(
    ("answer", "says", "data"),
    [
        (http("200 OK", b"<html>busy</html>", "text/html"), "'<html>busy</html>'", 200),
        (http("200 OK", b""), "HTTP status 200", 200),
        (http("200 OK", PONG[:20]), "HTTP status 200", 200),
        (http("200 OK", b"[1]"), "HTTP status 200", 200),
        (http("429 Too Many Requests", b"slow down"), "HTTP status 429", 429),
        (http("502 Bad Gateway", b"\x1b[31m"), "HTTP status 502", 502),
        (http("404 Not Found", b"<html>"), "HTTP status 404", 404),
        (http("200 OK", PONG[:20], length=99), "The connection to the tools broke", None),
        (b"nonsense\r\n\r\n", "The connection to the tools broke", None),
        (b"", "The connection to the tools broke", None),
        (http("202 Accepted", b""), "The tools answered with nothing", None),
        (
            http("200 OK", b"event: message\ndata: {\n\n", "text/event-stream"),
            "The connection to the tools broke",
            None,
        ),
        (http("200 OK", b": hello\n\n", "text/event-stream"), "answered with nothing", None),
    ],
)
def test_what_is_no_answer_becomes_an_error_and_the_next_request_is_answered(
    answer: bytes, says: str, data: int | None
):
    async def check(url: str) -> None:
        with anyio.fail_after(30):
            async with bridged(url, "t") as client:
                failed = await client.ask(request("ping", id=9))
                assert failed["id"] == 9
                assert says in failed["error"]["message"]
                expected = None if data is None else {"status": data, "retryAfter": "7"}
                assert failed["error"].get("data") == expected
                assert await client.ask(request("ping")) == {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "result": {},
                }

    with answering(answer, http("200 OK", PONG)) as url:
        anyio.run(check, url)


def test_an_argument_is_repeated_in_a_header_once_it_is_known_that_it_must_be():
    inner = {"type": "integer", "x-mcp-header": "Count"}
    properties = {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "odd": {"type": "string", "x-mcp-header": "not a token"},
        "deep": {"type": "object", "properties": {"n": inner}},
        "all": {"type": "boolean", "x-mcp-header": "All"},
    }
    tools = [{"name": "route", "inputSchema": {"type": "object", "properties": properties}}]
    mismatch = {"code": -32020, "message": "The Mcp-Param-Region header differs"}

    def said(**answer: Any) -> bytes:
        return http("200 OK", json.dumps({"jsonrpc": "2.0", "id": 1, **answer}).encode())

    async def check(url: str, heard: list[Any]) -> None:
        given = {"region": "Süd", "odd": "x", "deep": {"n": 3}, "all": True}
        async with bridged(url, "t") as client:
            asked = modern("tools/call", 1, name="route", arguments=given)
            assert (await client.ask(asked))["result"] == {}
            bare = modern("tools/call", 1, name="route", arguments={"deep": 5})
            assert (await client.ask(bare))["error"] == mismatch
        first, listing, second, third, *more = [
            {n.lower(): v for n, v in headers.items() if n.lower().startswith("mcp-")}
            for headers in heard
        ]
        assert "mcp-param-region" not in first
        assert listing["mcp-method"] == "tools/list"
        assert {n: v for n, v in second.items() if "param" in n} == {
            "mcp-param-region": "=?base64?U8O8ZA==?=",
            "mcp-param-count": "3",
            "mcp-param-all": "true",
        }
        assert not [name for name in third if "param" in name]
        assert [headers["mcp-method"] for headers in more] == ["tools/list"]

    heard: list[Any] = []
    listed = said(result={"tools": tools})
    with answering(
        said(error=mismatch), listed, said(result={}), said(error=mismatch), listed, heard=heard
    ) as url:
        anyio.run(check, url, heard)


def test_what_the_server_says_before_its_answer_arrives_before_it():
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    stream = (
        b"event: message\r\ndata: " + json.dumps(progress).encode() + b"\r\n\r\n: ping\r\n\r\n"
        b'data: {"jsonrpc": "2.0",\r\ndata:  "id": 1, "result": {}}\r\n\r\n'
    )

    async def check(url: str) -> None:
        with anyio.fail_after(30):
            async with bridged(url, "t") as client:
                assert await client.ask(request("ping")) == progress
                assert (await client.receive())["result"] == {}

    with answering(http("200 OK", stream, "text/event-stream; charset=utf-8")) as url:
        anyio.run(check, url)


@pytest.mark.parametrize(
    ("environment", "options", "says"),
    [
        ({}, [], "no address: set SEATRIAL_MCP_URL, or say --url"),
        ({}, ["--url", "http://example.com/c/x"], "is no http address of this machine"),
        ({}, ["--url", "https://127.0.0.1/c/x"], "is no http address of this machine"),
        ({}, ["--url", "http://127.0.0.1:x/c"], "is no address"),
        ({"SEATRIAL_MCP_URL": "http://127.0.0.1:1/c/x"}, [], "which server? say --server NAME"),
        (
            {
                "SEATRIAL_MCP_URL": "http://127.0.0.1:1/c/x",
                "SEATRIAL_MCP_DESK_URL": "http://127.0.0.1:1/c/x/desk/mcp",
                "SEATRIAL_MCP_SHOP_URL": "http://127.0.0.1:1/c/x/shop/mcp",
            },
            [],
            "one of desk, shop",
        ),
    ],
)
def test_a_missing_or_foreign_address_is_refused(
    environment: dict[str, str], options: list[str], says: str
):
    kept = {n: v for n, v in os.environ.items() if not n.startswith("SEATRIAL_MCP_")}
    done = subprocess.run(
        [*COMMAND, *options],
        env=kept | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "→" in done.stderr


def test_the_address_of_the_only_server_is_found_in_the_environment():
    base = "http://127.0.0.1:1/c/x"
    environment = {"SEATRIAL_MCP_URL": base, "SEATRIAL_MCP_DESK_URL": f"{base}/desk/mcp"}

    assert bridge.address(environment) == f"{base}/desk/mcp"
    assert bridge.address(environment, server="a b") == f"{base}/a%20b/mcp"
    assert bridge.address({}, f"{base}/desk/mcp") == f"{base}/desk/mcp"


def test_it_needs_nothing_but_the_standard_library():
    program, isolated, folder = bridge.PROGRAM
    done = subprocess.run(
        [program, isolated, "-S", "-X", "importtime", folder],
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert "seatrial gateway connect: no address" in done.stderr
    imported = re.findall(r"^import time: +\d+ \| +\d+ \| +(\S+)$", done.stderr, re.MULTILINE)
    loaded = {name.partition(".")[0] for name in imported}
    assert "seatrial" in loaded
    assert loaded - set(sys.stdlib_module_names) == {"seatrial"}
    assert not loaded & {"asyncio", "logging", "subprocess", "inspect"}
