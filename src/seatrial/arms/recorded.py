"""The `recorded` arm: conversations that took place elsewhere, graded and never executed.

A recording is one line of a JSON-lines file (`docs/reference/recorded.md`): the conversation in the
OpenAI chat format, and what it changed in the world. `read` checks every line of every file and names all
problems at once; `Recordings.trace` then gives one trial as the trace that a live trial would have
left behind. Lines are kept compressed and turned into traces one at a time.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from seatrial.documents import Arm, Recorded
from seatrial.documents.base import Id
from seatrial.errors import ArmError, InvalidDocuments, Problem
from seatrial.trace import Answer, Called, Change, Event, Noted, Replied, Said, Trace, Usage
from seatrial.verdicts import Ending

MAX_LINE = 64 * 1024 * 1024
"""Bytes of one recording; beyond it a file is taken for something else (or for a bomb)."""
MAX_PROBLEMS = 50
"""Problems named for one file; where more lines are wrong, they are wrong in the same way."""
Refusal = Callable[[str, dict[str, Any]], str | None]
"""The rule by which a call (tool, arguments) is beyond the role's rights; None when it is within."""
Misfits = Callable[[str, dict[str, Any]], tuple[str, ...] | None]
"""Why a call (tool, arguments) does not fit its schema, empty when it does; None when there is none."""
UNANSWERED = "no answer to this call was recorded"


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Loose(BaseModel):
    """A part of the chat format: what Seatrial has no use for (`refusal`, `audio`, …) is left."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Function(_Loose):
    """What was called."""

    name: str = Field(min_length=1)
    arguments: str
    """A JSON object, as text."""


class ToolCall(_Loose):
    """A call that the model asked for. Its `id` is not read: in real recordings ids repeat."""

    function: Function


class Text(_Loose):
    """One part of a message's content; parts other than text are left."""

    type: str
    text: str = ""


class Message(_Loose):
    """One message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[Text, ...] | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    x_error: bool = False
    """On a tool's answer: it was an error."""
    x_refused: str | None = Field(default=None, min_length=1)
    """On a tool's answer: the rule of the role's rights that the call was beyond."""

    @property
    def text(self) -> str:
        """The text of the content."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content if part.type == "text")


class Hints(_Line):
    """What a tool declares about itself."""

    read_only: bool | None = None
    destructive: bool | None = None
    leaves_world: bool | None = None
    server: str | None = None
    """The tool server it belongs to."""


class Recording(_Line):
    """One recorded trial: one line of a file."""

    case: Id
    """The case it is a trial of."""
    trial: int = Field(ge=1)
    """1..n within its case."""
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    """The conversation."""
    changes: tuple[Change, ...] | None = None
    """What it changed in the world; None when nobody captured it."""
    ended: Literal["completed", "call_limit", "step_limit", "broken"] = "completed"
    """How it ended; `broken`: it could not be carried to its end, and its verdict is invalid."""
    ended_as: Ending | None = None
    """How a simulated person ended it, where one took part."""
    exit_intent: str | None = None
    """Why that person gave up."""
    usage: Usage | None = None
    """Tokens and cost of the whole trial."""
    model: str | None = None
    """The model that was served."""
    tools: dict[str, Hints] = Field(default_factory=dict)
    """What the tools declare, by name."""
    run_token: str = ""
    """What `{{run}}` of the case stood for."""
    now: str = ""
    """What `{{now}}` of the case stood for, ISO 8601."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """Every recorded trial of one arm."""

    arm: str
    lines: Mapping[tuple[str, int], bytes]
    """Case and number → the line, compressed."""

    def numbers(self, case: str) -> tuple[int, ...]:
        """The numbers of the trials that were recorded of a case, ascending."""
        return tuple(sorted(number for of, number in self.lines if of == case))

    def trace(
        self,
        case: str,
        number: int,
        *,
        server: str = "recorded",
        refusal: Refusal | None = None,
        misfits: Misfits | None = None,
    ) -> Trace:
        """One recorded trial as a trace.

        Args:
            case: the case's id.
            number: the trial, from 1.
            server: the tool server of every tool whose recording names none; a live trial would
                have called them on the world's server.
            refusal: the rights of the case's role. A call beyond them is a violation, although whoever
                recorded it may have let it through; without this only `x_refused` tells of any.
            misfits: holds each call against the schema of its tool.

        Raises:
            ArmError: there is no such trial (cause `agent_unreachable`).
        """
        line = self.lines.get((case, number))
        if line is None:
            there = ", ".join(map(str, self.numbers(case))) or "none"
            raise ArmError(
                "agent_unreachable",
                f"no recorded trial {number} of case {case} (recorded: {there})",
            )
        recording = Recording.model_validate_json(zlib.decompress(line))
        return Trace(
            case=case,
            arm=self.arm,
            number=number,
            run_token=recording.run_token,
            now=recording.now,
            events=tuple(events(recording, server=server, refusal=refusal, misfits=misfits)),
            changes=recording.changes,
            ended=recording.ended,
            ended_as=recording.ended_as,
            exit_intent=recording.exit_intent,
        )


def read(arm: Arm, root: Path) -> Recordings:
    """All recordings of an arm whose adapter is `recorded`.

    Args:
        arm: the arm.
        root: the repository's root, to which the adapter's files are relative.

    Raises:
        InvalidDocuments: a file is not there or lies outside `root`, or a line is no recording, or
            two lines are the same trial; all problems of all files at once.
    """
    adapter = arm.adapter
    assert isinstance(adapter, Recorded)
    lines: dict[tuple[str, int], bytes] = {}
    places: dict[tuple[str, int], str] = {}
    problems: list[Problem] = []
    for name in adapter.files:
        found = _problems_of_path(name, root) or list(_read_file(name, root, lines, places))
        problems.extend(found[:MAX_PROBLEMS])
        if len(found) > MAX_PROBLEMS:
            more = f"{len(found) - MAX_PROBLEMS} more problems in this file are not shown"
            problems.append(Problem(name, found[MAX_PROBLEMS].line, 1, more, code="recording"))
    if problems:
        raise InvalidDocuments(problems)
    return Recordings(arm.id, lines)


def _problems_of_path(name: str, root: Path) -> list[Problem]:
    try:
        path = (root / name).resolve()
    except RuntimeError:  # how Python before 3.13 tells links in a circle
        return [_problem(name, 1, "is a link in a circle", "Put the recordings themselves here.")]
    if not path.is_relative_to(root.resolve()):
        return [_problem(name, 1, "lies outside the repository", "Copy the recordings into it.")]
    if not path.is_file():
        return [_problem(name, 1, "there is no such file", "Paths start at the repository's root.")]
    return []


def _read_file(
    name: str,
    root: Path,
    lines: dict[tuple[str, int], bytes],
    places: dict[tuple[str, int], str],
) -> Iterator[Problem]:
    """Put the file's recordings into `lines` and what is wrong with them out."""
    number = 0
    try:
        with _opened(root / name) as stream:
            while raw := stream.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    yield _problem(name, number, f"is longer than {MAX_LINE} bytes; not read on")
                    return
                if not raw.strip():
                    continue
                found = _recording(raw)
                if isinstance(found, str):
                    yield _problem(name, number, found)
                    continue
                trial = (found.case, found.trial)
                if trial in places:
                    yield _problem(
                        name,
                        number,
                        f"trial {found.trial} of case {found.case} stands at {places[trial]} already",
                    )
                    continue
                places[trial] = f"{name}:{number}"
                lines[trial] = zlib.compress(raw, 1)
    except (OSError, EOFError, zlib.error) as error:
        yield _problem(name, number + 1, f"cannot be read: {error}")


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")


def _problem(name: str, line: int, message: str, hint: str = "") -> Problem:
    return Problem(name, line, 1, message, hint, code="recording")


def _recording(raw: bytes) -> Recording | str:
    """The recording, or what is wrong with the line."""
    try:
        recording = Recording.model_validate_json(raw)
    except ValidationError as error:
        return "; ".join(_said(e["loc"], e["msg"]) for e in error.errors(include_input=False)[:5])
    pending = 0
    for at, message in enumerate(recording.messages):
        place = ("messages", at)
        if message.role == "tool":
            if pending == 0:
                return _said(place, "a tool's answer without a call before it that lacks one")
            pending -= 1
        for index, call in enumerate(message.tool_calls or ()):
            inside = (*place, "tool_calls", index, "function", "arguments")
            if message.role != "assistant":
                return _said(place, f"a message of role {message.role} calls tools")
            if _arguments(call) is None:
                return _said(inside, "is not the text of a JSON object")
            pending += 1
    return recording


def _said(loc: Sequence[str | int], message: str) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return f"{path.lstrip('.')}: {message}" if path else message


def _arguments(call: ToolCall) -> dict[str, Any] | None:
    """The arguments of a call; None where they are no JSON object."""
    try:
        found = from_json(call.function.arguments or "{}", allow_inf_nan=False)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def events(
    recording: Recording,
    *,
    server: str,
    refusal: Refusal | None = None,
    misfits: Misfits | None = None,
) -> Iterator[Event]:
    """The recording's messages as the events of a trial.

    Each message of a person begins a turn; what the agent says before the first one is turn 0. Calls
    and answers are paired by position, the oldest open call first.
    """
    turn = 0
    number = 0
    open_calls: list[ToolCall] = []
    replies_left = sum(_is_reply(message) for message in recording.messages)

    def called(call: ToolCall, answer: Message) -> Called:
        nonlocal number
        number += 1
        return _called(recording, call, answer, turn, number, server, refusal, misfits)

    for message in recording.messages:
        match message.role:
            case "system" | "developer":
                continue
            case "user":
                turn += 1
                yield Said(turn=turn, text=message.text)
            case "tool":
                yield called(open_calls.pop(0), message)
            case "assistant" if _is_reply(message):
                replies_left -= 1
                yield Replied(
                    turn=turn,
                    text=message.text,
                    usage=recording.usage if replies_left == 0 else None,
                    served_model=recording.model,
                )
            case "assistant":
                open_calls.extend(message.tool_calls or ())
                if message.text:
                    yield Noted(turn=turn, text=f"said beside its calls: {message.text}")
    for call in open_calls:
        yield called(call, Message(role="tool", content=UNANSWERED, x_error=True))


def _is_reply(message: Message) -> bool:
    return message.role == "assistant" and not message.tool_calls


def _called(
    recording: Recording,
    call: ToolCall,
    answer: Message,
    turn: int,
    number: int,
    server: str,
    refusal: Refusal | None,
    misfits: Misfits | None,
) -> Called:
    name = call.function.name
    arguments = _arguments(call) or {}
    hints = recording.tools.get(name, Hints())
    # The case's role is one of its world; what another server offers is no matter of its rights,
    # and its schemas are not known.
    if hints.server is not None:
        refusal = misfits = None
    beyond = refusal(name, arguments) if refusal is not None else None
    return Called(
        turn=turn,
        number=number,
        server=hints.server or server,
        tool=name,
        arguments=arguments,
        answer=Answer.of_text(answer.text, is_error=answer.x_error),
        answered_by="server" if answer.x_refused is None else "gateway",
        refused=answer.x_refused or beyond,
        read_only=hints.read_only,
        destructive=hints.destructive,
        leaves_world=hints.leaves_world,
        misfits=misfits(name, arguments) if misfits is not None else None,
    )
