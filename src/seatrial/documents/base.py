"""What all documents share: frozen models that refuse unknown keys, and the shape of an id."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$", examples=["refund-within-limit"]),
]
"""Lower-case letters, digits, `.`, `_`, `-`; at most 80 characters; unique per kind."""


class Part(BaseModel):
    """A part of a document."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, populate_by_name=False
    )


class Document(Part):
    """A document: `kind:` and `id:` name it."""

    id: Id
    """The document's name, unique among the documents of its kind."""
