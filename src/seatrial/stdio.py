"""An MCP server as a child process: JSON-RPC in lines on its stdin and stdout, without an SDK.

While it runs there are two tasks: one reads what it writes on stdout and wakes whoever waits for that,
one keeps the end of its stderr. Neither ever raises; a server that dies, hangs, floods or writes garbage
is told to whoever waits for it, as a ToolServerError.

How it ends: its stdin is closed and it has two seconds to leave by itself; then `processes.end` ends its
group and all that carries its mark. All of this is shielded from cancellation and each wait is bounded.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from seatrial import __version__, processes
from seatrial.errors import ToolServerError, printable

VERSION = "2025-11-25"
"""The protocol version that is asked for."""
VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", VERSION})
"""What a server may answer: in all of these, a session begins with a handshake."""

LEAVE_SECONDS = 2.0
"""How long a server may take to end by itself once its stdin is closed."""
EXIT_SECONDS = 1.0
"""How long to wait for the status of a server that has closed its stdout."""
MOST_LINE = 64_000_000
"""The longest message, in bytes."""
MOST_STRAY = 1_000_000
"""Bytes on stdout that are no messages."""
MOST_ASKED = 100
"""Requests of a server that are answered at the same time."""
MOST_PAGES = 100
"""Pages of a list."""
_KEPT = 2_000
_SHOWN = 200

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603


class Rejected(Exception):
    """A server answered a request with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


@dataclass(slots=True, eq=False)
class _Waiting:
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: dict[str, Any] | None = None


class StdioServer:
    """A running server that has shaken hands."""

    def __init__(self, process: anyio.abc.Process, tasks: anyio.abc.TaskGroup, *, who: str) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.info: dict[str, Any] = {}
        """What it answered to `initialize`: `serverInfo`, `capabilities`, `instructions`."""
        self.lists_changed = False
        """It has said since it was started that its tools are no longer those that it listed."""
        self._who = who
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._tasks = tasks
        self._numbers = 0
        self._waiting: dict[int, _Waiting] = {}
        self._sending = anyio.Lock()
        self._stray: deque[str] = deque(maxlen=1)
        self._stray_bytes = 0
        self._answering = 0
        self._last_stderr = bytearray()
        self._gone = ""

    @property
    def is_gone(self) -> bool:
        """It has ended, or can no longer be spoken to."""
        return bool(self._gone)

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, seconds: float
    ) -> dict[str, Any]:
        """The result of a request. When we are cancelled, the server is told so.

        Raises:
            Rejected: the server answered with an error.
            ToolServerError: it is gone, or did not answer in time, or with no object.
        """
        self._numbers += 1
        number, waiting = self._numbers, _Waiting()
        self._waiting[number] = waiting
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params or {})}
        try:
            with anyio.fail_after(seconds):
                await self._send(message)
                await self._answered(waiting)
        except TimeoutError:
            await self._give_up(number, "it took too long")
            raise ToolServerError(
                f"{self._who} did not answer {method} within {seconds:g} s{self._last_words()}"
            ) from None
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._give_up(number, "the trial ended")
            raise
        finally:
            del self._waiting[number]
        if waiting.answer is None:
            raise ToolServerError(f"{self._who} {self._gone}{self._last_words()}")
        return self._result(method, waiting.answer)

    async def listed(self, method: str, key: str, *, seconds: float) -> list[Any]:
        """All pages of a list (`tools/list`, `tools`).

        Raises:
            Rejected, ToolServerError: as for a request.
        """
        found: list[Any] = []
        cursor: Any = None
        for _ in range(MOST_PAGES):
            page = await self.request(
                method, {} if cursor is None else {"cursor": cursor}, seconds=seconds
            )
            items = page.get(key)
            if not isinstance(items, list):
                raise ToolServerError(f"{self._who} answers {method} without a list of {key}")
            found += items
            cursor = page.get("nextCursor")
            if cursor is None:
                return found
        raise ToolServerError(f"{self._who} answers {method} with more than {MOST_PAGES} pages")

    async def shake_hands(self, *, seconds: float) -> None:
        """Begin the session.

        Raises:
            ToolServerError: it does not, or in a version of the protocol that is not spoken here.
        """
        asked = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "seatrial", "version": __version__},
        }
        try:
            self.info = await self.request("initialize", asked, seconds=seconds)
        except Rejected as error:
            raise ToolServerError(
                f"{self._who} does not begin a session: {printable(error.message)} ({error.code})"
            ) from error
        version = self.info.get("protocolVersion")
        if version not in VERSIONS:
            raise ToolServerError(
                f"{self._who} speaks version {version!r} of the protocol; spoken here are "
                + ", ".join(sorted(VERSIONS))
            )
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def read(self) -> None:
        """Take what it writes, until it writes no more."""
        unread = bytearray()
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while not self._gone:
                received = await self._stdout.receive()
                start = len(unread)
                unread += received
                while (cut := unread.find(b"\n", start)) >= 0:
                    line = bytes(unread[:cut])
                    del unread[: cut + 1]
                    start = 0
                    self._take(line)
                if len(unread) > MOST_LINE:
                    self._lose(f"wrote a message of more than {MOST_LINE:,} bytes")
        if not self._gone:
            with anyio.move_on_after(EXIT_SECONDS):
                await self._process.wait()
            status = self._process.returncode
            self._lose("closed its stdout" if status is None else processes.how_it_ended(status))

    async def listen_to_stderr(self) -> None:
        """Keep the end of what it writes on stderr."""
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                self._last_stderr += await self._stderr.receive()
                del self._last_stderr[:-_KEPT]

    async def leave(self) -> None:
        """Close its stdin, and give it the time to write down what it has not written yet."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._stdin.aclose()
        with anyio.move_on_after(LEAVE_SECONDS):
            await self._process.wait()

    # --- within ---

    async def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        # A server that is gone is noticed by the end of its stdout.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with self._sending:
                await self._stdin.send(line)

    async def _answered(self, waiting: _Waiting) -> None:
        if not self._gone:
            await waiting.done.wait()

    async def _give_up(self, number: int, why: str) -> None:
        with anyio.move_on_after(EXIT_SECONDS):
            params = {"requestId": number, "reason": why}
            await self._send(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            )

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            self._put_aside(line)
        elif isinstance(message.get("method"), str):
            self._asked(message)
        elif type(id := message.get("id")) is int and id in self._waiting:
            self._waiting[id].answer = message
            self._waiting[id].done.set()

    def _asked(self, message: Mapping[str, Any]) -> None:
        """What the server wants of us: only a sign of life is given."""
        if message.get("id") is None:
            if message["method"] == "notifications/tools/list_changed":
                self.lists_changed = True
            return
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        self._answering += 1
        if self._answering > MOST_ASKED:
            self._lose(f"asked for more than {MOST_ASKED} things at once")
        else:
            self._tasks.start_soon(self._reply, answer)

    async def _reply(self, answer: Mapping[str, Any]) -> None:
        await self._send(answer)
        self._answering -= 1

    def _result(self, method: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        error = answer.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            known = code if isinstance(code, int) else INTERNAL_ERROR
            raise Rejected(known, str(error.get("message", "")), error.get("data"))
        result = answer.get("result")
        if not isinstance(result, dict):
            raise ToolServerError(
                f"{self._who} answers {method} with neither a result nor an error"
            )
        return result

    def _put_aside(self, line: bytes) -> None:
        """Some servers write a greeting on stdout; a flood of it is no greeting."""
        self._stray.append(_excerpt(line[: 4 * _SHOWN]))
        self._stray_bytes += len(line)
        if self._stray_bytes > MOST_STRAY:
            self._lose(f"wrote more than {MOST_STRAY:,} bytes on stdout that are no messages")

    def _lose(self, why: str) -> None:
        self._gone = self._gone or why
        for waiting in self._waiting.values():
            waiting.done.set()

    def _last_words(self) -> str:
        said = self._last_stderr.decode("utf-8", "replace").strip().splitlines()
        if said:
            return f"; its last words on stderr: {_excerpt(said[-1].encode())}"
        return f"; its last line on stdout is no message: {self._stray[-1]}" if self._stray else ""


@asynccontextmanager
async def started(
    command: Sequence[str],
    *,
    who: str,
    cwd: Path,
    env: Mapping[str, str],
    mark: tuple[str, str],
    seconds: float,
) -> AsyncIterator[StdioServer]:
    """Start a server and begin a session with it; it is ended for certain when the block is left.

    Args:
        command: the program and its arguments.
        who: what messages call the server.
        cwd: the folder it is started in.
        env: its whole environment, but for the mark.
        mark: name and value of an environment variable that nothing else carries, by which all that it
            starts is found (Linux only).
        seconds: how long the handshake may take.

    Raises:
        ToolServerError: it cannot be started, or does not begin a session.
    """
    with anyio.CancelScope(shield=True):  # a process that was half started would be nobody's
        process = await _start(command, who=who, cwd=cwd, env=dict(env) | dict([mark]))
    try:
        async with anyio.create_task_group() as tasks:
            server = StdioServer(process, tasks, who=who)
            tasks.start_soon(server.read)
            tasks.start_soon(server.listen_to_stderr)
            try:
                await server.shake_hands(seconds=seconds)
                yield server
            finally:
                with anyio.CancelScope(shield=True):
                    await server.leave()
                    await processes.end(process, *mark)
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # Our own tasks raise nothing: what is in the group came out of the block.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from group.exceptions[0].__cause__
        raise


async def _start(
    command: Sequence[str], *, who: str, cwd: Path, env: Mapping[str, str]
) -> anyio.abc.Process:
    try:
        return await processes.start(command, cwd=cwd, env=env)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolServerError(f"{who} cannot be started: {command[0]!r}: {why}") from error


def _excerpt(line: bytes) -> str:
    text = printable(" ".join(line.decode("utf-8", "replace").split()))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
