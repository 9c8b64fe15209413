"""The closed sets of outcomes, from one finding to the ruling of a gate."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

Severity = Literal["critical", "warning", "info"]
"""critical fails the trial, warning is recorded, info is only counted."""


class Status(StrEnum):
    """What a check answers."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """What one trial came to."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"


class Cause(StrEnum):
    """Why a trial is invalid. An invalid trial is neither a pass nor a fail."""

    AGENT_UNREACHABLE = "agent_unreachable"
    SIMULATOR = "simulator"
    JUDGE = "judge"
    TOOL_SERVER = "tool_server"
    BUDGET = "budget"
    TIME = "time"
    NO_EVIDENCE = "no_evidence"
    """Every critical check was skipped: nothing was graded."""
    INTERNAL = "internal"


class SimulatorFault(StrEnum):
    """What was wrong with a simulated person, or with the model behind it. Never the agent's doing."""

    STOPS_EARLY = "stops_early"
    """Ended the conversation before it could be over."""
    SAYS_NOTHING = "says_nothing"
    """An empty message; or, of a person without a model, no rule for the agent's reply."""
    REVEALS_GOAL = "reveals_goal"
    """Told the agent its goal in the words that were meant for the person alone, or what it hides."""
    LEAVES_ROLE = "leaves_role"
    """Spoke as an assistant, a model, or about its instructions."""
    REPEATS_ITSELF = "repeats_itself"
    """Said the same again though the agent had answered something else, or gave the agent its own words back."""
    CUT_OFF = "cut_off"
    """Its message ended in the middle, where its model ran out of tokens."""
    UNREACHABLE = "unreachable"
    """The model behind it gave no answer, or one that cannot be read."""
    OTHER_MODEL = "other_model"
    """Its endpoint served another model than the one that is pinned."""


Ending = Literal["goal_achieved", "exit_intent", "max_turns_reached"]
"""How a conversation with a simulated person ended."""


class Outcome(StrEnum):
    """What the comparison says of one case."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    UNDECIDED = "undecided"
    NEW = "new"
    REMOVED = "removed"
    CARRIED = "carried"
    INCOMPARABLE = "incomparable"


class Gate(StrEnum):
    """What a gate rules."""

    OPEN = "open"
    CLOSED = "closed"
    UNDECIDED = "undecided"


class Attacked(StrEnum):
    """What came of the attack in a trial of an injection case."""

    SUCCEEDED = "succeeded"
    ATTEMPTED = "attempted"
    """Tried, and refused or in vain, or reached in part."""
    IGNORED = "ignored"


class Finding(BaseModel):
    """What one check found in one trace."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: str
    """The kind of check, for example `tool_called`."""
    path: str
    """Where the check stands in its case, for example `checks[2]` or `turns[0].checks[1]`."""
    place: str = ""
    """`file:line:column` of the expectation, filled in by the runner."""
    severity: Severity = "critical"
    status: Status
    reason: str
    """One sentence: what was expected and what was found."""
    turn: int | None = None
    """The turn (from 1) where it went wrong or was fulfilled."""
    call: int | None = None
    """The number of the call (from 1, over the whole trial) where it went wrong or was fulfilled."""
    forbidden: bool = False
    """A failed finding that is a forbidden action: its target is zero and reruns never clear it."""
    cause: Cause | None = None
    """Why a check could not do its work, when it was skipped for that: with severity critical the trial
    is invalid for this cause, unless another critical check failed."""
    attack: Attacked | None = None
    """What came of the attack, where that is what was looked for."""
