"""JSONPath over what an agent wrote: parsed when documents are loaded, and bounded when applied."""

import json

import pytest

from seatrial.documents.json_path import compiled
from seatrial.shapes import MISSING, ShapeError, first, found

ANSWER = {
    "output": [
        {"type": "reasoning", "text": "hm"},
        {"type": "message", "text": "Hello"},
        {"type": "message", "text": "there", "n": None},
    ],
    "usage": {"in": 3, "cached": 0},
    "deep": {"er": {"text": "down"}},
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$.usage.in", (3,)),
        ("$.usage.cached", (0,)),
        ("$['usage']['in']", (3,)),
        ("$.output[-1].text", ("there",)),
        ("$.output[?@.type == 'message'].text", ("Hello", "there")),
        ("$.output[?length(@.text) < 3].text", ("hm",)),
        ("$.output[0, 2].text", ("hm", "there")),
        ("$.output[1:].text", ("Hello", "there")),
        ("$..text", ("hm", "Hello", "there", "down")),
        ("$.output[?@.n == null].text", ("there",)),
        ("$", (ANSWER,)),
        ("$.nobody.home", ()),
    ],
)
def test_a_path_leads_to_what_the_standard_says(path: str, values: tuple[object, ...]):
    assert found(path, ANSWER) == values


def test_null_is_found_and_nothing_is_missing():
    assert first("$.output[2].n", ANSWER) is None
    assert first("$.output[0].n", ANSWER) is MISSING
    assert repr(MISSING) == "MISSING"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("usage.in", "it begins with `$`"),
        ("$.output[", "is no JSONPath: unexpected end"),
        ("$.output[x]", "is no JSONPath: character 10: "),
        ("$.output[?@.type =~ /x/]", "is no JSONPath"),
        ("$.output[?match(@.text, '(a+)+b')]", "function 'match' is not defined"),
        ("$.a | $.b", "is no JSONPath"),
        ("$..a..b", "more than one `..`"),
        ("$[?@..a]", "which may be many values"),
        ("$[?@.a[*] == 1]", "is no JSONPath"),
        ("$[?@.a[?@.b]]", "which may be many values"),
        ("$" + "[0, 1]" * 5, "selectors side by side"),
        ("$" + ".a" * 200, "at most 300"),
        ("$" + "[?(" * 90, "is no JSONPath"),
        ("$.a ", "is no JSONPath"),
        ("", "it begins with `$`"),
    ],
)
def test_a_path_that_cannot_be_read_or_asks_too_much_is_refused_with_why(path: str, why: str):
    with pytest.raises(ValueError, match=r".") as error:
        compiled(path)

    assert why in str(error.value)


@pytest.mark.parametrize("path", ["$..x", "$[*][*].x", "$[?@.x == 1]", "$[*, *][?@.x]"])
def test_a_value_with_too_many_parts_is_told_and_not_looked_through(path: str):
    value = [[0] * 10] * 60_000

    with pytest.raises(ShapeError, match="more than 50,000 parts"):
        found(path, value)


def test_a_value_that_goes_down_too_deep_is_told():
    deep = json.loads("[" * 900 + "]" * 900)

    with pytest.raises(ShapeError, match="too deeply"):
        found("$..x", deep)


def test_comparing_what_is_nested_beyond_reason_is_told_and_no_crash():
    deep: list[object] = []
    other: list[object] = []
    for _ in range(200_000):
        deep, other = [deep], [other]

    with pytest.raises(ShapeError, match="too deeply"):
        found("$[?@.a == @.b]", [{"a": deep, "b": other}])


def test_long_keys_are_not_written_out_for_each_part_below_them():
    value = {"k" * 2_000_000: [0] * 40_000}

    assert len(found("$..*", value, most=40_001)) == 40_001


def test_no_more_is_taken_than_was_asked_for():
    assert found("$[*]", [1, 2, 3], most=2) == (1, 2)
