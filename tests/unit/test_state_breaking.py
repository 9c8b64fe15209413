"""Answers that are broken on purpose."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.documents.behaviour import Broken
from seatrial.state.breaking import KEPT, broken, enlarged, kept, mistyped
from seatrial.state.schemas import validator
from seatrial.trace import Answer

WIND = validator(
    {
        "type": "object",
        "properties": {"wind": {"type": "integer"}, "seen": {"type": "string"}},
        "required": ["wind"],
        "additionalProperties": False,
    }
)
ANSWER = Answer.of_text('{"wind": 9, "seen": "noon"}', structured={"wind": 9, "seen": "noon"})


def come(how, answer=ANSWER, schema=None, **more):
    return broken(answer, Broken(how=how, **more), schema)


def test_a_cut_off_answer_is_half_of_it_and_no_json_any_more():
    cut = come("cut_off")

    assert ANSWER.text.startswith(cut.text)
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut.text)
    assert (cut.structured, cut.is_error) == (None, False)


def test_an_html_page_and_nothing_take_the_place_of_an_answer():
    assert come("html").text.startswith("<!DOCTYPE html>")
    assert come("empty").text == ""


@pytest.mark.parametrize("how", ["cut_off", "html", "empty", "wrong_type"])
def test_what_no_client_would_take_comes_as_an_error_so_that_the_model_reads_it(how: str):
    answer = come(how, schema=WIND)

    assert (answer.is_error, answer.structured) == (True, None)


def test_numbers_and_booleans_become_text_and_what_has_none_a_list():
    assert mistyped({"a": 1, "b": [True, 0.5, "x"], "c": None}) == {
        "a": "1", "b": ["true", "0.5", "x"], "c": None,
    }  # fmt: skip
    assert mistyped({"a": "x"}) == [{"a": "x"}]
    assert mistyped("x") == ["x"]


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
        max_leaves=10,
    )
)
def test_a_mistyped_value_is_always_another_one(value):
    assert mistyped(value) != value


def test_an_oversized_answer_is_more_of_the_same_and_fits_the_schema_where_it_can():
    rows = Answer.of_text("", structured={"rows": [{"id": 1}, {"id": 2}]})

    larger = come("oversized", rows, bytes=50_000)
    fitting = come("oversized", ANSWER, WIND, bytes=50_000)

    assert len(larger.structured["rows"]) > 1000
    assert {row["id"] for row in larger.structured["rows"]} == {1, 2}
    assert 50_000 <= len(larger.text) < 110_000
    assert WIND.fits(fitting.structured)
    assert len(fitting.structured["seen"]) >= 50_000
    assert not fitting.is_error


def test_where_nothing_larger_fits_the_schema_the_text_is_large_and_the_structure_as_it_was():
    schema = validator({"type": "object", "additionalProperties": {"maxLength": 4}})

    larger = come("oversized", ANSWER, schema, bytes=9000)

    assert len(larger.text) >= 9000
    assert larger.structured == ANSWER.structured


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inside: (
            st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3)
        ),
        max_leaves=6,
    ),
    size=st.integers(1, 3000),
)
def test_an_enlarged_value_is_as_large_as_it_was_asked_for(value, size: int):
    text = json.dumps(enlarged(value, size), ensure_ascii=False)

    assert len(text.encode()) >= size


def test_of_an_oversized_answer_the_beginning_is_recorded():
    short = kept(Answer.of_text("x" * 100_000))

    assert short.text == "x" * KEPT + "… (100,000 bytes in all)"
