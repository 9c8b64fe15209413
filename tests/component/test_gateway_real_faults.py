"""Real MCP servers that misbehave: the agent gets an error, the trial says what happened, and nothing is left."""

import asyncio
import json
from typing import Any

import anyio
import pytest
from tests import mcp_wire
from tests.real_servers import (
    House,
    Trial,
    fixture,
    given_up,
    processes_of,
    run,
    under_way,
    until,
)

from seatrial.errors import ToolServerError
from seatrial.trace import Called

FAILED = {"code": -32603, "message": "The tool server real failed."}


def calls_of(trial: Trial) -> list[Called]:
    return [event for event in trial.channel.events if isinstance(event, Called)]


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("die", {}, "was killed by SIGKILL; its last words on stderr: Segmentation fault, as it were \\x1b[31m"),
        ("wait", {"seconds": 60}, "did not answer tools/call within 1 s"),
        ("garbage", {"what": "half"}, 'answers with what is no JSON: {"jsonrpc":"2.0","id":'),
        ("garbage", {"what": "half-character"}, "answers with what is no JSON: it has half characters"),
        ("garbage", {"what": "huge"}, "answers with what is no JSON: Out of range float"),
        ("garbage", {"what": "no-content"}, "answers a tool call with what is no content"),
        ("garbage", {"what": "no-result"}, "answers a tool call with what is no content"),
        ("garbage", {"what": "list"}, "answers a tool call with what is no content"),
        ("flood", {"what": "stray"}, "wrote more than 1,000,000 bytes on stdout that are no messages"),
        ("flood", {"what": "pings"}, "asked for more than 100 things at once"),
        ("flood", {"what": "line"}, "wrote a message of more than 64,000,000 bytes"),
        ("flood", {"what": "logs"}, "said more than 16,000,000 bytes of its own accord"),
    ],
)  # fmt: skip
def test_a_server_that_fails_is_an_error_for_the_agent_and_a_fault_of_the_trial(
    tool: str, arguments: dict[str, Any], why: str
):
    async def check(house: House) -> None:
        async with (
            house.trial(fixture(seconds=1 if tool == "wait" else 20)) as trial,
            house.trial(fixture()) as sibling,
        ):
            reply = await trial.post(mcp_wire.call(tool, **arguments))
            beside = await sibling.call("echo", text="still here")

            last = [line for line in reply.text.splitlines() if line.strip()][-1]
            assert json.loads(last.removeprefix("data: "))["error"] == FAILED
            fault = trial.channel.faults[0]
            assert fault.cause == "tool_server"
            assert why in fault.message
            (recorded,) = calls_of(trial)
            assert (recorded.answered_by, recorded.answer.is_error) == ("gateway", True)
            assert beside["result"]["content"][0]["text"] == "still here"
            assert sibling.channel.faults == ()

    run(check)


def test_a_flood_of_progress_is_a_fault_too():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            params = {
                "name": "flood",
                "arguments": {"what": "progress"},
                "_meta": {"progressToken": 1},
            }
            reply = await trial.post(mcp_wire.request("tools/call", params))

            assert "The tool server real failed." in reply.text[-200:]
            (fault,) = trial.channel.faults
            assert "told more than 16,000,000 bytes of how far it is" in fault.message

    run(check)


def test_an_internal_error_is_told_as_it_is_and_is_a_fault_of_the_trial():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            answer = await trial.call("break")

            assert answer["error"] == {"code": -32603, "message": "it broke"}
            assert [f.message for f in trial.channel.faults] == [
                "server 'real' failed in break: it broke"
            ]

    run(check)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("exits", "exited with status 1; its last words on stderr: no licence"),
        ("mute", "did not answer initialize within 1 s"),
        ("lists-nothing", "does not list its tools: not today"),
    ],
)
def test_a_server_that_does_not_begin_is_told_with_its_reason(how: str, why: str):
    async def check(house: House) -> None:
        with pytest.raises(ToolServerError, match="server 'real'") as raised:
            async with house.trial(fixture(how, start_seconds=1 if how == "mute" else 10)):
                raise AssertionError("it begins")
        assert why in raised.value.message

    run(check)


def test_several_servers_begin_side_by_side_and_the_first_that_fails_is_told():
    async def check(house: House) -> None:
        documents = [fixture(id=f"s{number}") for number in range(4)]
        async with house.trial(*documents) as trial:
            assert [server.name for server in trial.servers] == ["s0", "s1", "s2", "s3"]
            assert len(processes_of(house.servers.run)) == 4
        failing = [fixture(id="slow"), fixture("exits", id="one"), fixture("exits", id="two")]
        with pytest.raises(ToolServerError, match="server 'one' exited with status 1"):
            async with house.trial(*failing):
                raise AssertionError("they begin")
        assert not processes_of(house.servers.run)

    run(check)


def test_a_trial_that_ends_before_its_server_begins_leaves_nothing():
    async def check(house: House) -> None:
        begun = anyio.Event()

        async def trial() -> None:
            async with house.trial(fixture("mute"), fixture("mute", id="two")):
                begun.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(trial)
            await until(lambda: len(processes_of(house.servers.run)) == 2)
            tasks.cancel_scope.cancel()
        assert not begun.is_set()
        assert not processes_of(house.servers.run)

    run(check)


def test_a_server_that_lacks_a_tool_which_its_fixture_speaks_of_is_refused():
    async def check(house: House) -> None:
        with pytest.raises(ToolServerError, match="has no tool 'ekko'; it has echo, show"):
            async with house.trial(fixture(hide=["ekko"])):
                raise AssertionError("it begins")

    run(check)


def test_a_program_that_is_not_there_is_told():
    async def check(house: House) -> None:
        with pytest.raises(ToolServerError, match=r"server 'real' cannot be started: '/no/such'"):
            async with house.trial(fixture(command=["/no/such"])):
                raise AssertionError("it begins")

    run(check)


def test_a_folder_to_start_in_that_is_not_there_is_told():
    async def check(house: House) -> None:
        with pytest.raises(
            ToolServerError, match=r"'real' cannot be started in no/where: there is"
        ):
            async with house.trial(fixture(cwd="no/where")):
                raise AssertionError("it begins")

    run(check)


def test_what_a_server_writes_before_it_speaks_does_no_harm():
    async def check(house: House) -> None:
        async with house.trial(fixture("greets")) as trial:
            assert (await trial.call("echo", text="x"))["result"]["content"][0]["text"] == "x"
            assert trial.channel.faults == ()

    run(check)


def test_a_server_that_will_not_end_is_ended_with_all_it_started(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("seatrial.upstream.stdio.LEAVE_SECONDS", 0.1)
    monkeypatch.setattr("seatrial.processes.TERM_SECONDS", 0.1)

    async def check(house: House) -> None:
        async with house.trial(fixture("stays")):
            assert len(processes_of(house.servers.run)) == 2
        assert not processes_of(house.servers.run)

    run(check)


def test_a_server_that_stops_listening_is_not_waited_for_for_ever():
    async def check(house: House) -> None:
        async with house.trial(fixture("deaf", seconds=1)) as trial:
            answer = await trial.call("echo", text="x" * 2_000_000)

            assert answer["error"] == FAILED
            assert "did not answer tools/call within 1 s" in trial.channel.faults[0].message

    run(check)


def test_a_server_that_dies_between_calls_is_a_fault_too():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            await trial.call("die")
            gone = await trial.call("echo", text="x")
            listed = await trial.ask("resources/list")

            assert gone["error"] == listed["error"] == FAILED
            assert len(trial.channel.faults) == 3
            assert {fault.cause for fault in trial.channel.faults} == {"tool_server"}

    run(check)


def test_a_cancelled_call_is_cancelled_at_the_server():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            await trial.hello()
            replies = []

            async def wait() -> None:
                replies.append(await trial.call("wait", 17, seconds=30))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await until(lambda: under_way(trial))
                params = {"requestId": 17, "reason": "no longer wanted"}
                told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                assert (await trial.post(told)).status_code == 202
            # The server is at its end with the call: it would not answer in 30 s otherwise.
            assert (await trial.call("echo", text="x"))["result"]["content"][0]["text"] == "x"
            assert replies[0]["error"]["code"] == -32800
            assert calls_of(trial)[0].answer.text == "Not answered: the client cancelled it."
            assert trial.channel.faults == ()

    run(check)


def test_an_agent_that_hangs_up_mid_call_leaves_the_server_to_the_others():
    async def check(house: House) -> None:
        async with (
            house.trial(fixture(shared=True)) as trial,
            house.trial(fixture(shared=True)) as other,
        ):
            await given_up(trial, "wait", seconds=30)
            answer = await other.call("echo", text="x")

            assert answer["result"]["content"][0]["text"] == "x"
            await until(lambda: calls_of(trial))
            assert (
                calls_of(trial)[0].answer.text == "Not answered: the client closed the connection."
            )
            assert trial.channel.faults == other.channel.faults == ()

    run(check)


def test_a_trial_that_ends_mid_call_is_recorded_and_leaves_nothing():
    async def check(house: House) -> None:
        async with anyio.create_task_group() as tasks:
            async with house.trial(fixture()) as trial:

                async def wait() -> None:
                    reply = await trial.call("wait", seconds=30)
                    assert "the conversation ended" in reply["error"]["message"]

                await trial.hello()
                tasks.start_soon(wait)
                await until(lambda: under_way(trial))
                trial.channel.close()
                assert calls_of(trial)[0].answer.text == "Not answered: the conversation ended."
            assert not processes_of(house.servers.run)

    run(check)


def test_an_answer_of_twenty_megabytes_arrives_whole():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            answer = await trial.call("large", megabytes=20)

            assert answer["result"]["content"][0]["text"] == "x" * 20_000_000
            assert len(calls_of(trial)[0].answer.text) == 20_000_000
            assert not trial.channel.flooded

    run(check)


async def posted_alone(trial: Trial, message: dict[str, Any]) -> dict[str, Any]:
    """Post a message on a connection of its own; the response. (A thousand are too many for httpx.)"""
    address, _, path = trial.channel.url("real").removeprefix("http://").partition("/")
    host, _, port = address.partition(":")
    body = json.dumps(message).encode()
    head = {
        **mcp_wire.JSON,
        **trial.channel.headers,
        "host": address,
        "content-length": len(body),
        "connection": "close",
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    received = b""
    async with await anyio.connect_tcp(host, int(port)) as stream:
        await stream.send(f"POST /{path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        async for part in stream:
            received += part
    response: dict[str, Any] = json.loads(received.partition(b"\r\n\r\n")[2])
    return response


def test_a_thousand_calls_at_once_are_each_answered():
    async def check(house: House) -> None:
        async with house.trial(fixture(seconds=30)) as trial:
            answers: dict[int, str] = {}

            async def one(number: int) -> None:
                sent = mcp_wire.call("echo", number, text=f"no. {number}")
                reply = await posted_alone(trial, sent)
                answers[reply["id"]] = reply["result"]["content"][0]["text"]

            async with anyio.create_task_group() as tasks:
                for number in range(1000):
                    tasks.start_soon(one, number)
            assert answers == {number: f"no. {number}" for number in range(1000)}
            assert [call.number for call in calls_of(trial)] == list(range(1, 1001))
            assert trial.channel.faults == ()

    run(check)


def test_a_shared_server_that_dies_is_started_again_for_the_next_trial():
    async def check(house: House) -> None:
        async with (
            house.trial(fixture(shared=True)) as first,
            house.trial(fixture(shared=True)) as second,
        ):
            assert (await first.call("die"))["error"] == FAILED
            assert (await second.call("echo", text="x"))["error"] == FAILED
        async with house.trial(fixture(shared=True)) as third:
            assert (await third.call("echo", text="x"))["result"]["content"][0]["text"] == "x"
            assert third.channel.faults == ()
        assert house.servers.started == 2

    run(check)


def test_fifty_trials_side_by_side_leave_no_process_and_no_descriptor():
    async def check(house: House) -> None:
        limit = anyio.CapacityLimiter(8)

        async def one(number: int) -> None:
            async with limit, house.trial(fixture()) as trial:
                said = await trial.call("echo", text=str(number))
                assert said["result"]["content"][0]["text"] == str(number)

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(one, number)
        assert house.servers.started == 50

    run(check)


def test_five_hundred_trials_on_a_shared_server_leave_no_task_and_no_channel():
    async def check(house: House) -> None:
        limit = anyio.CapacityLimiter(64)

        async def one(number: int) -> None:
            async with limit, house.trial(fixture(shared=True)) as trial:
                said = await trial.channel.call("echo", {"text": str(number)})
                assert said.text == str(number)
                assert trial.channel.faults == ()

        async with house.trial(fixture(shared=True)):
            before = len(asyncio.all_tasks())
            async with anyio.create_task_group() as tasks:
                for number in range(500):
                    tasks.start_soon(one, number)
            assert len(asyncio.all_tasks()) == before
            assert house.gateway.open_channels == 1
        assert house.servers.started == 1

    run(check)
