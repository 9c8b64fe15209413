"""The kinds of check a case may ask for: what a trace is held against."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from seatrial.documents.checks.calls import (
    AnyOf,
    ArgumentsValid,
    AtLeast,
    AtMost,
    CallOrStep,
    CallSequence,
    ExpectedCall,
    NoViolation,
    NoWriteBefore,
    SkillNotUsed,
    SkillUsed,
    Step,
    ToolArguments,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
    calls_of,
)
from seatrial.documents.checks.code import PythonCheck
from seatrial.documents.checks.disclosure import LockedObjects, NotDisclosed
from seatrial.documents.checks.ending import EndedAs
from seatrial.documents.checks.golden import GoldenCalls, GoldenReply
from seatrial.documents.checks.replies import (
    ReplyContains,
    ReplyMatches,
    ReplyNotContains,
    ReplyNumber,
    ReplySchema,
)
from seatrial.documents.checks.states import (
    AsksBack,
    Bindable,
    Bound,
    Changes,
    ClaimedWithoutChange,
    EndState,
    ExpectedChange,
    ExpectedDeletion,
    ExpectedLink,
    ExpectedObject,
    Normalization,
    ObjectAbsent,
    ObjectExists,
    Tie,
)

Check = Annotated[
    ToolCalled
    | ToolNotCalled
    | ToolOrder
    | ToolArguments
    | CallSequence
    | AnyOf
    | AtMost
    | AtLeast
    | NoWriteBefore
    | ArgumentsValid
    | SkillUsed
    | SkillNotUsed
    | NoViolation
    | NotDisclosed
    | EndState
    | ObjectExists
    | ObjectAbsent
    | ClaimedWithoutChange
    | AsksBack
    | ReplyContains
    | ReplyNotContains
    | ReplyMatches
    | ReplyNumber
    | ReplySchema
    | GoldenCalls
    | GoldenReply
    | EndedAs
    | PythonCheck,
    Field(discriminator="check"),
]

OF_THE_END = ("end_state", "object_exists", "object_absent", "ended_as")
"""Checks of the end of the world or of the conversation, which no single turn can be held against."""

__all__ = [
    "OF_THE_END",
    "AnyOf",
    "ArgumentsValid",
    "AsksBack",
    "AtLeast",
    "AtMost",
    "Bindable",
    "Bound",
    "CallOrStep",
    "CallSequence",
    "Changes",
    "Check",
    "ClaimedWithoutChange",
    "EndState",
    "EndedAs",
    "ExpectedCall",
    "ExpectedChange",
    "ExpectedDeletion",
    "ExpectedLink",
    "ExpectedObject",
    "GoldenCalls",
    "GoldenReply",
    "LockedObjects",
    "NoViolation",
    "NoWriteBefore",
    "Normalization",
    "NotDisclosed",
    "ObjectAbsent",
    "ObjectExists",
    "PythonCheck",
    "ReplyContains",
    "ReplyMatches",
    "ReplyNotContains",
    "ReplyNumber",
    "ReplySchema",
    "SkillNotUsed",
    "SkillUsed",
    "Step",
    "Tie",
    "ToolArguments",
    "ToolCalled",
    "ToolNotCalled",
    "ToolOrder",
    "calls_of",
]
