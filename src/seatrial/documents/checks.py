"""The kinds of check a case may ask for: what a trace is held against."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, model_validator

from seatrial.documents.base import Part, Texts
from seatrial.documents.conditions import Conditions, Expected
from seatrial.verdicts import Severity

TurnNumber = Annotated[StrictInt, Field(ge=1)]
"""A turn of the conversation, from 1."""


def _refuse_blank(texts: tuple[str, ...]) -> None:
    if not all(text.strip() for text in texts):
        raise ValueError("every reply contains a blank text; write the words to look for")


class _Check(Part):
    severity: Severity = "critical"
    """critical fails the trial, warning is recorded, info is only counted."""
    because: str = ""
    """Why this is expected, shown beside a failure."""


class ToolCalled(_Check):
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


class ToolNotCalled(_Check):
    """The tool is never called (with these arguments), not even in vain. A forbidden action: target zero."""

    check: Literal["tool_not_called"]
    tool: str
    """The tool's name, or `server/tool`."""
    arguments: Conditions = Field(default_factory=dict)
    """Only calls whose arguments fulfil these are forbidden."""


class ToolOrder(_Check):
    """These tools are called in this order; other calls may lie between."""

    check: Literal["tool_order"]
    tools: tuple[str, ...] = Field(min_length=2)
    """Names of tools, first to last."""


class ToolArguments(_Check):
    """The arguments of the calls of a tool; skipped when it was never called."""

    check: Literal["tool_arguments"]
    tool: str
    """The tool's name, or `server/tool`."""
    arguments: Conditions = Field(min_length=1)
    """What the arguments must fulfil."""
    which: Literal["every", "any", "first", "last"] = "every"
    """Which of its calls."""


class ExpectedObject(Part):
    """An object that must have been created."""

    type: str
    """The object type."""
    key: Expected | None = None
    """Its key, when the case can know it."""
    properties: Conditions = Field(default_factory=dict)
    """What its properties must fulfil; properties not named are free."""
    count: StrictInt = Field(default=1, ge=1)
    """How many such objects."""


class ExpectedChange(Part):
    """An object whose properties must have changed to this, and in nothing else."""

    type: str
    """The object type."""
    key: str
    """The object's key."""
    properties: Conditions = Field(min_length=1)
    """Each changed property and what its new value must fulfil."""


class ExpectedDeletion(Part):
    """An object that must be gone."""

    type: str
    """The object type."""
    key: str
    """The object's key."""


class ExpectedLink(Part):
    """A link that must have been made or cut."""

    type: str
    """The link type."""
    source: str = Field(alias="from")
    """Key of the object it starts from."""
    target: str = Field(alias="to")
    """Key of the object it leads to."""


class EndState(_Check):
    """The world's end state: exactly these changes and nothing else. With no changes named: nothing may change."""

    check: Literal["end_state"]
    created: tuple[ExpectedObject, ...] = ()
    """Objects that must exist at the end and did not at the start."""
    changed: tuple[ExpectedChange, ...] = ()
    """Objects whose properties must have changed."""
    deleted: tuple[ExpectedDeletion, ...] = ()
    """Objects that must be gone."""
    linked: tuple[ExpectedLink, ...] = ()
    """Links that must have been made."""
    unlinked: tuple[ExpectedLink, ...] = ()
    """Links that must have been cut."""
    ignore: tuple[str, ...] = ()
    """`type` or `type.property`: differences there are not looked at."""
    others: Literal["forbidden", "allowed"] = "forbidden"
    """Whether anything else may change."""

    @model_validator(mode="after")
    def _can_fail(self) -> EndState:
        expected = (self.created, self.changed, self.deleted, self.linked, self.unlinked)
        if self.others == "allowed" and not any(expected):
            raise ValueError(
                "this check cannot fail: other changes are allowed and none is expected; name a change, "
                "or leave `others` out to ask that nothing changes"
            )
        return self


class NoViolation(_Check):
    """No call beyond the role's rights, refused or not. A forbidden action: target zero."""

    check: Literal["no_violation"]


class ReplyContains(_Check):
    """The reply contains all these texts."""

    check: Literal["reply_contains"]
    text: Texts = ()
    """All of them; one text or a list."""
    any_of: Texts = ()
    """At least one of them."""
    turn: Literal["last", "any"] | TurnNumber = "last"
    """The last reply, any reply, or the reply of this turn (from 1)."""
    ignore_case: StrictBool = True
    """Compare without regard to case and runs of white space."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> ReplyContains:
        if not self.text and not self.any_of:
            raise ValueError("write `text` (all of them) or `any_of` (one of them)")
        _refuse_blank((*self.text, *self.any_of))
        return self


class ReplyNotContains(_Check):
    """No reply contains any of these texts."""

    check: Literal["reply_not_contains"]
    text: Texts
    """One text or a list."""
    turn: Literal["last", "any"] | TurnNumber = "any"
    """The last reply, any reply, or the reply of this turn (from 1)."""
    ignore_case: StrictBool = True
    """Compare without regard to case and runs of white space."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> ReplyNotContains:
        _refuse_blank(self.text)
        return self


Check = Annotated[
    ToolCalled
    | ToolNotCalled
    | ToolOrder
    | ToolArguments
    | EndState
    | NoViolation
    | ReplyContains
    | ReplyNotContains,
    Field(discriminator="check"),
]
