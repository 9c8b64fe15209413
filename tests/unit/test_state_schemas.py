"""JSON Schema errors as sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from seatrial.state.schemas import LONGEST_SEARCHED, Unjudged, schema_problem, validator


def named(path: str) -> str:
    return f"`{path}`" if path else "it"


@pytest.mark.parametrize(
    ("schema", "value", "sentences"),
    [
        ({"type": "number"}, "a", ['it must be a number, not text "a"']),
        ({"type": ["string", "null"]}, 1, ["it must be text or null, not number 1"]),
        ({"enum": ["a", None]}, "b", ['it must be one of "a", null, not "b"']),
        ({"const": 1}, 2, ["it must be 1, not 2"]),
        ({"minimum": 1}, 0, ["it must be at least 1, not 0"]),
        ({"maximum": 1}, 2, ["it must be at most 1, not 2"]),
        ({"exclusiveMinimum": 0}, 0, ["it must be more than 0, not 0"]),
        ({"exclusiveMaximum": 0}, 0, ["it must be less than 0, not 0"]),
        ({"minLength": 2}, "a", ['it is too short: at least 2, found "a"']),
        ({"maxItems": 1}, [1, 2], ["it is too long: at most 1, found [1, 2]"]),
        ({"pattern": "^a"}, "b", ["it must match '^a', not \"b\""]),
        ({"multipleOf": 2}, 3, ["it does not fit `multipleOf: 2`, found 3"]),
        ({"required": ["a", "b", "c"]}, {"b": 1}, ["`a` is required", "`c` is required"]),
        (
            {"properties": {"amount": {}, "order": {}}, "additionalProperties": False},
            {"amont": 1, "zz": 2},
            [
                "`amont` is unknown (known: amount, order); did you mean 'amount'?",
                "`zz` is unknown (known: amount, order)",
            ],
        ),
        (
            {"properties": {"lines": {"items": {"type": "object", "required": ["n"]}}}},
            {"lines": [{"n": 1}, {}, 2]},
            ["`lines.1.n` is required", "`lines.2` must be an object, not number 2"],
        ),
        (
            {"$ref": "https://example.com/x"},
            1,
            ["it cannot be checked: the schema's `$ref` 'https://example.com/x' leads nowhere"],
        ),
    ],
)
def test_misfit_is_told_in_a_sentence(schema, value, sentences):
    assert validator(schema).misfits(value, named) == sentences


def test_a_value_with_very_many_misfits_is_told_briefly():
    schema = {"properties": {"id": {}}, "additionalProperties": False}
    sentences = validator(schema).misfits({f"i{'d' * n}": n for n in range(2, 500)}, named)

    assert len(sentences) == 21
    assert sentences[-1] == "and more"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": r"\d+-\d+"}, "1" * 4_000_000),
        ({"items": {"pattern": r"\s+$"}}, [" " * 4_000_000 + "x"]),
        ({"patternProperties": {r"\d+-\d+": {}}}, {"1" * 4_000_000: 1}),
    ],
)
def test_text_that_is_too_long_for_a_pattern_is_refused_at_once(schema, value):
    """A tool's schema is known to the agent: it could choose a text that takes hours to be searched."""
    (misfit,) = validator(schema).misfits(value, named)

    assert misfit.startswith("it cannot be checked: a text of 4,000,0")
    assert not validator(schema).fits(value)
    with pytest.raises(Unjudged):
        validator(schema).judges(value)


def test_text_as_long_as_is_searched_is_held_against_its_pattern():
    assert validator({"pattern": "x$"}).fits("a" * (LONGEST_SEARCHED - 1) + "x")
    assert not validator({"pattern": "x$"}).fits("a" * LONGEST_SEARCHED)


@pytest.mark.timeout(60)
def test_very_many_items_are_held_against_each_other_in_no_time():
    items = [{"n": n} for n in range(100_000)]

    assert validator({"uniqueItems": True}).fits(items)
    assert not validator({"uniqueItems": True}).fits([*items, {"n": 7.0}])


SCALARS = st.none() | st.booleans() | st.sampled_from([0, 1, 1.0, 2, "1", "", -0.0, 1e300])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)


@given(st.lists(VALUES, max_size=4))
def test_items_are_unique_exactly_where_the_library_says_so(items):
    wanted = Draft202012Validator({"uniqueItems": True}).is_valid(items)

    assert validator({"uniqueItems": True}).fits(items) is wanted


def test_schemas_that_are_written_alike_are_compiled_once():
    assert validator({"type": "object", "a": 1}) is validator({"type": "object", "a": 1})


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object"}, None),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, None),
        ({"type": "txt"}, "is no JSON Schema"),
        ([], "is no JSON Schema"),
        ({"items": [{"$ref": "http://example.com"}]}, "is no JSON Schema"),
        ({"anyOf": [{"$ref": "http://example.com"}]}, "leads outside"),
    ],
)
def test_problem_of_a_schema(schema, problem):
    found = schema_problem(schema)

    assert found is None if problem is None else problem in (found or "")


def test_a_schema_is_read_by_the_draft_it_names():
    older = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"pair": {"items": [{"type": "string"}, {"type": "integer"}]}},
        "dependencies": {"to": ["from"]},
    }
    newer = {key: value for key, value in older.items() if key != "$schema"}

    assert schema_problem(older) is None
    assert validator(older).fits({"pair": ["a", 1]})
    assert not validator(older).fits({"pair": [1, "a"]})
    assert not validator(older).fits({"to": "x"})
    assert schema_problem(newer) is not None
    assert schema_problem({"$schema": "https://example.com/mine", "type": "object"}) is None
