"""Processes and folders of a trial: ended and removed for certain, also after a run that was killed.

What a run starts carries its id in `SEATRIAL_RUN`, and lies in folders that begin with `prefix(run)`.
"""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread

TERM_SECONDS = 2.0
"""How long a process group may take to heed SIGTERM."""
KILL_SECONDS = 5.0
"""How long the system may take to end what it was told to kill."""

INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""What programs get of the runner's environment beside what a document names: no token, no CI."""


_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37
"""Of prctl(2)."""

_started: set[int] = set()
"""Programs that run; whoever started them ends them."""


async def start(command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> anyio.abc.Process:
    """Start a program in a session of its own, its three streams being pipes.

    Raises:
        OSError: it cannot be started.
        ValueError: its name or its environment is none.
    """
    process = await anyio.open_process(list(command), cwd=cwd, env=env, start_new_session=True)
    _started.add(process.pid)
    return process


@asynccontextmanager
async def adopting() -> AsyncIterator[None]:
    """Be the parent of every process inside the block whose own parent has ended, and end those with it.

    A program can hide what it started: with a session and an environment of its own, and with a
    parent that is gone, it is found by nothing else. Linux only.
    """
    before = set(_children())
    was = _adopt(True)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await _end_adopted(before)
        if was is not None:
            _adopt(was)


async def end(process: anyio.abc.Process, variable: str, value: str) -> None:
    """End a process that leads its group, and all that carries this environment variable (Linux only).

    Every wait is bounded; call it shielded from cancellation.
    """
    # A group whose leader was reaped is not signalled: its number may belong to another by now.
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        with anyio.move_on_after(TERM_SECONDS):
            await process.wait()
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGKILL)
        with anyio.move_on_after(KILL_SECONDS):
            await process.wait()
    await sweep(variable, value)
    with anyio.move_on_after(KILL_SECONDS):
        await process.aclose()
    _started.discard(process.pid)


async def let_go(process: anyio.abc.Process) -> None:
    """A process that has ended by itself needs nothing more; what it started goes on."""
    assert process.returncode is not None
    with anyio.move_on_after(KILL_SECONDS):
        await process.aclose()
    _started.discard(process.pid)


async def clear(run: str) -> None:
    """Take away what a run that was killed left behind: processes (Linux only) and folders."""
    await sweep("SEATRIAL_RUN", run)
    await anyio.to_thread.run_sync(_remove_folders, run)


def prefix(run: str) -> str:
    """How the names of a run's temporary folders begin."""
    return f"seatrial-{run}-"


async def sweep(variable: str, value: str) -> None:
    """Kill every process that carries this environment variable, until none is left (Linux only)."""
    for _ in range(20):
        found = _marked(f"{variable}={value}".encode())
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await anyio.sleep(0.05)


def how_it_ended(status: int) -> str:
    """`exited with status 1`, `was killed by SIGKILL`."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, also where a program took away its own rights to it."""

    def unlock(function: Any, path: str, _: Any) -> None:
        with suppress(OSError):  # one more attempt, then leave it
            os.chmod(Path(path).parent, 0o700)
            os.chmod(path, 0o700)
            function(path)

    shutil.rmtree(folder, onerror=unlock)


def _marked(marker: bytes) -> list[int]:
    try:
        entries = os.listdir("/proc")
    except OSError:  # not Linux
        return []
    found = []
    own = str(os.getpid())
    for entry in entries:
        if entry.isdecimal() and entry != own:
            # Others' processes cannot be read, and some are gone by now.
            with suppress(OSError), Path("/proc", entry, "environ").open("rb") as file:
                if marker in file.read().split(b"\0"):
                    found.append(int(entry))
    return found


async def _end_adopted(before: set[int]) -> None:
    for _ in range(20):
        strangers = {
            pid: zombie
            for pid, (session, zombie) in _children().items()
            if pid not in before and pid not in _started and session != os.getsid(0)
        }
        for pid in strangers:
            _kill_and_reap(pid)
        if not strangers:
            return
        if not all(strangers.values()):
            await anyio.sleep(0.05)


def _kill_and_reap(pid: int) -> None:
    """Kill a child; one that is dead already goes out of the list of processes."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(pid, os.WNOHANG)


def _children() -> dict[int, tuple[int, bool]]:
    """This process's children (Linux only): the session of each, and whether it only waits to be reaped."""
    found: dict[int, tuple[int, bool]] = {}
    own = str(os.getpid())
    with suppress(OSError):
        for entry in os.listdir("/proc"):
            if entry.isdecimal():
                with suppress(OSError):
                    told = Path("/proc", entry, "stat").read_bytes().rpartition(b")")[2].split()
                    if told[1].decode() == own:
                        found[int(entry)] = (int(told[3]), told[0] == b"Z")
    return found


def _adopt(on: bool) -> bool | None:
    """Whether processes that lose their parent get this one, from now on and before; None where nobody can."""
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None).prctl
    was = ctypes.c_int()
    if call(_GET_CHILD_SUBREAPER, ctypes.byref(was), 0, 0, 0) != 0:
        return None
    return None if call(_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) != 0 else bool(was.value)


def _signal_group(leader: int, which: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, which)


def _remove_folders(run: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{glob.escape(prefix(run))}*"):
        remove(folder)
