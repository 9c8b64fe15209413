"""What all documents share: frozen models that refuse unknown keys, and the shape of an id."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt

from seatrial.documents.language import CURRENT

Id = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$", examples=["refund-within-limit"]),
]
"""Lower-case letters, digits, `.`, `_`, `-`; at most 80 characters; unique per kind."""


def _no_number(value: Any) -> Any:
    # pydantic takes a bare number for seconds since 1970; in a document it is a mistake.
    if isinstance(value, bool):
        raise ValueError(f"expected a date, found `{str(value).lower()}`")
    if isinstance(value, int | float):
        raise ValueError(f"expected a date, found the number {value}")
    return value


def _one_or_many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


MOST_TRIALS = 10_000
"""Of one case by one arm, in one run. A typing error must not ask for more than a machine can hold."""

Date = Annotated[dt.date, BeforeValidator(_no_number)]
"""A day, written `2026-03-16`."""

Instant = Annotated[dt.datetime, BeforeValidator(_no_number)]
"""A moment, written `2026-03-16T09:00:00Z`."""

Texts = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    BeforeValidator(
        _one_or_many, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]
    ),
]
"""One text or a list of texts."""


class Part(BaseModel):
    """A part of a document."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=False, defer_build=True)


class Document(Part):
    """A document: `kind:` and `id:` name it."""

    id: Id
    """The document's name, unique among the documents of its kind."""
    schema_version: StrictInt | None = Field(default=None, ge=1, le=CURRENT)
    """The version of the language that the document is written in; the first, when left out. `seatrial migrate` brings
    older documents forward. No part of what the document comes to."""
    extends: Id | None = None
    """The document of the same kind whose keys hold here as well, where they are not written. Mappings are merged key
    by key, everything else is replaced, `null` takes an inherited key away."""
    abstract: StrictBool = False
    """It is only there to be extended: nothing runs or uses it, and it need not be complete."""
