"""A practice world of kind `objects`: objects, links, and actions declared as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool, StrictInt

from seatrial.documents.base import Part
from seatrial.documents.conditions import Conditions
from seatrial.documents.world.base import Name, ToolAsData, World
from seatrial.documents.world.locks import Hidden, Lock

Path = Annotated[str, Field(min_length=1)]
"""A path as in a placeholder, without the braces: `order.total`, `args.lines`,
`objects.product[each.sku].stock`."""


class ObjectType(Part):
    """A type of object."""

    key: Name = "id"
    """The property that names an object of this type; its value is text or a whole number."""
    properties: dict[Name, dict[str, Any]] = Field(min_length=1)
    """Each property and its JSON Schema. An object has no others; it may lack those not `required`."""
    required: tuple[Name, ...] = ()
    """Properties that every object has; the key always."""
    new_ids: tuple[str, ...] = ()
    """What `{{new_id}}` stands for, one after the other; then ids of our own making. They make the
    keys of new objects readable, and known to a case."""


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


class Bind(Part):
    """An object that an action works on; the call gives an error when there is none."""

    type: Name
    """The object type."""
    key: str
    """Its key, usually `{{args.…}}`."""
    error: str = ""
    """What the agent is told when there is no such object; may hold placeholders."""
    optional: StrictBool = False
    """When the key names an argument that was not given, nothing is bound and what hangs on the name
    is left out. Otherwise such a call gives an error."""


class Find(Part):
    """Objects that an action looks up: `{{name}}` is their list, as it was before any effect."""

    type: Name
    """The object type."""
    where: Conditions = Field(default_factory=dict)
    """Conditions over their properties; operands may hold placeholders. An operator whose operand names
    an argument not given is dropped."""
    linked_from: str | None = None
    """Only objects that a link of type `link` leads to from this key."""
    linked_to: str | None = None
    """Only objects that a link of type `link` leads from to this key. Write one of the two."""
    link: Name | None = None
    """The link type for `linked_from` or `linked_to`."""
    fields: tuple[Name, ...] = ()
    """Only these properties; all when empty."""
    limit: StrictInt | None = Field(default=None, ge=1)
    """At most so many."""


class Precondition(Part):
    """What must hold before an action has any effect."""

    when: Conditions = Field(default_factory=dict)
    """Only when these hold: paths such as `args.amount` → conditions."""
    for_each: Path | None = None
    """For each item of this list; `{{each}}` is the item."""
    of: Path | None = None
    """What is looked at: `args`, the name of a bound object or of a found list, or a path. Left out:
    the paths of `where` start with such a name themselves."""
    where: Conditions = Field(min_length=1)
    """The conditions over it; operands may hold placeholders. An operator whose operand names an
    argument not given is dropped; an operand that stands for nothing otherwise is never fulfilled."""
    error: str = Field(min_length=1)
    """What the agent is told when they do not hold; may hold placeholders."""


class _Effect(Part):
    when: Conditions = Field(default_factory=dict)
    """Only when these hold: paths such as `args.amount` → conditions."""
    for_each: Path | None = None
    """Once for each item of this list; `{{each}}` is the item."""


class SetProperties(_Effect):
    """Give properties of an object new values."""

    effect: Literal["set"]
    object: Path
    """The name of a bound object, of a found list (each of its objects, as `{{each}}`), of a created
    object, or `objects.type[path]`."""
    properties: dict[Path, Any] = Field(min_length=1)
    """Property, or path inside one (`address.city`) → value; may hold placeholders. A value that is an
    argument not given is not set."""


class AddToProperty(_Effect):
    """Add a number to a property or take it off; add an item to a list or remove it."""

    effect: Literal["add", "subtract", "remove"]
    object: Path
    """As for `set`."""
    property: Path
    """A number or a list, or a path to one; for `remove` a list, or a mapping that loses the key."""
    value: Any
    """The number or the item; may hold placeholders. Without the argument it names nothing is done."""


class CreateObject(_Effect):
    """Create an object."""

    effect: Literal["create"]
    type: Name
    """The object type."""
    properties: dict[Name, Any]
    """All properties, the key among them; `{{new_id}}` is a fresh id. A value that is an argument not
    given is left out."""
    name: Name = "created"
    """The name under which later effects and `returns` can use it; with `for_each` a list of them."""


class DeleteObject(_Effect):
    """Delete an object and its links."""

    effect: Literal["delete"]
    object: Path
    """As for `set`."""


class MakeLink(_Effect):
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


class Action(ToolAsData):
    """An action declared as data; the agent sees it as an MCP tool."""

    read_only: StrictBool = False
    """Changes nothing: no effects allowed."""
    bind: dict[Name, Bind] = Field(default_factory=dict)
    """Objects it works on, by name."""
    find: dict[Name, Find] = Field(default_factory=dict)
    """Objects it looks up, by name."""
    compute: dict[Name, Any] = Field(default_factory=dict)
    """Values worked out before the preconditions, by name and in order; may hold placeholders and
    formulas, mappings such as `{$sum: [1, 2]}` (see the reference of worlds)."""
    preconditions: tuple[Precondition, ...] = ()
    """Checked in order before any effect; the first that fails is the answer (an error)."""
    effects: tuple[Effect, ...] = ()
    """Carried out in order, all or none."""
    returns: Any = "done"
    """What the agent gets: any value, may hold placeholders (`{{order}}` the whole object,
    `{{order.total}}` one property, `{{args.x}}`, `{{orders.count}}`, `{{now}}`, `{{today}}`), which
    show the world after the effects."""


class ObjectsWorld(World):
    """A practice world of kind `objects`: a starting state, roles, and actions declared as data."""

    world: Literal["objects"] = "objects"
    """The kind of practice world."""
    types: dict[Name, ObjectType] = Field(min_length=1)
    """Object types."""
    links: dict[Name, LinkType] = Field(default_factory=dict)
    """Link types."""
    objects: dict[Name, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    """The starting objects, by type."""
    linked: tuple[Link, ...] = ()
    """The starting links."""
    markings: dict[Name, str] = Field(default_factory=dict)
    """Markings by name, each with what it means for people; roles have clearances for them."""
    locks: tuple[Lock, ...] = ()
    """What is read only with clearances, or for a purpose."""
    hidden: Hidden = "absent"
    """What the role may not see is `absent`, as if it did not exist; or a call that needs it is `refused`,
    with the reason. Lists and whole objects leave it out in both."""
    actions: dict[Name, Action] = Field(min_length=1)
    """Actions by name; the agent sees one MCP tool each, on a server named as the world."""

    tools_key: ClassVar[str] = "actions"

    def tools_as_data(self) -> Mapping[str, ToolAsData]:
        return self.actions

    def declared_types(self) -> Mapping[str, frozenset[str]]:
        return {name: frozenset(type.properties) for name, type in self.types.items()}

    def declared_keys(self, type: str) -> frozenset[str]:
        key = self.types[type].key
        return frozenset(str(properties.get(key)) for properties in self.objects.get(type, ()))

    def declared_markings(self) -> Mapping[str, str]:
        return self.markings

    def declared_links(self) -> frozenset[str]:
        return frozenset(self.links)
