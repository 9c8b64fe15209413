"""How one trial goes, as it goes: what was said and seen so far, what bounds its time, and why it broke off."""

from __future__ import annotations

import heapq
import math
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from seatrial.costs import price
from seatrial.documents import Prices
from seatrial.errors import ArmError, Error, SimulatorError, ToolServerError, printable
from seatrial.personas import Over
from seatrial.runner.bills import Bill
from seatrial.runner.purse import Allotment
from seatrial.trace import GAVE_UP, Beginning, Change, Completed, Ended, Event, Noted, Trace
from seatrial.verdicts import Cause, SimulatorFault


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a trial could not be carried to its end."""

    cause: Cause
    detail: str
    simulator_fault: SimulatorFault | None = None
    passing: bool = False
    """It was not the agent's doing, and may go away by itself."""


@dataclass(slots=True)
class Course:
    """How a trial goes, as it goes."""

    begun: Trace
    """Who, which and when."""
    clock: Callable[[], float]
    """Milliseconds since it began."""
    attempt: int = 1
    own: list[Event] = field(default_factory=list)
    """What was said, replied and noted, in order."""
    seen: Sequence[Event] = ()
    """What the gateway saw, in order."""
    changes: tuple[Change, ...] | None = None
    ended: Ended = "completed"
    failure: Failure | None = None
    allowance: Allotment | None = None
    """What it may spend; None for anything."""
    people: Bill = field(default_factory=Bill)
    """What simulated people take."""
    running: list[anyio.CancelScope] = field(default_factory=list)
    """What bounds the time of the trial and of the turn under way."""
    ended_as: Over | None = None
    """How the people of the conversation ended it."""
    beginning: Beginning | None = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Within the block no time passes for the trial and the turn under way."""
        start = anyio.current_time()
        left = [scope.deadline - start for scope in self.running]
        for scope in self.running:
            scope.deadline = math.inf
        try:
            yield
        finally:
            now = anyio.current_time()
            for scope, seconds in zip(self.running, left, strict=True):
                scope.deadline = now + seconds

    @property
    def trace(self) -> Trace:
        """All of it."""
        return self.begun.model_copy(
            update={
                "events": tuple(heapq.merge(self.own, self.seen, key=lambda event: event.at_ms)),
                "beginning": self.beginning,
                "changes": self.changes,
                "ended": "broken" if self.failure else self.ended,
                "ended_as": self.ended_as.how if self.ended_as else None,
                "exit_intent": self.ended_as.intent if self.ended_as else None,
            }
        )


@contextmanager
def failing(course: Course) -> Iterator[None]:
    """What goes wrong inside makes the trial invalid; the first that does is the reason."""
    try:
        yield
    except ArmError as error:
        detail = "; ".join(part for part in (error.message, error.detail) if part)
        course.failure = course.failure or Failure(
            Cause(error.cause), detail, passing=error.passing
        )
    except SimulatorError as error:
        course.failure = course.failure or Failure(
            Cause.SIMULATOR, printable(error.message), error.fault
        )
    except ToolServerError as error:
        # It may tell what a server wrote, which must not keep the record from being stored.
        course.failure = course.failure or Failure(Cause.TOOL_SERVER, printable(error.message))
    except Error as error:
        course.failure = course.failure or Failure(Cause.INTERNAL, error.message)
    except Exception as error:  # a bug of ours must not cost the siblings their trials
        course.failure = course.failure or Failure(Cause.INTERNAL, _defect(error))


def take_down(course: Course, prices: Prices | None, answer: Completed) -> None:
    """Keep an answer of the model, with what it cost."""
    if prices is not None and answer.usage is not None:
        answer = answer.model_copy(update={"cost": price(answer.usage, prices)})
    course.own.append(answer)


def take_for_giving_up(course: Course, turn: int) -> None:
    """An agent that does not reply in a turn in which a case made something go wrong has failed the case.

    The case asks how the agent bears it; what it did instead of replying is kept as a note.
    """
    failure = course.failure
    if failure is None or failure.cause not in _OF_THE_AGENT:
        return
    if course.trace.fault_of(turn) is None:
        return
    course.own.append(Noted(turn=turn, text=f"{GAVE_UP}{failure.detail}", at_ms=course.clock()))
    course.ended, course.failure = "gave_up", None


_OF_THE_AGENT = frozenset({Cause.AGENT_UNREACHABLE, Cause.TIME})


def _defect(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return (
        f"Seatrial failed: {type(error).__name__}: {error}{where}; this is a defect of Seatrial, "
        "please file an issue"
    )
