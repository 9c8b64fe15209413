"""The operator vocabulary at work, operator by operator."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from seatrial.documents.conditions import OPERATORS, Condition, Conditions
from seatrial.state.operators import LONGEST_SEARCHED, all_fulfilled, explain, fulfils
from seatrial.state.values import MISSING

READ = TypeAdapter(Conditions)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def condition(written: object) -> Condition:
    return READ.validate_python({"it": written})["it"]


@pytest.mark.parametrize(
    ("written", "value", "holds"),
    [
        (1, 1.0, True),
        (1, True, False),
        (True, 1, False),
        (0, False, False),
        ("1", 1, False),
        (None, None, True),
        (None, MISSING, False),
        ({"a": 1, "b": [2, {"c": None}]}, {"b": [2.0, {"c": None}], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([1, 2], [2, 1], False),
        ([1], [True], False),
        ({"equals": {}}, {}, True),
        ({"not_equals": 5}, 6, True),
        ({"not_equals": 5}, 5.0, False),
        ({"not_equals": 5}, MISSING, True),
        ({"contains": "ab"}, "cabd", True),
        ({"contains": 1}, "1", False),
        ({"contains": 1}, [2, 1.0], True),
        ({"contains": 1}, [True], False),
        ({"contains": "a"}, {"a": None}, True),
        ({"contains": "a"}, 5, False),
        ({"contains": "a"}, MISSING, False),
        ({"not_contains": "a"}, "b", True),
        ({"not_contains": "a"}, MISSING, True),
        ({"not_contains": "a"}, "bad", False),
        ({"starts_with": "re"}, "refund", True),
        ({"starts_with": "re"}, ["re"], False),
        ({"one_of": [1, "a"]}, 1.0, True),
        ({"one_of": [1, "a"]}, True, False),
        ({"one_of": [1, "a"]}, MISSING, False),
        ({"present": True}, None, True),
        ({"present": True}, MISSING, False),
        ({"present": False}, MISSING, True),
        ({"absent": True}, MISSING, True),
        ({"absent": True}, None, False),
        ({"absent": False}, None, True),
        ({"gt": 5}, 5, False),
        ({"gt": 5}, 5.5, True),
        ({"gte": 5}, 5.0, True),
        ({"lt": 5}, 4, True),
        ({"lte": 5}, "4", False),
        ({"lte": "5"}, 4, False),
        ({"lte": 5}, True, False),
        ({"lte": 5}, None, False),
        ({"lte": 5}, MISSING, False),
        ({"lte": 5}, [1], False),
        ({"lte": 5}, math.nan, False),
        ({"gte": 5}, math.nan, False),
        ({"lt": "2026-03-02"}, "2026-03-01T10:00:00Z", True),
        ({"lte": 9007199254740993}, 9007199254740993, True),
        ({"lt": 9007199254740993}, 9007199254740992, True),
        ({"between": [1, 2]}, 2, True),
        ({"between": [1, 2]}, 2.01, False),
        ({"between": ["2026-03-01", "2026-03-31"]}, "2026-03-09", True),
        ({"between": [1, 2]}, "1", False),
        ({"matches": "^o-[0-9]+$"}, "o-1001", True),
        ({"matches": "[0-9]"}, "o-1", True),
        ({"matches": "^1$"}, 1, False),
        ({"matches": "a"}, "a" * LONGEST_SEARCHED, True),
        ({"matches": "a"}, "a" * (LONGEST_SEARCHED + 1), False),
        ({"schema": {"type": "integer"}}, 1.0, True),
        ({"schema": {"type": "integer"}}, True, False),
        ({"schema": {"type": "integer"}}, MISSING, False),
        ({"schema": True}, None, True),
        ({"schema": {"$ref": "https://example.com/amount"}}, 1, False),
        ({"gt": 1, "lt": 3}, 2, True),
        ({"gt": 1, "lt": 3}, 3, False),
    ],
)
def test_condition_holds_for_the_values_it_names_and_no_others(written, value, holds):
    assert fulfils(condition(written), value) is holds


def test_the_table_above_knows_every_operator():
    for name in OPERATORS:
        operand = {
            "between": [1, 2],
            "one_of": [1],
            "schema": True,
            "present": True,
            "absent": True,
        }
        fulfils([(name, operand.get(name, "1"))], "1")
    with pytest.raises(ValueError, match="no operator"):
        fulfils([("like", "1")], "1")


@given(JSON)
def test_every_value_equals_itself_and_does_not_differ_from_itself(value):
    assert fulfils([("equals", value)], value)
    assert not fulfils([("not_equals", value)], value)


@given(st.sampled_from(OPERATORS), JSON, JSON | st.just(MISSING))
def test_no_mix_of_types_is_ever_an_error(operator, operand, value):
    if operator in ("matches", "schema", "present", "absent"):
        operand = {"matches": "x+", "schema": {"type": "object"}}.get(operator, True)

    assert fulfils([(operator, operand)], value) in (True, False)
    assert explain([(operator, operand)], value)


@given(st.sampled_from([op for op in OPERATORS if op not in ("matches", "schema")]), JSON)
def test_an_operand_that_stands_for_nothing_is_never_fulfilled(operator, value):
    assert not fulfils([(operator, MISSING)], value)


@pytest.mark.parametrize(
    ("written", "value", "text"),
    [
        ({"lte": 50}, 75, "expected amount lte 50, found 75"),
        ({"gte": 1, "lte": 50}, 75, "expected amount lte 50, found 75"),
        ({"gte": 1, "lte": 50}, "75", 'expected amount gte 1 and lte 50, found "75"'),
        ({"between": [1, 5]}, MISSING, "expected amount between 1 and 5, found nothing"),
        ({"present": False}, None, "expected amount not present, found null"),
        ("a", "b" * 100, f'expected amount equals "a", found "{"b" * 79}… (102 characters)'),
        ("a", "\ud800", 'expected amount equals "a", found "\\ud800"'),
    ],
)
def test_explanation_names_what_was_expected_and_what_was_found(written, value, text):
    assert explain(condition(written), value, "amount") == text


def test_explanation_says_that_a_text_was_too_long_to_be_searched():
    text = explain(condition({"matches": "a"}), "a" * (LONGEST_SEARCHED + 1))

    assert text.endswith("`matches` looks at no more than 10000 characters")


def test_every_condition_that_is_missed_is_told():
    conditions = READ.validate_python(
        {"status": "open", "lines.0.amount": {"lte": 5}, "lines.count": 2, "customer.id": "c-1"}
    )

    assert all_fulfilled(
        conditions, {"status": "open", "lines": [{"amount": 6}, {"amount": 1}]}
    ) == [
        "expected lines.0.amount lte 5, found 6",
        'expected customer.id equals "c-1", found nothing',
    ]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({"lte": True}, "valid"),
        ({"lte": math.nan}, "finite"),
        ({"lte": None}, "`lte` needs a value"),
        ({"between": [5, 1]}, "nothing lies between"),
        ({"between": [1, "5"]}, "two numbers or two texts"),
        ({"matches": "(a"}, "no regular expression"),
        ({"schema": {"type": "txt"}}, "no JSON Schema"),
        ({"one_of": "abc"}, "takes a list"),
        ({"lte": 5, "amount": 1}, "mixes operators"),
    ],
)
def test_condition_that_could_never_hold_is_refused_when_it_is_read(written, complaint):
    with pytest.raises(ValidationError, match=complaint):
        condition(written)


def test_bounds_keep_their_own_type():
    assert condition({"lte": 50}).operators == (("lte", 50),)
    assert isinstance(condition({"lte": 50}).lte, int)


def test_operands_may_be_placeholders():
    assert condition({"one_of": "{{args.ids}}"}).operators == (("one_of", "{{args.ids}}"),)
    assert condition({"between": ["{{order.low}}", 5]}).between == ("{{order.low}}", 5)


def test_a_condition_survives_being_written_and_read_again():
    written = condition({"gte": 1, "schema": {"type": "integer"}})

    again = Condition.model_validate(written.model_dump(by_alias=True, exclude_unset=True))

    assert again == written
    assert again.operators == written.operators
