"""The tutorial does what it says, word for word."""

import re
import shlex
from pathlib import Path

import pytest
from tests.shell import seatrial

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"# exit code (\d+)")


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> list[tuple[str, int, int, str]]:
    """Everything the tutorial writes and types: command, expected and found exit code, output."""
    home = tmp_path_factory.mktemp("tutorial")
    done = []
    for language, title, body in BLOCK.findall(TUTORIAL):
        if title:
            path = home / title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif language == "sh":
            for line in body.splitlines():
                words = shlex.split(line, comments=True)
                assert words[0] == "seatrial"
                found = EXIT_CODE.search(line)
                code, out, err = seatrial(home, *words[1:])
                expected = int(found.group(1)) if found else 0
                done.append((line, expected, code, out + err))
    return done


def test_every_command_of_the_tutorial_ends_as_it_says(followed):
    assert len(followed) == 6
    for line, expected, found, output in followed:
        assert found == expected, f"{line}\n{output}"


def test_the_tutorial_ends_with_a_gate_closed_for_the_reason_it_names(followed):
    gate = next(output for line, _, code, output in followed if code == 1)
    assert "Closed" in gate
    assert "book-is-lent-out" in gate
    assert "5 of 5" in gate
