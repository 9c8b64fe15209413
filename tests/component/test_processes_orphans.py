"""What a program hid from us is ended with the run: no parent, no session and no environment of ours."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from seatrial import processes

HIDES = """
import os, signal, sys
if os.fork():
    os._exit(0)  # the parent is gone
os.setsid()  # so is the session
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    os.waitpid(-1, 0)
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
    file.flush()
    os.execve("/bin/sleep", ["sleep", "600"], {})  # so is the environment
"""


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="found through /proc alone")


def test_program_without_parent_session_and_environment_of_ours_is_ended(tmp_path: Path):
    pids = tmp_path / "pids"

    async def run() -> None:
        async with processes.adopting():
            process = await processes.start(
                [sys.executable, "-c", HIDES, str(pids)], cwd=tmp_path, env={"MARK": "x"}
            )
            with anyio.fail_after(30):
                await process.wait()
                while not pids.exists() or not pids.read_text().endswith("\n"):  # noqa: ASYNC110
                    await anyio.sleep(0.01)
                await processes.end(process, "MARK", "x")
            assert all(map(_is_there, pids.read_text().split()))

    anyio.run(run)

    (pid,) = pids.read_text().split()
    assert not _is_there(pid)


def test_programs_that_were_there_before_are_left_alone(tmp_path: Path):
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as theirs:

        async def run() -> None:
            async with processes.adopting():
                pass

        anyio.run(run)
        assert theirs.poll() is None
        theirs.kill()


def test_program_that_somebody_still_runs_is_left_alone(tmp_path: Path):
    async def run() -> None:
        async with processes.adopting():
            process = await processes.start(["sleep", "600"], cwd=tmp_path, env=dict(os.environ))
        assert process.returncode is None
        await processes.end(process, "MARK", "x")

    anyio.run(run)


def _is_there(pid: str) -> bool:
    return Path("/proc", pid).exists()
