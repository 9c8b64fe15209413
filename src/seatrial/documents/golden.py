"""A golden conversation: one that went well and was reviewed, held against what an agent does, step by step."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, StrictFloat, StrictInt, model_validator

from seatrial.documents.base import Id, Part
from seatrial.documents.checks import CallOrStep, Check, GoldenCalls, GoldenReply
from seatrial.documents.checks.golden import Match, Order, Others


class GoldenStep(Part):
    """What the person said in one turn, and what a right agent did then."""

    say: str = Field(min_length=1)
    """What the person says."""
    by: Id | None = None
    """Who says it, one of the case's `speakers`."""
    seconds: StrictFloat | StrictInt | None = Field(default=None, gt=0)
    """For the reply of this turn; `limits.turn_seconds` when left out."""
    calls: tuple[CallOrStep, ...] | None = None
    """The calls that were made: names of tools, or steps with arguments or alternatives. `[]`: none. Left out:
    calls are not looked at."""
    order: Order = "in_order"
    """in_order: in this order. any_order: the order is free."""
    others: Others = "reads"
    """Which further calls may be made. reads: of tools that say that they only read. none. any."""
    reply: str | None = Field(default=None, min_length=1)
    """What the agent replied."""
    match: Match = "facts"
    """facts: each number, date and id of the reply must be in the agent's. exact: the same words, as people read
    them. shown: nothing is compared."""
    checks: tuple[Check, ...] = ()
    """Further checks of this step alone."""

    @model_validator(mode="after")
    def _can_be_held_against_something(self) -> GoldenStep:
        if "match" in self.model_fields_set and self.reply is None:
            raise ValueError("`match` goes with a `reply`")
        for key in ("order", "others"):
            if key in self.model_fields_set and self.calls is None:
                raise ValueError(f"`{key}` goes with `calls`")
        if self.others == "any" and self.calls == ():
            raise ValueError("`calls: []` with `others: any` asks for nothing; leave both out")
        for _ in self.graded():  # builds them, and with that refuses what can never fail
            pass
        return self

    def graded(self) -> Iterator[tuple[str, Check]]:
        """The checks of this step, each with the key that it comes from."""
        if self.calls is not None:
            yield (
                "calls",
                GoldenCalls(
                    check="golden_calls", calls=self.calls, order=self.order, others=self.others
                ),
            )
        if self.reply is not None and self.match != "shown":
            yield (
                "reply",
                GoldenReply(check="golden_reply", text=self.reply, match=self.match),
            )
        for index, check in enumerate(self.checks):
            yield f"checks[{index}]", check
