"""A world of kind `mcp`: real MCP servers over a copied folder, started and ended for each trial."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import ValidationError
from tests import practice

from seatrial import processes
from seatrial.documents.world import McpWorld
from seatrial.errors import ToolServerError
from seatrial.trace import Change
from seatrial.worlds import WorldCopy, file_problems, staged

SERVERS = Path(__file__).parents[1] / "servers"
NOTES = """
kind: fixture
type: world
world: mcp
id: notes
now: 2026-05-04T11:30:00Z
instructions: The notes of an invented office.
start: {offer.md: An offer.}
command: ["{python}", "{root}/notes_mcp.py"]
"""
RAW = NOTES.replace("notes_mcp.py", "raw_mcp.py")


def notes(**changes: Any) -> McpWorld:
    fixture = practice.world(NOTES, **changes)
    assert isinstance(fixture, McpWorld)
    return fixture


def raw(how: str = "", **changes: Any) -> McpWorld:
    command = ["{python}", "{root}/raw_mcp.py", how]
    state = {"state": {"read": "json", "file": "state.json"}} | changes
    fixture = practice.world(RAW, **{"command": command} | state)
    assert isinstance(fixture, McpWorld)
    return fixture


# --- a server written with the official SDK ---


def test_a_real_server_over_a_copied_folder_is_compared_file_by_file():
    async def use(copy: WorldCopy) -> Any:
        tools = {tool.name: (tool.read_only, tool.destructive) for tool in copy.tools()}
        answers = [
            await copy.call("read_note", {"name": "offer"}),
            await copy.call("write_note", {"name": "plan", "text": "A plan."}),
            await copy.call("read_note", {"name": "nothing"}),
            await copy.call("delete_note", {"name": "offer"}),
        ]
        return tools, copy.instructions, answers, copy.version, await copy.difference()

    tools, instructions, answers, version, changes = practice.opened(notes(), SERVERS, use)

    assert tools == {
        "read_note": (True, None),
        "write_note": (None, False),
        "delete_note": (None, None),
        "dump": (True, None),
    }
    assert instructions == "The notes of an invented office.\n\nKeep notes short."
    assert [(a.text, a.is_error) for a in answers[:2]] == [
        ("An offer.", False),
        ("wrote plan", False),
    ]
    assert answers[0].structured == {"result": "An offer."}
    assert answers[2].is_error
    assert version == 2
    assert changes == (
        Change(what="deleted", type="file", key="offer.md", old={"text": "An offer."}),
        Change(what="created", type="file", key="plan.md", new={"text": "A plan."}),
    )


def test_a_tool_that_agents_never_see_tells_the_state():
    fixture = notes(state={"read": "tool", "tool": "dump"}, hide=["delete_note"])

    async def use(copy: WorldCopy) -> Any:
        names = [tool.name for tool in copy.tools()]
        refused = await copy.call("dump", {})
        await copy.call("write_note", {"name": "offer", "text": "Another."})
        return names, refused, await copy.difference()

    names, refused, changes = practice.opened(fixture, SERVERS, use)

    assert names == ["read_note", "write_note"]
    assert (refused.is_error, refused.text) == (True, "there is no such tool: dump")
    assert changes == (
        Change(
            what="changed",
            type="note",
            key="offer",
            property="text",
            old="An offer.",
            new="Another.",
        ),
    )


def test_a_database_in_the_folder_tells_the_state():
    fixture = notes(
        command=["{python}", "{root}/notes_mcp.py", "sqlite"],
        state={"read": "sqlite", "file": "notes.sqlite"},
    )
    played = practice.play(
        fixture,
        SERVERS,
        ("write_note", {"name": "plan", "text": "A plan."}),
        ("write_note", {"name": "plan", "text": "A plan."}),
    )

    assert played.versions == [1, 1]
    assert played.changes == (
        Change(what="created", type="note", key="plan", new={"name": "plan", "text": "A plan."}),
    )


# --- a server without an SDK ---


def test_what_a_server_does_not_say_of_its_tools_the_fixture_says():
    async def use(copy: WorldCopy) -> Any:
        return {tool.name: (tool.read_only, tool.destructive) for tool in copy.tools()}

    fixture = raw(
        tools={"put": {"read_only": False, "destructive": True}, "get": {"read_only": False}}
    )

    assert practice.opened(fixture, SERVERS, use) == {
        "put": (False, True),
        "get": (False, None),
        "do": (None, None),
        "tell": (None, None),
    }


def test_each_change_is_noticed_at_its_call_and_answers_pass_unchanged():
    played = practice.play(
        raw(),
        SERVERS,
        ("get", {}),
        ("put", {"value": {"a": [1, "é\u2028"]}}),
        ("put", {"value": {"a": [1, "é\u2028"]}}),
        ("do", {}),
    )

    assert played.versions == [0, 1, 1, 1]
    assert played.answers[1].structured == {"thing": {"t-1": {"value": {"a": [1, "é\u2028"]}}}}
    assert played.changes == (
        Change(what="created", type="thing", key="t-1", new={"value": {"a": [1, "é\u2028"]}}),
    )


def test_objects_can_stand_anywhere_in_what_tells_the_state():
    where = {"things": {"at": "thing"}}
    for how in ({"read": "json", "file": "state.json"}, {"read": "tool", "tool": "tell"}):
        fixture = raw(
            state={**how, "types": where},
            start={"state.json": '{"thing": [{"id": 7, "value": 1}]}'},
        )

        assert practice.play(fixture, SERVERS).start.to_json() == {
            "things": {"7": {"id": 7, "value": 1}}
        }


def test_what_a_server_writes_down_only_when_it_ends_is_seen():
    assert [c.key for c in practice.play(raw("writes-late"), SERVERS).changes] == ["late"]


def test_a_greeting_on_stdout_and_requests_of_the_server_are_no_trouble():
    assert practice.play(raw("greets"), SERVERS, ("do", {})).texts == ["ok"]
    [asked] = practice.play(raw("asks"), SERVERS, ("do", {})).texts
    pong, refused = json.loads(asked)

    assert pong == {"jsonrpc": "2.0", "id": "s-1", "result": {}}
    assert refused["error"]["code"] == -32601


def test_a_server_gets_the_environment_that_the_fixture_names_and_a_home_of_its_own():
    fixture = raw(
        command=["{python}", "{root}/raw_mcp.py", "environment", "{snapshot}/offer.md"],
        env={"NOTES": "{snapshot}", "FIXED": "1"},
        pass_env=["NOTES_KEY"],
    )

    async def main() -> Any:
        environ = {"NOTES_KEY": "k-1", "TOKEN": "secret", "PATH": os.environ["PATH"]}
        async with (
            staged(SERVERS, environ, run="r-77") as stage,
            stage.open(fixture, run_token="r", seed=1) as copy,
        ):
            return json.loads((await copy.call("do", {})).text)

    seen = anyio.run(main)
    env, snapshot = seen["env"], seen["cwd"]

    assert Path(snapshot).name == "snapshot"
    assert seen["argv"] == ["environment", f"{snapshot}/offer.md"]
    assert {k: env.get(k) for k in ("NOTES", "FIXED", "NOTES_KEY", "TOKEN", "SEATRIAL_NOW", "SEATRIAL_RUN")} == {
        "NOTES": snapshot,
        "FIXED": "1",
        "NOTES_KEY": "k-1",
        "TOKEN": None,
        "SEATRIAL_NOW": "2026-05-04T11:30:00Z",
        "SEATRIAL_RUN": "r-77",
    }  # fmt: skip
    assert Path(env["HOME"]).parent == Path(snapshot).parent
    assert not Path(snapshot).exists()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            "crash",
            r"was killed by SIGKILL; its last words on stderr: Segmentation fault, as it were \\x1b\[31m",
        ),
        ("hang", r"did not answer tools/call within 0\.3 s"),
        ("garbage", "answers do with what is no content"),
        ("no-result", "answers tools/call with neither a result nor an error"),
        ("flood", "wrote more than 1,000,000 bytes on stdout that are no messages"),
        ("internal", "its server failed in do: it broke"),
        ("pings", "asked for more than 100 things at once"),
        (
            "half",
            "answers do with what is no JSON: it has half characters",
        ),
    ],
)
def test_a_server_that_fails_is_the_worlds_fault(how: str, message: str):
    fixture = raw(how, seconds=0.3 if how == "hang" else 30)

    with pytest.raises(ToolServerError, match=message):
        practice.play(fixture, SERVERS, ("do", {}))


def test_half_characters_in_what_tells_the_state_are_no_state():
    start = {"state.json": '{"thing": {"t-1": {"value": "\\ud800"}}}'}

    with pytest.raises(ToolServerError, match=r"state\.json, which holds the state, is no JSON"):
        practice.play(raw(start=start), SERVERS)


def test_messages_that_answer_nothing_are_passed_over():
    assert practice.play(raw("odd-ids"), SERVERS, ("do", {})).texts == ["ok"]


def test_roles_are_held_against_the_tools_that_the_server_lists():
    roles: dict[str, Any] = {"clerk": {"allow": ["get", "puts"]}}
    with pytest.raises(
        ToolServerError, match=r"roles\.clerk\.allow\[1\]: there is no action 'puts'"
    ):
        practice.play(raw(roles=roles), SERVERS)
    roles = {"clerk": {"allow": ["put"], "when": {"put": {"valeu": {"lt": 1}}}}}
    with pytest.raises(ToolServerError, match="put has no argument 'valeu'; did you mean 'value'"):
        practice.play(raw(roles=roles), SERVERS)


def test_an_error_of_the_protocol_about_the_call_is_an_answer_for_the_agent():
    assert practice.play(raw("invalid"), SERVERS, ("do", {})).texts == [
        "!MCP error -32602: no such value"
    ]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("exits", "exited with status 1; its last words on stderr: no licence"),
        ("mute", r"did not answer initialize within 0\.3 s"),
        ("refuses", r"does not begin a session: not today \(-32000\)"),
        ("future", "speaks version '2099-01-01' of the protocol; spoken here are 2024-11-05"),
        ("no-tools", "answers tools/list without a list of tools"),
        ("endless-pages", "answers tools/list with more than 100 pages"),
        ("bad-schema", "the inputSchema of its server's tool put is no JSON Schema"),
        ("nameless", "lists a tool without a name"),
        ("twice", "lists two tools of one name"),
    ],
)
def test_a_server_that_does_not_begin_is_told_before_the_agent_is_asked(how: str, message: str):
    fixture = raw(how, start_seconds=0.3 if how == "mute" else 30)

    with pytest.raises(ToolServerError, match=message):
        practice.play(fixture, SERVERS)


def test_a_program_that_is_not_there_is_told():
    with pytest.raises(ToolServerError, match="cannot be started: 'no-such-program': No such file"):
        practice.play(raw(command=["no-such-program"]), SERVERS)


def test_a_tool_that_the_fixture_names_and_the_server_lacks_is_told():
    with pytest.raises(ToolServerError, match="has no tool 'pub'; it has put, get, do, tell"):
        practice.play(raw(tools={"pub": {}}), SERVERS)


@pytest.mark.parametrize(
    ("state", "start", "message"),
    [
        ({"read": "json", "file": "offer.md"}, {}, "offer.md, which holds the state, is no JSON"),
        (
            {"read": "json", "file": "s.json"},
            {"s.json": "[]"},
            "what s.json says of the state cannot be used: it must map types to keys to objects",
        ),
        (
            {"read": "json", "file": "s.json", "types": {"a": {"at": "b"}}},
            {"s.json": '{"b": [{}]}'},
            "s.json, at b, gives a a without `id`",
        ),
        (
            {"read": "sqlite", "file": "offer.md"},
            {},
            "offer.md, which holds the state, cannot be read: file is not a database",
        ),
        (
            {"read": "tool", "tool": "tell"},
            {},
            "the tool tell, which tells the state, answers with no JSON",
        ),
    ],
)
def test_a_state_that_cannot_be_read_is_told(state: Any, start: Any, message: str):
    fixture = raw("tells-nonsense", state=state, start={"offer.md": "An offer." * 20} | start)

    with pytest.raises(ToolServerError, match=message):
        practice.play(fixture, SERVERS)


# --- ends ---


def marked(run: str) -> list[int]:
    return processes._marked(f"SEATRIAL_RUN={run}".encode())


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_a_server_that_will_not_end_is_ended_with_all_it_started(monkeypatch, tmp_path: Path):
    monkeypatch.setattr("seatrial.upstream.stdio.LEAVE_SECONDS", 0.1)
    monkeypatch.setattr("seatrial.processes.TERM_SECONDS", 0.1)

    async def main() -> int:
        async with staged(SERVERS, run="r-stays") as stage:
            with anyio.move_on_after(20):
                async with stage.open(raw("stays"), run_token="r", seed=1) as copy:
                    await copy.call("do", {})
                    started = len(marked("r-stays"))
                    await anyio.lowlevel.checkpoint()
            return started

    assert anyio.run(main) == 2
    assert marked("r-stays") == []


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_a_trial_that_is_given_up_in_the_middle_of_a_call_leaves_nothing():
    async def main() -> bool:
        async with staged(SERVERS, run="r-given-up") as stage:
            with anyio.move_on_after(1.5) as scope:
                async with stage.open(raw("hang"), run_token="r", seed=1) as copy:
                    await copy.call("do", {})
        return scope.cancelled_caught

    assert anyio.run(main)
    assert marked("r-given-up") == []


def test_trials_side_by_side_have_servers_and_folders_of_their_own():
    fixture, found = raw(), {}

    async def trial(stage: Any, number: int) -> None:
        async with stage.open(fixture, run_token="r", seed=number) as copy:
            await copy.call("put", {"value": number})
            found[number] = [c.new for c in await copy.difference()]

    async def main() -> None:
        with anyio.fail_after(60):
            async with staged(SERVERS) as stage, anyio.create_task_group() as trials:
                for number in range(5):
                    trials.start_soon(trial, stage, number)

    anyio.run(main)

    assert found == {number: [{"value": number}] for number in range(5)}


# --- what is wrong with it ---


def test_files_of_a_server_are_part_of_its_world(tmp_path: Path):
    fixture = notes(sources=["lib/*.py"])
    assert fixture.files() == {"command": ("notes_mcp.py",), "sources": ("lib/*.py",)}

    text = NOTES.replace("start: {offer.md: An offer.}", "snapshot: fixtures/notes")
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "notes").write_text("a file")
    assert dict(file_problems(practice.world(text), tmp_path)) == {
        "snapshot": "fixtures/notes is no folder"
    }
    (tmp_path / "fixtures" / "notes").unlink()
    shutil.copytree(SERVERS, tmp_path / "fixtures" / "notes")
    assert dict(file_problems(practice.world(text), tmp_path)) == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"snapshot": "x"}, "write `snapshot`"),
        ({"state": {"read": "json", "file": "../x"}}, "no path of a file inside the folder"),
        ({"state": {"read": "file"}}, "read"),
        ({"command": []}, "command"),
    ],
)
def test_documents_that_cannot_be_meant_are_refused(changes: Any, message: str):
    with pytest.raises(ValidationError, match=message):
        notes(**changes)
