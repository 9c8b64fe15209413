"""Operands that could not be used: schemas that refer to somewhere else.

That patterns and schemas are such at all, the models say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from seatrial.documents import Condition
from seatrial.documents.checks import ReplySchema
from seatrial.loading.library import Found, Library
from seatrial.loading.mistakes import Mistake
from seatrial.loading.places import Steps
from seatrial.state.schemas import schema_problem


def unusable_schemas(library: Library) -> Found:
    """`schema` operands that lead outside of themselves: nothing is ever fetched."""
    for draft in library.drafts.values():
        if draft.may_refer:
            for steps, condition in _conditions(draft.document, ()):
                schema = condition.json_schema
                problem = schema_problem(schema) if isinstance(schema, dict) else None
                if problem:
                    message = f"`schema`: {problem}"
                    yield draft, Mistake((*steps, "schema"), message, code="schema")


def _conditions(part: Any, steps: Steps) -> Iterator[tuple[Steps, Condition | ReplySchema]]:
    if isinstance(part, Condition | ReplySchema):
        yield steps, part
    elif isinstance(part, BaseModel):
        fields = type(part).model_fields
        for name in part.model_fields_set:
            yield from _conditions(getattr(part, name), (*steps, fields[name].alias or name))
    elif isinstance(part, dict):
        for key, item in part.items():
            yield from _conditions(item, (*steps, key))
    elif isinstance(part, list | tuple):
        for index, item in enumerate(part):
            yield from _conditions(item, (*steps, index))
