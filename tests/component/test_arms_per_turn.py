"""The `command` arm with a process per turn: what it is given, how it goes on, and how its answer is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests import bike_shop

from seatrial import arms, processes
from seatrial.arms import per_turn
from seatrial.errors import ArmError
from seatrial.trace import Answer, Usage

ROOT = Path(__file__).parents[2]
TRIAL = f"turns{os.getpid()}"


def talk(
    command: list[str], *texts: str, **says: Any
) -> tuple[list[arms.Reply], arms.Conversation]:
    adapter = {"type": "command", "command": command, "per_turn": says}

    async def conversation() -> tuple[list[arms.Reply], arms.Conversation]:
        with anyio.fail_after(60):
            async with arms.connections() as shared, arms.open(arm(adapter), seat(), shared) as one:
                return [await one.reply(n, t) for n, t in enumerate(texts, 1)], one

    return anyio.run(conversation)


def texts(command: list[str], *said: str, **says: Any) -> list[str]:
    return [reply.text for reply in talk(command, *said, **says)[0]]


def fails(command: list[str], *said: str, **says: Any) -> str:
    with pytest.raises(ArmError) as failed:
        talk(command, *said, **says)
    assert failed.value.cause == "agent_unreachable"
    return failed.value.message


def prints(*lines: Any) -> list[str]:
    """A program that writes these lines, JSON unless they are text."""
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return ["sh", "-c", 'cat >/dev/null; printf "%s\\n" "$@"', "sh", *written]


def test_what_is_said_is_an_argument_and_never_a_piece_of_a_script():
    said = """$(touch /tmp/x) `id` "'; exit 3 {config} {session} {python} \\n 🚲"""

    (reply,) = texts(["printf", "<%s>", "{text}", "--say={text}"], said)

    assert reply == f"<{said}><--say={said}>"


def test_what_is_said_is_on_stdin_where_no_argument_carries_it():
    assert texts(["cat"], "Räder\nand more") == ["Räder\nand more"]


def test_a_program_that_remembers_nothing_is_told_all_that_was_said():
    first, second = texts(["cat"], "Hello.", "And now?", stdin="turn")

    assert json.loads(second) == {
        "type": "turn",
        "turn": 2,
        "text": "And now?",
        "history": [{"role": "user", "text": "Hello."}, {"role": "assistant", "text": first}],
        "now": "2026-04-01T10:00:00Z",
    }


def test_processes_of_a_trial_share_a_home_that_is_gone_after_it():
    keep = (
        'printf "%s;" "$1" >>"$HOME/said"; printf "%s " "$HOME" "$SEATRIAL_TRIAL"; cat "$HOME/said"'
    )
    command = ["sh", "-c", keep, "sh", "{text}"]

    one, two = texts(command, "a", "b", later=command)

    home, trial, _ = one.split()
    assert (trial, two) == (TRIAL, f"{home} {TRIAL} a;b;")
    assert not Path(home).exists()


def test_config_file_and_environment_are_those_of_a_process_per_trial():
    command = ["sh", "-c", 'cat "$1"; env', "sh", "{config}"]
    adapter = {
        "type": "command", "command": command, "per_turn": {}, "config_format": "claude-code",
        "env": {"TONE": "kind"}, "pass_env": ["KEY"],
    }  # fmt: skip

    async def one_reply() -> str:
        async with arms.connections() as shared, arms.open(arm(adapter), seat(), shared) as one:
            return (await one.reply(1, "Hello.")).text

    said = anyio.run(one_reply)

    assert '"url": "http://127.0.0.1:1/c/x/bike-shop/mcp"' in said
    assert "TONE=kind" in said
    assert "KEY=s3cret" in said
    assert "GITHUB_TOKEN" not in said


def test_last_line_may_be_the_reply():
    assert texts(prints("thinking…", "It is yours.", " "), "Hi.", answer="last_line") == [
        "It is yours."
    ]


def test_answer_may_be_json_with_the_reply_its_tokens_and_its_model():
    answer = {"result": "Yes.", "usage": {"in": 7, "out": 2}, "by": "m-1", "is_error": False}
    shape = {
        "text": "$.result",
        "model": "$.by",
        "usage": {"input_tokens": "$.usage.in", "output_tokens": "$.usage.out"},
        "error": "$.is_error",
    }

    ((reply,), _) = talk(prints("noise", answer), "Hi.", answer="last_line", response=shape)

    usage = Usage(input_tokens=7, output_tokens=2)
    assert reply == arms.Reply("Yes.", usage, "m-1")
    answer["is_error"] = "quota exceeded"
    assert "says that it failed (`$.is_error`): quota exceeded" in fails(
        prints(answer), "Hi.", response=shape
    )


def test_conversation_goes_on_under_the_id_that_the_agent_told():
    first = 'printf \'{"id": "s-%s", "text": "new"}\' "$1"'
    later = 'printf \'{"text": "%s, %s"}\' "$1" "$2"'
    shape = {"session": "$.id"}

    said = texts(
        ["sh", "-c", first, "sh", "{text}"],
        *("one", "two", "three"),
        later=["sh", "-c", later, "sh", "--resume={session}", "{text}"],
        response=shape,
    )

    assert said == ["new", "--resume=s-one, two", "--resume=s-one, three"]


def test_conversation_goes_on_under_an_id_that_the_agent_was_given():
    show = ["printf", "%s %s", "{session}", "{text}"]

    first, second = (reply.split() for reply in texts(show, "one", "two", later=show))
    (other,) = texts(show, "one", later=show)

    assert (first[1], second[1]) == ("one", "two")
    assert first[0] == second[0] != other.split()[0]
    assert len(first[0]) == 36


def test_agent_that_names_no_session_cannot_go_on():
    message = fails(
        ["echo", '{"text": "Hi."}'],
        *("one", "two"),
        stdin="text",
        later=["sh", "-c", "cat", "sh", "{session}"],
        response={"session": "$.id"},
    )

    assert (
        "has not said what it calls the conversation, so that it cannot go on in turn 2" in message
    )
    assert "does not say how the agent goes on in turn 2; write `per_turn.later`" in fails(
        ["cat"], "one", "two"
    )


EVENTS = (
    {"where": {"$.type": "init"}, "session": "$.id", "model": "$.model"},
    {"where": {"$.type": "message", "$.role": "assistant"}, "add": "$.text"},
    {"where": {"$.type": "done"}, "usage": {"input_tokens": "$.in"}, "end": True},
    {"where": {"$.type": "failed"}, "error": "$.why"},
)
INIT = {"type": "init", "id": "c-1", "model": "m-1"}


def of_agent(text: str) -> dict[str, str]:
    return {"type": "message", "role": "assistant", "text": text}


def test_events_bring_the_reply_piece_by_piece_with_all_that_belongs_to_it():
    noise = {"type": "message", "role": "user", "text": "Hi."}
    lines = (INIT, "Loading tools…", noise, of_agent("It is "), of_agent("yours."))

    (replies, conversation) = talk(
        prints(*lines, {"type": "done", "in": 9}), "Hi.", events=list(EVENTS)
    )

    assert replies == [arms.Reply("It is yours.", Usage(input_tokens=9), "m-1")]
    assert conversation.notes == ["stdout beside the events:\nLoading tools…"]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((INIT, {"type": "failed", "why": "no quota"}), "failed (`$.why`): no quota"),
        ((INIT, of_agent("half")), "no event that says that the reply is complete; the last of"),
        (({"type": "done"},), "no event that brings the reply"),
        (("Usage: agent [OPTIONS]",), "no event that says that the reply is complete"),
        (({"type": "init", "id": ["c"]},), "a list under `$.id`"),
    ],
)
def test_events_without_a_reply_say_what_came_instead(lines: tuple[Any, ...], says: str):
    assert says in fails(prints(*lines), "Hi.", events=list(EVENTS))


def test_last_event_needs_no_line_end():
    line = json.dumps({"type": "done"})
    program = ["sh", "-c", 'printf "%s\\n%s" "$@"', "sh", json.dumps(of_agent("Yes.")), line]

    assert texts(program, "Hi.", events=list(EVENTS)) == ["Yes."]


def test_program_that_stays_after_its_last_event_is_ended_and_its_reply_counts(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(per_turn, "AFTERWARDS_SECONDS", 0.0)
    script = 'printf "%s\\n" "$@"; sleep 600'
    lines = (json.dumps(of_agent("Yes.")), json.dumps({"type": "done"}))

    assert texts(["sh", "-c", script, "sh", *lines], "Hi.", events=list(EVENTS)) == ["Yes."]
    assert marked() == []


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (
            "echo half; echo 'no model \x1b[31m' >&2; exit 3",
            "the agent exited with status 3 in turn 1; its last words on stderr: no model \\x1b[31m",
        ),
        (
            "echo It failed.; exit 1",
            "with status 1 in turn 1; its last words on stdout: It failed.",
        ),
        ("kill -9 $$", "the agent was killed by SIGKILL in turn 1; it wrote nothing"),
        ("true", "the agent wrote no reply to stdout in turn 1; it wrote nothing"),
        ("yes | head -c 20000000", "the agent wrote more than 16,000,000 bytes"),
        ("yes >&2", "wrote more than 16,000,000 bytes"),
        ("yes | head -c 1000002", "a reply of 1,000,001 characters; at most 1,000,000 are read"),
    ],
)
def test_program_without_an_answer_is_told_by_what_it_did(script: str, says: str):
    assert says in fails(["sh", "-c", script], "Hi.")


def test_program_may_end_with_a_status_that_the_arm_knows():
    script = ["sh", "-c", "echo Enough.; exit 53"]

    assert texts(script, "Hi.", exit_codes=[0, 53]) == ["Enough."]


def test_what_is_no_json_is_told_with_its_beginning():
    message = fails(prints("Usage: agent [OPTIONS]"), "Hi.", response={"text": "$.x"})

    assert message == "the agent sent no JSON on stdout: Usage: agent [OPTIONS]"


@pytest.mark.parametrize(
    ("text", "says"), [("a\0b", "holds a zero byte"), ("x" * 131_072, "longer than 131,072 bytes")]
)
def test_text_that_no_argument_can_hold_is_told_with_what_to_do(text: str, says: str):
    message = fails(["echo", "{text}"], text)

    assert says in message
    assert "use `stdin: text`" in message
    assert texts(["wc", "-c"], text) == [str(len(text))]


@pytest.mark.parametrize(
    "command", [["echo", "{text}"], ["cat", "--show-all", "{text}"], ["env", "{text}", "--"]]
)
def test_what_is_said_is_never_an_option_of_the_program(command: list[str]):
    message = fails(command, "--version")

    assert "begins with a dash ('--version')" in message
    assert "write `--` somewhere before it, or `--option={text}`" in message


def test_what_is_said_may_begin_with_a_dash_where_it_can_be_no_option():
    assert texts(["printf", "--", "%s %s", "{text}", "--say={text}"], "--x") == ["--x --say=--x"]
    assert texts(["cat"], "--version") == ["--version"]


def test_name_of_a_conversation_is_never_an_option_of_the_program():
    first = prints({"text": "Hi.", "id": "--yolo"})
    says: dict[str, Any] = {"response": {"session": "$.id"}, "stdin": "text"}

    later = ["sh", "-c", 'echo \'{"text": "Hi."}\'', "sh"]

    message = fails(first, "one", "two", later=[*later, "--resume", "{session}"], **says)

    assert "what stands for `{session}` in turn 2 begins with a dash ('--yolo')" in message
    assert texts(first, "one", "two", later=[*later, "--resume={session}"], **says) == ["Hi."] * 2


def test_program_that_does_not_read_may_answer_what_is_longer_than_a_pipe():
    assert texts(["sh", "-c", "exec <&-; echo Done."], "x" * 3_000_000) == ["Done."]


def test_helper_that_goes_on_writing_does_not_hold_the_reply_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(per_turn, "TAIL_SECONDS", 0.1)
    helper = "(while :; do echo tick >&2; sleep 0.02; done) & echo Done."

    assert texts(["sh", "-c", helper], "Hi.") == ["Done."]
    assert marked() == []


def test_program_that_cannot_be_started_is_named():
    assert "cannot be started: './no-such-program'" in fails(["./no-such-program"], "Hi.")


def test_only_the_end_of_stderr_is_kept_over_all_turns():
    command = ["sh", "-c", 'echo "$1"; yes "$1" | head -c 5000 >&2', "sh", "{text}"]

    _, conversation = talk(command, "one", "two", later=command)

    (note,) = conversation.notes
    assert note.startswith("the end of stderr:\n")
    assert note.endswith("two")
    assert len(note) < 4200


def test_helper_that_holds_stdout_neither_hinders_the_reply_nor_outlives_the_trial():
    script = "sleep 600 & echo Done."

    assert texts(["sh", "-c", script], "one", "two", later=["sh", "-c", script]) == ["Done."] * 2
    assert marked() == []


def test_program_that_does_not_end_is_ended_with_all_it_started_when_its_time_is_up():
    adapter = {
        "type": "command",
        "command": ["sh", "-c", "echo working; sleep 600 & sleep 600"],
        "per_turn": {},
    }

    async def give_up() -> tuple[bool, str]:
        async with arms.connections() as shared:
            async with (
                arms.open(arm(adapter), seat(), shared) as one,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(one.reply, 1, "Hi.")
                with anyio.move_on_after(30):
                    while "working" not in one.meanwhile:  # noqa: ASYNC110 - another process writes
                        await anyio.sleep(0.01)
                meanwhile = one.meanwhile
                tasks.cancel_scope.cancel()
            return marked() == [], meanwhile

    gone, meanwhile = anyio.run(give_up)

    assert gone
    assert meanwhile == "it did not end; its last words on stdout: working"


def marked() -> list[int]:
    return processes._marked(f"SEATRIAL_TRIAL={TRIAL}".encode())


def arm(adapter: dict[str, Any]) -> Any:
    return bike_shop.arm("x", adapter)


def seat() -> arms.Seat:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        raise AssertionError("a process calls over the network")

    return arms.Seat(
        run="r1",
        trial=TRIAL,
        root=ROOT,
        now="2026-04-01T10:00:00Z",
        seed=11,
        settings={},
        url="http://127.0.0.1:1/c/x",
        urls={"bike-shop": "http://127.0.0.1:1/c/x/bike-shop/mcp"},
        token="t0ken",
        config={"mcpServers": {"bike-shop": {"type": "http", "url": "…"}}},
        call=call,
        environ={"PATH": os.environ["PATH"], "KEY": "s3cret", "GITHUB_TOKEN": "no"},
    )
