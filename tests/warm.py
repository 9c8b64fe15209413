"""A process that has imported Seatrial already and forks for each command, as most of a command's time is imports.

A command run so is a process of its own, with its own folder, environment and output, and goes through the
same `python -m seatrial` as one that is started cold. Only what the interpreter reads when it starts
(`PYTHON…`, the locale) cannot be given to it.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

_COLD = ("PYTHON", "LC_", "LANG", "COVERAGE")
_HEAVY = ("scipy.stats", "scipy.special", "jsonschema", "httpx", "ruamel.yaml", "mcp")


class Warm:
    """The forking processes of one test worker; as many as there are commands at once."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._idle: list[_Server] = []
        self._all: list[_Server] = []
        self._lock = threading.Lock()
        atexit.register(self._stop)

    def run(
        self, folder: Path, words: tuple[str, ...], environment: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        """Run a command: exit code (negative: the signal), standard output, standard error.

        Raises:
            subprocess.TimeoutExpired: it took longer; it was killed.
        """
        with self._lock:
            server = self._idle.pop() if self._idle else self._start()
        done = server.run(folder, words, environment, timeout)
        with self._lock:
            self._idle.append(server)
        return done

    def _start(self) -> _Server:
        server = _Server(self._source)
        self._all.append(server)
        return server

    def _stop(self) -> None:
        for server in self._all:
            server.stop()


def is_cold(environment: Mapping[str, str]) -> bool:
    """Part of an environment counts only when an interpreter starts."""
    return any(name.startswith(_COLD) for name in environment)


class _Server:
    def __init__(self, source: Path) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__)), str(theirs.fileno())],
                env=os.environ
                | {
                    "PYTHONPATH": str(source),
                    "PYTHONWARNDEFAULTENCODING": "1",
                    # A fork takes no other thread with it.
                    "OPENBLAS_NUM_THREADS": "1",
                },
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._socket = ours
        self._lines = ours.makefile("r", encoding="utf-8")

    def run(
        self, folder: Path, words: tuple[str, ...], environment: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        order = {"folder": str(folder), "words": words, "environment": dict(environment)}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            line = json.dumps(order).encode() + b"\n"
            sent = socket.send_fds(self._socket, [line], [out.fileno(), err.fileno()])
            self._socket.sendall(line[sent:])
            pid = int(self._lines.readline())
            killer = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
            killer.start()
            status = int(self._lines.readline())
            in_time = killer.is_alive()
            killer.cancel()
            out.seek(0)
            err.seek(0)
            done = os.waitstatus_to_exitcode(status), out.read(), err.read()
        if not in_time:
            raise subprocess.TimeoutExpired(["seatrial", *words], timeout, done[1], done[2])
        return done

    def stop(self) -> None:
        self._lines.close()
        self._socket.close()
        self._process.wait(timeout=60)


def _serve(channel: socket.socket) -> None:
    """Fork for each line that comes; end when the other side is gone."""
    while True:
        head, fds, _, _ = socket.recv_fds(channel, 1 << 16, 2)
        if not head:
            return
        while not head.endswith(b"\n"):
            head += channel.recv(1 << 16)
        pid = os.fork()
        if pid == 0:
            channel.close()
            _become(json.loads(head), fds)
        for fd in fds:
            os.close(fd)
        channel.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        channel.sendall(b"%d\n" % status)


def _become(order: dict[str, object], fds: list[int]) -> None:
    """Be the command, to the end."""
    for fd, target in zip(fds, (1, 2), strict=True):
        os.dup2(fd, target)
        os.close(fd)
    os.chdir(str(order["folder"]))
    os.environ.clear()
    os.environ.update(order["environment"])  # type: ignore[call-overload]
    sys.argv = ["seatrial", *order["words"]]  # type: ignore[misc]
    code: object = 0
    try:
        runpy.run_module("seatrial", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if isinstance(code, str):
        sys.stderr.write(code + "\n")
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    os._exit(code if isinstance(code, int) else 0)


def _import_all() -> None:
    import seatrial

    for module in pkgutil.walk_packages(seatrial.__path__, "seatrial."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in _HEAVY:
        if importlib.util.find_spec(name):
            importlib.import_module(name)


if __name__ == "__main__":
    # What the commands import of the user's own is looked for where they run, not beside this file.
    sys.path[0] = ""
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
