"""What makes two trials comparable: each thing they lean on is a component of its own."""

import warnings
from typing import Any, get_args

import pytest
from tests import bike_shop, practice

from seatrial.comparability import (
    behind_the_tools,
    between,
    differing,
    expanded,
    fingerprints,
    is_own,
)
from seatrial.documents import (
    Adapter,
    Answers,
    Arm,
    Case,
    Catalog,
    ObjectsWorld,
    Persona,
    World,
    digest,
)

CASE = bike_shop.case("a", answers="mocks")
ARM = bike_shop.arm("x", {"type": "command", "command": ["agent"]})
MOCKS = Answers.model_validate(
    {
        "kind": "fixture",
        "type": "answers",
        "id": "mocks",
        "tools": {"get_bike": {"rules": [{"answer": "none"}]}},
    }
)


def test_fingerprint_names_everything_a_trial_leans_on():
    pinned = bike_shop.arm("x", model={"name": "m-1"})

    components = _fingerprint(CASE, pinned, sources={"prompt": "p1"})

    assert set(components) == {
        "case", "checks", "grading", "world", "answers", "adapter", "settings", "model",
        "source:prompt", "harness", "tool:get_bike", "tool:rent", "tool:scrap",
    }  # fmt: skip
    assert {name for name in components if is_own(name)} == {
        "adapter", "settings", "model", "source:prompt", "tool:get_bike", "tool:rent", "tool:scrap",
    }  # fmt: skip


@pytest.mark.parametrize(
    "described",
    [
        {"title": "Another title"},
        {"owner": "someone", "tags": ["x"], "requirements": ["R-1"], "reviewed": "2026-01-02"},
        {"required": True, "priority": 5, "negative": True, "group": "boundary", "trials": 9},
        {"provenance": {"source": "hand"}},
    ],
)
def test_what_no_agent_meets_leaves_trials_comparable(described: dict[str, Any]):
    assert _differing(_case(**described)) == set()


@pytest.mark.parametrize(
    ("change", "component"),
    [
        ({"task": "Something else."}, "case"),
        ({"role": None}, "case"),
        ({"limits": {"calls": 3}}, "case"),
        ({"checks": [{"check": "no_violation"}]}, "checks"),
    ],
)
def test_what_an_agent_meets_and_what_it_is_graded_by_are_told_apart(
    change: dict[str, Any], component: str
):
    assert _differing(_case(**change)) == {component}


def test_checks_of_a_turn_are_no_part_of_what_an_agent_meets():
    turns = [{"say": "Hello."}, {"say": "Bye."}]
    checked = [{"say": "Hello."}, {"say": "Bye.", "checks": [{"check": "no_violation"}]}]

    old, new = (_fingerprint(bike_shop.case("a", turns=t), ARM) for t in (turns, checked))

    assert {name for name in old if old[name] != new[name]} == {"checks"}


@pytest.mark.parametrize(
    ("change", "component"),
    [
        ({"adapter": {"type": "command", "command": ["other"]}}, "adapter"),
        ({"settings": {"temperature": 1}}, "settings"),
        ({"model": {"name": "m-2"}}, "model"),
    ],
)
def test_parts_of_an_arm_are_told_apart(change: dict[str, Any], component: str):
    raw = {**ARM.model_dump(exclude_unset=True), "model": {"name": "m-1"}}
    old, new = Arm.model_validate(raw), Arm.model_validate({**raw, **change})

    before, after = _fingerprint(CASE, old), _fingerprint(CASE, new)

    assert {name for name in before if before[name] != after[name]} == {component}


def test_title_and_version_of_an_arm_leave_trials_comparable():
    renamed = ARM.model_copy(update={"title": "New", "version": "2.0"})

    assert _fingerprint(CASE, renamed) == _fingerprint(CASE, ARM)


def test_fixtures_are_components():
    world = bike_shop.WORLD.model_copy(update={"linked": ()})
    moved = world.model_copy(update={"now": bike_shop.WORLD.now.replace(year=2027)})
    mocks = Answers.model_validate(
        {**MOCKS.model_dump(exclude_unset=True), "tools": {"rent": {"rules": [{"answer": "no"}]}}}
    )

    old = _fingerprint(CASE, ARM)

    assert _names(old, _fingerprint(CASE, ARM, world=moved)) == {"world"}
    assert _names(old, _fingerprint(CASE, ARM, mocks=mocks)) == {"answers"}


def test_price_of_a_person_leaves_trials_comparable():
    person = {"kind": "fixture", "type": "persona", "id": "p", "goal": "A bike."}
    model = {"name": "m-1", "url": "http://127.0.0.1:9"}
    prices = {"currency": "EUR", "input": 1.0, "output": 2.0}
    plain, priced, other = (
        digest(behind_the_tools(Persona.model_validate({**person, "model": {**model, **more}})))
        for more in ({}, {"prices": prices}, {"temperature": 1})
    )

    assert plain == priced != other


def test_what_only_people_read_of_a_fixture_leaves_trials_comparable():
    world = bike_shop.WORLD.model_copy(update={"title": "A shop"})
    mocks = MOCKS.model_copy(update={"title": "x"})

    assert _fingerprint(CASE, ARM, world=world, mocks=mocks) == _fingerprint(CASE, ARM)


@pytest.mark.parametrize(
    ("change", "components"),
    [
        ({"description": "Hand a bike out."}, {"tool:rent"}),
        ({"parameters": {"type": "object", "properties": {}}}, {"tool:rent"}),
        ({"output": {"type": "object"}}, {"tool:rent"}),
        ({"returns": "gone"}, {"world"}),
        ({"effects": []}, {"world"}),
        ({"effects": [], "read_only": True}, {"tool:rent", "world"}),
    ],
)
def test_what_a_tool_says_is_the_arms_and_what_it_does_is_the_worlds(
    change: dict[str, Any], components: set[str]
):
    raw = bike_shop.WORLD.model_dump(by_alias=True, exclude_unset=True)
    raw["actions"] = {**raw["actions"], "rent": {**raw["actions"]["rent"], **change}}

    changed = _fingerprint(CASE, ARM, world=ObjectsWorld.model_validate(raw))

    assert _names(_fingerprint(CASE, ARM), changed) == components


def test_action_that_comes_or_goes_is_a_tool_and_a_change_of_the_world():
    raw = bike_shop.WORLD.model_dump(by_alias=True, exclude_unset=True)
    raw["actions"] = {name: raw["actions"][name] for name in ("get_bike", "rent")}

    fewer = _fingerprint(CASE, ARM, world=ObjectsWorld.model_validate(raw))

    assert between(_fingerprint(CASE, ARM), fewer) == ("tool:scrap", "world")


def test_tools_are_those_that_the_role_of_the_case_can_list():
    raw = bike_shop.WORLD.model_dump(by_alias=True, exclude_unset=True)
    raw["roles"] = {"clerk": {"allow": ["get_*"], "see_refused": False}}

    components = _fingerprint(CASE, ARM, world=ObjectsWorld.model_validate(raw))

    assert {name for name in components if name.startswith("tool:")} == {"tool:get_bike"}


def test_what_a_server_says_of_itself_is_the_arms():
    told = bike_shop.WORLD.model_copy(update={"instructions": "Be quick."})

    assert between(_fingerprint(CASE, ARM), _fingerprint(CASE, ARM, world=told)) == (
        "instructions",
    )


def test_tool_that_the_arm_describes_itself_is_a_component_of_its_own():
    own = bike_shop.arm(
        "x",
        {"type": "command", "command": ["agent"]},
        tools={"rent": {"description": "Hand a bike out."}},
    )

    assert between(_fingerprint(CASE, ARM), _fingerprint(CASE, own)) == ("tool:rent",)


def test_tool_of_a_server_that_only_a_trial_knows_is_a_component_when_the_arm_describes_it():
    world = practice.world(
        """
        kind: fixture
        type: world
        world: mcp
        id: bike-shop
        now: 2026-05-04T11:30:00Z
        start: {offer.md: An offer.}
        command: [rental]
        """
    )
    own = bike_shop.arm(
        "x",
        {"type": "command", "command": ["agent"]},
        tools={"rent": {"description": "Hand a bike out."}},
    )

    shown = between(_fingerprint(CASE, ARM, world=world), _fingerprint(CASE, own, world=world))

    assert shown == ("tool:rent",)


def test_set_of_tools_is_stored_once_for_all_cases_that_see_it():
    cases = [bike_shop.case(f"c{n}") for n in range(50)]

    found = fingerprints(bike_shop.catalog(*cases), [ARM], {})

    assert len(found.toolsets) == 1
    assert {prints["tools"] for prints in found.by_case.values()} == set(found.toolsets)
    unknown = {"case": "1", "tools": "not among them"}
    assert expanded(unknown, found.toolsets) == unknown


def test_each_case_is_paired_with_each_arm_of_its_agent():
    catalog = bike_shop.catalog(bike_shop.case("a"), bike_shop.case("b", agent="mechanic"))
    arms = [bike_shop.arm("x"), bike_shop.arm("y"), bike_shop.arm("m", agent="mechanic")]

    assert set(fingerprints(catalog, arms, {}).by_case) == {"a@x", "a@y", "b@m"}


def test_what_differs_is_named_once_and_what_is_new_is_not_looked_at():
    before = {
        "a@x": {"case": "1", "checks": "1", "source:rules": "1", "harness": "1"},
        "b@x": {"case": "1", "checks": "1", "world": "1", "source:rules": "1", "harness": "1"},
        "c@x": {},
    }
    now = {
        "a@x": {"case": "2", "checks": "2", "tool:t": "1", "source:rules": "2", "harness": "2"},
        "b@x": {"case": "1", "checks": "1", "world": "2", "harness": "1", "model": "1"},
        "d@x": {},
    }

    assert differing(before, before) == ()
    assert differing(before, now) == (
        "case a",
        "checks of case a",
        "Seatrial itself",
        "source rules of arm x",
        "tool t",
        "model of arm x",
        "world of case b",
        "case c or arm x is gone",
    )


def _case(**changes: Any) -> Case:
    return bike_shop.case("a", **{"answers": "mocks", **changes})


def _differing(changed: Case) -> set[str]:
    return _names(_fingerprint(CASE, ARM), _fingerprint(changed, ARM))


def _names(old: dict[str, str], new: dict[str, str]) -> set[str]:
    assert set(old) == set(new)
    return {name for name in old if old[name] != new[name]}


def _fingerprint(
    case: Case,
    arm: Arm,
    *,
    world: World = bike_shop.WORLD,
    mocks: Answers = MOCKS,
    sources: dict[str, str] | None = None,
) -> dict[str, str]:
    catalog = Catalog(cases={case.id: case}, fixtures={"bike-shop": world, "mocks": mocks})
    (components,) = fingerprints(catalog, [arm], {arm.id: sources or {}}).whole().values()
    return components


OTHERWISE: dict[str, Any] = {
    "version": "9.9",
    "title": "Another",
    "deployed": ["test"],
    "prices": {"currency": "EUR", "input": 1.0, "output": 2.0},
    "settings_schema": "settings.json",
    "limits": {"turn_seconds": 5.0},
    "adapter": {"type": "python", "target": "other:answer"},
    "model": {"name": "other-1"},
    "skills": {"refunds": "refund"},
    "tools": {"rent": {"description": "Otherwise."}},
    "settings": {"tone": "rude"},
}
"""Each key of an arm with another value, but for names and files, whose digests are told apart above."""
OUTSIDE = {"version", "title", "deployed", "prices", "settings_schema", "limits"}
"""An arm does the same under another name, at another price, and within other limits."""


def test_every_key_of_an_arm_is_in_its_fingerprint_or_known_to_be_out():
    of_loader_or_files = {
        "kind", "id", "agent", "sources", "servers", "schema_version", "abstract", "extends",
    }  # fmt: skip
    written = ARM.model_dump(mode="json", exclude_unset=True)

    assert set(Arm.model_fields) - set(OTHERWISE) == of_loader_or_files
    for key, value in OTHERWISE.items():
        other = Arm.model_validate(written | {key: value})
        assert (_fingerprint(CASE, ARM) == _fingerprint(CASE, other)) == (key in OUTSIDE), key


@pytest.mark.parametrize("kind", get_args(get_args(Adapter)[0]))
def test_every_key_of_an_adapter_is_in_the_fingerprint(kind: Any):
    for key in kind.model_fields:
        here, there = (kind.model_construct(**{key: value}) for value in ("one", "other"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # texts where other things belong
            assert digest(here) != digest(there), key
