"""What the keys of documents mean: the texts that stand below them in the models.

pydantic would read them from the sources whenever the models are made, which takes a third of the start of every
command; they are wanted by the schemas, by the reference, and by whoever left out a key.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Name of a field → what it means, of the fields that say so; those of the models it is made from among them."""
    found: dict[str, str] = {}
    for part in reversed(model.__mro__):
        if issubclass(part, BaseModel) and part is not BaseModel:
            found |= _of_module(part.__module__).get(part.__qualname__, {})
    written = {n: f.description for n, f in model.model_fields.items() if f.description is not None}
    return {name: text for name, text in found.items() if name in model.model_fields} | written


class Described(GenerateJsonSchema):
    """JSON Schemas that tell what each key means."""

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """The schema of a model, as pydantic has it, with the meanings."""
        made = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        properties = made.get("properties", {})
        for name, meaning in meanings(model).items():
            field = properties.get(model.model_fields[name].alias or name)
            if field is not None:
                examples = field.pop("examples", None)
                field["description"] = meaning
                if examples is not None:
                    field["examples"] = examples
        return made


@cache
def _of_module(module: str) -> dict[str, dict[str, str]]:
    """Qualified name of a class → name of a field → the text below it."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {name: dict(_texts(body)) for name, body in _classes(tree.body, "")}


def _classes(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield f"{prefix}{statement.name}", statement.body
            yield from _classes(statement.body, f"{prefix}{statement.name}.")


def _texts(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, below in pairwise(body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            yield statement.target.id, inspect.cleandoc(below.value.value)
