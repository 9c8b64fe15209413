"""A check of how a conversation with a simulated person ended."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from seatrial.documents.base import Id
from seatrial.documents.checks.base import CheckPart
from seatrial.verdicts import Ending


def _one_or_many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Endings = Annotated[
    tuple[Ending, ...],
    Field(min_length=1),
    BeforeValidator(
        _one_or_many, json_schema_input_type=Ending | Annotated[list[Ending], Field(min_length=1)]
    ),
]
"""One way to end, or several of which any is right."""


class EndedAs(CheckPart):
    """The conversation ended so; skipped where no simulated person takes part."""

    check: Literal["ended_as"]
    ended: Endings
    """`goal_achieved`, `exit_intent` or `max_turns_reached`; one, or a list of which any is right."""
    intent: Id | None = None
    """For `exit_intent`: which of the person's `exit_intents`."""

    @model_validator(mode="after")
    def _can_fail(self) -> EndedAs:
        if self.intent is not None and self.ended != ("exit_intent",):
            raise ValueError("`intent` goes with `ended: exit_intent` alone")
        if len(set(self.ended)) == 3:
            raise ValueError("names every way to end, so that it can never fail")
        return self
