"""A program that is started for each turn: what it says must reach it, and what it answers must be found."""

from typing import Any

import pytest
from pydantic import ValidationError

from seatrial.documents import Arm, Command
from seatrial.documents.sources import patterns


def arm(command: list[str], **says: Any) -> Arm:
    adapter = {"type": "command", "command": command, "per_turn": says}
    document = {"kind": "arm", "id": "x", "agent": "clerk", "version": "1"}
    return Arm.model_validate({**document, "adapter": adapter})


@pytest.mark.parametrize(
    ("command", "says", "why"),
    [
        (["a"], {"stdin": "nothing"}, "write `{text}` into `command`, or `stdin: text`"),
        (["a", "{text}"], {"later": ["a", "-c"]}, "write `{text}` into `per_turn.later`"),
        (["a", "{text}"], {"stdin": "text"}, "on stdin and in `command`; leave out one"),
        (["a"], {"later": ["a", "{text}"]}, "on stdin and in `per_turn.later`; leave out one"),
        (["a"], {"later": ["a", "{session}"]}, "nobody names the `{session}`"),
        (["a"], {"later": ["a", "{sesion}"]}, "`{sesion}` in `per_turn.later` stands for nothing"),
        (["sh", "-c", "ask '{text}'"], {}, "`{text}` and `{session}` are words of their own"),
        (["a"], {"later": ["sh", "-c", "a -r {session}"]}, "could become code"),
        (["a"], {"response": {}, "events": [{"add": "$.x"}]}, "write `response` (one JSON value)"),
        (["a"], {"answer": "last_line", "events": [{"add": "$.x"}]}, "leave out `answer`"),
        (["a"], {"exit_codes": []}, "at least 1 item"),
        (["a"], {"exit_codes": [256]}, "less than or equal to 255"),
        (["a"], {"later": []}, "at least 1 item"),
        (["a"], {"response": {"text": "reply"}}, "is no JSONPath"),
    ],
)
def test_arm_that_could_not_be_talked_to_is_refused(
    command: list[str], says: dict[str, Any], why: str
):
    with pytest.raises(ValidationError) as refused:
        arm(command, **says)

    assert why in str(refused.value)


def test_what_is_said_stands_for_nothing_in_a_process_per_trial():
    with pytest.raises(ValidationError, match=r"`\{text\}` stands for something in a program that"):
        Command(type="command", command=("a", "{text}"))
    script = "print(f'{text}')"
    assert script in Command(type="command", command=("python3", "-c", script)).command


def test_files_of_both_commands_are_what_the_arm_is_built_from():
    built = arm(["bin/ask", "{text}"], later=["bin/ask", "-r", "bin/resume.py", "{text}"])

    assert patterns(built)["adapter"] == ("bin/ask", "bin/resume.py")
