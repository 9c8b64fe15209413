"""`reply_matches`, `reply_number`, `reply_schema`."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.traces import called, replied, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.checks.reply_number import numbers
from seatrial.documents import Check

READ: TypeAdapter[Check] = TypeAdapter(Check)


def answer(check, *texts, **asked):
    read = READ.validate_python({"check": check, **asked})
    events = [event for text in texts for event in (replied(text), said())]
    found = checks.find(read, Scope(trace=trace(said(), called("look"), *events)))
    return found.status.value, found.reason


# --- reply_matches ---


def test_a_pattern_is_found_in_the_last_reply_unless_another_is_named():
    asked = {"pattern": r"\br-\d+\b"}

    assert answer("reply_matches", "Nothing.", "It is r-17.", **asked) == (
        "passed",
        "the reply of turn 2 has 'r-17'",
    )
    assert answer("reply_matches", "It is r-17.", "Bye.", **asked) == (
        "failed",
        "the reply of turn 2 does not match '\\\\br-\\\\d+\\\\b'; it says 'Bye.'",
    )
    assert answer("reply_matches", "It is r-17.", "Bye.", **asked, turn=1)[0] == "passed"
    assert answer("reply_matches", "It is r-17.", "Bye.", **asked, turn="any")[0] == "passed"
    assert answer("reply_matches", "Hello.", "Bye.", **asked, turn="any")[1].startswith(
        "no reply matches"
    )
    assert answer("reply_matches", **asked) == (
        "skipped",
        "the agent gave no reply, so nothing can be looked for in it",
    )


def test_a_pattern_sees_plain_quotes_and_hyphens():
    assert answer("reply_matches", "It’s r‑17", pattern="^It's r-17$")[0] == "passed"


@pytest.mark.parametrize(
    ("pattern", "says"),
    [("(", "is no regular expression"), ("x*", "is found in every reply"), ("", "at least 1")],
)
def test_a_pattern_that_is_none_or_fits_everything_is_refused(pattern, says):
    with pytest.raises(ValidationError, match=says):
        READ.validate_python({"check": "reply_matches", "pattern": pattern})


# --- reply_number ---


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("35", [35]),
        ("It costs 1,234.50 in all.", [1234.5]),
        ("minus -3 and +4", [-3, 4]),
        ("12 345.5 or 7", [12, 345.5, 7, 12345.5]),
        ("1'000'000", [1000000]),
        ("order o-1001 of 2026-03-16, 10:30", [2026, 10]),
        ("v1.2.3", []),
        ("3rd of 5kg", [3, 5]),
        ("a1 b_2 x3y", []),
        ("Ends with 35.", [35]),
        ("1,2,3", []),
        ("1\u202f000", [1, 0, 1000]),
        ("½ and ２", [2]),
        ("9" * 50, []),
    ],
)
def test_numbers_are_read_as_people_write_them(text, found):
    from seatrial.checks.replies import readable

    assert list(numbers(readable(text, ignore_case=False), decimal=".")) == found


def test_a_comma_may_separate_the_fraction():
    assert list(numbers("1.234,50 und 3,5", decimal=",")) == [1234.5, 3.5]


def test_one_of_the_numbers_is_the_one_within_its_tolerance():
    assert answer("reply_number", "You get 35.50 back, by 3 May.", value=35.5) == (
        "passed",
        "the reply of turn 1 names 35.5",
    )
    assert answer("reply_number", "You get 35.51 back.", value=35.5, tolerance=0.01)[0] == "passed"
    assert answer("reply_number", "You get 35.52 back.", value=35.5, tolerance=0.01) == (
        "failed",
        "the reply of turn 1 names 35.52; expected equals 35.5 within 0.01",
    )
    assert answer("reply_number", "Between 1 and 9", value={"between": [5, 10]})[0] == "passed"
    assert answer("reply_number", "Nothing.", value=1) == (
        "failed",
        "the reply of turn 1 names no number; expected equals 1",
    )
    assert answer("reply_number", value=1)[0] == "skipped"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("35 EUR", True),
        ("35 eur.", True),
        ("EUR 35", True),
        ("35€", True),
        ("€35", True),
        ("€ 35.00", True),
        ("35", False),
        ("35 euros", False),
        ("35 USD", False),
        ("35 kg for 36 EUR", False),
        ("-€35", False),
    ],
)
def test_a_number_counts_only_beside_its_unit(text, right):
    status, _ = answer("reply_number", text, value=35, unit=["EUR", "€"])

    assert status == ("passed" if right else "failed")


def test_a_minus_may_stand_before_the_unit():
    assert answer("reply_number", "-€35", value=-35, unit="€")[0] == "passed"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"value": "35"}, "must be a number"),
        ({"value": True}, "must be a number"),
        ({"value": {"gte": 1}, "tolerance": 1}, "`tolerance` belongs to one number"),
        ({"value": 1, "tolerance": -1}, "greater than or equal to 0"),
        ({"value": 1, "unit": " "}, "blank text"),
    ],
)
def test_a_number_that_cannot_be_named_is_refused(asked, says):
    with pytest.raises(ValidationError, match=says):
        READ.validate_python({"check": "reply_number", **asked})


# --- reply_schema ---

TOTAL = {
    "schema": {
        "type": "object",
        "required": ["total"],
        "properties": {"total": {"type": "number"}},
    }
}


@pytest.mark.parametrize(
    "text",
    ['{"total": 3}', ' {"total": 3}\n', 'Here:\n```json\n{"total": 3}\n```\nDone.', '```\n{"total": 3}\n```'],
)  # fmt: skip
def test_json_alone_or_in_the_one_code_block_is_held_against_the_schema(text):
    assert answer("reply_schema", text, **TOTAL) == (
        "passed",
        "the reply of turn 1 is JSON that fits the schema",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Three.", "is no JSON: "),
        ("{}", "does not fit the schema: total is required"),
        ('{"total": "3"}', "does not fit the schema: total must be a number, not text"),
        ('{"total": NaN}', "is no JSON: NaN is no JSON"),
        ("```\n{}\n```\n```\n{}\n```", "is no JSON: "),
        ("[" * 100_000, "is no JSON: "),
    ],
)
def test_what_is_no_such_json_is_told(text, says):
    status, reason = answer("reply_schema", text, **TOTAL)

    assert status == "failed"
    assert reason.startswith(f"the reply of turn 1 {says}")


def test_any_reply_may_be_the_one():
    assert answer("reply_schema", '{"total": 3}', "Bye.", **TOTAL, turn="any")[0] == "passed"
    assert answer("reply_schema", **TOTAL)[0] == "skipped"


def test_what_is_no_schema_is_refused():
    with pytest.raises(ValidationError, match="is no JSON Schema"):
        READ.validate_python({"check": "reply_schema", "schema": {"type": "thing"}})
