"""The exact difference of two states."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.state.difference import apply, difference
from seatrial.state.objects import Draft, State, state_from_json
from seatrial.state.values import containers
from seatrial.trace import Change

NAMES = st.sampled_from(["a", "b", "c", "", "a.b"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
RAW = st.dictionaries(NAMES, st.dictionaries(NAMES, OBJECTS, max_size=3), max_size=3)
LINKS = st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=4)
STATES = st.builds(state_from_json, RAW, LINKS)


def shuffled(value):
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@st.composite
def grown(draw, start=STATES):
    """A state, and another one that grew from the same start by writes."""
    state = draw(start)
    draft = Draft(state)
    for _ in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(["put", "delete", "link"])):
            case "put":
                draft.put(draw(NAMES), draw(NAMES), draw(OBJECTS))
            case "delete":
                draft.delete(draw(NAMES), draw(NAMES))
            case _:
                draft.link((draw(NAMES), draw(NAMES), draw(NAMES)), draw(st.booleans()))
    return state, draft.state()


@given(RAW, LINKS)
def test_a_state_does_not_differ_from_itself_in_any_order_of_keys(raw, links):
    a = state_from_json(raw, links)
    b = state_from_json(shuffled(raw), reversed(links))

    assert difference(a, a) == ()
    assert difference(a, b) == ()
    assert a == b


@given(STATES, STATES)
def test_carrying_out_a_difference_gives_the_other_state(a, b):
    assert apply(difference(a, b), a) == b
    assert (difference(a, b) == ()) == (a == b)


@given(grown())
def test_a_shared_start_gives_the_same_difference_as_two_states_apart(pair):
    start, end = pair
    apart = [state_from_json(s.to_json(), list(s.links())) for s in pair]

    assert written(difference(start, end)) == written(difference(*apart))
    assert apply(difference(start, end), start) == end
    assert apply(difference(end, start), end) == start


@given(RAW, LINKS, RAW, LINKS)
def test_a_difference_does_not_depend_on_the_order_of_keys(raw, links, other, other_links):
    forwards = difference(state_from_json(raw, links), state_from_json(other, other_links))
    backwards = difference(
        state_from_json(shuffled(raw), reversed(links)),
        state_from_json(shuffled(other), reversed(other_links)),
    )

    assert [c.model_dump(exclude={"old", "new"}) for c in forwards] == [
        c.model_dump(exclude={"old", "new"}) for c in backwards
    ]


@given(grown(), NAMES, OBJECTS)
def test_an_unrelated_change_is_always_seen(pair, key, properties):
    start, end = pair
    draft = Draft(end)
    draft.put("unrelated", key, properties)

    assert set(keys(difference(start, draft.state()))) == {
        *keys(difference(start, end)),
        ("created", "unrelated", key),
    }


@given(grown())
def test_changes_survive_being_written_as_json(pair):
    start, end = pair
    text = [change.model_dump_json(exclude_defaults=True) for change in difference(start, end)]

    # JSON has no NaN and no infinity: pydantic writes null.
    if "NaN" not in json.dumps([start.to_json(), end.to_json()]) and not any(
        isinstance(v, float) and math.isinf(v) for s in pair for v in leaves(s.to_json())
    ):
        assert apply(map(Change.model_validate_json, text), start) == end


@given(grown())
def test_what_a_state_hands_out_cannot_be_used_to_change_it(pair):
    start, end = pair
    before = [json.dumps(s.to_json()) for s in pair]
    for part in containers(end.to_json()):
        part.clear()
    for change in difference(start, end):
        for value in (change.old, change.new):
            for part in containers(value):
                with pytest.raises(TypeError, match="frozen"):
                    part.clear()

    assert [json.dumps(s.to_json()) for s in pair] == before


@given(RAW)
def test_a_state_shares_nothing_with_what_it_was_made_from(raw):
    state = state_from_json(raw)
    before = json.dumps(state.to_json())
    for part in list(containers(raw)):
        part.clear()

    assert json.dumps(state.to_json()) == before


def test_every_kind_of_change_in_order():
    start = state_from_json(
        {"order": {"o-2": {"n": 1, "gone": None}, "o-1": {"n": True}, "o-3": {}}, "user": {}},
        [("of", "o-1", "u-1")],
    )
    end = state_from_json(
        {"order": {"o-1": {"n": 1}, "o-2": {"n": 1.0, "new": None}}, "note": {"n-1": {"a": [1]}}},
        [("of", "o-2", "u-1")],
    )

    assert difference(start, end) == (
        Change(what="created", type="note", key="n-1", new={"a": [1]}),
        Change(what="unlinked", type="of", key="o-1", to="u-1"),
        Change(what="linked", type="of", key="o-2", to="u-1"),
        Change(what="changed", type="order", key="o-1", property="n", old=True, new=1),
        Change(what="changed", type="order", key="o-2", property="gone", new_absent=True),
        Change(what="changed", type="order", key="o-2", property="new", old_absent=True),
        Change(what="deleted", type="order", key="o-3", old={}),
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (Change(what="created", type="order", key="o-1", new={}), "order 'o-1' is there already"),
        (Change(what="deleted", type="order", key="o-9", old={}), "order 'o-9' is not there"),
        (Change(what="deleted", type="order", key="o-1", old={}), "not what the change starts"),
        (
            Change(what="changed", type="order", key="o-1", property="n", old=2, new=3),
            "order 'o-1' n is not what the change starts from",
        ),
        (
            Change(what="changed", type="order", key="o-1", property="n", old_absent=True, new=3),
            "not what the change starts from",
        ),
        (Change(what="linked", type="of", key="o-1", to="u-1"), "is linked already"),
        (Change(what="unlinked", type="of", key="o-1", to="u-2"), "is unlinked already"),
    ],
)
def test_change_that_does_not_fit_the_state_is_refused(change, complaint):
    state = state_from_json({"order": {"o-1": {"n": 1}}}, [("of", "o-1", "u-1")])

    with pytest.raises(ValueError, match=complaint):
        apply([change], state)


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({"order": []}, "'order' must map keys"),
        ({"order": {"o-1": 5}}, "'o-1' must map properties"),
    ],
)
def test_recorded_state_of_another_shape_is_refused(raw, complaint):
    with pytest.raises(TypeError, match=complaint):
        state_from_json(raw)


def keys(changes):
    return [
        (c.what, c.type, c.key, *(x for x in (c.property, c.to) if x is not None)) for c in changes
    ]


def written(changes):
    return [json.dumps(c.model_dump(), sort_keys=True) for c in changes]


def leaves(value):
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value


def test_a_draft_that_changes_nothing_gives_the_very_same_state():
    state = state_from_json({"order": {"o-1": {"n": 1}}}, [("of", "o-1", "u-1")])
    draft = Draft(state)
    draft.put("order", "o-1", {"n": 1.0})
    draft.link(("of", "o-1", "u-1"), True)
    draft.delete("order", "o-2")

    assert draft.state() is state


def test_a_draft_leaves_its_state_as_it_was():
    state = state_from_json({"order": {"o-1": {"n": 1}}})
    draft = Draft(state)
    draft.put("order", "o-2", {"n": 2})
    draft.delete("order", "o-1")
    after = draft.state()
    draft.put("order", "o-3", {})

    assert state.to_json() == {"order": {"o-1": {"n": 1}}}
    assert after.to_json() == {"order": {"o-2": {"n": 2}}}
    assert [k for k, _ in draft.now.objects("order")] == ["o-2", "o-3"]


def test_links_are_found_from_both_ends():
    state = state_from_json({}, [("of", "o-1", "u-1"), ("of", "o-2", "u-1"), ("by", "o-1", "u-1")])
    draft = Draft(state)
    draft.link(("of", "o-3", "u-1"), True)
    draft.link(("of", "o-1", "u-1"), False)
    after: State = draft.state()

    assert list(after.links_at("of", "u-1")) == [("of", "o-2", "u-1"), ("of", "o-3", "u-1")]
    assert list(after.links_at("by", "o-1")) == [("by", "o-1", "u-1")]
    assert after.links_to_json()[0] == {"type": "by", "from": "o-1", "to": "u-1"}
