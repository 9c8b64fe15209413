"""The JSON Schemas (2020-12) of the documents, for editors."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from seatrial.documents.arm import Arm
from seatrial.documents.case import Case
from seatrial.documents.defaults import ALLOWED, MODELS, Defaults
from seatrial.documents.fixture import Fixture
from seatrial.documents.meanings import Described
from seatrial.documents.suite import Suite

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_KINDS: dict[str, tuple[Any, str]] = {
    "case": (Case, "Seatrial case"),
    "suite": (Suite, "Seatrial suite"),
    "arm": (Arm, "Seatrial arm"),
    "fixture": (Fixture, "Seatrial fixture"),
}


class _Plain(Described):
    """Without the titles that only repeat a key's name: editors would show them above the description."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def texts() -> dict[str, str]:
    """File name → JSON Schema, one for each kind of document and one for the defaults of a folder."""
    kinds = {f"{kind}.json": _text(kind, *of) for kind, of in _KINDS.items()}
    return kinds | {"defaults.json": _written("defaults", _of_defaults(), "Seatrial defaults")}


def _text(kind: str, model: Any, title: str) -> str:
    schema = TypeAdapter(model).json_schema(
        by_alias=True, mode="validation", schema_generator=_Plain
    )
    for root in (schema, *schema.get("$defs", {}).values()):
        if {"kind", "id"} <= root.get("properties", {}).keys():
            _may_inherit(root)
    return _written(kind, schema, title)


def _written(kind: str, schema: Any, title: str) -> str:
    description = schema.pop("description", "A fixture: what a case leans on.")
    schema.pop("title", None)
    head = {
        "$schema": DIALECT,
        "$id": f"urn:seatrial:schema:{kind}",
        "title": title,
        "description": description,
    }
    return json.dumps(head | _tidied(schema), indent=1, ensure_ascii=False) + "\n"


def _may_inherit(document: dict[str, Any]) -> None:
    """Only what tells a document from others must stand in its file; the rest may come from elsewhere."""
    properties = document["properties"]
    document["required"] = [
        key for key in document["required"] if key == "id" or "const" in properties[key]
    ]


def _of_defaults() -> Any:
    """The schema of `defaults.yaml`: of each kind the keys that may have a default, none of which must be there."""
    schema = TypeAdapter(Defaults).json_schema(by_alias=True, schema_generator=_Plain)
    shared: dict[str, Any] = {}
    for section, allowed in ALLOWED.items():
        properties: dict[str, Any] = {}
        for model in MODELS[section]:
            of_model = model.model_json_schema(by_alias=True, schema_generator=_Plain)
            shared |= of_model.get("$defs", {})
            properties |= of_model["properties"]
        schema["properties"][section] = {
            "type": "object",
            "description": schema["properties"][section]["description"],
            "properties": {key: _loose(properties[key]) for key in allowed},
            "additionalProperties": False,
        }
    schema["$defs"] = _used(schema, shared)
    return schema


def _used(schema: Any, shared: dict[str, Any]) -> dict[str, Any]:
    """Of the shared parts those that a schema leads to, without what they would have to hold."""
    used: dict[str, Any] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += [value for key, value in part.items() if key != "discriminator"]
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in used:
                used[name] = _loose(shared[name])
                waiting.append(used[name])
    return dict(sorted(used.items()))


def _loose(part: Any) -> Any:
    """A part that need not be whole: nothing must be there, and it may be one of several."""
    if isinstance(part, list):
        return [_loose(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        "anyOf" if key == "oneOf" else key: _loose(value)
        for key, value in part.items()
        if not (key == "required" and isinstance(value, list)) and key != "discriminator"
    }


def _tidied(schema: Any) -> Any:
    """The schema as strict readers want it.

    Without `discriminator`, which is OpenAPI's; and where names have a pattern, others are refused.
    """
    if isinstance(schema, list):
        return [_tidied(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {key: _tidied(value) for key, value in schema.items()}
    if isinstance(tidy.get("discriminator"), dict) and "mapping" in tidy["discriminator"]:
        del tidy["discriminator"]
    if isinstance(tidy.get("patternProperties"), dict):
        tidy.setdefault("additionalProperties", False)
    return tidy
