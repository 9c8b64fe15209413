"""The agent is a program: a process per trial, a line of JSON per turn each way.

How it ends: its stdin is closed and it has two seconds to leave by itself; then its process group is
asked to end (SIGTERM), and after two more seconds made to (SIGKILL). Processes that went out of the
group are found by the trial's token in their environment (Linux only) and killed as well. All of this
is shielded from cancellation and each wait in it is bounded, so that neither a Ctrl-C nor a hanging
agent leaves a process behind. What is killed together with the runner (`kill -9`) sees its stdin
closed; what does not heed that is taken away by `clear` when the run is resumed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc
import anyio.lowlevel

from seatrial import processes
from seatrial.arms.own_folder import furnished, made
from seatrial.arms.replies import excerpt, parse_json, reply_of
from seatrial.arms.seat import Reply, Seat
from seatrial.documents import Command
from seatrial.errors import ArmError

LEAVE_SECONDS = 2.0
"""How long an agent may take to end by itself once its stdin is closed."""
LAST_WORDS_SECONDS = 0.25
"""How long the pipe of an agent that has exited is read on when another process holds it open."""
EXIT_SECONDS = 1.0
"""How long to wait for the status of an agent that has closed its stdout."""

MOST_LINE = 1_000_000
"""The longest line on stdout, in bytes."""
MOST_OUTPUT = 16_000_000
"""All of stdout and stderr of a trial, in bytes."""
KEPT_STDERR = 4096
KEPT_STRAY = 4096

EXAMPLE = '{"type": "reply", "text": "…"}'


@asynccontextmanager
async def open(adapter: Command, seat: Seat) -> AsyncIterator[Conversation]:
    """Start the program; end it, and all that it started, when the block is left.

    Raises:
        ArmError: it cannot be started.
    """
    async with made(seat) as folder:
        with anyio.CancelScope(shield=True):  # a process that was half started would be nobody's
            process = await _start(adapter, seat, folder)
        conversation = Conversation(process, seat)
        try:
            yield conversation
        finally:
            with anyio.CancelScope(shield=True):
                await conversation.end()


class Conversation:
    """One trial's conversation with a process."""

    def __init__(self, process: anyio.abc.Process, seat: Seat) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.notes: list[str] = []
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._stderr = process.stderr
        self._seat = seat
        self._history: list[dict[str, str]] = []
        self._unread = bytearray()
        self._stray: list[str] = []
        self._stray_size = 0
        self._last_stray = ""
        self._why_stray = ""
        self._since = 0
        self._last_stderr = bytearray()
        self._read = 0
        self._broken = False

    async def reply(self, turn: int, text: str) -> Reply:
        """Write the turn, and read until there is a reply."""
        await self._take_early()
        self._put_aside()
        self._since = 0
        self._broken = True  # until there is a reply; also when the wait for it is cancelled
        line = turn_line(turn, text, self._history, self._seat)
        outcome: Reply | ArmError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send, line)
            tasks.start_soon(self._listen_to_stderr, tasks.cancel_scope)
            tasks.start_soon(self._watch, tasks.cancel_scope)
            # No task of this group raises: what went wrong is told after it has ended.
            outcome = await self._next_reply(turn)
            tasks.cancel_scope.cancel()
        if outcome is None:
            outcome = await self._silence(turn)
        if isinstance(outcome, ArmError):
            raise outcome
        self._broken = False
        self._history += (
            {"role": "user", "text": text},
            {"role": "assistant", "text": outcome.text},
        )
        return outcome

    @property
    def meanwhile(self) -> str:
        """What there is on stdout instead of the reply that is waited for."""
        if self._unread.strip():
            began = excerpt(bytes(self._unread[:400]), 60)
            return f"it began a line on stdout and did not end it: {began!r}"
        if self._since:
            return self._no_reply()
        return "it wrote nothing to stdout (does it flush each line?)"

    async def end(self) -> None:
        """End the process and all that it started; never raises for what the agent does."""
        process = self._process
        if not self._broken:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._stdin.aclose()
            with anyio.move_on_after(LEAVE_SECONDS):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._drain, self._stdout)
                    tasks.start_soon(self._drain, self._stderr)
                    await process.wait()
                    tasks.cancel_scope.cancel()
        await processes.end(process, "SEATRIAL_TRIAL", self._seat.trial)
        self._put_aside()
        if self._stray:
            self.notes.append("stdout beside the replies:\n" + "\n".join(self._stray))
        if self._last_stderr:
            self.notes.append(
                "the end of stderr:\n" + self._last_stderr.decode("utf-8", "replace").strip()
            )

    async def _take_early(self) -> None:
        """Read what has come since the last reply: it cannot be the reply to what was not said yet."""
        for _ in range(2):  # once for the loop to see that there is something, once to take it in
            await anyio.lowlevel.checkpoint()
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while self._read <= MOST_OUTPUT:
                received = b""
                with anyio.move_on_after(0):
                    received = await self._stdout.receive()
                if not received:
                    return
                self._count(received)
                self._unread += received[: max(0, KEPT_STRAY - len(self._unread))]

    async def _send(self, line: bytes) -> None:
        # An agent that no longer reads may still reply; whether it does is seen on stdout.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._stdin.send(line)

    async def _next_reply(self, turn: int) -> Reply | ArmError | None:
        """The reply; what was wrong with it; or None when stdout ends without one."""
        while True:
            while (cut := self._unread.find(b"\n")) >= 0:
                line = bytes(self._unread[:cut])
                del self._unread[: cut + 1]
                try:
                    reply = self._reply_in(line, turn)
                except ArmError as error:
                    return error
                if reply:
                    return reply
            if len(self._unread) > MOST_LINE:
                return ArmError(
                    "agent_unreachable",
                    f"the agent wrote a line of more than {MOST_LINE:,} bytes on stdout, beginning "
                    f"with {excerpt(bytes(self._unread[:400]), 60)!r}; one line is one reply",
                )
            try:
                received = await self._stdout.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return None
            self._unread += received
            if too_much := self._count(received):
                return too_much

    def _reply_in(self, line: bytes, turn: int) -> Reply | None:
        if line.strip():
            try:
                value = parse_json(line)
            except ValueError:
                why = "no JSON"
            else:
                if not isinstance(value, dict) or value.get("type") != "reply":
                    why = 'not of "type": "reply"'
                elif value.get("turn", turn) != turn:
                    why = f"not for turn {turn}"
                else:
                    return reply_of(value, who="the agent")
            self._keep(line)
            self._why_stray = why
        return None

    async def _listen_to_stderr(self, scope: anyio.CancelScope) -> None:
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                received = await self._stderr.receive()
                self._last_stderr += received
                del self._last_stderr[:-KEPT_STDERR]
                if self._count(received):
                    scope.cancel()

    async def _watch(self, scope: anyio.CancelScope) -> None:
        """Stop waiting for an agent that is gone while a process it started holds its stdout open."""
        read = -1
        while self._process.returncode is None or read != self._read:
            read = self._read
            await anyio.sleep(LAST_WORDS_SECONDS)
        scope.cancel()

    async def _drain(self, stream: anyio.abc.ByteReceiveStream) -> None:
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                received = await stream.receive()
                if stream is self._stderr:
                    self._last_stderr += received
                    del self._last_stderr[:-KEPT_STDERR]
                elif len(self._unread) < KEPT_STRAY:
                    self._unread += received[:KEPT_STRAY]

    async def _silence(self, turn: int) -> ArmError:
        """Why there was no reply."""
        if too_much := self._count(b""):
            return too_much
        with anyio.move_on_after(EXIT_SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._drain, self._stderr)
                await self._process.wait()
        code = self._process.returncode
        if code is None:
            how = "closed its stdout"
        else:
            how = processes.how_it_ended(code)
        self._put_aside()
        last = self._last_stderr.decode("utf-8", "replace").strip().splitlines()
        if last:
            why = f"its last words on stderr: {excerpt(last[-1])}"
        elif self._last_stray:
            why = self._no_reply()
        else:
            why = f"it wrote nothing; a reply is a line {EXAMPLE} on stdout"
        return ArmError("agent_unreachable", f"the agent {how} before its reply {turn}; {why}")

    def _count(self, received: bytes) -> ArmError | None:
        self._read += len(received)
        if self._read <= MOST_OUTPUT:
            return None
        return ArmError(
            "agent_unreachable",
            f"the agent wrote more than {MOST_OUTPUT:,} bytes to stdout and stderr and was stopped; "
            "write long logs to a file",
        )

    def _keep(self, line: bytes) -> None:
        shown = self._last_stray = excerpt(line)
        self._why_stray = ""
        self._since += 1
        if self._stray_size < KEPT_STRAY:
            self._stray.append(shown)
            self._stray_size += len(shown)

    def _no_reply(self) -> str:
        """What the last line on stdout was that is no reply."""
        because = f", {self._why_stray}" if self._why_stray else ""
        return f"its last line on stdout was {self._last_stray!r}{because}; a reply is {EXAMPLE}"

    def _put_aside(self) -> None:
        """Lines that came when nobody had asked: kept as a note, never taken for a later reply."""
        for line in bytes(self._unread).splitlines():
            if line.strip():
                self._keep(line)
        self._unread.clear()


def turn_line(turn: int, text: str, history: Sequence[Mapping[str, str]], seat: Seat) -> bytes:
    """A turn as a program is told it on stdin."""
    request = {
        "type": "turn",
        "turn": turn,
        "text": text,
        "history": history,
        "now": seat.now,
    }
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


async def _start(adapter: Command, seat: Seat, folder: Path) -> anyio.abc.Process:
    environment, config = furnished(adapter, seat, folder)
    return await launch([filled(word, config) for word in adapter.command], seat, environment)


def filled(word: str, config: Path) -> str:
    """A word of a command, with the interpreter and the path of the config file."""
    return sys.executable if word == "{python}" else word.replace("{config}", str(config))


async def launch(
    command: Sequence[str], seat: Seat, environment: Mapping[str, str]
) -> anyio.abc.Process:
    """Start a program at the repository's root.

    Raises:
        ArmError: it cannot be started.
    """
    try:
        return await processes.start(command, cwd=seat.root, env=environment)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        if len(command) == 1 and len(apart := command[0].split()) > 1:
            why = f"{why}; program and arguments are items of their own: [{', '.join(apart)}]"
        raise ArmError(
            "agent_unreachable",
            f"the agent cannot be started: {command[0]!r}: {why}. The command is run from the "
            "repository's root; `{python}` stands for the running interpreter",
        ) from error
