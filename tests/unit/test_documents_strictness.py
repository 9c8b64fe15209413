"""A value means what it says: nothing is turned into another type on the way in."""

import datetime as dt
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from seatrial.documents import Case, Condition, Suite
from seatrial.documents.base import Date, Instant, Texts
from seatrial.documents.checks import ReplyContains


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        (Suite, {"kind": "suite", "id": "a", "cases": ["b"], "trials": "4"}),
        (Suite, {"kind": "suite", "id": "a", "cases": ["b"], "trials": 4.0}),
        (Suite, {"kind": "suite", "id": "a", "cases": ["b"], "trials": True}),
        (Suite, {"kind": "suite", "id": "a", "cases": [{"required": "no"}]}),
        (Suite, {"kind": "suite", "id": "a", "cases": ["b"], "gate": {"margin": "0.05"}}),
        (ReplyContains, {"check": "reply_contains", "text": "x", "turn": "2"}),
        (ReplyContains, {"check": "reply_contains", "text": "x", "ignore_case": 1}),
        (Condition, {"gt": True}),
        (Condition, {"between": [1, "2"]}),
        (Condition, {"present": "yes"}),
    ],
)
def test_text_is_no_number_and_no_truth_value(model: Any, keys: dict[str, Any]):
    with pytest.raises(ValidationError):
        model.model_validate(keys)


def test_a_whole_number_is_a_number_where_fractions_are_allowed():
    suite = Suite.model_validate(
        {"kind": "suite", "id": "a", "cases": ["b"], "gate": {"invalid_cap": 1}}
    )

    assert suite.gate.invalid_cap == 1


@pytest.mark.parametrize("kind", [Date, Instant])
def test_a_number_is_no_date(kind: Any):
    with pytest.raises(ValidationError, match="expected a date, found the number 20260316"):
        TypeAdapter(kind).validate_python(20260316)


def test_a_date_is_written_as_text_or_given_as_a_date():
    day = dt.date(2026, 3, 16)

    assert TypeAdapter(Date).validate_python("2026-03-16") == day
    assert TypeAdapter(Date).validate_python(day) == day


def test_one_text_stands_for_a_list_of_one_and_the_schema_says_so():
    one_or_many = TypeAdapter(Texts)

    assert one_or_many.validate_python("a") == ("a",)
    assert one_or_many.json_schema() == {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ]
    }
    with pytest.raises(ValidationError):
        one_or_many.validate_python([])


def test_a_case_survives_being_stored_and_read_again():
    case = Case.model_validate(
        {
            "kind": "case", "id": "a", "title": "A", "group": "task", "agent": "b", "world": "w",
            "task": "Do it.", "reviewed": "2026-03-16", "limits": {"turn_seconds": 5},
            "checks": [{"check": "reply_contains", "text": "done"}],
        }
    )  # fmt: skip

    stored = case.model_dump(mode="json", by_alias=True, exclude_unset=True)

    assert Case.model_validate(stored) == case
