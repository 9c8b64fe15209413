"""The error tree and the exit codes.

    Error                      something the user can act on; `cli` is the only place that catches it
    ├── UsageError             a wrong option, an id that does not exist, a run that is not there (2)
    │   └── FunctionError      a function of the repository that a document names cannot be had
    ├── InvalidDocuments       every problem of every document at once (2)
    ├── RevisionError          git cannot give what was asked, and what to fetch (2)
    ├── BaselineError          no baseline, or one that cannot be read (2)
    │   └── NothingReleased    nobody has released anything yet: not a mistake, but no evidence
    ├── StorageError           the run folder cannot be written or read on (4)
    ├── ForgeError             a forge did not take what it was told; the ruling stands (4)
    ├── ArmError               an agent could not be carried through a trial; the runner turns it
    │                          into an invalid record, it never ends a run
    ├── SimulatorError         a simulated person did not do its part; an invalid record as well
    └── ToolServerError        a tool server died, hung, or answered garbage; the gateway tells the
        │                      agent so, and the runner records the trial as invalid
        ├── WorldError         a practice world cannot do what its document says
        └── MockError          mocked answers do not fit what is offered in a trial

What the agent did wrong is never an exception. Anything else that reaches the top is a bug of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # it would load pydantic for every `--help`
    from seatrial.verdicts import SimulatorFault

_STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # unseen, and bidirectional
    "\ud800-\udfff\U000e0000-\U000e007f]"  # half characters, tags
)


def printable(text: str, *, keep: str = "") -> str:
    r"""`text` safe to print: what would steer a terminal or hide is written out (`\x1b`, `\u202e`).

    `keep` names characters that stay, such as a newline.
    """
    return _STEERING.sub(
        lambda m: m[0] if m[0] in keep else m[0].encode("unicode_escape").decode("ascii"), text
    )


class ExitCode(IntEnum):
    """What the exit status of a command means."""

    OPEN = 0
    """The gate is open, or the command did what was asked."""
    CLOSED = 1
    """The gate is closed."""
    USAGE = 2
    """A wrong option or an invalid document."""
    UNDECIDED = 3
    """Not enough valid evidence for a ruling."""
    INTERNAL = 4
    """A fault of ours, or of the machine (a full disk)."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""


class Error(Exception):
    """Something the user can act on: a sentence, and what to type next."""

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def render(self) -> str:
        """The text a person reads, with the hint on a line of its own."""
        return f"{self.message}\n  → {self.hint}" if self.hint else self.message


class UsageError(Error):
    """A wrong option, an unknown id, a folder that is no run."""


class FunctionError(UsageError):
    """A `module:function` of the repository is not there, or its module cannot be imported."""


class RevisionError(Error):
    """git cannot give a revision; the hint says what to fetch."""


class BaselineError(Error):
    """There is no baseline where one was named, or it cannot be read."""


class NothingReleased(BaselineError):
    """Nobody has released a run of this agent in this suite, so there is nothing to compare with yet."""


class StorageError(Error):
    """The run folder cannot be written or read on; what was stored is intact."""

    exit_code = ExitCode.INTERNAL


class ForgeError(Error):
    """A forge did not take a status or a comment. That never changes a ruling."""

    exit_code = ExitCode.INTERNAL

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        passing: bool = False,
        limited: bool = False,
    ) -> None:
        super().__init__(message, hint=hint)
        self.limited = limited
        """It was asked too much."""
        self.status = status
        """Of its answer; None where there was none."""
        self.passing = passing
        """It may go away by itself."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in one file."""

    path: str
    line: int
    column: int
    message: str
    hint: str = ""
    code: str = "invalid"
    level: Literal["error", "warning"] = "error"
    """A warning may be meant as it is."""

    def render(self) -> str:
        """`file:line:column: message` on one line that terminals link; safe to print."""
        text = f"{self.path}:{self.line}:{self.column}: {'warning: ' * (self.level == 'warning')}{self.message}"
        return printable(f"{text}. {self.hint}" if self.hint else text)


class InvalidDocuments(Error):
    """Every problem of every file, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        count = len(self.problems)
        super().__init__(f"{count} problem{'s' if count != 1 else ''} in the documents")

    def render(self) -> str:
        """The problems, a line each, then their number."""
        return "\n".join([*(p.render() for p in self.problems), self.message])


ArmFault = Literal["agent_unreachable", "time", "budget", "tool_server", "internal"]
"""Why an arm could not be carried through a trial (a subset of the causes of an invalid trial)."""


class ArmError(Error):
    """An agent could not be started, died, hung, or wrote what cannot be read."""

    def __init__(
        self, cause: ArmFault, message: str, *, detail: str = "", passing: bool = False
    ) -> None:
        super().__init__(message)
        self.cause: ArmFault = cause
        self.detail = detail
        self.passing = passing
        """It is not the agent's doing and may go away by itself: the network, a service that is busy or broken."""


class SimulatorError(Error):
    """A simulated person did not do its part in a conversation; the agent is not to blame."""

    def __init__(self, fault: SimulatorFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class ToolServerError(Error):
    """A tool server died, hung, or answered garbage: not what a tool refuses, which is an answer."""

    passing = False
    """It may go away by itself: the network, a service that is busy or broken."""


class MockError(ToolServerError):
    """Mocked answers do not fit the tools of a trial: the fixture is at fault, never the agent."""


class WorldError(ToolServerError):
    """A practice world cannot do what its document says: the document is at fault, never the agent."""
