"""States and arguments that only look right: keys with dots, one link for two names, lists under a lens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces import called, changed, created, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.checks.binding import changed_at
from seatrial.documents import Check
from seatrial.documents.checks import EndState, ToolNotCalled
from seatrial.documents.world import PythonWorld
from seatrial.state import MISSING, look_up
from seatrial.state.rights import Rights
from seatrial.state.values import as_keys, walk
from seatrial.tools import Tool
from seatrial.trace import Change


def answer(check: Check, *changes: Change, calls: Any = ()) -> tuple[str, str]:
    found = checks.find(check, Scope(trace=trace(said(), *calls, changes=changes)))
    return found.status.value, found.reason


def end_state(**asked: Any) -> EndState:
    return EndState.model_validate({"check": "end_state", **asked})


def linked(source: str) -> Change:
    return Change(what="linked", type="member", key=source, to="crew")


EVIL = {"city": "Evil"}


def test_a_key_with_dots_beside_the_parts_of_a_path_is_not_held_in_their_place():
    made = created("parcel", "p-1", **{"address.city": "Skerry", "address": EVIL})
    check = end_state(created=[{"type": "parcel", "properties": {"address.city": "Skerry"}}])
    assert answer(check, made)[0] == "failed"

    forbidden = ToolNotCalled.model_validate(
        {"check": "tool_not_called", "tool": "send", "arguments": {"to.city": "Evil"}}
    )
    arguments: dict[str, Any] = {"to.city": "Skerry", "to": EVIL}
    call = called("send", **arguments)
    assert answer(forbidden, calls=[call])[0] == "failed"


def test_rights_are_held_against_the_argument_that_the_tool_reads():
    world = PythonWorld.model_validate({
        "kind": "fixture", "type": "world", "world": "python", "id": "post", "module": "post",
        "now": "2026-05-04T11:30:00Z", "start": {}, "tools": {"send": {}},
        "roles": {"clerk": {"allow": ["send"], "when": {"send": {"order.to.city": "Skerry"}}}},
    })  # fmt: skip
    tool = Tool(name="send", description="", input_schema={"type": "object"})
    rights = Rights(world, "clerk", [tool])

    assert rights.refusal("send", {"order": {"to": {"city": "Skerry"}}}) is None
    assert rights.refusal("send", {"order": {"to.city": "Skerry", "to": EVIL}}) is not None


def test_a_property_inside_another_may_have_a_key_with_dots():
    check = end_state(
        changed=[{"type": "user", "key": "u", "properties": {"settings.editor.size": 14}}]
    )
    before, after = {"editor.size": 12, "theme": "dark"}, {"editor.size": 14, "theme": "dark"}

    assert answer(check, changed("user", "u", "settings", before, after))[0] == "passed"
    beside = changed("user", "u", "settings", before, after | {"theme": "light"})
    assert answer(check, beside) == (
        "failed",
        'unexpected: user u: settings.theme changed from "dark" to "light"',
    )


def test_a_property_whose_own_name_has_dots_is_found_where_nothing_stands_at_its_parts():
    whole = changed("o", "1", "a.b", 0, 1)
    inside = changed("o", "1", "a", {"b": 0}, {"b": 5})
    check = end_state(changed=[{"type": "o", "key": "1", "properties": {"a.b": 1}}])

    assert answer(check, whole)[0] == "passed"
    assert changed_at("a.b", [whole, inside]) == (inside, ("b",))
    assert changed_at("a.c", [whole, inside]) == (inside, ("c",))
    assert changed_at("x.c", [whole, inside]) == (None, ())
    allowed = check.model_copy(update={"others": "allowed"})
    assert answer(allowed, whole, inside)[0] == "failed"


@given(
    value=st.recursive(
        st.integers(),
        lambda inner: (
            st.dictionaries(st.sampled_from(["a", "b", "a.b", "b.a", "0"]), inner)
            | st.lists(inner, max_size=2)
        ),
        max_leaves=8,
    ),
    path=st.lists(st.sampled_from(["a", "b", "0", "count", "*"]), min_size=1, max_size=4),
)
def test_the_keys_of_a_path_lead_to_what_the_path_leads_to(value: Any, path: list[str]):
    keys = as_keys(value, path)

    found = look_up(value, ".".join(path))
    assert (keys is None) == (found is MISSING)
    if keys is not None:
        assert walk(value, keys) == found
        assert ".".join(keys) == ".".join(path)


def test_two_expected_links_are_two_whatever_their_names_stand_for():
    check = end_state(
        linked=[
            {"type": "member", "from": {"bind": "one"}, "to": "crew"},
            {"type": "member", "from": {"bind": "other"}, "to": "crew"},
        ]
    )

    assert answer(check, linked("ada"), linked("bo"))[0] == "passed"
    assert answer(check, linked("ada")) == (
        "failed",
        "missing: link member from ada to crew was made only once",
    )


def test_a_link_that_is_written_twice_is_one():
    link = {"type": "member", "from": "ada", "to": "crew"}
    check = end_state(linked=[link], any_of=[{"linked": [link]}, {"deleted": []}])
    assert answer(check, linked("ada"))[0] == "passed"


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ({"between": [5, 10]}, 7),
        ({"between": ["apple", "Zebra".lower()]}, "Pear"),
        ({"equals": [10**16, 1]}, [1, 1e16]),
    ],
)
def test_a_lens_takes_nothing_away_that_would_hold_without_it(condition: Any, value: Any):
    check = end_state(
        changed=[{"type": "o", "key": "1", "properties": {"a": condition}}],
        normalize={"o": {"order": "ignore", "case": "ignore"}},
    )
    assert answer(check, changed("o", "1", "a", None, value))[0] == "passed"


@pytest.mark.parametrize("found", ["1", True, 1.5, float("nan"), float("inf"), None, [1], "１"])
def test_what_only_looks_like_the_number_is_another_value(found: Any):
    check = end_state(
        changed=[{"type": "o", "key": "1", "properties": {"a": 1}}],
        normalize={"o": {"order": "ignore", "case": "ignore", "tolerance": 0.25}},
    )
    assert answer(check, changed("o", "1", "a", "before", found))[0] == "failed"
