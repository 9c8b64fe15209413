"""An arm: a named, pinned configuration of one agent."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictFloat,
    StrictInt,
    model_validator,
)

from seatrial.documents.adapters import A2a, Adapter, Http, Mcp, OpenAI
from seatrial.documents.base import Document, Id, Part, Texts
from seatrial.documents.checks import CallOrStep
from seatrial.documents.patterns import Patterns

MOVING_NAMES = ("latest", "stable", "current", "default", "auto", "preview")


class Model(Part):
    """The pinned model behind the agent."""

    name: str = Field(min_length=1)
    """The provider's name for one fixed version. A moving name such as `latest` is refused."""
    served: Texts | None = None
    """What the provider may call it in its answers, where that is not the name; `*` stands for anything."""
    fingerprint: str | None = Field(default=None, min_length=1)
    """The `system_fingerprint` that its answers must carry, for models whose provider keeps that still."""

    def is_named(self, served: str) -> bool:
        """Whether this is what the provider may call the model that it served."""
        return served == self.name or any(
            fnmatchcase(served, pattern) for pattern in self.served or ()
        )

    @model_validator(mode="after")
    def _is_pinned(self) -> Model:
        words = self.name.lower().replace(":", "-").replace("/", "-").replace("@", "-").split("-")
        moving = [word for word in words if word in MOVING_NAMES]
        if moving:
            raise ValueError(
                f"{self.name!r} moves ({moving[0]!r}): the provider can exchange the model behind it, "
                "and a comparison would not know; name one fixed version"
            )
        return self


class ShownTool(Part):
    """What the agent is told of a tool, in place of what its server says."""

    description: str | None = Field(default=None, min_length=1)
    """What the tool is for."""
    parameters: dict[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    """Argument → what it is for."""

    @model_validator(mode="after")
    def _says_something(self) -> ShownTool:
        if self.description is None and not self.parameters:
            raise ValueError("write `description`, `parameters`, or both")
        return self


class ArmLimits(Part):
    """How far this agent may go where the case does not say."""

    turn_seconds: StrictFloat = Field(default=60.0, gt=0)
    """For one reply."""
    trial_seconds: StrictFloat = Field(default=600.0, gt=0)
    """For the whole trial."""
    at_once: StrictInt | None = Field(default=None, ge=1)
    """Trials of this arm side by side, at most."""
    requests_per_minute: StrictInt | None = Field(default=None, ge=1)
    """To the endpoint of an `openai` arm, the service of an `http` or `a2a` arm or the `url` of an `mcp` arm, by all
    trials of a run together."""
    tokens_per_minute: StrictInt | None = Field(default=None, ge=1)
    """Read and written together, by what the endpoint reports."""


Price = Annotated[StrictFloat, Field(ge=0, le=1e9, allow_inf_nan=False)]
"""Of a million tokens."""


class ModelPrices(Part):
    """What a million tokens of a model cost."""

    input: Price
    """Tokens read."""
    output: Price
    """Tokens written."""
    cached_input: Price | None = None
    """Those read from a cache; left out: as `input`."""
    reasoning: Price | None = None
    """Those written while thinking; left out: as `output`."""


class Prices(ModelPrices):
    """What a million tokens cost. No part of the fingerprint: an arm does the same at another price."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    """Of all of them, for example EUR or USD."""


def _written_out(value: Any) -> Any:
    """The loader has put the prices of a list in its place."""
    if isinstance(value, str):
        raise ValueError(f"price list `{value}` was not looked up")
    return value


PricesOrList = Annotated[Prices, BeforeValidator(_written_out, json_schema_input_type=Prices | Id)]
"""Prices, or the fixture of type `prices` that has those of the pinned model."""


class Arm(Document):
    """A pinned configuration of one agent."""

    kind: Literal["arm"]
    title: str = ""
    """One line for people."""
    agent: Id
    """The agent this is a version of; cases name the same."""
    version: str = Field(min_length=1)
    """The version, as the product counts it."""
    deployed: tuple[Id, ...] = ()
    """The environments in which this version is what people talk to: there it answers with
    `--agent-version latest`. Of a draft there are none."""
    adapter: Adapter
    """How Seatrial talks to it."""
    model: Model | None = None
    """The pinned model, when there is one."""
    prices: PricesOrList | None = None
    """What its tokens cost, or the fixture of type `prices` that has those of its model: so that `seatrial plan` and
    `seatrial power` tell money."""
    sources: dict[Id, Patterns] = Field(default_factory=dict)
    """Named files or globs the agent is built from (prompts, rules, code); each name is a component of
    the fingerprint, and a change in any of them is a change of the arm."""
    skills: dict[str, CallOrStep] = Field(default_factory=dict)
    """Skills that the agent has, each with the call that shows that it was read: the name of a tool, or a
    tool with arguments."""
    servers: tuple[Id, ...] = ()
    """Fixtures of type `server`: real MCP servers that this agent has in every case."""
    tools: dict[str, ShownTool] = Field(default_factory=dict)
    """Tools that this arm's agent is shown under descriptions of its own. Each tool is a component of the
    fingerprint, so that a changed description can be compared with the released one."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Handed to the agent as they are."""
    settings_schema: str | None = Field(default=None, min_length=1)
    """A JSON Schema of the product's, a file relative to the repository's root, that `settings` must fit."""
    limits: ArmLimits = ArmLimits()
    """How far it may go."""

    @model_validator(mode="after")
    def _can_be_carried_out(self) -> Arm:
        if isinstance(self.adapter, OpenAI) and self.model is None:
            raise ValueError("an `openai` arm needs its pinned model: `model: {name: …}`")
        paced = (self.limits.requests_per_minute, self.limits.tokens_per_minute) != (None, None)
        sent_here = isinstance(self.adapter, A2a | Http | OpenAI) or (
            isinstance(self.adapter, Mcp) and self.adapter.url is not None
        )
        if paced and not sent_here:
            raise ValueError(
                f"limits by the minute are kept where Seatrial sends the requests, and a `{self.adapter.type}` "
                "agent sends its own; use `limits.at_once`"
            )
        return self
