"""Changes of a schema after which what was written for it may not fit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.state.schema_changes import no_longer_fits
from seatrial.state.schemas import validator

TEXT = {"type": "string"}


def schema(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or []}


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (schema(a=TEXT), schema(a={**TEXT, "description": "x", "title": "A"}), []),
        (schema(a=TEXT), schema(a=TEXT, b=TEXT), []),
        (schema(["a"], a=TEXT), schema(a=TEXT), []),
        (schema(a=TEXT), schema(["a"], a=TEXT), ["a is required now"]),
        (schema(a=TEXT), schema(["b"], a=TEXT, b=TEXT), ["b is new, and required"]),
        (schema(a=TEXT), schema(b=TEXT), ["a is gone"]),
        (
            schema(a={"type": "integer"}),
            schema(a=TEXT),
            ['a had `type` "integer" and has "string"'],
        ),
        (schema(a={"type": "integer"}), schema(a={"type": "number"}), []),
        (schema(a=TEXT), schema(a={"type": ["string", "null"]}), []),
        (
            schema(a=schema(b=TEXT)),
            schema(a=schema(b={"type": "string", "maxLength": 3})),
            ["a.b had no `maxLength` and has 3"],
        ),
        (
            schema(a={"type": "array", "items": schema(b=TEXT)}),
            schema(a={"type": "array", "items": schema(c=TEXT)}),
            ["a.*.b is gone"],
        ),
        ({"enum": ["x", "y"]}, {"enum": ["y", "z"]}, ['all of it is no longer "x"']),
        ({"enum": ["x"]}, {}, []),
        (schema(a=TEXT), {**schema(a=TEXT), "additionalProperties": False}, []),
        (
            {"additionalProperties": {"type": "integer"}},
            {"additionalProperties": TEXT},
            ['* had `type` "integer" and has "string"'],
        ),
        (True, {}, []),
        ({}, False, ["all of it was {} and is false"]),
    ],
)
def test_what_counts_is_told_and_nothing_else(before: Any, now: Any, told: list[str]):
    assert list(no_longer_fits(before, now)) == told


KINDS = st.sampled_from(["string", "integer", "number", "boolean", "null"])
FLAT = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            st.sampled_from("abc"),
            st.fixed_dictionaries(
                {},
                optional={
                    "type": KINDS | st.lists(KINDS, min_size=1, unique=True),
                    "maxLength": st.integers(0, 3),
                    "minimum": st.integers(0, 3),
                    "enum": st.lists(st.sampled_from(["x", 1, True]), min_size=1, unique=True),
                    "description": st.text(max_size=3),
                },
            ),
        ),
        "required": st.lists(st.sampled_from("abc"), unique=True),
        "additionalProperties": st.booleans(),
    },
)
VALUES = st.dictionaries(
    st.sampled_from("abcd"),
    st.none() | st.booleans() | st.integers(0, 5) | st.sampled_from(["x", "xxxx"]),
)


@given(before=FLAT, now=FLAT, value=VALUES)
def test_what_fitted_still_fits_where_nothing_is_told(before: Any, now: Any, value: Any):
    if validator(before).fits(value) and not list(no_longer_fits(before, now)):
        named = before.get("properties", {})
        known = {key: item for key, item in value.items() if key in named}
        assert validator(now).fits(known) or not validator(before).fits(known)
