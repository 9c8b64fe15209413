"""The JSON Schemas (2020-12) of the documents, for editors."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from seatrial.documents.arm import Arm
from seatrial.documents.case import Case
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
    """File name → JSON Schema, one for each kind of document."""
    return {f"{kind}.json": _text(kind, *of) for kind, of in _KINDS.items()}


def _text(kind: str, model: Any, title: str) -> str:
    schema = TypeAdapter(model).json_schema(
        by_alias=True, mode="validation", schema_generator=_Plain
    )
    description = schema.pop("description", "A fixture: what a case leans on.")
    schema.pop("title", None)
    head = {
        "$schema": DIALECT,
        "$id": f"urn:seatrial:schema:{kind}",
        "title": title,
        "description": description,
    }
    return json.dumps(head | _tidied(schema), indent=1, ensure_ascii=False) + "\n"


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
