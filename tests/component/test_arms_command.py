"""The `command` arm against real processes: what they are given, and every way in which they fail."""

import dataclasses
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from tests import bike_shop

from seatrial import arms, processes
from seatrial.arms import command
from seatrial.documents import ConfigFormat
from seatrial.errors import ArmError
from seatrial.runtimes import RUNTIMES
from seatrial.trace import Answer

ROOT = Path(__file__).parents[2]


def test_agent_gets_the_turn_and_its_history_and_nothing_of_the_case():
    first, second = _talk(_seat(), _agent("polite.py"), "Hello.", "And Räder 🚲?")

    turn = json.loads(second.text)["turn"]
    assert turn == {
        "type": "turn",
        "turn": 2,
        "text": "And Räder 🚲?",
        "history": [
            {"role": "user", "text": "Hello."},
            {"role": "assistant", "text": first.text},
        ],
        "now": "2026-04-01T10:00:00Z",
    }


def test_reply_carries_usage_and_model():
    (reply,) = _talk(_seat(), _agent("polite.py"), "Hello.")

    assert reply.usage
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cost) == (7, 2, 0.5)
    assert (reply.usage.cached_input_tokens, reply.usage.reasoning_tokens) == (5, 1)
    assert reply.served_model == "m-1"


def test_environment_holds_what_the_arm_names_and_no_more():
    adapter = _agent("polite.py", env={"TONE": "kind"}, pass_env=["KEY", "UNSET"])

    (reply,) = _talk(_seat(), adapter, "Hello.")

    env = json.loads(reply.text)["env"]
    env = {name: value for name, value in env.items() if not name.startswith("COVERAGE")}
    assert set(env) - {"LC_CTYPE"} == {
        "PATH", "HOME", "TMPDIR", "TONE", "KEY",
        "SEATRIAL_MCP_URL", "SEATRIAL_MCP_TOKEN", "SEATRIAL_MCP_CONFIG", "SEATRIAL_MCP_BIKE_SHOP_URL",
        "SEATRIAL_SEED", "SEATRIAL_NOW", "SEATRIAL_SETTINGS", "SEATRIAL_TRIAL", "SEATRIAL_RUN",
    }  # fmt: skip
    assert (env["TONE"], env["KEY"]) == ("kind", "s3cret")
    assert env["SEATRIAL_MCP_BIKE_SHOP_URL"] == "http://127.0.0.1:1/c/x/bike-shop/mcp"
    assert json.loads(env["SEATRIAL_SETTINGS"]) == {"tone": ["kind"]}
    assert env["SEATRIAL_SEED"] == "11"


def test_process_runs_at_the_root_in_a_session_of_its_own_with_a_private_config():
    (reply,) = _talk(_seat(), _agent("polite.py"), "Hello.")

    given = json.loads(reply.text)
    assert given["cwd"] == str(ROOT)
    assert given["session"] is True
    assert given["config_mode"] == "0o600"
    assert given["config"] == {"mcpServers": {"bike-shop": {"type": "http", "url": "…"}}}
    assert not Path(given["env"]["HOME"]).parent.exists()


@pytest.mark.parametrize("name", get_args(ConfigFormat))
def test_config_file_lies_where_the_runtime_looks_for_it_in_the_trials_own_folder(
    name: ConfigFormat, tmp_path: Path
):
    files = 'echo \'{"type": "reply", "text": "\'$(stat -c \'%a %n\' "$0" "$HOME")\'"}\''
    adapter = {
        "type": "command",
        "command": ["sh", "-c", f"read turn; {files}", "{config}"],
        "config_format": name,
    }
    seat = dataclasses.replace(_seat(), environ={**_seat().environ, "HOME": str(tmp_path)})

    (reply,) = _talk(seat, adapter, "Hello.")

    mode, path, _, home = reply.text.split()
    assert mode == "600"
    assert path == str(Path(home).parent / RUNTIMES[name].path)
    assert not Path(home).parent.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_config_file_holds_each_server_by_address_or_as_a_program(transport: str):
    adapter = _agent("polite.py", config_format="claude-code", config_transport=transport)

    (reply,) = _talk(_seat(), adapter, "Hello.")

    server = json.loads(reply.text)["config"]["mcpServers"]["bike-shop"]
    url = "http://127.0.0.1:1/c/x/bike-shop/mcp"
    if transport == "http":
        headers = {"Authorization": "Bearer t0ken"}
        assert server == {"type": "http", "url": url, "headers": headers}
    else:
        assert server["command"] == sys.executable
        assert server["env"] == {
            "SEATRIAL_MCP_URL": url,
            "SEATRIAL_MCP_TOKEN": "t0ken",
            "SEATRIAL_TRIAL": TRIAL,
            "SEATRIAL_RUN": "r1",
        }


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (
            "leaves at once",
            "the agent exited with status 3 before its reply 1; it wrote nothing; "
            'a reply is a line {"type": "reply", "text": "…"} on stdout',
        ),
        (
            "crashes",
            "the agent exited with status 1 before its reply 1; "
            "its last words on stderr: RuntimeError: the model said no\\x1b[31m",
        ),
        ("is killed", "the agent was killed by SIGKILL before its reply 1; it wrote nothing"),
        ("says nothing", "the agent exited with status 0 before its reply 1; it wrote nothing"),
        (
            "speaks in prose",
            "the agent exited with status 0 before its reply 1; its last line on stdout was "
            "'Hello, I am an agent.', no JSON; a reply is",
        ),
        ("closes its stdout", "the agent closed its stdout before its reply 1"),
        (
            "writes one endless line",
            "the agent wrote a line of more than 1,000,000 bytes on stdout, beginning with 'xxxx",
        ),
        (
            "writes 50 MB of lines",
            "the agent wrote more than 16,000,000 bytes to stdout and stderr",
        ),
        (
            "writes 50 MB to stderr",
            "the agent wrote more than 16,000,000 bytes to stdout and stderr",
        ),
        ("sends text that is none", "the agent sent a number under `text`, where text belongs"),
        (
            "counts without end",
            "the agent sent 100000000000000000000000000000… under `usage.input_tokens`",
        ),
        ("costs without end", "the agent sent 1e+308 under `usage.cost`"),
        ("sends an odd usage", "the agent sent text under `usage.cost`, where a number belongs"),
        (
            "leaves a helper that holds its stdout",
            "the agent exited with status 1 before its reply 1",
        ),
    ],
)
def test_agent_that_gives_no_reply_is_unreachable_and_the_message_says_what_it_did(
    how: str, says: str
):
    with pytest.raises(ArmError) as failed:
        _talk(_seat(), _agent("faulty.py", how), "Hello.")

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.message.startswith(says), failed.value.message


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("./no-such-program", "'./no-such-program': No such file or directory"),
        ("./README.md", "'./README.md': Permission denied"),
    ],
)
def test_program_that_cannot_be_started_is_named_with_the_place_it_was_looked_for(
    program: str, says: str
):
    with pytest.raises(ArmError, match="cannot be started") as failed:
        _talk(_seat(), {"type": "command", "command": [program]}, "Hello.")

    assert says in failed.value.message
    assert "run from the repository's root" in failed.value.message


def test_hanging_agent_is_ended_with_all_it_started_when_the_wait_is_given_up():
    agent = _agent("faulty.py", "hangs")

    async def give_up() -> bool:
        async with arms.connections() as shared:
            with anyio.move_on_after(0.5) as scope:
                async with arms.open(_arm(agent), _seat(), shared) as conversation:
                    await conversation.reply(1, "Hello.")
        return scope.cancelled_caught

    assert anyio.run(give_up)
    assert processes._marked(f"SEATRIAL_TRIAL={TRIAL}".encode()) == []


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("does not flush", "it wrote nothing to stdout (does it flush each line?)"),
        (
            "ends no line",
            "it began a line on stdout and did not end it: "
            """'{"type": "reply", "text": "x"}'""",
        ),
        (
            "forgets the type",
            """its last line on stdout was '{"text": "x"}', not of "type": "reply"; """
            'a reply is {"type": "reply", "text": "…"}',
        ),
        (
            "answers another turn",
            """'{"type": "reply", "text": "x", "turn": 0}', not for turn 1; a reply is""",
        ),
        ("prints for debugging", "was 'DEBUG Hello.', no JSON; a reply is"),
    ],
)
def test_agent_whose_reply_does_not_come_is_told_what_it_did_instead(how: str, says: str):
    async def wait() -> str:
        async with (
            arms.connections() as shared,
            arms.open(_arm(_agent("faulty.py", how)), _seat(), shared) as conversation,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(conversation.reply, 1, "Hello.")
            with anyio.move_on_after(30):
                while says not in conversation.meanwhile:  # noqa: ASYNC110 - another process writes
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
            return conversation.meanwhile
        raise AssertionError

    assert says in anyio.run(wait)


def test_command_written_as_one_item_is_told_how_to_be_written():
    with pytest.raises(ArmError) as failed:
        _talk(_seat(), {"type": "command", "command": ["node agents/clerk.mjs"]}, "Hello.")

    assert (
        "'node agents/clerk.mjs': No such file or directory; "
        "program and arguments are items of their own: [node, agents/clerk.mjs]"
    ) in failed.value.message


def test_agent_that_heeds_no_signal_is_killed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command, "LEAVE_SECONDS", 0.2)
    monkeypatch.setattr(processes, "TERM_SECONDS", 0.2)

    (reply,) = _talk(_seat(), _agent("faulty.py", "hangs and heeds nothing"), "Hello.")

    assert _is_gone(int(reply.text))


def test_helper_that_went_into_a_session_of_its_own_is_found_and_killed():
    (reply,) = _talk(_seat(), _agent("faulty.py", "leaves a helper behind"), "Hello.")

    assert _is_gone(int(reply.text))


def test_what_is_written_beside_the_replies_is_a_note_and_never_a_reply():
    async def talk() -> tuple[list[str], list[str]]:
        async with arms.connections() as shared:
            agent = _arm(_agent("faulty.py", "talks too much"))
            async with arms.open(agent, _seat(), shared) as conversation:
                replies = [(await conversation.reply(n, "Go on.")).text for n in (1, 2)]
        return replies, list(conversation.notes)

    replies, notes = anyio.run(talk)

    assert replies == ["one", "two"]
    assert notes == [
        "stdout beside the replies:\nthinking ...\n"
        '{"type": "progress", "share": 0.5}\n{"type": "reply", "text": "once more", "turn": 1}',
        "the end of stderr:\na warning",
    ]


def test_reply_that_came_before_anything_was_said_is_none(tmp_path: Path):
    written = tmp_path / "written"
    agent = _arm(_agent("faulty.py", "replies before it is asked", str(written)))

    async def talk() -> list[str]:
        async with arms.connections() as shared, arms.open(agent, _seat(), shared) as conversation:
            first = await conversation.reply(1, "Hello.")
            with anyio.fail_after(30):
                while not written.exists():  # noqa: ASYNC110 - another process writes
                    await anyio.sleep(0.01)
            second = await conversation.reply(2, "Go on.")
        assert conversation.notes == [
            "stdout beside the replies:\n"
            '{"type": "reply", "text": "two, before anybody said anything"}'
        ]
        return [first.text, second.text]

    assert anyio.run(talk) == ["one", "two"]


def test_full_disk_under_the_agents_folder_is_not_the_agents_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))

    with pytest.raises(ArmError, match="the agent's own folder cannot be made in") as failed:
        _talk(_seat(), _agent("polite.py"), "Hello.")

    assert failed.value.cause == "internal"


def test_half_a_character_is_replaced_so_that_the_reply_can_be_stored():
    (reply,) = _talk(_seat(), _agent("faulty.py", "sends half a character"), "Hello.")

    assert reply.text == "a\N{REPLACEMENT CHARACTER}"


def test_many_agents_side_by_side_leave_no_descriptor_behind():
    async def all_at_once() -> None:
        async with arms.connections() as shared, anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(
                    converse, shared, dataclasses.replace(_seat(), trial=f"{TRIAL}-{number}")
                )

    async def converse(shared: arms.Connections, seat: arms.Seat) -> None:
        async with arms.open(_arm(_agent("polite.py")), seat, shared) as conversation:
            await conversation.reply(1, "Hello.")

    anyio.run(all_at_once)
    before = len(os.listdir("/proc/self/fd"))
    anyio.run(all_at_once)

    assert len(os.listdir("/proc/self/fd")) == before


TRIAL = f"test{os.getpid()}"


def _talk(seat: arms.Seat, adapter: dict[str, Any], *texts: str) -> list[arms.Reply]:
    async def talk() -> list[arms.Reply]:
        with anyio.fail_after(60):
            async with (
                arms.connections() as shared,
                arms.open(_arm(adapter), seat, shared) as conversation,
            ):
                return [await conversation.reply(n, t) for n, t in enumerate(texts, 1)]

    return anyio.run(talk)


def _arm(adapter: dict[str, Any]) -> Any:
    return bike_shop.arm("x", adapter)


def _agent(file: str, *arguments: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "command",
        "command": ["{python}", f"tests/agents/{file}", *arguments],
        **more,
    }


def _seat() -> arms.Seat:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        raise AssertionError("a process calls over the network")

    return arms.Seat(
        run="r1",
        trial=TRIAL,
        root=ROOT,
        now="2026-04-01T10:00:00Z",
        seed=11,
        settings={"tone": ["kind"]},
        url="http://127.0.0.1:1/c/x",
        urls={"bike-shop": "http://127.0.0.1:1/c/x/bike-shop/mcp"},
        token="t0ken",
        config={"mcpServers": {"bike-shop": {"type": "http", "url": "…"}}},
        call=call,
        environ={"PATH": os.environ["PATH"], "KEY": "s3cret", "GITHUB_TOKEN": "no", "HOME": "/no"},
    )


def _is_gone(pid: int) -> bool:
    """Dead, or dead and waiting for its parent to notice."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except FileNotFoundError:
            return True
        if state[0] == "Z":
            return True
        time.sleep(0.01)
    return False
