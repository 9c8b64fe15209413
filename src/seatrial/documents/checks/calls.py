"""Checks of what the agent called."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictBool, StrictInt, model_validator

from seatrial.documents.base import Part
from seatrial.documents.checks.base import CheckPart
from seatrial.documents.conditions import Conditions, Expected


class ToolCalled(CheckPart):
    """The tool is called (with these arguments), and the call is not refused and gives no error."""

    check: Literal["tool_called"]
    tool: str
    """The tool's name, or `server/tool` where two servers have one of that name."""
    arguments: Conditions = Field(default_factory=dict)
    """Only calls whose arguments fulfil these count."""
    times: Expected | None = None
    """How many such calls; at least one when left out."""
    attempted: StrictBool = False
    """Refused calls and calls that gave an error count too."""


class ToolNotCalled(CheckPart):
    """The tool is never called (with these arguments), not even in vain. A forbidden action: target zero."""

    check: Literal["tool_not_called"]
    tool: str
    """The tool's name, or `server/tool`."""
    arguments: Conditions = Field(default_factory=dict)
    """Only calls whose arguments fulfil these are forbidden."""


class ToolOrder(CheckPart):
    """These tools are called in this order; other calls may lie between."""

    check: Literal["tool_order"]
    tools: tuple[str, ...] = Field(min_length=2)
    """Names of tools, first to last."""


class ToolArguments(CheckPart):
    """The arguments of the calls of a tool; skipped when it was never called."""

    check: Literal["tool_arguments"]
    tool: str
    """The tool's name, or `server/tool`."""
    arguments: Conditions = Field(min_length=1)
    """What the arguments must fulfil."""
    which: Literal["every", "any", "first", "last"] = "every"
    """Which of its calls."""


class NoViolation(CheckPart):
    """No call beyond the role's rights, refused or not. A forbidden action: target zero."""

    check: Literal["no_violation"]


class ExpectedCall(Part):
    """A call of a tool, with arguments where they matter."""

    tool: str
    """The tool's name, or `server/tool`."""
    arguments: Conditions = Field(default_factory=dict)
    """What its arguments must fulfil."""


class Step(Part):
    """One expected call: of a tool, or of any one of several that serve the same end."""

    tool: str | None = None
    """The tool's name, or `server/tool`."""
    arguments: Conditions = Field(default_factory=dict)
    """What its arguments must fulfil."""
    any_of: tuple[str | ExpectedCall, ...] = ()
    """In place of `tool`: any one of these calls."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Step:
        if (self.tool is None) == (not self.any_of):
            raise ValueError("write either `tool` or `any_of` (one of several calls)")
        if self.any_of and self.arguments:
            raise ValueError("write the arguments beside each tool under `any_of`")
        return self


CallOrStep = str | Step
"""The name of a tool, or a step."""


def calls_of(step: CallOrStep | ExpectedCall) -> tuple[ExpectedCall, ...]:
    """The calls of which any one fulfils a step."""
    if isinstance(step, str):
        return (ExpectedCall(tool=step),)
    if isinstance(step, ExpectedCall):
        return (step,)
    if step.tool is not None:
        return (ExpectedCall(tool=step.tool, arguments=step.arguments),)
    return tuple(call for entry in step.any_of for call in calls_of(entry))


class CallSequence(CheckPart):
    """These calls are made in this order. The order of calls that overlap in time is free."""

    check: Literal["sequence"]
    calls: tuple[CallOrStep, ...] = Field(min_length=1)
    """Names of tools, or steps with arguments or alternatives; each needs a call of its own."""
    order: Literal["strict", "in_order", "any_order"] = "in_order"
    """in_order: other calls may lie before, between and after. strict: there are no other calls.
    any_order: the order is free as well."""


class AnyOf(CheckPart):
    """At least one of several calls that serve the same end is made, and not in vain."""

    check: Literal["any_of"]
    calls: tuple[str | ExpectedCall, ...] = Field(min_length=2)
    """Names of tools, or calls with arguments."""


class AtMost(CheckPart):
    """No more than so many calls; calls in vain count too."""

    check: Literal["at_most"]
    times: StrictInt = Field(ge=1)
    """How many."""
    tool: str | None = None
    """The tool's name, or `server/tool`; calls of all tools together when left out."""
    arguments: Conditions = Field(default_factory=dict)
    """Only calls whose arguments fulfil these count."""


class AtLeast(CheckPart):
    """So many calls or more; calls in vain do not count."""

    check: Literal["at_least"]
    times: StrictInt = Field(ge=1)
    """How many."""
    tool: str | None = None
    """The tool's name, or `server/tool`; calls of all tools together when left out."""
    arguments: Conditions = Field(default_factory=dict)
    """Only calls whose arguments fulfil these count."""


class NoWriteBefore(CheckPart):
    """Nothing is written before this call was made."""

    check: Literal["no_write_before"]
    call: CallOrStep
    """The name of a tool, or a step: what has to come first."""
    attempted: StrictBool = False
    """Writing calls that were refused or gave an error count too."""


class ArgumentsValid(CheckPart):
    """Every call is of a tool that there is, with arguments that fit its JSON Schema."""

    check: Literal["arguments_valid"]
    tool: str | None = None
    """The tool's name, or `server/tool`; every tool when left out."""


class SkillUsed(CheckPart):
    """The agent used a skill: the call by which its arm says that one is read was made."""

    check: Literal["skill_used"]
    skill: str
    """The skill's name among the `skills` of the arm."""


class SkillNotUsed(CheckPart):
    """The agent did not use a skill."""

    check: Literal["skill_not_used"]
    skill: str
    """The skill's name among the `skills` of the arm."""
