"""Checks of a step of a golden conversation: the calls and the reply that were reviewed."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, model_validator

from seatrial.documents import placeholders
from seatrial.documents.checks.base import CheckPart, WhichReply
from seatrial.documents.checks.calls import CallOrStep

Order = Literal["in_order", "any_order"]
Others = Literal["reads", "none", "any"]
Match = Literal["facts", "exact", "shown"]

_FACT = re.compile(r"\w+(?:[-.:/,]\w+)*")


def facts(text: str) -> tuple[str, ...]:
    """The words of a text that hold a digit: numbers, dates, times, ids; each once, in their order."""
    return tuple(dict.fromkeys(w for w in _FACT.findall(text) if any(c.isdigit() for c in w)))


class GoldenCalls(CheckPart):
    """The calls of a reviewed conversation are made, and no others that matter."""

    check: Literal["golden_calls"]
    calls: tuple[CallOrStep, ...]
    """Names of tools, or steps with arguments or alternatives; each needs a call of its own. `[]`: none."""
    order: Order = "in_order"
    """in_order: in this order. any_order: the order is free."""
    others: Others = "reads"
    """Which further calls may be made, also in vain. reads: of tools that say that they only read. none. any."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> GoldenCalls:
        if not self.calls and self.others == "any":
            raise ValueError("no call is asked for and none is refused: this can never fail")
        return self


class GoldenReply(CheckPart):
    """The reply says what a reviewed reply says: the same facts, or the same words."""

    check: Literal["golden_reply"]
    text: str = Field(min_length=1)
    """The reviewed reply."""
    match: Literal["facts", "exact"] = "facts"
    """facts: each number, date and id of the text is in the reply; numbers by their value. exact: the same words,
    without regard to case and runs of white space."""
    turn: WhichReply = "last"
    """The last reply, any reply, or the reply of this turn (from 1)."""

    @model_validator(mode="after")
    def _has_something_to_compare(self) -> GoldenReply:
        named = next(placeholders.names(self.text), None) is not None
        if self.match == "facts" and not named and not facts(self.text):
            raise ValueError(
                "the reply holds no number, date or id to compare by; write `match: exact`, or `match: shown` "
                "with `checks` of what must be in it"
            )
        if not self.text.strip():
            raise ValueError("a blank reply is nothing to compare with")
        return self
