"""A real MCP server behind the gateway: what it says reaches the agent as it said it."""

import json
from typing import Any

import anyio
import httpx
import pytest
from tests import mcp_wire
from tests.real_servers import House, Trial, answers, fixture, run, under_way, until

from seatrial.documents import Answers
from seatrial.trace import Asked, Called, Requested


def test_the_agent_meets_the_server_as_it_is():
    async def check(house: House) -> None:
        async with house.trial(fixture(hide=["secret"])) as trial:
            about = await trial.hello()
            listed = (await trial.ask("tools/list"))["result"]["tools"]

            assert about["serverInfo"] == {"name": "real", "version": "9.9", "title": "A real one"}
            assert about["instructions"] == "Be gentle."
            assert about["capabilities"]["tools"] == {"listChanged": True}
            assert listed[0] == {
                "name": "echo",
                "title": "Echo",
                "inputSchema": {
                    "$schema": "http://json-schema.org/draft-07/schema#",
                    "type": "object",
                    "properties": {"text": {"type": "string"}},
                    "additionalProperties": False,
                },
                "execution": {"taskSupport": "forbidden"},
                "description": "Say it again.",
                "annotations": {"readOnlyHint": True},
            }
            names = [tool["name"] for tool in listed]
            assert "wait" in names  # it stands on the second page
            assert "secret" not in names

    run(check)


def test_answers_come_through_byte_for_byte():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            await trial.hello()
            echo = await trial.post(mcp_wire.call("echo", "an id", text="ä\n"))
            shown = await trial.post(mcp_wire.call("show", 7))

            # As the server writes it: with spaces, its keys in its order, its numbers as they are.
            assert echo.content == (
                b'{"jsonrpc": "2.0", "id":"an id", "result": {"content": [{"type": "text", "text": '
                b'"\\u00e4\\n"}], "structuredContent": {"n": 1.0, "e": 100.0}, "_meta": {"x/y": 1}}}'
            )
            assert shown.json()["result"]["content"][0]["annotations"] == {"audience": ["user"]}
            first, second = trial.channel.events
            assert isinstance(first, Called)
            assert isinstance(second, Called)
            assert (first.answered_by, first.server, first.read_only) == ("server", "real", True)
            assert first.answer.structured == {"n": 1.0, "e": 100.0}
            assert second.answer.content[0]["type"] == "image"

    run(check)


def test_a_call_is_recorded_with_whether_its_arguments_leave_the_world():
    async def check(house: House) -> None:
        closed = fixture(tools={"fail": {"leaves_world": False}})
        async with house.trial(closed) as trial:
            await trial.hello()
            for name in ("echo", "show", "fail"):
                await trial.call(name)
            calls = [event for event in trial.channel.events if isinstance(event, Called)]
            assert [(call.tool, call.leaves_world) for call in calls] == [
                ("echo", None),
                ("show", False),
                ("fail", False),
            ]

    run(check)


def test_errors_come_through_as_errors():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            failed = await trial.call("fail")
            refused = await trial.call("refuse")
            unknown = await trial.call("nothing")
            misfit = await trial.call("echo", wrong=1)

            assert failed["result"]["isError"] is True
            assert refused["error"] == {
                "code": -32602, "message": "not like this", "data": {"field": "x"},
            }  # fmt: skip
            assert unknown["error"]["message"] == "Unknown tool: nothing"
            assert misfit["result"]["content"][0]["text"] == "None"
            recorded = [event for event in trial.channel.events if isinstance(event, Called)]
            assert [event.answer.is_error for event in recorded] == [True, True, True, False]
            assert recorded[1].answer.text == "MCP error -32602: not like this"
            assert recorded[2].misfits == ("there is no such tool",)
            assert recorded[3].misfits == ("wrong is unknown (known: text)",)
            assert trial.channel.faults == ()

    run(check)


def test_a_hidden_tool_cannot_be_called():
    async def check(house: House) -> None:
        async with house.trial(fixture(hide=["echo"])) as trial:
            answer = await trial.call("echo", text="x")

            assert answer["result"]["content"][0]["text"] == "Unknown tool: echo"
            assert trial.channel.events[0].answered_by == "gateway"  # type: ignore[union-attr]

    run(check)


def test_what_is_no_tool_call_reaches_the_server_too_and_is_recorded():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            listed = await trial.ask("resources/list", cursor="next")
            read = await trial.post(mcp_wire.request("resources/read", {"uri": "memo://1"}, id="r"))
            missing = await trial.ask("resources/read", uri="memo://9")
            greeting = await trial.ask("prompts/get", name="greet", arguments={"who": "gull"})
            completed = await trial.ask("completion/complete", ref={}, argument={})
            level = await trial.ask("logging/setLevel", level="debug")
            odd = await trial.ask("no/such")

            assert listed["result"]["nextCursor"] == "next"
            assert read.content == (
                b'{"jsonrpc": "2.0", "id":"r", "result": {"contents": [{"uri": "memo://1", '
                b'"text": "abc", "odd": null}]}}'
            )
            assert missing["error"]["code"] == -32002
            assert greeting["result"]["messages"][0]["content"]["text"] == "Hello gull"
            assert completed["result"]["completion"]["values"] == ["a", "b"]
            assert level["result"] == {}
            assert odd["error"] == {"code": -32601, "message": "Method not found"}
            recorded = [e for e in trial.channel.events if isinstance(e, Requested)]
            assert [e.method for e in recorded[:3]] == [
                "resources/list", "resources/read", "resources/read",
            ]  # fmt: skip
            assert recorded[1].params == {"uri": "memo://1"}
            assert recorded[1].result["contents"][0]["text"] == "abc"
            assert recorded[2].error == "Resource not found (-32002)"
            assert trial.channel.faults == ()

    run(check)


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


@pytest.mark.parametrize("token", ["mine", 3])
def test_progress_reaches_the_client_under_its_own_token_before_the_answer(token: Any):
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            params = {
                "name": "work",
                "arguments": {"steps": 3},
                "_meta": {"progressToken": token},
            }
            reply = await trial.post(mcp_wire.request("tools/call", params, id="w"))

            assert reply.headers["content-type"] == "text/event-stream"
            *told, last = events_of(reply.text)
            assert [message["params"] for message in told] == [
                {"progressToken": token, "progress": n, "total": 3, "message": f"step {n}"}
                for n in (1, 2, 3)
            ]
            assert last["id"] == "w"
            assert last["result"]["content"][0]["text"] == "worked"

    run(check)


def test_a_stream_too_is_cut_off_or_trickles_at_its_end():
    wire: list[dict[str, Any]] = [
        {"how": "cut_off", "calls": [1]},
        {"how": "trickle", "bytes_per_second": 100_000},
    ]
    params = {"name": "work", "arguments": {"steps": 2}, "_meta": {"progressToken": "p"}}
    asked = mcp_wire.request("tools/call", params)

    async def check(house: House) -> None:
        for how in wire:
            work = {"pass_through": True, "wire": how}
            mocks = {"kind": "fixture", "type": "answers", "id": "m", "tools": {"work": work}}
            document = fixture(targets={"test": "pass_through"})
            async with house.trial(document, mocks=Answers.model_validate(mocks)) as trial:
                await trial.hello()
                if how["how"] == "cut_off":
                    with pytest.raises(httpx.RemoteProtocolError, match="closed connection"):
                        await trial.post(asked)
                else:
                    *told, last = events_of((await trial.post(asked)).text)
                    assert len(told) == 2
                    assert last["result"]["content"][0]["text"] == "worked"
                (call,) = (e for e in trial.channel.events if isinstance(e, Called))
                assert (call.fault, call.answer.text) == (f"wire: {how['how']}", "worked")
                assert trial.channel.faults == ()

    run(check)


def test_a_client_that_takes_no_streams_gets_the_plain_answer():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            params = {"name": "work", "arguments": {"steps": 2}, "_meta": {"progressToken": 1}}
            reply = await trial.post(
                mcp_wire.request("tools/call", params), accept="application/json"
            )

            assert reply.json()["result"]["content"][0]["text"] == "worked"

    run(check)


def test_the_second_era_is_served_too():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            found = await mcp_wire.modern(
                trial.http, trial.channel, "server/discover", server="real"
            )
            params = {"name": "work", "arguments": {"steps": 1}}
            meta = {**mcp_wire.ENVELOPE, "progressToken": "p"}
            worked = await mcp_wire.modern(
                trial.http, trial.channel, "tools/call", params, meta=meta, server="real"
            )
            read = await mcp_wire.modern(
                trial.http,
                trial.channel,
                "resources/read",
                {"uri": "memo://1"},
                headers={"mcp-name": "memo://1"},
                server="real",
            )
            routed = await mcp_wire.modern(
                trial.http,
                trial.channel,
                "tools/call",
                {"name": "route", "arguments": {"region": "north"}},
                headers={"mcp-param-region": "south"},
                server="real",
            )
            lost = await mcp_wire.modern(
                trial.http, trial.channel, "tools/call", {"name": "refuse"}, server="real"
            )

            assert found.json()["result"]["capabilities"]["prompts"] == {}
            progress, answer = events_of(worked.text)
            assert progress["params"]["progressToken"] == "p"
            assert answer["result"]["resultType"] == "complete"
            assert read.json()["result"]["contents"][0]["text"] == "abc"
            assert read.json()["result"]["ttlMs"] == 0
            assert lost.json()["error"]["code"] == -32602
            assert (routed.status_code, routed.json()["error"]["code"]) == (400, -32020)

    run(check)


async def listening(
    trial: Trial, into: list[dict[str, Any]], ready: anyio.Event, enough: anyio.Event
) -> None:
    """Listen to what the server says of its own accord; two messages are enough."""
    headers = {
        **trial.channel.headers,
        **{name.replace("_", "-"): value for name, value in (trial.session or {}).items()},
        "accept": "text/event-stream",
    }
    async with trial.http.stream("GET", trial.channel.url("real"), headers=headers) as reply:
        assert reply.status_code == 200
        ready.set()
        async for line in reply.aiter_lines():
            if line.startswith("data: "):
                into.append(json.loads(line[6:]))
            if len(into) == 2:
                enough.set()


def test_what_the_server_says_of_its_own_accord_reaches_whoever_listens():
    async def check(house: House) -> None:
        heard: list[dict[str, Any]] = []
        async with house.trial(fixture()) as trial, anyio.create_task_group() as tasks:
            await trial.hello()
            ready, enough = anyio.Event(), anyio.Event()
            tasks.start_soon(listening, trial, heard, ready, enough)
            await ready.wait()
            await trial.call("log")
            await trial.call("grow")
            listed = (await trial.ask("tools/list"))["result"]["tools"]
            await enough.wait()
            trial.channel.close()

        assert [message["method"] for message in heard] == [
            "notifications/message",
            "notifications/tools/list_changed",
        ]
        assert listed[-1]["name"] == "tool0"

    run(check)


async def subscribed(
    trial: Trial, into: list[dict[str, Any]], ready: anyio.Event, enough: anyio.Event
) -> None:
    """Listen to a resource and the list of tools, in the second era; three messages are enough."""
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["memo://1", 7]}
    params = {"notifications": wanted, "_meta": mcp_wire.ENVELOPE}
    headers = {
        **mcp_wire.JSON,
        **trial.channel.headers,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
    }
    message = mcp_wire.request("subscriptions/listen", params, id="s")
    url = trial.channel.url("real")
    async with trial.http.stream("POST", url, json=message, headers=headers) as reply:
        async for line in reply.aiter_lines():
            if line.startswith("data: "):
                into.append(json.loads(line[6:]))
                ready.set()
            if len(into) == 3:
                enough.set()


def test_a_client_of_the_second_era_subscribes_to_what_the_server_announces():
    async def check(house: House) -> None:
        heard: list[dict[str, Any]] = []
        async with house.trial(fixture()) as trial, anyio.create_task_group() as tasks:
            ready, enough = anyio.Event(), anyio.Event()
            tasks.start_soon(subscribed, trial, heard, ready, enough)
            await ready.wait()
            await trial.call("touch")
            await trial.call("grow")
            await enough.wait()
            trial.channel.close()

        first, updated, changed, end = heard
        assert first["params"]["notifications"] == {
            "toolsListChanged": True,
            "resourceSubscriptions": ["memo://1"],
        }
        meta = {"io.modelcontextprotocol/subscriptionId": "s"}
        assert updated["params"] == {"uri": "memo://1", "_meta": meta}
        assert changed["method"] == "notifications/tools/list_changed"
        assert end["id"] == "s"

    run(check)


def test_a_client_of_the_second_era_hears_logs_when_it_asks_for_them():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            level = {"io.modelcontextprotocol/logLevel": "info"}
            replies = [
                await mcp_wire.modern(
                    trial.http,
                    trial.channel,
                    "tools/call",
                    {"name": "log"},
                    meta=meta,
                    server="real",
                )
                for meta in ({**mcp_wire.ENVELOPE, **level}, mcp_wire.ENVELOPE)
            ]

            log, answer = events_of(replies[0].text)
            assert log["params"]["data"] == "a word"
            assert answer["result"]["content"][0]["text"] == "logged"
            assert replies[1].json()["result"]["content"][0]["text"] == "logged"

    run(check)


def test_a_client_that_listens_to_nothing_hears_a_log_before_its_answer():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            reply = await trial.post(mcp_wire.call("log"))

            log, answer = events_of(reply.text)
            assert log["params"] == {"level": "info", "data": "a word"}
            assert answer["result"]["content"][0]["text"] == "logged"

    run(check)


async def answering(trial: Trial, tool: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Call a tool that asks the client something, and answer it; what the tool then says."""
    url, sent = trial.channel.url("real"), mcp_wire.call(tool)
    headers = {
        **mcp_wire.JSON,
        **trial.channel.headers,
        **{name.replace("_", "-"): value for name, value in (trial.session or {}).items()},
    }
    async with trial.http.stream("POST", url, json=sent, headers=headers) as reply:
        async for line in reply.aiter_lines():
            if not line.startswith("data: "):
                continue
            message = json.loads(line[6:])
            if "method" in message:
                taken = await trial.post({"jsonrpc": "2.0", "id": message["id"], **answer})
                assert taken.status_code == 202
            else:
                said: dict[str, Any] = json.loads(message["result"]["content"][0]["text"])
                return said
    raise AssertionError("no answer")


@pytest.mark.parametrize(
    ("tool", "capability", "answer"),
    [
        ("sample", "sampling", {"result": {"role": "assistant", "content": {}, "model": "m"}}),
        ("elicit", "elicitation", {"result": {"action": "decline"}}),
        ("roots", "roots", {"error": {"code": -1, "message": "not now"}}),
    ],
)
def test_what_the_server_asks_its_client_the_agent_answers(tool, capability, answer):
    async def check(house: House) -> None:
        asking = fixture(client={capability: "pass_through"})
        async with house.trial(asking) as trial:
            await trial.hello(**{capability: {}})
            said = await answering(trial, tool, answer)

            assert said == answer
            asked = [event for event in trial.channel.events if isinstance(event, Asked)]
            assert [event.answered_by for event in asked] == ["agent"]
            assert asked[0].result == answer.get("result")
            refused = await mcp_wire.modern(
                trial.http, trial.channel, "server/discover", server="real"
            )
            assert refused.json()["error"]["code"] == -32022

    run(check)


def test_what_the_server_asks_its_client_the_fixture_answers():
    async def check(house: House) -> None:
        client = {
            "roots": [{"uri": "file:///data", "name": "data"}],
            "sampling": {"text": "yes"},
            "elicitation": {"action": "accept", "content": {"sure": True}},
        }
        async with house.trial(fixture(client=client)) as trial:
            said = {
                tool: json.loads((await trial.call(tool))["result"]["content"][0]["text"])
                for tool in ("roots", "sample", "elicit", "seen")
            }

            assert said["roots"] == {"result": {"roots": [{"uri": "file:///data", "name": "data"}]}}
            assert said["sample"]["result"]["content"] == {"type": "text", "text": "yes"}
            assert said["elicit"] == {"result": {"action": "accept", "content": {"sure": True}}}
            assert said["seen"]["client"]["capabilities"] == {
                "roots": {}, "sampling": {}, "elicitation": {},
            }  # fmt: skip
            asked = [event for event in trial.channel.events if isinstance(event, Asked)]
            assert {event.answered_by for event in asked} == {"fixture"}

    run(check)


def test_a_client_that_cannot_be_asked_is_not():
    async def check(house: House) -> None:
        async with house.trial(fixture(client={"sampling": "pass_through"})) as trial:
            await trial.hello()
            sampled = json.loads((await trial.call("sample"))["result"]["content"][0]["text"])
            elicited = json.loads((await trial.call("elicit"))["result"]["content"][0]["text"])

            assert sampled["error"]["code"] == elicited["error"]["code"] == -32601
            asked = [event for event in trial.channel.events if isinstance(event, Asked)]
            assert [event.answered_by for event in asked] == ["gateway", "fixture"]

    run(check)


def test_mocked_tools_are_answered_by_the_fixture_and_the_rest_by_the_server():
    async def check(house: House) -> None:
        document = fixture(targets={"test": "pass_through"})
        async with house.trial(document, mocks=answers(echo="mocked")) as trial:
            mocked = await trial.call("echo", text="x")
            real = await trial.call("fail")

            assert mocked["result"]["content"][0]["text"] == "mocked"
            assert real["result"]["content"][0]["text"] == "it did not work"
            by = [e.answered_by for e in trial.channel.events if isinstance(e, Called)]
            assert by == ["mock", "server"]
            assert house.servers.started == 1

    run(check)


def test_what_is_passed_through_comes_byte_for_byte_unless_it_is_broken_on_purpose():
    echo = {
        "pass_through": True,
        "delay_ms": 1,
        "fail": {"calls": [1], "message": "busy"},
        "broken": {"how": "cut_off", "calls": [3]},
    }

    async def check(house: House) -> None:
        document = fixture(targets={"test": "pass_through"})
        mocks = {"kind": "fixture", "type": "answers", "id": "m", "tools": {"echo": echo}}
        async with house.trial(document, mocks=Answers.model_validate(mocks)) as trial:
            await trial.hello()
            failed = await trial.call("echo", text="x")
            passed = await trial.post(mcp_wire.call("echo", "an id", text="x"))
            broken = await trial.call("echo", text="x")

            assert failed["result"]["content"][0]["text"] == "busy"
            assert passed.content.startswith(
                b'{"jsonrpc": "2.0", "id":"an id", "result": {"content": '
            )
            assert "structuredContent" not in broken["result"]
            calls = [event for event in trial.channel.events if isinstance(event, Called)]
            assert [(c.answered_by, c.rule, c.fault, c.waited_ms) for c in calls] == [
                ("mock", "pass_through", "fail", 1),
                ("server", "pass_through", None, 1),
                ("server", "pass_through", "broken: cut_off", 1),
            ]
            assert calls[2].answer.text == broken["result"]["content"][0]["text"]
            assert trial.channel.faults == ()

    run(check)


def test_a_server_all_of_whose_tools_are_mocked_is_never_started():
    async def check(house: House) -> None:
        known = {
            "echo": {"read_only": True, "description": "Say.", "parameters": {"type": "object"}}
        }
        for target in ("mock", "pass_through"):
            document = fixture("exits", targets={"test": target}, tools=known)
            async with house.trial(document, mocks=answers(echo="mocked")) as trial:
                listed = (await trial.ask("tools/list"))["result"]["tools"]
                mocked = await trial.call("echo")
                unknown = await trial.call("wait")

                assert [tool["name"] for tool in listed] == ["echo"]
                assert mocked["result"]["content"][0]["text"] == "mocked"
                assert unknown["result"]["content"][0]["text"] == "Unknown tool: wait"
        assert house.servers.started == 0

    run(check)


def test_a_shared_server_is_started_once_and_knows_its_trials_apart():
    async def check(house: House) -> None:
        async def one(number: int) -> None:
            async with house.trial(fixture(shared=True)) as trial:
                params = {
                    "name": "work",
                    "arguments": {"steps": number},
                    "_meta": {"progressToken": "same"},
                }
                reply = await trial.post(mcp_wire.request("tools/call", params))
                assert len(events_of(reply.text)) == number + 1
                assert trial.channel.faults == ()

        async with anyio.create_task_group() as tasks:
            for number in range(1, 6):
                tasks.start_soon(one, number)
        assert house.servers.started == 1

    run(check)


def test_secrets_of_a_server_reach_only_that_server():
    async def check(house: House) -> None:
        with_secret = fixture(pass_env=["TOKEN"], env={"MODE": "{scratch}/x"})
        without = fixture(id="other")
        async with house.trial(with_secret, without) as trial:
            seen = []
            for server in ("real", "other"):
                trial.server = server
                said = (await trial.call("seen"))["result"]["content"][0]["text"]
                seen.append(json.loads(said)["env"])

            assert seen[0]["TOKEN"] == "s3cret"
            assert seen[0]["MODE"].endswith("/scratch/x")
            assert "TOKEN" not in seen[1]
            assert not {"OTHER", "SEATRIAL_SHARED"} & (seen[0].keys() | seen[1].keys())

    run(check, {"TOKEN": "s3cret", "OTHER": "x"})


def test_a_batch_is_answered_in_order():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            batch = [
                mcp_wire.call("echo", 1, text="first"),
                mcp_wire.request("resources/read", {"uri": "memo://1"}, id=2),
                {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
                mcp_wire.request("tools/list", id=3),
            ]
            reply = await trial.post(batch, mcp_protocol_version="2025-03-26")
            first, second, third = reply.json()

            assert first["result"]["content"][0]["text"] == "first"
            assert second["result"]["contents"][0]["text"] == "abc"
            assert third["result"]["tools"][0]["name"] == "echo"

    run(check)


def test_a_request_that_is_no_tool_call_can_be_cancelled():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial:
            await trial.hello()
            answers = []

            async def read() -> None:
                sent = mcp_wire.request("resources/read", {"uri": "memo://slow"}, id="r")
                answers.append((await trial.post(sent)).json())

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await until(lambda: under_way(trial))
                params = {"requestId": "r"}
                told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                await trial.post(told)
            assert answers[0]["error"]["code"] == -32800
            (event,) = trial.channel.events
            assert isinstance(event, Requested)
            assert event.error == "not answered: the client cancelled it"
            assert trial.channel.faults == ()

    run(check)


def test_a_session_listens_once():
    async def check(house: House) -> None:
        async with house.trial(fixture()) as trial, anyio.create_task_group() as tasks:
            await trial.hello()
            ready = anyio.Event()
            tasks.start_soon(listening, trial, [], ready, anyio.Event())
            await ready.wait()
            headers = {
                **trial.channel.headers,
                **{name.replace("_", "-"): value for name, value in (trial.session or {}).items()},
            }
            again = await trial.http.get(trial.channel.url("real"), headers=headers)
            odd = await trial.http.get(
                trial.channel.url("real"), headers={**headers, "accept": "application/json"}
            )

            assert (again.status_code, odd.status_code) == (409, 406)
            trial.channel.close()

    run(check)
