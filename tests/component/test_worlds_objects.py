"""A trial's own copy of a world of kind `objects`, as the gateway is given it."""

import copy
import gc
import json
import threading
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.documents.world import ObjectsWorld
from seatrial.gateway import Rights as RightsOfTheGateway
from seatrial.gateway import ToolServer
from seatrial.state.rights import Rights
from seatrial.state.values import containers
from seatrial.worlds import ObjectsCopy, WorldCopy, objects, open_world

BOARD: dict[str, Any] = {
    "kind": "fixture",
    "type": "world",
    "id": "board",
    "title": "What agents must not see",
    "instructions": "A board with notes.",
    "now": "2026-05-04T11:30:00Z",
    "types": {"note": {"properties": {"id": {"type": "string"}, "text": {}}}},
    "links": {"after": {"from": "note", "to": "note"}},
    "objects": {
        "note": [{"id": "n-1", "text": {"parts": ["a", {"b": 1}]}}, {"id": "n-2", "text": 0}]
    },
    "linked": [{"type": "after", "from": "n-2", "to": "n-1"}],
    "actions": {
        "read": {
            "description": "Read a note.",
            "read_only": True,
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
            "bind": {"note": {"type": "note", "key": "{{args.id}}"}},
            "returns": "{{note}}",
        },
        "write": {
            "description": "Write a note.",
            "parameters": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "text": {}},
                "required": ["id"],
            },
            "bind": {"note": {"type": "note", "key": "{{args.id}}"}},
            "effects": [
                {"effect": "set", "object": "note", "properties": {"text": "{{args.text}}"}}
            ],
            "returns": {"note": "{{note}}"},
        },
        "add": {
            "description": "Add a note.",
            "effects": [
                {
                    "effect": "create",
                    "type": "note",
                    "properties": {"id": "{{new_id}}", "text": "{{run}}"},
                }
            ],
            "returns": "{{created.id}}",
        },
        "remove": {
            "description": "Remove a note.",
            "destructive": True,
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
            "bind": {"note": {"type": "note", "key": "{{args.id}}"}},
            "effects": [{"effect": "delete", "object": "note"}],
        },
    },
}
FIXTURE = ObjectsWorld.model_validate(BOARD)
START = {
    "objects": {"note": {n["id"]: n for n in BOARD["objects"]["note"]}},
    "links": [{"type": "after", "from": "n-2", "to": "n-1"}],
}
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["read", "write", "add", "remove", "nothing"]),
        st.fixed_dictionaries(
            {"id": st.sampled_from(["n-1", "n-2", "n-3"])},
            optional={"text": st.lists(st.dictionaries(st.text(max_size=2), st.none()))},
        ),
    ),
    max_size=6,
)


def board(seed: int = 1) -> ObjectsCopy:
    return open_world(FIXTURE, run_token=f"run-{seed}", seed=seed)


def test_a_world_is_a_tool_server_and_its_rights_are_those_the_gateway_asks():
    server: ToolServer = board()
    copy_of_any_kind: WorldCopy = board()
    rights: RightsOfTheGateway = Rights(FIXTURE, None)

    assert (server.name, server.instructions, server.version) == ("board", "A board with notes.", 0)
    assert rights.visible("read")
    assert anyio.run(copy_of_any_kind.difference) == ()
    assert "must not see" not in json.dumps([tool.as_mcp() for tool in server.tools()])


def test_actions_are_tools_with_hints_and_closed_schemas():
    tools = {tool.name: tool.as_mcp() for tool in board().tools()}

    assert list(tools) == ["read", "write", "add", "remove"]
    assert tools["read"]["annotations"] == {"readOnlyHint": True, "destructiveHint": False}
    assert tools["remove"]["annotations"] == {"readOnlyHint": False, "destructiveHint": True}
    assert tools["write"]["inputSchema"] == {
        "type": "object",
        "properties": {"id": {"type": "string"}, "text": {}},
        "required": ["id"],
        "additionalProperties": False,
    }


def test_version_rises_with_each_call_that_changes_something():
    world = board()
    versions = []
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read", {"id": "n-1"}),
        ("write", {"id": "n-2", "text": 1}),
        ("write", {"id": "n-2", "text": 1.0}),
        ("write", {"id": "n-9", "text": 1}),
        ("write", {"id": "n-2", "text": True}),
        ("remove", {"id": "n-1"}),
    ]
    for tool, arguments in calls:
        world.act(tool, arguments)
        versions.append(world.version)

    assert versions == [0, 1, 1, 1, 2, 3]


def test_a_change_that_was_taken_back_is_no_difference():
    world = board()
    world.act("write", {"id": "n-2", "text": 1})
    world.act("write", {"id": "n-2", "text": 0})

    assert (world.version, world.changes()) == (2, ())


def test_the_gateways_call_is_the_same_as_act():
    async def call() -> Any:
        return await board().call("read", {"id": "n-2"})

    assert anyio.run(call) == board().act("read", {"id": "n-2"})


def test_trials_draw_their_own_ids_and_tokens():
    first, again, other = board(1), board(1), board(2)
    ids = [world.act("add", {}).text for world in (first, again, other)]

    assert ids[0] == ids[1] != ids[2]
    assert first.state()["objects"]["note"][ids[0]] == {"id": ids[0], "text": "run-1"}


@given(CALLS, CALLS)
def test_trials_of_one_fixture_never_see_each_other(mine, others):
    alone, beside, noisy = board(), board(), board()
    answers = []
    for number in range(max(len(mine), len(others))):
        for tool, arguments in others[number : number + 1]:
            noisy.act(tool, arguments)
        for tool, arguments in mine[number : number + 1]:
            answers.append(beside.act(tool, arguments))

    assert answers == [alone.act(tool, arguments) for tool, arguments in mine]
    assert beside.changes() == alone.changes()
    assert beside.state() == alone.state()


@given(CALLS)
def test_nothing_that_a_world_takes_or_gives_can_be_used_to_change_it(calls):
    world = board()
    for tool, arguments in calls:
        given_to = copy.deepcopy(arguments)
        answer = world.act(tool, given_to)
        before = json.dumps(world.state())
        for part in [*containers(given_to), *containers(answer.structured)]:
            part.clear()
        values = [value for change in world.changes() for value in (change.old, change.new)]
        for value in [world.state(), *values]:
            for part in containers(value):
                with pytest.raises(TypeError, match="frozen"):
                    part.clear()
        assert json.dumps(world.state()) == before

    assert board().state() == START
    assert ObjectsWorld.model_validate(BOARD) == FIXTURE


def test_calls_from_many_threads_lose_no_write():
    world = board()
    together = threading.Barrier(8)

    def add() -> None:
        together.wait(timeout=30)
        for _ in range(20):
            world.act("add", {})

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert world.version == 160
    assert len(world.changes()) == 160


def test_what_was_made_ready_for_a_fixture_is_forgotten_with_it():
    fixture = ObjectsWorld.model_validate(BOARD)
    first = open_world(fixture, run_token="r", seed=1)
    known = len(objects._ready)
    assert open_world(fixture, run_token="r", seed=1).tools() is first.tools()
    del fixture
    gc.collect()

    assert len(objects._ready) == known - 1
    assert first.act("read", {"id": "n-2"}).text == '{"id": "n-2", "text": 0}'
