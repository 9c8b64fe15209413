"""In GitHub Actions nothing that a command prints is carried out by the runner, unless Seatrial means it."""

import io
import re
from pathlib import Path
from typing import TextIO, cast

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from tests.shell import seatrial

from seatrial.cli import main
from seatrial.cli.steering import _Guarded

TRAPS = [
    "a",
    ":",
    "::",
    "::error::x",
    "##[error]",
    "#",
    "[",
    "\n",
    "\r",
    "\t",
    "\xa0",
    "\u2003",
    "##",
]


@given(st.lists(st.lists(st.sampled_from(TRAPS), max_size=5).map("".join), max_size=6))
def test_however_a_text_is_cut_into_pieces_no_line_of_it_is_a_command(pieces: list[str]):
    inner = io.StringIO(newline="")
    guarded = cast(TextIO, _Guarded(inner))

    guarded.writelines(pieces)

    lines = re.split("[\n\r]", inner.getvalue())
    assert not [line for line in lines if line.strip().startswith("::")]
    assert not [line for line in lines if "##[" in line]
    plain = inner.getvalue().translate({ord(mark): None for mark in "| "})
    assert plain == "".join(pieces).translate({ord(mark): None for mark in "| "})


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("cases").mkdir()
    Path("cases/a.yaml").write_text("kind: case\nid: a\n", encoding="utf-8")


def test_what_a_command_quotes_is_printed_and_not_carried_out(monkeypatch: pytest.MonkeyPatch):
    Path("::warning::planted").mkdir()
    words = ("scan", "::warning::planted", "--secret", "\n ::error::planted")

    elsewhere = run(*words)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    in_actions = run(*words)

    assert " ::error::planted" in elsewhere.stderr.splitlines()
    assert " | ::error::planted" in in_actions.stderr.splitlines()
    assert elsewhere.exit_code == in_actions.exit_code == 2


def test_what_seatrial_tells_the_runner_reaches_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    told = run("check", "--format", "github")

    assert told.exit_code == 2
    assert told.stdout.startswith("::error file=cases/a.yaml,line=")
    assert "| ::" not in told.stdout


def test_what_goes_into_a_file_stays_as_it_is(tmp_path: Path):
    # The output of this process is a file.
    words = ("scan", "nowhere", "--secret", "\n::error::planted")
    code, _, told = seatrial(
        tmp_path, *words[:1], "cases", *words[2:], environment={"GITHUB_ACTIONS": "true"}
    )

    assert code == 2
    assert "::error::planted" in told.splitlines()
