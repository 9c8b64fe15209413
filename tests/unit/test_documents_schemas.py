"""The JSON Schemas that editors use agree with the models, and the shipped documents with them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests import harbour

from seatrial.documents import schemas
from seatrial.loading import FOLDERS
from seatrial.loading.reading import read

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(
    path for folder in FOLDERS for path in (ROOT / folder).rglob("*.y*ml") if path.is_file()
)
KINDS = ("arm", "case", "defaults", "fixture", "suite")


def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schemas.texts()[f"{kind}.json"]))


def test_there_is_a_schema_for_each_kind_of_document():
    assert sorted(schemas.texts()) == [f"{kind}.json" for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one_by_its_own_dialect_and_says_which(kind: str):
    schema = json.loads(schemas.texts()[f"{kind}.json"])

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:seatrial:schema:{kind}"
    assert schema["title"] == f"Seatrial {kind}"
    assert schema["description"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_described(kind: str):
    schema = json.loads(schemas.texts()[f"{kind}.json"])
    bare = {
        key
        for properties in _properties(schema)
        for key, value in properties.items()
        if "description" not in value and "const" not in value and key != "effect"
    }

    assert bare == set()


def _properties(part: Any) -> Iterator[dict[str, Any]]:
    """The keys of every mapping that the schema tells of, however deep: operators of conditions among them."""
    if isinstance(part, list):
        for item in part:
            yield from _properties(item)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key == "properties":
                yield value
                yield from _properties(list(value.values()))
            elif key != "examples":
                yield from _properties(value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_committed_schema_is_up_to_date(kind: str):
    committed = (ROOT / "site" / "schema" / f"{kind}.json").read_text(encoding="utf-8")

    assert committed == schemas.texts()[f"{kind}.json"], "run `seatrial schema`"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_shipped_document_names_its_schema_in_its_first_line_and_fits_it(path: Path):
    text = path.read_text(encoding="utf-8")
    (raw,) = read(path.name, text.encode()).documents
    kind = raw.value["kind"]
    up = "../" * (len(path.relative_to(ROOT).parts) - 1)

    assert text.splitlines()[0] == (f"# yaml-language-server: $schema={up}site/schema/{kind}.json")
    assert (path.parent / f"{up}site/schema/{kind}.json").is_file()
    assert [e.message for e in validator(kind).iter_errors(raw.value)] == []


def test_there_are_shipped_documents_of_every_kind():
    kinds = {yaml.safe_load(path.read_text(encoding="utf-8"))["kind"] for path in SHIPPED}

    assert kinds == set(KINDS)


@pytest.mark.parametrize("path", harbour.FILES)
def test_right_documents_fit(path: str):
    (raw,) = read(path, harbour.FILES[path].encode()).documents

    assert [e.message for e in validator(raw.value["kind"]).iter_errors(raw.value)] == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("case", {"extends": "other", "matrix": {"boat": ["gull", 1], "berth": {"one": {"id": "b-1"}}}}),
        ("case", {"abstract": True, "limits": {"calls": 3}}),
        ("suite", {"extends": "other"}),
        ("arm", {"extends": "other", "prices": "of-march"}),
        ("fixture", {"type": "answers", "extends": "other"}),
        ("defaults", {"case": {"provenance": {"author": "Ada"}}, "arm": {"adapter": {"type": "http"}}}),
    ],
)  # fmt: skip
def test_what_may_be_inherited_need_not_stand_in_a_document(kind: str, value: dict[str, Any]):
    value = {"kind": kind, **value} | ({} if kind == "defaults" else {"id": "one"})

    assert [e.message for e in validator(kind).iter_errors(value)] == []
    assert not validator(kind).is_valid(value | {"unknown": 1})


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("cases/take.yaml", "title:", "titel:"),
        ("cases/take.yaml", "group: task", "group: tsk"),
        ("cases/take.yaml", "check: tool_called", "check: tool_caled"),
        ("cases/take.yaml", "tool: take_berth", "tol: take_berth"),
        ("cases/take.yaml", "id: take-a-berth", "id: Take A Berth"),
        ("cases/take.yaml", "tags: [berth]", "tags: berth"),
        ("cases/take.yaml", "role: clerk", "required: no"),
        ("fixtures/harbour.yaml", "  moored:", "  moored here:"),
        ("fixtures/harbour.yaml", "effect: set", "effect: sat"),
        ("fixtures/storm.yaml", "type: answers", "type: answer"),
        ("suites/all.yaml", "trials: 3", "trials: '3'"),
        ("suites/all.yaml", "tags: [storm]", "tag: [storm]"),
        ("arms/released.yaml", "type: command", "type: comand"),
    ],
)
def test_an_editor_sees_the_mistakes_that_need_one_document_only(path: str, old: str, new: str):
    assert old in harbour.FILES[path]
    (raw,) = read(path, harbour.FILES[path].replace(old, new, 1).encode()).documents
    value: Any = raw.value
    kind = "fixture" if "fixtures/" in path else value["kind"]

    assert not validator(kind).is_valid(value)
