"""What an agent is given for one trial, and what is heard from it.

A seat holds nothing of the case but what a person would say: no id, no checks, no expectations.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from seatrial.tools import Tool
from seatrial.trace import Answer, Completed, Usage


class CallTool(Protocol):
    """Calls a tool by name with its arguments, of one server or of the first that has it."""

    def __call__(
        self, tool: str, arguments: dict[str, Any], server: str | None = None, /
    ) -> Coroutine[Any, Any, Answer]:
        """The tool's answer, or its error."""
        ...


class Tools(Protocol):
    """The tools of a trial, reached from this process: by the same rules, and into the same record, as on the wire."""

    async def listed(self) -> Sequence[tuple[str, Tool]]:
        """Each server's name with a tool that the agent may see."""
        ...

    @property
    def last_fault(self) -> str | None:
        """What went wrong on purpose in the call that ended last."""
        ...

    async def misspoken(self, tool: str, arguments: str, why: str, server: str | None) -> Answer:
        """Take down a call whose arguments cannot be read, and answer it with why."""
        ...


class Allowance(Protocol):
    """What a trial may still spend."""

    def afford(self, most: Usage) -> str:
        """Set aside what a request may take at most; why it does not fit, or nothing."""
        ...

    def spend(self, used: Usage) -> None:
        """A request has taken this."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """An agent's place in one trial."""

    run: str
    """The run's id."""
    trial: str
    """A token unique to the trial; says nothing about its case."""
    root: Path
    """The repository's root."""
    now: str
    """The trial's frozen clock, ISO 8601."""
    seed: int
    settings: Mapping[str, Any]
    """The arm's settings, as they are written."""
    url: str
    """Base of the gateway's addresses for this trial."""
    urls: Mapping[str, str]
    """Each MCP server's name and address."""
    token: str
    """The bearer token of this trial."""
    config: Mapping[str, Any]
    """A client configuration (`mcpServers`) with the addresses and the token."""
    call: CallTool
    """Calls a tool without a network: `await call("refund", {"order_id": "…"})`."""
    tools: Tools | None = None
    """Where Seatrial is the agent, beside `call`."""
    tell: Callable[[Completed], None] = lambda _: None
    """Takes down what a model answered, where Seatrial is the agent."""
    clock: Callable[[], float] = lambda: 0.0
    """Milliseconds since the trial began."""
    allowance: Allowance | None = None
    """What the trial may spend, where Seatrial is the agent; None for anything."""
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Within the block the time that the trial and the turn may take stands still: the agent is not to blame."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The runner's own environment, of which the agent sees only what its arm names."""


NO_TOKENS = Usage()
"""Of an agent that asks no model."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent answered in one turn."""

    text: str
    usage: Usage | None = None
    served_model: str | None = None
    step_limit: bool = False
    """There is no reply: it would have taken more steps than the arm allows."""

    @property
    def tokens(self) -> int:
        """Read and written, as far as it says so."""
        return 0 if self.usage is None else self.usage.input_tokens + self.usage.output_tokens


class Conversation(Protocol):
    """An agent that is up and can be talked to."""

    @property
    def notes(self) -> Sequence[str]:
        """What the agent wrote beside its replies, cut to a bounded length; complete after the end."""
        ...

    @property
    def meanwhile(self) -> str:
        """What it has done instead of replying, for the message when its time is up; empty when unknown."""
        ...

    async def reply(self, turn: int, text: str) -> Reply:
        """The agent's reply to the person's message of this turn (from 1).

        Raises:
            ArmError: there is none, or it cannot be read.
        """
        ...
