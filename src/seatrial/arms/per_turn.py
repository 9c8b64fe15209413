"""The agent is a program that answers one turn and ends: a process per turn.

What the person says is an argument or on stdin, never part of a script; the answer is on stdout. All processes of a
trial share a folder of its own, which is their home: what a program keeps there of its conversations is there in the
next turn, and gone after the trial. A process that does not end by itself once its time is up, and what the
processes of a trial leave behind, is ended as that of a `command` agent is.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.abc

from seatrial import processes
from seatrial.arms.command import (
    KEPT_STDERR,
    KEPT_STRAY,
    LAST_WORDS_SECONDS,
    MOST_OUTPUT,
    filled,
    launch,
    turn_line,
)
from seatrial.arms.own_folder import furnished, made
from seatrial.arms.replies import MOST_TEXT, clean, excerpt, parse_json, wrong
from seatrial.arms.seat import Reply, Seat
from seatrial.arms.shaped import Events, Heard, Session, heard
from seatrial.documents import Command
from seatrial.documents.programs import SAID, named
from seatrial.errors import ArmError

TAIL_SECONDS = 2.0
"""How long the output of a program that has ended is read on while something that it left behind goes on writing."""
AFTERWARDS_SECONDS = 5.0
"""How long a program may go on once an event has said that its reply is complete, to keep what it keeps."""
MOST_ARGUMENT = 131_072
"""Bytes of one argument, which Linux takes with the zero byte behind it."""

_WHO = "the agent"


@asynccontextmanager
async def open(adapter: Command, seat: Seat) -> AsyncIterator[Conversation]:
    """Make the folder that the processes share; end all that they leave behind when the block is left.

    Raises:
        ArmError: it cannot be made.
    """
    async with made(seat) as folder:
        environment, config = furnished(adapter, seat, folder)
        conversation = Conversation(adapter, seat, environment, config)
        try:
            yield conversation
        finally:
            with anyio.CancelScope(shield=True):
                await processes.sweep("SEATRIAL_TRIAL", seat.trial)
            conversation.close()


class Conversation:
    """One trial's conversation with a program that is started for each turn."""

    def __init__(
        self, adapter: Command, seat: Seat, environment: Mapping[str, str], config: Path
    ) -> None:
        assert adapter.per_turn is not None
        self.notes: list[str] = []
        self._adapter = adapter
        self._says = adapter.per_turn
        self._seat = seat
        self._environment = environment
        self._config = config
        self._session: Session | None = None
        if named(adapter.command, "session"):
            self._session = str(uuid.uuid4())
        self._history: list[dict[str, str]] = []
        self._output = _Output(None)
        self._stray: list[str] = []
        self._last_stderr = bytearray()

    @property
    def meanwhile(self) -> str:
        """What the process has written so far."""
        return self._output.meanwhile

    async def reply(self, turn: int, text: str) -> Reply:
        """Start the program for this turn, and read its answer to its end."""
        command = self._command(turn, text)
        events = None if self._says.events is None else Events(self._says.events, who=_WHO)
        output = self._output = _Output(events)
        with anyio.CancelScope(shield=True):  # a process that was half started would be nobody's
            process = await launch(command, self._seat, self._environment)
        try:
            await _carried_out(process, self._written(turn, text), output)
            status = process.returncode
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    await processes.end(process, "SEATRIAL_TRIAL", self._seat.trial)
                else:
                    await processes.let_go(process)
            self._keep(output)
        if output.failure is not None:
            raise output.failure
        found = self._heard(output, status, turn)
        self._session = self._session if found.session is None else found.session
        self._history += (
            {"role": "user", "text": text},
            {"role": "assistant", "text": found.reply.text},
        )
        return found.reply

    def close(self) -> None:
        """Nothing more is said; what the processes wrote beside their answers becomes notes."""
        if self._stray:
            self.notes.append("stdout beside the events:\n" + "\n".join(self._stray))
        if last := self._last_stderr.decode("utf-8", "replace").strip():
            self.notes.append(f"the end of stderr:\n{last}")

    def _command(self, turn: int, text: str) -> list[str]:
        words = self._adapter.command
        if turn > 1 and self._says.later:
            words = self._says.later
        elif turn > 1 and self._says.stdin != "turn":
            raise ArmError(
                "agent_unreachable",
                f"the arm does not say how {_WHO} goes on in turn {turn}; write `per_turn.later`, or `stdin: turn` for "
                "a program that is told all that was said",
            )
        return [self._word(word, turn, text, "--" in words[:n]) for n, word in enumerate(words)]

    def _word(self, word: str, turn: int, text: str, no_option: bool) -> str:
        """A word of the command.

        Args:
            word: as the arm has it.
            turn: the turn that it is for.
            text: what the person says in it.
            no_option: nothing from here on can be an option, since `--` came before.
        """
        found = SAID.fullmatch(word)
        if found is None:
            return filled(word, self._config)
        if found[2] == "session":
            if self._session is None:
                raise ArmError(
                    "agent_unreachable",
                    f"{_WHO} has not said what it calls the conversation, so that it cannot go on in turn {turn}",
                )
            text = str(self._session)
        word = (found[1] or "") + text.encode("utf-8", "replace").decode()
        if "\0" in word or len(word.encode()) >= MOST_ARGUMENT:
            why = "holds a zero byte" if "\0" in word else f"is longer than {MOST_ARGUMENT:,} bytes"
            raise ArmError(
                "agent_unreachable",
                f"what stands for `{{{found[2]}}}` in turn {turn} {why}, which no argument may; use `stdin: text`",
            )
        if word.startswith("-") and found[1] is None and not no_option:
            raise ArmError(
                "agent_unreachable",
                f"what stands for `{{{found[2]}}}` in turn {turn} begins with a dash ({excerpt(word, 40)!r}), and the "
                f"program might take it for an option; write `--` somewhere before it, or `--option={{{found[2]}}}`",
            )
        return word

    def _written(self, turn: int, text: str) -> bytes:
        match self._says.written(self._adapter.command):
            case "text":
                return text.encode("utf-8", "replace")
            case "turn":
                return turn_line(turn, text, self._history, self._seat)
            case "nothing":
                return b""

    def _keep(self, output: _Output) -> None:
        self._last_stderr += output.last_stderr
        del self._last_stderr[:-KEPT_STDERR]
        room = KEPT_STRAY - sum(map(len, self._stray))
        for line in output.stray:
            if room > 0:
                self._stray.append(line)
            room -= len(line)

    def _heard(self, output: _Output, status: int | None, turn: int) -> Heard:
        """What the process answered.

        Args:
            output: all that it wrote.
            status: of its end; None where it had said its reply and went on.
            turn: which one it was for.
        """
        if status is not None and status not in self._says.exit_codes:
            how = processes.how_it_ended(status)
            raise ArmError("agent_unreachable", f"{_WHO} {how} in turn {turn}; {output.last_words}")
        if output.events is not None:
            return output.events.heard()
        answer = output.stdout
        if self._says.answer == "last_line":
            answer = next((line for line in reversed(answer.splitlines()) if line.strip()), b"")
        if self._says.response is not None:
            try:
                value = parse_json(answer)
            except ValueError as error:
                raise wrong(_WHO, f"no JSON on stdout: {excerpt(answer) or 'nothing'}") from error
            return heard(value, self._says.response, who=_WHO)
        text = clean(answer.decode("utf-8", "replace").strip())
        if not text:
            raise ArmError(
                "agent_unreachable",
                f"{_WHO} wrote no reply to stdout in turn {turn}; {output.last_words}",
            )
        if len(text) > MOST_TEXT:
            raise wrong(
                _WHO, f"a reply of {len(text):,} characters; at most {MOST_TEXT:,} are read"
            )
        return Heard(Reply(text))


class _Output:
    """What one process writes, as it comes."""

    def __init__(self, events: Events | None) -> None:
        self.events = events
        self.stray: list[str] = []
        """Lines that are no events, in excerpts."""
        self.last_stderr = bytearray()
        self.failure: ArmError | None = None
        """Why nothing more of it is read."""
        self.read = 0
        self._stdout: list[bytes] = []
        self._unread: list[bytes] = []

    @property
    def stdout(self) -> bytes:
        """All of it, where it is no events."""
        return b"".join(self._stdout)

    @property
    def over(self) -> bool:
        """There is nothing more to hear: it failed, or has said that its reply is complete."""
        return self.failure is not None or (self.events is not None and self.events.ended)

    @property
    def meanwhile(self) -> str:
        """What there is so far, in words."""
        if self.events is not None and self.events.meanwhile:
            return self.events.meanwhile
        if not self.read:
            return "it wrote nothing, and did not end"
        return f"it did not end; {self.last_words}"

    @property
    def last_words(self) -> str:
        """The last that it wrote to stderr, or else to stdout."""
        for name, written in (("stderr", bytes(self.last_stderr)), ("stdout", self.stdout[-4096:])):
            if lines := written.decode("utf-8", "replace").strip().splitlines():
                return f"its last words on {name}: {excerpt(lines[-1])}"
        return "it wrote nothing"

    def take_stdout(self, received: bytes) -> None:
        """Some of stdout has come."""
        if self._counted(received) and not self.over:
            if self.events is None:
                self._stdout.append(received)
            else:
                self._take_events(received, self.events)

    def take_stderr(self, received: bytes) -> None:
        """Some of stderr has come."""
        if self._counted(received):
            self.last_stderr += received
            del self.last_stderr[:-KEPT_STDERR]

    def end(self) -> None:
        """Stdout is at its end; its last line need not have one."""
        if self.events is not None and self._unread and not self.over:
            self._take_events(b"\n", self.events)

    def _take_events(self, received: bytes, events: Events) -> None:
        self._unread.append(received)
        if b"\n" not in received:
            return
        *lines, rest = b"".join(self._unread).split(b"\n")
        self._unread = [rest] if rest else []
        for line in lines:
            if not line.strip():
                continue
            if not line.lstrip().startswith((b"{", b"[")):
                if len(self.stray) < KEPT_STRAY // 80:
                    self.stray.append(excerpt(line))
                continue
            try:
                events.take(line.decode("utf-8", "replace"))
            except ArmError as error:
                self.failure = error
            if self.over:
                return

    def _counted(self, received: bytes) -> bool:
        self.read += len(received)
        if self.read > MOST_OUTPUT and self.failure is None:
            self.failure = ArmError(
                "agent_unreachable",
                f"{_WHO} wrote more than {MOST_OUTPUT:,} bytes to stdout and stderr and was stopped; "
                "write long logs to a file",
            )
        return self.read <= MOST_OUTPUT


async def _carried_out(process: anyio.abc.Process, said: bytes, output: _Output) -> None:
    """Give a process what is said, and take what it writes until it ends or nothing more is to be heard of it."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
    both_ended, over = anyio.Event(), anyio.Event()
    ended = []

    async def write(stdin: anyio.abc.ByteSendStream) -> None:
        # A program that does not read may answer all the same.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            if said:
                await stdin.send(said)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stdin.aclose()

    async def take(stream: anyio.abc.ByteReceiveStream, *, is_stdout: bool) -> None:
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                received = await stream.receive()
                (output.take_stdout if is_stdout else output.take_stderr)(received)
                if output.over:
                    over.set()
        ended.append(stream)
        if len(ended) == 2:
            both_ended.set()

    async def stop_when_over(scope: anyio.CancelScope) -> None:
        await over.wait()
        if output.failure is None:
            await anyio.sleep(AFTERWARDS_SECONDS)
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write, process.stdin)
        tasks.start_soon(partial(take, process.stdout, is_stdout=True))
        tasks.start_soon(partial(take, process.stderr, is_stdout=False))
        tasks.start_soon(stop_when_over, tasks.cancel_scope)
        await process.wait()
        read = -1
        with anyio.move_on_after(TAIL_SECONDS):
            while not both_ended.is_set() and read != output.read:
                # What it started may hold its pipes open.
                read = output.read
                with anyio.move_on_after(LAST_WORDS_SECONDS):
                    await both_ended.wait()
        tasks.cancel_scope.cancel()
    output.end()
