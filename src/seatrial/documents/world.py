"""Fixtures: the practice world as data, and mocked tool answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt

from seatrial.documents.base import Document, Id, Instant, Part
from seatrial.documents.conditions import Conditions

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
"""A name inside a world: of a type, property, action, role or link."""


class ObjectType(Part):
    """A type of object."""

    key: Name = "id"
    """The property that names an object of this type; its value is text."""
    properties: dict[Name, dict[str, Any]] = Field(min_length=1)
    """Each property and its JSON Schema."""


class LinkType(Part):
    """A typed link between two objects."""

    source: Name = Field(alias="from")
    """Type of the object it starts from."""
    target: Name = Field(alias="to")
    """Type of the object it leads to."""


class Link(Part):
    """One link of the starting state."""

    type: Name
    """The link type."""
    source: str = Field(alias="from")
    """Key of the object it starts from."""
    target: str = Field(alias="to")
    """Key of the object it leads to."""


class Role(Part):
    """Who acts, and what they may do."""

    allow: tuple[str, ...]
    """Names of actions; `*` at the end of a name stands for any rest."""
    when: dict[Name, Conditions] = Field(default_factory=dict)
    """Action → conditions over its arguments, without which it is beyond the role's rights."""
    see_refused: StrictBool = True
    """Actions beyond the rights are listed and refused when called; false: they are not listed."""


class Bind(Part):
    """An object that an action works on; the call gives an error when there is none."""

    type: Name
    """The object type."""
    key: str
    """Its key, usually `{{args.…}}`."""
    error: str = ""
    """What the agent is told when there is no such object."""


class Find(Part):
    """Objects that an action looks up: `{{name}}` is their list."""

    type: Name
    """The object type."""
    where: Conditions = Field(default_factory=dict)
    """Conditions over their properties; operands may hold placeholders. An operand whose argument was
    not given drops the condition."""
    linked_from: str | None = None
    """Only objects that a link of type `link` leads to from this key."""
    link: Name | None = None
    """The link type for `linked_from`."""
    fields: tuple[Name, ...] = ()
    """Only these properties; all when empty."""
    limit: StrictInt | None = Field(default=None, ge=1)
    """At most so many."""


class Precondition(Part):
    """What must hold before an action has any effect."""

    of: str
    """What is looked at: `args`, or the name of a bound object or of a found list."""
    where: Conditions = Field(min_length=1)
    """The conditions; operands may hold placeholders."""
    error: str = Field(min_length=1)
    """What the agent is told when they do not hold; may hold placeholders."""


class SetProperties(Part):
    """Give properties of a bound object new values."""

    effect: Literal["set"]
    object: Name
    """The name of the bound object."""
    properties: dict[Name, Any] = Field(min_length=1)
    """Property → value; may hold placeholders. A value left out by an argument not given is not set."""


class AddToProperty(Part):
    """Add a number to a property, or an item to a list."""

    effect: Literal["add"]
    object: Name
    """The name of the bound object."""
    property: Name
    """A number or a list."""
    value: Any
    """The number (may be negative) or the item; may hold placeholders."""


class CreateObject(Part):
    """Create an object."""

    effect: Literal["create"]
    type: Name
    """The object type."""
    properties: dict[Name, Any]
    """All properties, the key among them; `{{new_id}}` is a fresh id."""
    name: Name = "created"
    """The name under which `returns` can use it."""


class DeleteObject(Part):
    """Delete a bound object and its links."""

    effect: Literal["delete"]
    object: Name
    """The name of the bound object."""


class MakeLink(Part):
    """Make or cut a link."""

    effect: Literal["link", "unlink"]
    type: Name
    """The link type."""
    source: str = Field(alias="from")
    """Key of the object it starts from; may hold placeholders."""
    target: str = Field(alias="to")
    """Key of the object it leads to; may hold placeholders."""


Effect = Annotated[
    SetProperties | AddToProperty | CreateObject | DeleteObject | MakeLink,
    Field(discriminator="effect"),
]


class Action(Part):
    """An action declared as data; the agent sees it as an MCP tool."""

    description: str = Field(min_length=1)
    """What the agent reads."""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema (2020-12) of the arguments, an object."""
    read_only: StrictBool = False
    """Changes nothing: no effects allowed."""
    destructive: StrictBool = False
    """Deletes or overwrites what cannot be had back."""
    bind: dict[Name, Bind] = Field(default_factory=dict)
    """Objects it works on, by name."""
    find: dict[Name, Find] = Field(default_factory=dict)
    """Objects it looks up, by name."""
    preconditions: tuple[Precondition, ...] = ()
    """Checked in order before any effect; the first that fails is the answer (an error)."""
    effects: tuple[Effect, ...] = ()
    """Carried out in order, all or none."""
    returns: Any = "done"
    """What the agent gets: any value, may hold placeholders (`{{order}}` the whole object,
    `{{order.total}}` one property, `{{args.x}}`, `{{now}}`, `{{today}}`)."""
    output: dict[str, Any] | None = None
    """JSON Schema of the answer; the tool then declares it and answers with structured content."""


class World(Document):
    """A practice world of kind `objects`: a starting state, roles, and actions declared as data."""

    kind: Literal["fixture"]
    type: Literal["world"]
    world: Literal["objects"] = "objects"
    """The kind of practice world."""
    title: str = ""
    """One line for people."""
    now: Instant
    """The frozen clock of every trial; with a time zone."""
    types: dict[Name, ObjectType] = Field(min_length=1)
    """Object types."""
    links: dict[Name, LinkType] = Field(default_factory=dict)
    """Link types."""
    objects: dict[Name, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    """The starting objects, by type."""
    linked: tuple[Link, ...] = ()
    """The starting links."""
    roles: dict[Name, Role] = Field(default_factory=dict)
    """Roles by name."""
    actions: dict[Name, Action] = Field(min_length=1)
    """Actions by name; the agent sees one MCP tool each, on a server named as the world."""


class MockRule(Part):
    """One rule: when the arguments fulfil all conditions, this is the answer."""

    when: Conditions = Field(default_factory=dict)
    """Conditions over the arguments; `matches` is refused here."""
    answer: Any = None
    """An object, a list or text; may hold `{{args.…}}`, `{{now}}`, `{{today}}`."""
    error: str | None = None
    """Answer with this tool error instead."""
    delay_ms: StrictInt = Field(default=0, ge=0)
    """Make the agent wait."""


class MockedTool(Part):
    """The mocked answers of one tool: the first rule that fits."""

    rules: tuple[MockRule, ...] = Field(min_length=1)
    """Tried in order. When none fits the agent gets an error that names the nearest rule."""


class Answers(Document):
    """Mocked tool answers for the cases that name this fixture; only read-only tools may be mocked."""

    kind: Literal["fixture"]
    type: Literal["answers"]
    title: str = ""
    """One line for people."""
    tools: dict[Name, MockedTool] = Field(min_length=1)
    """Tool → answers."""


Fixture = Annotated[World | Answers, Field(discriminator="type")]

__all__ = ["Answers", "Fixture", "Id", "World"]
