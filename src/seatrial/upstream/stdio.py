"""An MCP server as a child process: JSON-RPC in lines on its stdin and stdout, without an SDK.

While it runs there are two tasks: one reads what it writes on stdout and wakes whoever waits for that,
one keeps the end of its stderr.

How it ends: its stdin is closed and it has two seconds to leave by itself; then `processes.end` ends its
group and all that carries its mark. All of this is shielded from cancellation and each wait is bounded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from seatrial import processes
from seatrial.errors import ToolServerError
from seatrial.upstream.session import EXIT_SECONDS, MOST_LINE, Client, Session, alone, excerpt

LEAVE_SECONDS = 2.0
"""How long a server may take to end by itself once its stdin is closed."""
_KEPT = 2_000


class StdioServer(Session):
    """A running server that has shaken hands."""

    def __init__(
        self,
        process: anyio.abc.Process,
        tasks: anyio.abc.TaskGroup,
        *,
        who: str,
        client: Client | None = None,
    ) -> None:
        super().__init__(tasks, who=who, client=client)
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._sending = anyio.Lock()
        self._last_stderr = bytearray()

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
                    if line and not line.isspace() and not self._take(line):
                        self._put_aside(line)
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

    @property
    def last_stderr(self) -> str:
        """The end of what it wrote on stderr."""
        return self._last_stderr.decode("utf-8", "replace").strip()

    # --- within ---

    async def _write(self, line: bytes, waiting: object) -> None:
        # A server that is gone is noticed by the end of its stdout.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with self._sending:
                await self._stdin.send(line + b"\n")

    def _last_words(self) -> str:
        said = self.last_stderr.splitlines()
        if said:
            return f"; its last words on stderr: {excerpt(said[-1].encode())}"
        return super()._last_words()


@asynccontextmanager
async def started(
    command: Sequence[str],
    *,
    who: str,
    cwd: Path,
    env: Mapping[str, str],
    mark: tuple[str, str],
    seconds: float,
    client: Client | None = None,
    capabilities: Mapping[str, Any] | None = None,
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
        client: hears what it says of its own accord.
        capabilities: what it is told that its client can do.

    Raises:
        ToolServerError: it cannot be started, or does not begin a session.
    """
    with anyio.CancelScope(shield=True):  # a process that was half started would be nobody's
        process = await _start(command, who=who, cwd=cwd, env=dict(env) | dict([mark]))
    try:
        async with anyio.create_task_group() as tasks:
            server = StdioServer(process, tasks, who=who, client=client)
            tasks.start_soon(server.read)
            tasks.start_soon(server.listen_to_stderr)
            try:
                await server.shake_hands(seconds=seconds, capabilities=capabilities)
                yield server
            finally:
                with anyio.CancelScope(shield=True):
                    await server.leave()
                    await processes.end(process, *mark)
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # Our own tasks raise nothing: what is in the group came out of the block.
        if (error := alone(group)) is not group:
            raise error from error.__cause__
        raise


async def _start(
    command: Sequence[str], *, who: str, cwd: Path, env: Mapping[str, str]
) -> anyio.abc.Process:
    try:
        return await processes.start(command, cwd=cwd, env=env)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolServerError(f"{who} cannot be started: {command[0]!r}: {why}") from error
