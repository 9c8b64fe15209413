"""Checks of what the agent said."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, field_validator, model_validator

from seatrial.documents.base import Texts
from seatrial.documents.checks.base import CheckPart, WhichReply
from seatrial.documents.conditions import Expected, compiles, is_schema


def _refuse_blank(texts: tuple[str, ...]) -> None:
    if not all(text.strip() for text in texts):
        raise ValueError("every reply contains a blank text; write the words to look for")


class ReplyContains(CheckPart):
    """The reply contains all these texts."""

    check: Literal["reply_contains"]
    text: Texts = ()
    """All of them; one text or a list."""
    any_of: Texts = ()
    """At least one of them."""
    turn: WhichReply = "last"
    """The last reply, any reply, or the reply of this turn (from 1)."""
    ignore_case: StrictBool = True
    """Compare without regard to case and runs of white space."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> ReplyContains:
        if not self.text and not self.any_of:
            raise ValueError("write `text` (all of them) or `any_of` (one of them)")
        _refuse_blank((*self.text, *self.any_of))
        return self


class ReplyNotContains(CheckPart):
    """No reply contains any of these texts."""

    check: Literal["reply_not_contains"]
    text: Texts
    """One text or a list."""
    turn: WhichReply = "any"
    """The last reply, any reply, or the reply of this turn (from 1)."""
    ignore_case: StrictBool = True
    """Compare without regard to case and runs of white space."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> ReplyNotContains:
        _refuse_blank(self.text)
        return self


class ReplyMatches(CheckPart):
    """A regular expression is found in the reply."""

    check: Literal["reply_matches"]
    pattern: str = Field(min_length=1)
    """As for `matches`: found anywhere in the text (anchor it with ^ and $; `(?i)` ignores case, with
    `(?m)` the anchors hold at each line)."""
    turn: WhichReply = "last"
    """The last reply, any reply, or the reply of this turn (from 1)."""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        compiles(pattern)
        if re.search(pattern, "") is not None:
            raise ValueError("is found in every reply, also in an empty one")
        return pattern


class ReplyNumber(CheckPart):
    """The reply names a number."""

    check: Literal["reply_number"]
    value: Expected
    """The number, or a condition that one of the numbers in the reply fulfils."""
    tolerance: Annotated[StrictFloat | StrictInt, Field(ge=0, allow_inf_nan=False)] = 0
    """How far from `value` it may be."""
    unit: Texts = ()
    """Only numbers directly before or after one of these texts count: `€`, `EUR`, `kg`, `%`."""
    decimal: Literal[".", ","] = "."
    """What separates the fraction; the other one, spaces and apostrophes may group thousands."""
    turn: WhichReply = "last"
    """The last reply, any reply, or the reply of this turn (from 1)."""

    @model_validator(mode="after")
    def _tolerance_needs_a_number(self) -> ReplyNumber:
        operators = self.value.operators
        number = len(operators) == 1 and operators[0][0] == "equals"
        operand = operators[0][1]
        if number and (isinstance(operand, bool) or not isinstance(operand, int | float)):
            raise ValueError("`value` must be a number, or a condition that numbers can fulfil")
        if self.tolerance and not number:
            raise ValueError(
                "`tolerance` belongs to one number; a condition says itself what it takes"
            )
        _refuse_blank(self.unit)
        return self


class ReplySchema(CheckPart):
    """The reply is JSON that fits a schema, alone or as the one code block in it."""

    check: Literal["reply_schema"]
    json_schema: dict[str, Any] = Field(alias="schema")
    """A JSON Schema (2020-12); `$ref` only within itself."""
    turn: WhichReply = "last"
    """The last reply, any reply, or the reply of this turn (from 1)."""

    @field_validator("json_schema")
    @classmethod
    def _is_one(cls, schema: dict[str, Any]) -> dict[str, Any]:
        is_schema(schema)
        return schema
