"""How a mocked tool behaves: how long it keeps an agent waiting, and what goes wrong on purpose."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictFloat,
    StrictInt,
    model_validator,
)

from seatrial.documents.base import Part

LONGEST_DELAY_MS = 3_600_000
"""An hour: longer than any trial."""
MOST_OVERSIZED = 8_000_000
"""Bytes of an answer that is too large on purpose."""

Number = StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)]


class OnPurpose(Part):
    """On which calls it happens: on all of them where neither `calls` nor `share` is written.

    With both: on these calls, and on this share of the others.
    """

    calls: tuple[Annotated[StrictInt, Field(ge=1)], ...] = ()
    """On these calls, counted from 1 in each trial: written at a tool, the calls of the tool; written at a rule or
    in a sequence, the calls that this part answers."""
    share: Number | None = Field(default=None, gt=0, le=1)
    """On this share of the calls, from 0 to 1, drawn from the seed of the trial: in the same trial of another arm
    it is the same calls."""

    @property
    def is_always(self) -> bool:
        """It happens on every call."""
        return not self.calls and self.share in (None, 1)


class Fail(OnPurpose):
    """The tool fails: the agent's model reads an error."""

    message: str = Field(
        default="The service is not available at the moment. Try again later.", min_length=1
    )
    """What the model reads; may hold placeholders. Code and time to wait are added to it."""
    code: StrictInt | Annotated[str, Field(min_length=1)] | None = None
    """The error's code, for example `429` or `rate_limited`."""
    retry_after: Number | None = Field(default=None, ge=0)
    """After how many seconds a new attempt is said to be worth while."""


HowBroken = Literal["cut_off", "html", "empty", "oversized", "wrong_type", "stale"]


class Broken(OnPurpose):
    """The tool answers, but wrongly: the agent's model reads an answer that is not as it should be.

    An answer that does not fit the tool's output schema is refused by MCP clients; where there is one, it comes as
    an error (`isError`), so that the model reads it.
    """

    how: HowBroken
    """cut_off: the text ends in the middle. html: an error page of a web server. empty: nothing. oversized: the same
    many times over. wrong_type: numbers and booleans as text, or else the whole in a list. stale: as it was
    before: from the first of a sequence, the state at the start, and a clock that is behind."""
    bytes: StrictInt | None = Field(default=None, ge=1, le=MOST_OVERSIZED)
    """How large an `oversized` answer is; 1,000,000 when left out."""
    hours: Number | None = Field(default=None, gt=0, le=1_000_000)
    """How old a `stale` answer is; 24 when left out."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Broken:
        for key, how in (("bytes", "oversized"), ("hours", "stale")):
            if getattr(self, key) is not None and self.how != how:
                raise ValueError(f"`{key}` goes with `how: {how}`, not with `{self.how}`")
        return self


HowWire = Literal["status", "html", "empty", "dropped", "cut_off", "trickle", "rpc_error"]


class Wire(OnPurpose):
    """What goes wrong between the agent and the tool, on the wire: a matter for the agent's MCP client.

    Several clients hang on these instead of reporting an error; the trial's time limits then end it.
    """

    how: HowWire
    """status: an HTTP status in place of an answer. html: a web page with status 200. empty: status 200 and nothing.
    dropped: the connection is closed without an answer. cut_off: it is closed in the middle of the answer.
    trickle: the answer comes drop by drop. rpc_error: an error of the protocol in place of a result."""
    status: StrictInt | None = Field(default=None, ge=400, le=599)
    """For `status`; 503 when left out."""
    retry_after: StrictInt | None = Field(default=None, ge=0)
    """For `status`: seconds in its `Retry-After` header."""
    bytes_per_second: StrictInt | None = Field(default=None, ge=1)
    """For `trickle`; 100 when left out."""
    code: StrictInt | None = None
    """For `rpc_error`; -32603 (an internal error) when left out."""
    message: str | None = Field(default=None, min_length=1)
    """For `rpc_error`: what it says."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Wire:
        goes_with = {
            "status": "status",
            "retry_after": "status",
            "bytes_per_second": "trickle",
            "code": "rpc_error",
            "message": "rpc_error",
        }
        for key, how in goes_with.items():
            if getattr(self, key) is not None and self.how != how:
                raise ValueError(f"`{key}` goes with `how: {how}`, not with `{self.how}`")
        return self


def _message_alone(value: Any) -> Any:
    return {"message": value} if isinstance(value, str) else value


def _word_alone(value: Any) -> Any:
    return {"how": value} if isinstance(value, str) else value


class Behaviour(Part):
    """How an answer behaves; everything can be combined.

    What is written at a tool holds for its rules and its sequence too, where these do not say otherwise;
    `fail: null` there lifts a failure. Where several things go wrong in one call, `wire` comes before `fail`, and
    `fail` before `broken`.
    """

    delay_ms: StrictInt = Field(default=0, ge=0, le=LONGEST_DELAY_MS)
    """Make the agent wait so long, also beyond its own time limit for a tool."""
    jitter_ms: StrictInt = Field(default=0, ge=0, le=LONGEST_DELAY_MS)
    """And up to so much longer, drawn from the seed of the trial."""
    fail: Annotated[
        Fail | None, BeforeValidator(_message_alone, json_schema_input_type=Fail | str | None)
    ] = None
    """Fail on purpose; a text alone is the message, on every call."""
    broken: Annotated[
        Broken | None,
        BeforeValidator(_word_alone, json_schema_input_type=Broken | HowBroken | None),
    ] = None
    """Answer wrongly on purpose; a word alone is the kind, on every call."""
    wire: Annotated[
        Wire | None, BeforeValidator(_word_alone, json_schema_input_type=Wire | HowWire | None)
    ] = None
    """Break the wire on purpose; a word alone is the kind, on every call."""

    @property
    def stands_for_an_answer(self) -> bool:
        """It goes wrong on every call in a way for which no answer is needed."""
        return (
            (self.fail is not None and self.fail.is_always)
            or (
                self.wire is not None
                and self.wire.is_always
                and self.wire.how not in ("cut_off", "trickle")
            )
            or (
                self.broken is not None
                and self.broken.is_always
                and self.broken.how in ("html", "empty")
            )
        )
