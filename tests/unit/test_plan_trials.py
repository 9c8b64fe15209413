"""Which trials a plan holds, in which order, and what makes two of them comparable."""

from typing import Any

import pytest
from tests import bike_shop

from seatrial import plan
from seatrial.documents import Answers, Arm, Case, Catalog, World
from seatrial.records import PlannedCase


def test_first_trials_of_all_come_before_second_ones_and_arms_take_turns():
    trials = _expand([bike_shop.case("a"), bike_shop.case("b")], ["old", "new"])

    assert [(t.number, t.case, t.arm) for t in trials] == [
        (1, "a", "old"),
        (1, "a", "new"),
        (1, "b", "old"),
        (1, "b", "new"),
        (2, "a", "old"),
        (2, "a", "new"),
        (2, "b", "old"),
        (2, "b", "new"),
    ]


def test_required_cases_come_first_then_by_priority_then_as_given():
    cases = [
        bike_shop.case("c"),
        bike_shop.case("d", priority=2),
        bike_shop.case("a"),
        bike_shop.case("b", required=True),
        bike_shop.case("e", priority=-1),
    ]

    assert [t.case for t in _expand(cases, ["x"], trials=1)] == ["b", "d", "c", "a", "e"]


def test_each_case_is_run_as_often_as_planned():
    cases = [bike_shop.case("a"), bike_shop.case("b")]

    trials = _expand(cases, ["x"], a=3)

    assert [(t.case, t.number) for t in trials] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("b", 2),
        ("a", 3),
    ]


def test_case_is_run_by_the_arms_of_its_agent_only():
    mechanic = bike_shop.arm("m", agent="mechanic")
    catalog = bike_shop.catalog(
        bike_shop.case("a"), bike_shop.case("b", agent="mechanic"), bike_shop.arm("c"), mechanic
    )

    trials = plan.expand(_planned(catalog), catalog, list(catalog.arms.values()))

    assert {(t.case, t.arm) for t in trials} == {("a", "c"), ("b", "m")}


def test_cases_that_are_left_out_make_no_trials():
    catalog = bike_shop.catalog(bike_shop.case("a"), bike_shop.arm("x"))
    left_out = PlannedCase(case="a", selected=False, reasons=("nothing changed",))

    assert plan.expand([left_out], catalog, [catalog.arms["x"]]) == ()


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
        "case", "checks", "world", "answers", "adapter", "settings", "model", "source:prompt", "harness",
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
    mocks = MOCKS.model_copy(update={"title": "x"})

    old = _fingerprint(CASE, ARM)

    assert _names(old, _fingerprint(CASE, ARM, world=moved)) == {"world"}
    assert _names(old, _fingerprint(CASE, ARM, mocks=mocks)) == {"answers"}


def test_each_case_is_paired_with_each_arm_of_its_agent():
    catalog = bike_shop.catalog(bike_shop.case("a"), bike_shop.case("b", agent="mechanic"))
    arms = [bike_shop.arm("x"), bike_shop.arm("y"), bike_shop.arm("m", agent="mechanic")]

    assert set(plan.fingerprints(catalog, arms, {})) == {"a@x", "a@y", "b@m"}


def test_what_differs_is_named_once_and_what_is_new_is_not_looked_at():
    before = {
        "a@x": {"case": "1", "checks": "1", "world": "1", "source:rules": "1", "harness": "1"},
        "b@x": {"case": "1", "checks": "1", "world": "1", "source:rules": "1", "harness": "1"},
        "c@x": {},
    }
    now = {
        "a@x": {"case": "2", "checks": "2", "world": "1", "source:rules": "2", "harness": "1"},
        "b@x": {"case": "1", "checks": "1", "world": "2", "harness": "1", "model": "1"},
        "d@x": {},
    }

    assert plan.differing(before, before) == ()
    assert plan.differing(before, now) == (
        "case a",
        "checks of case a",
        "source rules of arm x",
        "model of arm x",
        "world of case b",
        "case c or arm x is gone",
    )


def test_documents_of_a_run_are_the_suites_and_nothing_else():
    used, unused = bike_shop.case("a"), bike_shop.case("z")
    whole = bike_shop.catalog(
        used, unused, bike_shop.suite([used]), bike_shop.arm("x"), bike_shop.arm("y")
    )

    part = plan.documents_of(whole, whole.suites["all"], ["x"])

    assert (list(part.cases), list(part.arms), list(part.fixtures)) == (["a"], ["x"], ["bike-shop"])
    assert set(part.sources) == {("case", "a")}


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
    (components,) = plan.fingerprints(catalog, [arm], {arm.id: sources or {}}).values()
    return components


def _expand(cases: list[Case], arms: list[str], **trials: int) -> tuple[plan.Trial, ...]:
    catalog = bike_shop.catalog(*cases, *(bike_shop.arm(arm) for arm in arms))
    return plan.expand(_planned(catalog, **trials), catalog, [catalog.arms[arm] for arm in arms])


def _planned(catalog: Catalog, trials: int = 2, **by_case: int) -> list[PlannedCase]:
    return [
        PlannedCase(case=id, selected=True, reasons=("new",), trials=by_case.get(id, trials))
        for id in catalog.cases
    ]
