"""The one operator vocabulary.

The same words compare tool arguments in checks, conditions of mocked answers, preconditions of world
actions, and properties in end-state expectations. A bare value means `equals`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from seatrial.documents import placeholders
from seatrial.documents.base import Part
from seatrial.documents.meanings import meanings

OPERATORS = (
    "equals",
    "not_equals",
    "contains",
    "not_contains",
    "starts_with",
    "one_of",
    "present",
    "absent",
    "gt",
    "gte",
    "lt",
    "lte",
    "between",
    "matches",
    "schema",
)


Bound = StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | StrictStr
"""A number, or a text that is compared letter by letter (dates and times written from the year down)."""


def _bounds_of_one_kind(bounds: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
    low, high = bounds
    if any(next(placeholders.names(bound), None) is not None for bound in bounds):
        return bounds
    if isinstance(low, str) and isinstance(high, str):
        ordered = low <= high
    elif isinstance(low, str) or isinstance(high, str):
        raise ValueError("`between` takes two numbers or two texts")
    else:
        ordered = low <= high
    if not ordered:
        raise ValueError(f"nothing lies between {low!r} and {high!r}; write the smaller one first")
    return bounds


def _list_or_placeholder(values: tuple[Any, ...] | str) -> tuple[Any, ...] | str:
    if isinstance(values, str) and placeholders.whole(values) is None:
        raise ValueError("`one_of` takes a list, or one placeholder that stands for a list")
    return values


def compiles(pattern: str) -> None:
    """Refuse what is no regular expression.

    Raises:
        ValueError: it is none; the message is meant for whoever wrote it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a later Python may read otherwise
            re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from error
    except RecursionError as error:
        raise ValueError("is a regular expression nested too deep") from error


def is_schema(schema: dict[str, Any] | bool) -> None:
    """Refuse what is no JSON Schema.

    Raises:
        ValueError: it is none; the message is meant for whoever wrote it.
    """
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"is no JSON Schema: {error.message}") from error
    except (RecursionError, OverflowError) as error:
        raise ValueError("is a JSON Schema nested too deep, or of numbers too large") from error


_TAKE_NULL = ("equals", "not_equals", "contains", "not_contains")


class Condition(Part):
    """What a value must fulfil: all the operators that are written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    equals: Any = None
    """The same typed value: `1` equals `1.0`, but `"1"` does not equal `1` and `true` does not equal `1`."""
    not_equals: Any = None
    """Any other value; also fulfilled when the value is absent."""
    contains: Any = None
    """A text contains this text, a list this item, a mapping this key."""
    not_contains: Any = None
    """The opposite of `contains`; also fulfilled when the value is absent."""
    starts_with: str | None = None
    """A text that starts with this text."""
    one_of: Annotated[tuple[Any, ...] | str, AfterValidator(_list_or_placeholder)] | None = None
    """Equal to one of these: a list, or one placeholder that stands for a list."""
    present: StrictBool | None = None
    """`true`: there is a value, null included. `false`: there is none."""
    absent: StrictBool | None = None
    """`true`: there is no value. `false`: there is one."""
    gt: Bound | None = None
    """Greater than: numbers with numbers, texts (dates, times) with texts."""
    gte: Bound | None = None
    """Greater than or equal."""
    lt: Bound | None = None
    """Less than."""
    lte: Bound | None = None
    """Less than or equal."""
    between: Annotated[tuple[Bound, Bound], AfterValidator(_bounds_of_one_kind)] | None = None
    """From the first to the second, both included."""
    matches: str | None = None
    """A regular expression found anywhere in the text (anchor it with ^ and $)."""
    json_schema: dict[str, Any] | StrictBool | None = Field(default=None, alias="schema")
    """A JSON Schema (2020-12) that the value fits; `$ref` only within itself."""

    @field_validator("matches")
    @classmethod
    def _pattern_compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            compiles(pattern)
        return pattern

    @field_validator("json_schema")
    @classmethod
    def _schema_is_one(cls, schema: dict[str, Any] | bool | None) -> dict[str, Any] | bool | None:
        if schema is not None:
            is_schema(schema)
        return schema

    @model_validator(mode="after")
    def _says_something(self) -> Condition:
        if not self.model_fields_set:
            raise ValueError("an empty mapping is no condition; write `equals: {}` to ask for one")
        for name, operand in self.operators:
            if operand is None and name not in _TAKE_NULL:
                raise ValueError(f"`{name}` needs a value; to ask for null write `equals: null`")
        return self

    @cached_property
    def operators(self) -> tuple[tuple[str, Any], ...]:
        """The operators written, in the vocabulary's order, each with its operand."""
        names = {"schema" if n == "json_schema" else n for n in self.model_fields_set}
        return tuple(
            (name, getattr(self, "json_schema" if name == "schema" else name))
            for name in OPERATORS
            if name in names
        )


def bare_means_equals(*operators: str) -> Callable[[Any], Any]:
    """A validator that takes a bare value for `equals`, where these operators are known."""

    def read(value: Any) -> Any:
        if isinstance(value, Condition):
            return value
        if isinstance(value, dict) and value and all(key in operators for key in value):
            return value
        if isinstance(value, dict) and any(key in operators for key in value):
            odd = ", ".join(repr(k) for k in value if k not in operators)
            raise ValueError(
                f"mixes operators with {odd}; write the whole value under `equals:`, or only operators "
                f"({', '.join(operators)})"
            )
        return {"equals": value}

    return read


@dataclass(frozen=True, slots=True)
class ConditionSchema:
    """What editors are told of a condition as it is written."""

    more: tuple[tuple[str, str], ...] = ()
    """Operators beside those that are known everywhere, each with what it means."""

    def __get_pydantic_json_schema__(self, _: Any, __: Any) -> dict[str, Any]:
        found = meanings(Condition)
        told = {n: found["json_schema" if n == "schema" else n] for n in OPERATORS} | dict(
            self.more
        )
        return {
            "description": "A value (equals), or operators: " + ", ".join(told),
            "anyOf": [
                {
                    "type": "object",
                    "properties": {name: {"description": text} for name, text in told.items()},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
                {},
            ],
        }


Expected = Annotated[Condition, BeforeValidator(bare_means_equals(*OPERATORS)), ConditionSchema()]
"""A condition as it is written: a bare value, or a mapping of operators."""

Conditions = dict[str, Expected]
"""Path (`address.city`, `items.0.id`) → condition; all must hold."""
