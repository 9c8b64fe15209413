"""The gateway as a guest in the run's process: what it leaves behind, and what it lets through."""

import asyncio
import gc
import os
import signal
import weakref
from pathlib import Path

import anyio
import httpx
import pytest
from tests import mcp_wire
from tests.lending_desk import LendingDesk
from tests.mcp_wire import call, post, request

from seatrial.errors import ToolServerError, UsageError
from seatrial.gateway import Channel, Gateway
from seatrial.gateway.exchange import MOST_STREAMS


def open_files() -> int:
    return len(os.listdir(Path("/proc/self/fd")))


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@needs_proc
def test_when_the_run_ends_nothing_of_it_is_left_whatever_clients_were_doing():
    async def check() -> None:
        with anyio.fail_after(60):
            files, tasks_before = open_files(), len(asyncio.all_tasks())
            desk = LendingDesk()
            async with anyio.create_task_group() as clients:
                async with Gateway.serving() as gateway:
                    channel = gateway.open([desk])
                    port = int(gateway.address.rpartition(":")[2])
                    idle = await anyio.connect_tcp("127.0.0.1", port)
                    half_a_head = await anyio.connect_tcp("127.0.0.1", port)
                    await half_a_head.send(b"POST /c/")
                    half_a_body = await anyio.connect_tcp("127.0.0.1", port)
                    await half_a_body.send(
                        f"POST /c/{channel.secret}/desk/mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
                        f"authorization: Bearer {channel.token}\r\ncontent-type: application/json\r\n"
                        "content-length: 100\r\n\r\n{".encode()
                    )
                    clients.start_soon(_queue, channel)
                    await desk.someone_waits.wait()
                for stream in (idle, half_a_head, half_a_body):
                    with anyio.fail_after(20):
                        try:
                            while await stream.receive():
                                pass
                        except (anyio.EndOfStream, anyio.BrokenResourceError):
                            pass
                    await stream.aclose()
            with pytest.raises(OSError, match="connect"):
                await anyio.connect_tcp("127.0.0.1", port)
            assert len(channel.events) == 1
            await anyio.wait_all_tasks_blocked()
            assert len(asyncio.all_tasks()) == tasks_before
            assert open_files() == files

    anyio.run(check)


async def _queue(channel: Channel) -> None:
    async with httpx.AsyncClient() as client:
        answer = await post(client, channel, call("queue", thing="saw"))
        assert "ended" in answer.json()["error"]["message"]


@needs_proc
def test_five_hundred_trials_leave_no_descriptor_no_task_and_no_channel():
    channels: weakref.WeakSet[Channel] = weakref.WeakSet()

    async def trial(gateway: Gateway, slots: anyio.CapacityLimiter) -> None:
        async with slots:
            channel = gateway.open([LendingDesk()])
            channels.add(channel)
            async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(verify=False)) as own:
                hello = request("initialize", {"protocolVersion": "2025-11-25"})
                session = (await post(own, channel, hello)).headers["mcp-session-id"]
                lend = call("lend", thing="saw", to="Ada")
                answer = await post(own, channel, lend, mcp_session_id=session)
                assert answer.json()["result"]["content"][0]["text"] == "lent"
            assert len(channel.events) == 1
            channel.close()

    async def check() -> None:
        with anyio.fail_after(60):
            files = open_files()
            async with Gateway.serving() as gateway:
                tasks_before = len(asyncio.all_tasks())
                slots = anyio.CapacityLimiter(64)
                async with anyio.create_task_group() as tasks:
                    for _ in range(500):
                        tasks.start_soon(trial, gateway, slots)
                await anyio.wait_all_tasks_blocked()
                gc.collect()
                assert gateway.open_channels == 0
                assert len(channels) == 0
                assert len(asyncio.all_tasks()) == tasks_before
            assert open_files() == files

    anyio.run(check)


def test_what_goes_wrong_in_the_run_comes_out_as_it_is():
    async def check() -> None:
        async with Gateway.serving() as gateway:
            gateway.open([LendingDesk()])
            raise UsageError("the run's own trouble")

    with pytest.raises(UsageError, match="own trouble"):
        anyio.run(check)


def test_a_cancelled_run_ends():
    async def check() -> None:
        with anyio.fail_after(30):
            with anyio.move_on_after(0.05) as scope:
                async with Gateway.serving():
                    await anyio.sleep_forever()
            assert scope.cancelled_caught

    anyio.run(check)


def test_signals_stay_with_the_run():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        during = {number: signal.getsignal(number) for number in before}
        # asyncio's own runner handles SIGINT while it runs; nobody else may.
        assert during[signal.SIGTERM] == before[signal.SIGTERM]
        assert "uvicorn" not in repr(during[signal.SIGINT])

    mcp_wire.run(check)


def test_a_bug_of_ours_is_raised_when_the_run_ends_and_hidden_from_the_agent():
    class Broken(LendingDesk):
        @property
        def instructions(self):  # type: ignore[override]
            raise ZeroDivisionError("secret detail")

    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        hello = request("initialize", {"protocolVersion": "2025-11-25"})
        answer = await post(client, gateway.open([Broken()]), hello)

        assert answer.status_code == 500
        assert "secret" not in answer.text

    with pytest.raises(ExceptionGroup) as raised:
        mcp_wire.run(check)
    assert isinstance(raised.value.exceptions[0], ZeroDivisionError)


@pytest.mark.parametrize(
    ("error", "cause"),
    [(ZeroDivisionError("secret"), "internal"), (ToolServerError("it is gone"), "tool_server")],
)
@pytest.mark.parametrize("message", [request("tools/list"), mcp_wire.call("look_up", thing="saw")])
def test_tools_that_cannot_be_had_are_a_fault_of_the_trial(error, cause, message):
    class Broken(LendingDesk):
        def tools(self):
            raise error

    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel, sibling = gateway.open([Broken()]), gateway.open([LendingDesk()])
        answer = await post(client, channel, message)
        beside = await post(client, sibling, mcp_wire.call("look_up", thing="saw"))

        assert answer.json()["error"]["code"] == -32603
        assert "secret" not in answer.text
        assert {fault.cause for fault in channel.faults} == {cause}
        assert beside.json()["result"]["isError"] is False
        assert not sibling.faults

    mcp_wire.run(check)


def test_subscriptions_of_one_trial_are_bounded_and_end_with_their_clients():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        async def listen(client: httpx.AsyncClient) -> int:
            async with client.stream(
                "POST",
                channel.url("desk"),
                json=request("subscriptions/listen", {"_meta": mcp_wire.ENVELOPE}),
                headers={
                    **mcp_wire.JSON,
                    **channel.headers,
                    "mcp-protocol-version": "2026-07-28",
                    "mcp-method": "subscriptions/listen",
                },
            ) as stream:
                async for line in stream.aiter_lines():
                    if line.startswith("data: "):
                        opened.release()
                        await leave.wait()
                return stream.status_code

        opened, leave = anyio.Semaphore(0), anyio.Event()
        async with anyio.create_task_group() as tasks:
            for _ in range(MOST_STREAMS):
                tasks.start_soon(listen, client)
            for _ in range(MOST_STREAMS):
                await opened.acquire()
            over = await mcp_wire.modern(
                client, channel, "subscriptions/listen", {"notifications": {}}
            )
            assert over.json()["error"]["message"] == "Too many open subscriptions"
            tasks.cancel_scope.cancel()
        await anyio.wait_all_tasks_blocked()

        assert channel.lines["desk"].streams == 0

    mcp_wire.run(check)
