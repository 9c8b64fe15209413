"""Where in the answers of an agent its reply stands, and what else is heard of it: in one answer, or in events."""

from __future__ import annotations

from typing import Annotated

from pydantic import (
    AfterValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from seatrial.documents.base import Part
from seatrial.documents.json_path import JsonPath


class UsageShape(Part):
    """Where tokens and cost are told; where a path leads to several numbers, their sum counts."""

    input_tokens: JsonPath | None = None
    """Tokens read, those from a cache included."""
    output_tokens: JsonPath | None = None
    """Tokens written, those of thinking included."""
    cached_input_tokens: JsonPath | None = None
    """Of the input, those read from a cache."""
    reasoning_tokens: JsonPath | None = None
    """Of the output, those written while thinking."""
    cost: JsonPath | None = None
    """In the agent's own currency."""

    @model_validator(mode="after")
    def _says_something(self) -> UsageShape:
        if not self.paths():
            raise ValueError("write where at least one number stands, such as `input_tokens`")
        return self

    def paths(self) -> dict[str, JsonPath]:
        """What is told → where."""
        return {key: path for key, path in self if path is not None}


class AnswerShape(Part):
    """Where in one answer, a JSON value, the reply stands."""

    text: JsonPath | None = None
    """The reply; where the path leads to several texts, all of them, one after the other. Left out: `$.text`, and of
    an MCP tool the text of its content."""
    session: JsonPath | None = None
    """What the agent calls this conversation; `{{session}}` of the next request."""
    model: JsonPath | None = None
    """The model that was served."""
    usage: UsageShape | None = None
    """Tokens and cost."""
    error: JsonPath | None = None
    """An agent that says something here, other than `null` or `false`, has failed: the trial is invalid."""


Scalar = StrictStr | StrictBool | StrictInt | StrictFloat | None


class EventRule(Part):
    """What one kind of event means. Each rule whose conditions all hold is followed, in order."""

    event: str | None = Field(default=None, min_length=1)
    """The event's name (SSE: `event:`; `message` where it has none)."""
    where: dict[JsonPath, Scalar] = Field(default_factory=dict)
    """Path in the event's data → what must stand there."""
    data: str | None = Field(default=None, min_length=1)
    """The whole of the event's data, as text: for what is no JSON, such as `[DONE]`. A rule with nothing else says that
    such an event means nothing, for example `ping`."""
    add: JsonPath | None = None
    """Text that the reply goes on with."""
    text: JsonPath | None = None
    """The whole reply, in place of what was added."""
    session: JsonPath | None = None
    """What the agent calls this conversation."""
    model: JsonPath | None = None
    """The model that was served."""
    usage: UsageShape | None = None
    """Tokens and cost, in place of what was told before."""
    error: JsonPath | None = None
    """An agent that says something here, other than `null` or `false`, has failed: the trial is invalid."""
    end: StrictBool = False
    """With this event the reply is complete. Where no rule says so, it is at the end of all events."""

    @model_validator(mode="after")
    def _means_something(self) -> EventRule:
        meanings = (self.add, self.text, self.session, self.model, self.usage, self.error)
        if self.data is None and not self.end and not any(meanings):
            raise ValueError(
                "write what the event means: `add`, `text`, `session`, `model`, `usage`, `error` or `end`"
            )
        if self.data is not None and (self.where or self.paths()):
            raise ValueError(
                "an event that is known by its whole `data` has nothing that a path could lead to"
            )
        return self

    def paths(self) -> tuple[JsonPath, ...]:
        """Every path into the data of the event, but for its conditions."""
        own = (self.add, self.text, self.session, self.model, self.error)
        usage = () if self.usage is None else tuple(self.usage.paths().values())
        return (*(path for path in own if path is not None), *usage)


def _checked(rules: tuple[EventRule, ...]) -> tuple[EventRule, ...]:
    if not any(rule.add or rule.text for rule in rules):
        raise ValueError("no event brings the reply; write `add` or `text` in one of them")
    return rules


EventRules = Annotated[tuple[EventRule, ...], Field(min_length=1), AfterValidator(_checked)]
"""What the events of an agent mean."""
