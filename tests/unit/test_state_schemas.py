"""JSON Schema errors as sentences."""

import pytest

from seatrial.state.schemas import schema_problem, validator


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
