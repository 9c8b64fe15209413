"""JSON values: typed equality, frozen copies, paths."""

import copy
import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.state.values import (
    MISSING,
    FrozenDict,
    FrozenList,
    as_text,
    containers,
    freeze,
    is_number,
    look_up,
    same,
    thaw,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: object) -> object:
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_a_value_is_the_same_as_itself_in_another_key_order(value):
    assert same(value, shuffled(value))
    assert same(value, freeze(value))
    assert same(thaw(freeze(value)), value)


@given(JSON, JSON)
def test_being_the_same_goes_both_ways(a, b):
    assert same(a, b) == same(b, a)


def test_numbers_are_compared_by_value_and_booleans_are_no_numbers():
    assert same(1, 1.0)
    assert same(math.nan, math.nan)
    assert not same(1, True)
    assert not same(0.0, False)
    assert not same(2**53, 2**53 + 1)
    assert not same(None, MISSING)


@given(JSON)
def test_a_frozen_value_shares_nothing_with_its_source_and_refuses_every_change(value):
    before = json.dumps(value)
    frozen = freeze(value)
    for part in containers(value):
        part.clear()

    assert json.dumps(frozen) == before
    for part in containers(frozen):
        with pytest.raises(TypeError, match="frozen"):
            part.clear()


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(a=2),
        lambda d: d.__setitem__("a", 2),
        lambda d: d.setdefault("b", 2),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.__delitem__("a"),
        lambda d: d.__ior__({"b": 1}),
        lambda d: d["list"].append(1),
        lambda d: d["list"].extend([1]),
        lambda d: d["list"].insert(0, 1),
        lambda d: d["list"].sort(),
        lambda d: d["list"].reverse(),
        lambda d: d["list"].remove(1),
        lambda d: d["list"].__iadd__([1]),
        lambda d: d["list"].__imul__(2),
        lambda d: d["list"].__setitem__(0, 2),
    ],
)
def test_no_way_of_changing_a_frozen_value_works(change):
    frozen = freeze({"a": 1, "list": [1]})

    with pytest.raises(TypeError, match="frozen"):
        change(frozen)
    assert frozen == {"a": 1, "list": [1]}


def test_what_is_frozen_already_is_shared():
    frozen = freeze({"a": [1]})

    assert freeze(frozen) is frozen
    assert freeze({"b": frozen})["b"] is frozen


def test_copies_of_frozen_values_are_plain_and_pickles_stay_frozen():
    frozen = freeze({"a": [1]})

    copied = copy.deepcopy(frozen)
    copied["a"].append(2)
    assert frozen == {"a": [1]}
    again = pickle.loads(pickle.dumps(frozen))
    assert (type(again), type(again["a"])) == (FrozenDict, FrozenList)


@pytest.mark.parametrize("value", [{1: "a"}, {"a": {1, 2}}, [object()]])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(TypeError):
        freeze(value)


TRIP = {
    "id": "t-1",
    "stops": [
        {"city": "Northport", "nights": 2},
        {"city": "Eastbay", "nights": 3},
        {"city": "Sea"},
    ],
    "a.b": {"c": 1},
    "a": {"b": 2, "b.c": 3},
    "e.f": {"g": 1},
    "none": [],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("id", "t-1"),
        ("id.x", MISSING),
        ("stops.0.city", "Northport"),
        ("stops.3.city", MISSING),
        ("stops.-1.city", MISSING),
        ("stops.²", MISSING),
        ("stops." + "9" * 5000, MISSING),
        ("stops.count", 3),
        ("stops.*.city", ["Northport", "Eastbay", "Sea"]),
        ("stops.*.nights", [2, 3]),
        ("stops.city", MISSING),
        ("a.b", 2),
        ("a.b.c", 3),
        ("e.f", {"g": 1}),
        ("e.f.g", MISSING),
        ("none.count", 0),
        ("stops.sum", MISSING),
        ("", MISSING),
    ],
)
def test_path_leads_to_what_stands_there_or_to_nothing(path, found):
    assert same(look_up(TRIP, path), found) or look_up(TRIP, path) is found


def test_a_whole_list_is_looked_into_behind_the_star():
    assert look_up(TRIP, "stops.*.nights") == [2, 3]
    assert look_up({"lines": [{"n": [1, 2]}, {"n": [3]}]}, "lines.*.n.count") == [2, 1]
    assert look_up({"lines": [{"count": 2}, {"count": 1}]}, "lines.*.count") == [2, 1]


@pytest.mark.parametrize("value", [True, math.inf, math.nan, 10**400, "1", None])
def test_what_cannot_be_calculated_with_is_no_number(value):
    assert not is_number(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (MISSING, ""),
        (True, "true"),
        ("a", "a"),
        (1.5, "1.5"),
        ({"ü": [1]}, '{"ü": [1]}'),
    ],
)
def test_value_inside_a_longer_text(value, text):
    assert as_text(value) == text
