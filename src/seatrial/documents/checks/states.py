"""Checks of what became of the world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from seatrial.documents.base import Part
from seatrial.documents.checks.base import CheckPart
from seatrial.documents.conditions import (
    OPERATORS,
    Condition,
    Conditions,
    ConditionSchema,
    Expected,
    bare_means_equals,
)

BoundName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
"""A name for a value that only the trial knows."""


class Bindable(Condition):
    """A condition that can also give its value a name, or ask for the value of that name."""

    bind: BoundName | None = None
    """A name for the value: wherever it stands in this check, the value is the same."""

    @model_validator(mode="after")
    def _bound_to_something(self) -> Bindable:
        if "bind" in self.model_fields_set and self.bind is None:
            raise ValueError("`bind` needs a name")
        if self.bind is not None and "equals" in self.model_fields_set:
            raise ValueError(
                "`bind` is for a value that only the trial knows; this one is written out"
            )
        return self


BindableExpected = Annotated[
    Bindable,
    BeforeValidator(bare_means_equals(*OPERATORS, "bind")),
    ConditionSchema(
        more=(
            (
                "bind",
                "A name for the value: wherever it stands in this check, the value is the same.",
            ),
        )
    ),
]
"""A condition as it is written, which may `bind` its value to a name."""

BindableConditions = dict[str, BindableExpected]


class Bound(Part):
    """The value of a name."""

    bind: BoundName
    """The name, as it stands elsewhere in this check."""


def bound_name(value: Any) -> str | None:
    """The name when a part of an operand is exactly `{bind: name}`."""
    if isinstance(value, dict) and value.keys() == {"bind"} and isinstance(value["bind"], str):
        return value["bind"]
    return None


def names_inside(value: Any) -> Iterator[str]:
    """The names that stand inside of an operand."""
    name = bound_name(value)
    if name is not None:
        yield name
    elif isinstance(value, dict):
        for item in value.values():
            yield from names_inside(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names_inside(item)


class ExpectedObject(Part):
    """An object that must have been created."""

    type: str
    """The object type."""
    key: BindableExpected | None = None
    """Its key: when the case can know it, or `{bind: name}` for one that is used elsewhere."""
    properties: BindableConditions = Field(default_factory=dict)
    """What its properties must fulfil; properties not named are free."""
    count: StrictInt = Field(default=1, ge=1)
    """How many such objects."""

    @model_validator(mode="after")
    def _one_key_one_object(self) -> ExpectedObject:
        if self.count > 1 and self.key is not None and self.key.bind is not None:
            raise ValueError(
                "several objects cannot all have the key of one name; leave `count` out"
            )
        return self


class ExpectedChange(Part):
    """An object whose properties must have changed to this, and in nothing else."""

    type: str
    """The object type."""
    key: str
    """The object's key."""
    properties: BindableConditions = Field(min_length=1)
    """Each changed property and what its new value must fulfil."""


class ExpectedDeletion(Part):
    """An object that must be gone."""

    type: str
    """The object type."""
    key: str
    """The object's key."""


class ExpectedLink(Part):
    """A link that must have been made or cut."""

    type: str
    """The link type."""
    source: str | Bound = Field(alias="from")
    """Key of the object it starts from, or `{bind: name}`."""
    target: str | Bound = Field(alias="to")
    """Key of the object it leads to, or `{bind: name}`."""


class Changes(Part):
    """Changes that are expected together."""

    created: tuple[ExpectedObject, ...] = ()
    """Objects that must exist at the end and did not at the start."""
    changed: tuple[ExpectedChange, ...] = ()
    """Objects whose properties must have changed."""
    deleted: tuple[ExpectedDeletion, ...] = ()
    """Objects that must be gone."""
    linked: tuple[ExpectedLink, ...] = ()
    """Links that must have been made."""
    unlinked: tuple[ExpectedLink, ...] = ()
    """Links that must have been cut."""

    @property
    def anything(self) -> bool:
        """Any change is expected at all."""
        return any((self.created, self.changed, self.deleted, self.linked, self.unlinked))


class Normalization(Part):
    """What makes no difference between two values."""

    case: Literal["ignore"] | None = None
    """Upper and lower case of texts."""
    whitespace: Literal["ignore"] | None = None
    """How much white space there is in texts, and any at their ends."""
    order: Literal["ignore"] | None = None
    """The order of the items of lists."""
    tolerance: Annotated[StrictFloat | StrictInt, Field(gt=0, allow_inf_nan=False)] | None = None
    """How far apart two numbers may be and still count as equal."""
    time: Literal["second", "minute", "hour", "day"] | None = None
    """Moments (ISO 8601) are cut to this; those with a time zone are compared in UTC."""

    @model_validator(mode="after")
    def _says_something(self) -> Normalization:
        if not self.model_dump(exclude_none=True):
            raise ValueError(
                "an empty normalization changes nothing; write `case: ignore`, `whitespace: ignore`, "
                "`order: ignore`, `tolerance: 0.01` or `time: minute`"
            )
        return self


class EndState(Changes, CheckPart):
    """The world's end state: exactly these changes and nothing else. With no changes named: nothing may change."""

    check: Literal["end_state"]
    any_of: tuple[Changes, ...] = ()
    """Where several end states are right: any one of these, each together with the changes above."""
    ignore: tuple[str, ...] = ()
    """`type`, `type.property` or `type.property.part`: differences there are not looked at. `*` stands for
    any key or index."""
    normalize: dict[str, Normalization] = Field(default_factory=dict)
    """The same paths → what makes no difference there and below."""
    others: Literal["forbidden", "allowed"] = "forbidden"
    """Whether anything else may change."""

    @model_validator(mode="after")
    def _can_fail(self) -> EndState:
        weakest = self.any_of or (Changes(),)
        if self.others == "allowed" and not (
            self.anything or all(alternative.anything for alternative in weakest)
        ):
            raise ValueError(
                "this check cannot fail: other changes are allowed and none is expected; name a change, "
                "or leave `others` out to ask that nothing changes"
            )
        if len(self.any_of) == 1:
            raise ValueError("`any_of` with one alternative is none; write its changes above")
        return self

    @model_validator(mode="after")
    def _names_get_values(self) -> EndState:
        """A name gets its value where it stands alone; inside of a value it is only used."""
        for alternative in self.any_of or (Changes(),):
            given, used = set[str](), set[str]()
            for alone, name in (*_names(self), *_names(alternative)):
                (given if alone else used).add(name)
            loose = sorted(used - given)
            if loose:
                raise ValueError(
                    f"the name {loose[0]!r} gets no value: `bind` it alone as a key, as a property or as "
                    "the end of a link as well"
                )
        return self


def _names(changes: Changes) -> Iterator[tuple[bool, str]]:
    """Every name in expected changes, and whether it stands alone."""
    conditions = [c for made in changes.created for c in made.properties.values()]
    conditions += [made.key for made in changes.created if made.key is not None]
    conditions += [c for change in changes.changed for c in change.properties.values()]
    for condition in conditions:
        if condition.bind is not None:
            yield True, condition.bind
        for _, operand in condition.operators:
            yield from ((False, name) for name in names_inside(operand))
    for link in (*changes.linked, *changes.unlinked):
        for end in (link.source, link.target):
            if isinstance(end, Bound):
                yield True, end.bind


class Tie(Part):
    """A link that an object has at the end."""

    type: str
    """The link type."""
    source: str | None = Field(default=None, alias="from")
    """Key of the object that the link starts from; the object itself is then its other end."""
    target: str | None = Field(default=None, alias="to")
    """Key of the object that the link leads to. Write one of the two."""

    @model_validator(mode="after")
    def _one_end(self) -> Tie:
        if (self.source is None) == (self.target is None):
            raise ValueError("write either `from` or `to`: the other end is the object itself")
        return self


class _ObjectCheck(CheckPart):
    type: str
    """The object type."""
    key: Expected | None = None
    """Its key."""
    properties: Conditions = Field(default_factory=dict)
    """What its properties must fulfil, its name among them; properties not named are free."""
    linked: tuple[Tie, ...] = ()
    """Links that it must have, for example to its workspace."""
    created_during_trial: StrictBool = False
    """Only objects that this trial created count."""


class ObjectExists(_ObjectCheck):
    """There is such an object in the trial's own world at the end."""

    check: Literal["object_exists"]
    count: Expected | None = None
    """How many; at least one when left out."""


class ObjectAbsent(_ObjectCheck):
    """There is no such object in the trial's own world at the end."""

    check: Literal["object_absent"]


class ClaimedWithoutChange(CheckPart):
    """The agent does not say that something is done when nothing has changed."""

    check: Literal["claimed_without_change"]
    says: tuple[str, ...] = ()
    """What a claim reads like, any one of these texts; the usual English phrases when left out."""
    types: tuple[str, ...] = ()
    """Only changes of these object or link types count; of every type when left out."""


class AsksBack(CheckPart):
    """The agent asks a question back, and changes nothing."""

    check: Literal["asks_back"]
    where: Literal["end", "anywhere"] = "end"
    """end: the last reply ends with the question. anywhere: it stands anywhere in it."""
    ignore: tuple[str, ...] = ()
    """As for `end_state`: differences that do not count."""
