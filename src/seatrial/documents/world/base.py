"""What practice worlds of all kinds have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool, StrictInt, model_validator

from seatrial.documents import placeholders
from seatrial.documents.base import Document, Instant, Part
from seatrial.documents.conditions import Conditions

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
"""A name inside a world: of a type, property, action, role or link."""


class Grants(Part):
    """What may be called."""

    allow: tuple[str, ...]
    """Names of actions; `*` at the end of a name stands for any rest."""
    allow_for: dict[Name, tuple[str, ...]] = Field(default_factory=dict)
    """Purpose → names of further actions, which are allowed only when the role acts under it."""
    when: dict[Name, Conditions] = Field(default_factory=dict)
    """Action → conditions over its arguments, without which it is beyond the role's rights."""
    see_refused: StrictBool = True
    """Actions beyond the rights are listed and refused when called; false: they are not listed."""


class Role(Grants):
    """Who acts, and what they may do."""

    where: dict[Name, Conditions] = Field(default_factory=dict)
    """Action → conditions over what it works on, by the names that the action itself gives it
    (`order.amount` of a bound `order`, `args.amount`); without them it is beyond the role's rights. Only in
    worlds of kind `objects`."""
    clearances: tuple[Name, ...] = ()
    """Markings that the role may read."""
    purposes: tuple[Name, ...] = ()
    """Purposes that the role may act under; a case names one of them."""


class Denial(Part):
    """How a server says that something is not allowed: by a code, a text, or both together."""

    code: StrictInt | None = None
    """The error's code: of JSON-RPC from an MCP server, the HTTP status from a service."""
    text: str | None = Field(default=None, min_length=1)
    """The error's text holds this; small and capital letters are the same."""

    @model_validator(mode="after")
    def _says_something(self) -> Denial:
        if self.code is None and self.text is None:
            raise ValueError("write `code`, `text`, or both")
        return self


class ToolAsData(Part):
    """A tool that a fixture declares; the agent sees it as an MCP tool."""

    description: str = Field(min_length=1)
    """What the agent reads."""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema (2020-12) of the arguments, an object."""
    read_only: StrictBool = False
    """Changes nothing."""
    destructive: StrictBool = False
    """Deletes or overwrites what cannot be had back."""
    leaves_world: StrictBool = False
    """Its arguments reach somebody outside (mail, a request to the web); agents read `openWorldHint`."""
    output: dict[str, Any] | None = None
    """JSON Schema (2020-12) of the answer, an object; the tool then declares it."""


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """What a fixture says about a tool before the world is started."""

    parameters: dict[str, Any] | None
    """JSON Schema of its arguments; None where only the running world knows."""
    read_only: bool | None
    """Whether it changes nothing; None where only the running world knows."""
    output: dict[str, Any] | None = None
    """JSON Schema of its structured answer; None where it declares none, or only the running world knows."""


class World(Document):
    """A practice world: what there is when a trial starts, what can be done with it, and by whom."""

    kind: Literal["fixture"]
    type: Literal["world"]
    world: str
    """The kind of practice world."""
    title: str = ""
    """One line for people; agents do not see it."""
    instructions: str = ""
    """What the server tells agents about itself."""
    now: Instant
    """The frozen clock of every trial; with a time zone."""
    roles: dict[Name, Role] = Field(default_factory=dict)
    """Roles by name."""
    purposes: dict[Name, str] = Field(default_factory=dict)
    """Purposes by name, each with what it means for people; cases name the one the role acts under."""
    denied_when: tuple[Denial, ...] = ()
    """Errors by which what stands behind the tools refuses a call of its own accord. A call that gets one of
    them is a violation, as one that a role forbids."""

    def clock(self, name: str) -> str | None:
        """What `now`, `today`, or one of them moved (`today - 30 days`) stands for in its trials."""
        return placeholders.moved(name, self.now)

    def files(self) -> Mapping[str, tuple[str, ...]]:
        """The key that names files of the repository → patterns of these; they are part of the world."""
        return {}

    def variables(self) -> tuple[str, ...]:
        """Environment variables that it hands on; their values are secrets."""
        return ()

    # What can be said before the world is started, so that `check` can hold cases against it.

    def tools_as_data(self) -> Mapping[str, ToolAsData]:
        """The tools that the document itself describes to agents, all under one key: `tools_key`."""
        return {}

    tools_key: ClassVar[str] = "tools"

    def declared_tools(self) -> Mapping[str, DeclaredTool] | None:
        """Its tools by name; None where only the running world knows."""
        tools = self.tools_as_data()
        return {
            name: DeclaredTool(tool.parameters, tool.read_only, tool.output)
            for name, tool in tools.items()
        } or None

    def declared_types(self) -> Mapping[str, frozenset[str] | None] | None:
        """Its object types and their properties (None: any); None where only the running world knows."""
        return None

    def declared_keys(self, type: str) -> frozenset[str] | None:
        """Keys of the objects of a type at the start; None where only the running world knows."""
        return None

    def declared_start(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
        """The starting objects, type → key → properties; None where only the running world knows."""
        return None

    def declared_markings(self) -> Mapping[str, str]:
        """Its markings, each with what it means."""
        return {}

    def declared_purposes(self) -> Mapping[str, str]:
        """Its purposes, each with what it means."""
        return self.purposes

    def declared_links(self) -> frozenset[str]:
        """Its link types."""
        return frozenset()
