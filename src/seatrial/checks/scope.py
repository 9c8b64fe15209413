"""What a check looks at: the whole trial or one turn of it, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.checks.secrets import Secrets
from seatrial.documents import Prices
from seatrial.documents.checks import CallOrStep, NotDisclosed
from seatrial.state import State
from seatrial.trace import Asked, Called, Replied, Requested, Trace
from seatrial.verdicts import Cause, Status

BEYOND_RIGHTS = "beyond the role's rights"
"""Said of a call that was a violation, whatever it was answered."""

Function = Callable[..., Any]
"""A function of the repository that a check of kind `python` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What checks may know beside the trace; whoever grades hands it in."""

    start: Callable[[Collection[str]], State | None] = field(default=lambda types: None)
    """What there was of some object and link types when the trial began, worked out when a check asks for
    it; None where it is not known. With the trace's changes it gives what there is at the end."""
    functions: Mapping[str, Function] = field(default_factory=dict)
    """The functions behind checks of kind `python`, by `module:function`."""
    secrets: Callable[[NotDisclosed], Secrets | None] = field(default=lambda check: None)
    """What a check keeps from being disclosed; None where the world is not known."""
    world: str | None = None
    """The name of the world's own tool server."""
    held_by_world: Collection[str] = ()
    """Tools of it whose calls only the running world can hold to the role's rights: by what the role may see,
    and by what they act on."""
    skills: Mapping[str, CallOrStep] = field(default_factory=dict)
    """The skills that the arm declares, each with the call that shows that it was read."""
    prices: Prices | None = None
    """What the arm's tokens cost; None where it does not say."""

    def leaves_world(self, sent: Called | Requested | Asked) -> bool:
        """Whether what the agent sent to a server reaches somebody outside.

        What is sent to the world's own tools does where the tool says so; what is sent to a real server
        does unless the tool says that it is closed (`openWorldHint: false`), as MCP has it.
        """
        if isinstance(sent, Called) and sent.leaves_world is not None:
            return sent.leaves_world
        return self.world is not None and sent.server != self.world


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A trace, or one turn of it."""

    trace: Trace
    turn: int | None = None
    """The one turn that is looked at, from 1; None for the whole trial."""
    background: Background = field(default_factory=Background)

    @property
    def took_place(self) -> bool:
        """Anything at all was observed here; without it there is no evidence for any answer."""
        return any(self.turn in (None, event.turn) for event in self.trace.events)

    @property
    def calls(self) -> tuple[Called, ...]:
        """Every call, refused and failed ones too, in the order the gateway saw them."""
        return tuple(c for c in self.trace.calls if self.turn in (None, c.turn))

    @property
    def replies(self) -> tuple[Replied, ...]:
        """The agent's replies in order."""
        return tuple(r for r in self.trace.replies if self.turn in (None, r.turn))

    def calls_of(self, tool: str) -> tuple[Called, ...]:
        """Every call of a tool, named as `name` or `server/name`."""
        return tuple(c for c in self.calls if is_call_of(tool, c))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a check answers: a finding without its place in the case."""

    status: Status
    reason: str
    """One sentence: what was expected and what was found."""
    turn: int | None = None
    call: int | None = None
    forbidden: bool = False
    """What failed is a forbidden action."""
    cause: Cause | None = None
    """Why a check could not do its work, when it was skipped for that; the trial is then invalid."""


def passed(reason: str, at: Called | Replied | None = None) -> Found:
    """The check holds; `at` is what fulfilled it."""
    return Found(status=Status.PASSED, reason=reason, turn=_turn(at), call=_number(at))


def failed(reason: str, at: Called | Replied | None = None, *, forbidden: bool = False) -> Found:
    """The check does not hold; `at` is where it went wrong."""
    return Found(
        status=Status.FAILED,
        reason=reason,
        turn=_turn(at),
        call=_number(at),
        forbidden=forbidden,
    )


def skipped(reason: str) -> Found:
    """The question does not arise, or is left to other checks; see `unproven`."""
    return Found(status=Status.SKIPPED, reason=reason)


def broken(reason: str, cause: Cause = Cause.INTERNAL) -> Found:
    """The check itself could not do its work: no fault of the agent's, so the trial is invalid."""
    return Found(status=Status.SKIPPED, reason=reason, cause=cause)


def unproven(reason: str) -> Found:
    """What would decide was not recorded: whether the agent did right, nobody knows, so the trial is invalid."""
    return broken(reason, Cause.NO_EVIDENCE)


def is_call_of(tool: str, call: Called) -> bool:
    """Whether `tool`, a `name` or `server/name`, is what was called."""
    return tool in (call.tool, f"{call.server}/{call.tool}")


def succeeded(call: Called) -> bool:
    """The call was neither refused nor answered with an error."""
    return call.refused is None and not call.answer.is_error


def where(call: Called) -> str:
    """`call 3, turn 1`."""
    return f"call {call.number}, turn {call.turn}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _turn(at: Called | Replied | None) -> int | None:
    return None if at is None else at.turn


def _number(at: Called | Replied | None) -> int | None:
    return at.number if isinstance(at, Called) else None
