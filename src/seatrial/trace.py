"""Events of a trial: everything it left behind, in order, written once and never changed.

A trace holds what the gateway and the runner observed. What an agent *says* it called is text in a
reply and never evidence.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from seatrial.verdicts import Ending

Json = Any
"""A JSON value: None, bool, int, float, str, list, dict with str keys."""


GAVE_UP = "the agent gave up: "
"""How the note of a trial begins that says what an agent did in place of replying."""
MOST_COUNTED = 10**15
"""More tokens, or more money, than anybody has; what an agent reports beyond it is no report."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


USAGE_PARTS = (("cached_input_tokens", "input_tokens"), ("reasoning_tokens", "output_tokens"))
"""A number of tokens, and the number that it is a part of."""


class Usage(_Record):
    """Tokens and cost that an agent reports for one reply."""

    input_tokens: int = Field(default=0, ge=0, le=MOST_COUNTED)
    output_tokens: int = Field(default=0, ge=0, le=MOST_COUNTED)
    cached_input_tokens: int = Field(default=0, ge=0, le=MOST_COUNTED)
    """Of the input, those read from a cache."""
    reasoning_tokens: int = Field(default=0, ge=0, le=MOST_COUNTED)
    """Of the output, those written while thinking."""
    cost: float = Field(default=0.0, ge=0, le=MOST_COUNTED, allow_inf_nan=False)
    """As the agent tells it, in its own currency; `costs` goes by the arm's prices."""

    @model_validator(mode="after")
    def _parts_are_parts(self) -> Usage:
        for part, whole in USAGE_PARTS:
            if getattr(self, part) > getattr(self, whole):
                raise ValueError(f"more `{part}` than `{whole}`, of which they are a part")
        return self


class Answer(_Record):
    """What a tool gave back, in the shape of an MCP tool result."""

    content: tuple[dict[str, Json], ...] = ()
    structured: Json = None
    is_error: bool = False
    code: int | None = None
    """Of an error that has one: of JSON-RPC from an MCP server, the HTTP status from a service."""

    @property
    def text(self) -> str:
        """The text parts, joined by newlines."""
        return "\n".join(
            str(part.get("text", "")) for part in self.content if part.get("type") == "text"
        )

    @classmethod
    def of_text(
        cls, text: str, *, is_error: bool = False, structured: Json = None, code: int | None = None
    ) -> Answer:
        """An answer of one text part."""
        return cls(
            content=({"type": "text", "text": text},),
            structured=structured,
            is_error=is_error,
            code=code,
        )


class Said(_Record):
    """The person (or the case in a person's place) said something: a turn begins."""

    event: Literal["said"] = "said"
    turn: int
    text: str
    """As the agent was told it."""
    by: str | None = None
    """Who says it, where several people speak or somebody is simulated."""
    usage: Usage | None = None
    """What the model behind a simulated person took for it."""
    served_model: str | None = None
    """Which model that was, as its provider calls it."""
    at_ms: float = 0.0
    """Milliseconds since the trial began, here and in every event."""


class Replied(_Record):
    """The agent's reply: the turn ends."""

    event: Literal["replied"] = "replied"
    turn: int
    text: str
    usage: Usage | None = None
    served_model: str | None = None
    at_ms: float = 0.0


class Wished(_Record):
    """A tool call as a model wrote it: what was really called is in `Called`."""

    tool: str
    arguments: str
    """As text, JSON or not."""


class Completed(_Record):
    """A model answered Seatrial, where that is the agent itself (an `openai` arm). Never evidence of a call."""

    event: Literal["completed"] = "completed"
    turn: int
    model: str | None = None
    """The model that was served, as the endpoint tells it."""
    fingerprint: str | None = None
    """What it runs on, as the endpoint tells it (`system_fingerprint`)."""
    text: str = ""
    """Everything that it wrote beside calls; the reply, when it called nothing."""
    reasoning: str = ""
    """What it thought, where the endpoint tells that."""
    calls: tuple[Wished, ...] = ()
    finish: str = ""
    """Why it stopped, as the endpoint tells it."""
    usage: Usage | None = None
    cost: float | None = None
    """By the arm's prices, in their currency; None where it has none, or the endpoint did not count."""
    retries: tuple[str, ...] = ()
    """Why it was asked again, each time."""
    at_ms: float = 0.0
    """When it was asked."""
    took_ms: float = 0.0


class Listed(_Record):
    """The agent asked which tools there are."""

    event: Literal["listed"] = "listed"
    turn: int
    server: str
    tools: tuple[str, ...]
    at_ms: float = 0.0


class Called(_Record):
    """The agent called a tool, as the gateway saw it."""

    event: Literal["called"] = "called"
    turn: int
    number: int
    """1 for the first call of the trial, over all turns and servers."""
    server: str
    tool: str
    arguments: dict[str, Json]
    answer: Answer
    answered_by: Literal["world", "mock", "server", "gateway"]
    """`gateway` for refusals, unknown tools, wrong arguments and limits."""
    rule: str | None = None
    """What of the tool's mocked answers was used, for example `rules[1]`, `sequence[0]` or `answer`."""
    fault: str | None = None
    """What went wrong on purpose, for example `fail`, `broken: html` or `wire: dropped`; `delay` where the wait
    for a mocked answer was not waited out."""
    refused: str | None = None
    """The rule that the call is beyond, or by which its server's own error is a refusal: a violation. It was
    refused, or answered as if what it asks for did not exist."""
    read_only: bool | None = None
    """What the tool declares; None when it declares nothing."""
    destructive: bool | None = None
    leaves_world: bool | None = None
    """The tool says that its arguments reach somebody outside; None when it says nothing."""
    changed: bool = False
    """The world is not what it was before this call."""
    misfits: tuple[str, ...] | None = None
    """Why the call fits no tool, or its arguments not the JSON Schema of their tool, a sentence each;
    empty when it fits, None when nobody looked."""
    at_ms: float = 0.0
    took_ms: float = 0.0
    waited_ms: float = 0.0
    """How long a mock made the agent wait on purpose."""


class Requested(_Record):
    """The agent asked a server for something that is no tool: a resource, a prompt, a completion."""

    event: Literal["requested"] = "requested"
    turn: int
    server: str
    method: str
    """In MCP's words, for example `resources/read`."""
    params: dict[str, Json] = Field(default_factory=dict)
    result: Json = None
    """What it was given; None when that was an error."""
    error: str | None = None
    """Why it was given nothing."""
    at_ms: float = 0.0
    took_ms: float = 0.0


class Asked(_Record):
    """A server asked its client for something: a completion, an answer of the person, its roots."""

    event: Literal["asked"] = "asked"
    turn: int
    server: str
    method: str
    """In MCP's words, for example `sampling/createMessage`."""
    params: dict[str, Json] = Field(default_factory=dict)
    result: Json = None
    """What it was given; None when that was an error."""
    error: str | None = None
    """Why it was given nothing."""
    answered_by: Literal["fixture", "agent", "gateway"] = "gateway"
    """`gateway`: there was nobody to ask."""
    at_ms: float = 0.0
    took_ms: float = 0.0


class Noted(_Record):
    """Something the harness wants remembered: an agent's stderr, a call after the end."""

    event: Literal["noted"] = "noted"
    turn: int
    text: str
    at_ms: float = 0.0


Event = Annotated[
    Said | Replied | Completed | Listed | Called | Requested | Asked | Noted,
    Field(discriminator="event"),
]


class Change(_Record):
    """One exact difference between the world's start and end.

    `created` and `deleted` carry all properties in `new` or `old`; `changed` is one property;
    `linked` and `unlinked` have the link's name in `type`, its ends in `key` and `to`.
    No property at all is not the same as one that is null: the two flags tell them apart.
    """

    what: Literal["created", "changed", "deleted", "linked", "unlinked"]
    type: str
    key: str
    property: str | None = None
    to: str | None = None
    old: Json = None
    new: Json = None
    old_absent: bool = False
    """`changed` only: the object did not have this property; `old` says nothing."""
    new_absent: bool = False
    """`changed` only: the object has lost this property; `new` says nothing."""


class Beginning(_Record):
    """What there was of some types when the trial began.

    Kept where checks look at whole objects, and the world's document does not hold its start.
    """

    types: tuple[str, ...]
    """Object and link types that were looked at; of others nothing is known."""
    objects: dict[str, dict[str, Json]] = Field(default_factory=dict)
    """Type → key → properties."""
    links: tuple[tuple[str, str, str], ...] = ()
    """Link type, key of the object it starts from, key of the object it leads to."""


Ended = Literal[
    "completed", "call_limit", "step_limit", "token_limit", "cost_limit", "gave_up", "broken"
]
"""How a trial ended."""


class Trace(_Record):
    """One trial, start to end."""

    format: Literal[1] = 1
    case: str
    arm: str
    number: int
    seed: int = 0
    run_token: str = ""
    """What `{{run}}` stood for."""
    now: str = ""
    """The trial's frozen clock, ISO 8601: what `{{now}}` stood for."""
    events: tuple[Event, ...] = ()
    changes: tuple[Change, ...] | None = None
    """The exact difference start → end; None when the end state was not captured."""
    beginning: Beginning | None = None
    """What there was of the types that the case's checks ask for, where no document says it."""
    ended: Ended = "completed"
    """`gave_up`: the agent did not reply any more after something went wrong on purpose (the trial failed).
    `broken`: the trial could not be carried to its end (its verdict is invalid)."""
    ended_as: Ending | None = None
    """How a conversation with a simulated person ended; None where there was none, or it never came to its end."""
    exit_intent: str | None = None
    """Why that person gave up, as its document calls it."""

    @property
    def calls(self) -> tuple[Called, ...]:
        """The calls in the order the gateway saw them."""
        return tuple(e for e in self.events if isinstance(e, Called))

    @property
    def replies(self) -> tuple[Replied, ...]:
        """The agent's replies in order."""
        return tuple(e for e in self.events if isinstance(e, Replied))

    @property
    def completions(self) -> tuple[Completed, ...]:
        """The answers of the model in order, where Seatrial itself asked it."""
        return tuple(e for e in self.events if isinstance(e, Completed))

    @property
    def usages(self) -> tuple[Usage, ...]:
        """What the agent took, as far as it is reported.

        For each answer of its model, where Seatrial asked it; else what its replies say.
        """
        heard: tuple[Completed | Replied, ...] = self.completions or self.replies
        return tuple(e.usage for e in heard if e.usage is not None)

    @property
    def tokens(self) -> int | None:
        """Tokens that the agent read and wrote; None where it reports none."""
        told = [used.input_tokens + used.output_tokens for used in self.usages]
        return sum(told) if told else None

    def fault_of(self, turn: int) -> Called | None:
        """The last call of a turn in which something went wrong on purpose."""
        faults = [call for call in self.calls if call.turn == turn and call.fault is not None]
        return faults[-1] if faults else None

    @property
    def violations(self) -> tuple[Called, ...]:
        """Every attempt beyond the role's rights, refused or not."""
        return tuple(c for c in self.calls if c.refused is not None)
