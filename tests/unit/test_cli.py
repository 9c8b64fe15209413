"""The door: what leaves a command as an exception, and with which code the process ends."""

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import seatrial.cli
from seatrial.cli import Door
from seatrial.errors import ExitCode, InvalidDocuments, Problem, StorageError, UsageError


def test_help_names_the_exit_codes():
    result = CliRunner().invoke(seatrial.cli.main, ["--help"])

    assert result.exit_code == 0
    assert "Exit codes: 0 gate open, 1 closed, 2 wrong usage" in result.stdout


def test_help_loads_nothing_that_only_a_running_command_needs():
    heavy = ["anyio", "httpx", "jinja2", "mcp", "mkdocs", "numpy", "pydantic", "scipy", "uvicorn"]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "seatrial", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "seatrial.cli" in loaded
    assert loaded.intersection(heavy) == set()


def test_unknown_option_is_a_usage_error():
    result = CliRunner().invoke(seatrial.cli.main, ["--bogus"])

    assert result.exit_code == ExitCode.USAGE
    assert "No such option '--bogus'" in result.stderr


def test_nothing_returned_means_the_command_did_what_was_asked():
    assert _run(lambda: None).exit_code == ExitCode.OPEN


@pytest.mark.parametrize("status", list(ExitCode))
def test_returned_exit_code_ends_the_process(status: ExitCode):
    assert _run(lambda: status).exit_code == status


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            UsageError("no run 'r7'", hint="seatrial runs"),
            ExitCode.USAGE,
            "Error: no run 'r7'\n  → seatrial runs\n",
        ),
        (
            InvalidDocuments([Problem("cases/a.yaml", 3, 5, "unknown key 'tols'")]),
            ExitCode.USAGE,
            "Error: cases/a.yaml:3:5: unknown key 'tols'\n1 problem in the documents\n",
        ),
        (StorageError("disk full"), ExitCode.INTERNAL, "Error: disk full\n"),
    ],
)
def test_expected_error_is_told_without_a_traceback(error: Exception, code: int, message: str):
    result = _run(_raiser(error))

    assert (result.exit_code, result.stdout, result.stderr) == (code, "", message)


@pytest.mark.parametrize("error", [UsageError("no run '\x1b[2J\u202e'"), OSError("\x1b[2J\u202e")])
def test_what_an_error_quotes_cannot_steer_the_terminal(error: Exception):
    result = _run(_raiser(error))

    assert "\\x1b[2J\\u202e" in result.stderr
    assert not {"\x1b", "\u202e"} & set(result.stderr)


def test_file_that_click_cannot_open_is_a_usage_error_and_not_a_closed_gate():
    result = _run(_raiser(click.FileError("cases/a.yaml", "permission denied")))

    assert result.exit_code == ExitCode.USAGE


def test_unexpected_exception_is_called_a_defect_and_asks_for_an_issue():
    result = _run(_raiser(ZeroDivisionError("division by zero")))

    assert result.exit_code == ExitCode.INTERNAL
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert "file an issue" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(["--debug"], {}), ([], {"SEATRIAL_DEBUG": "1"})],
)
@pytest.mark.parametrize("error", [ZeroDivisionError("why"), UsageError("why")])
def test_debugging_shows_the_traceback(
    arguments: list[str], environment: dict[str, str], error: Exception
):
    result = _run(_raiser(error), arguments, environment)

    assert "Traceback (most recent call last)" in result.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_interrupted_command_ends_with_130(error: BaseException):
    result = _run(_raiser(error))

    assert (result.exit_code, result.stderr) == (ExitCode.INTERRUPTED, "Interrupted.\n")


def test_ctrl_c_ends_a_waiting_process_with_130():
    waiting = _start("""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("waiting", flush=True)
        time.sleep(60)
    """)
    with waiting:
        assert waiting.stdout.readline() == "waiting\n"
        waiting.send_signal(signal.SIGINT)
        _, stderr = waiting.communicate(timeout=30)

    assert (waiting.returncode, stderr) == (ExitCode.INTERRUPTED, "Interrupted.\n")


def test_reader_that_went_away_is_not_taken_for_a_closed_gate():
    talking = _start("""
        while True:
            print("line", flush=True)
    """)
    with talking:
        assert talking.stdout.readline() == "line\n"
        talking.stdout.close()
        stderr = talking.stderr.read()

    assert (talking.returncode, stderr) == (ExitCode.INTERNAL, "")


def _start(body: str) -> Any:
    program = (
        "import signal, time, click\n"
        "from seatrial.cli import Door, main\n"
        f"def act():\n{body}\n"
        "Door('seatrial', params=main.params, commands=[click.Command('act', callback=act)])(['act'])"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _run(
    action: Callable[[], object],
    arguments: list[str] | None = None,
    environment: dict[str, str] | None = None,
) -> Result:
    door = Door(
        "seatrial",
        params=seatrial.cli.main.params,
        commands=[click.Command("act", callback=action)],
    )
    return CliRunner().invoke(door, [*(arguments or []), "act"], env=environment)


def _raiser(error: BaseException) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act
