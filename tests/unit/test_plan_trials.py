"""Which trials a plan holds, and in which order."""

from tests import bike_shop

from seatrial import plan
from seatrial.documents import Case, Catalog
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


def test_documents_of_a_run_are_the_suites_and_nothing_else():
    used, unused = bike_shop.case("a"), bike_shop.case("z")
    whole = bike_shop.catalog(
        used, unused, bike_shop.suite([used]), bike_shop.arm("x"), bike_shop.arm("y")
    )

    part = plan.documents_of(whole, whole.suites["all"], ["x"])

    assert (list(part.cases), list(part.arms), list(part.fixtures)) == (["a"], ["x"], ["bike-shop"])
    assert set(part.sources) == {("case", "a")}


def _expand(cases: list[Case], arms: list[str], **trials: int) -> tuple[plan.Trial, ...]:
    catalog = bike_shop.catalog(*cases, *(bike_shop.arm(arm) for arm in arms))
    return plan.expand(_planned(catalog, **trials), catalog, [catalog.arms[arm] for arm in arms])


def _planned(catalog: Catalog, trials: int = 2, **by_case: int) -> list[PlannedCase]:
    return [
        PlannedCase(case=id, selected=True, reasons=("new",), trials=by_case.get(id, trials))
        for id in catalog.cases
    ]


def test_among_equals_those_start_first_that_took_longest_in_the_baseline():
    cases = [bike_shop.case(id) for id in "abc"] + [bike_shop.case("d", required=True)]
    catalog = bike_shop.catalog(*cases, bike_shop.arm("x"))
    took = {"b": 900.0, "c": 2000.0, "d": 1.0}
    planned = [
        PlannedCase(case=id, selected=True, reasons=("all",), trials=1, expected_ms=took.get(id, 0))
        for id in catalog.cases
    ]

    trials = plan.expand(planned, catalog, list(catalog.arms.values()))

    assert [trial.case for trial in trials] == ["d", "c", "b", "a"]


def test_trials_side_by_side_take_as_long_as_the_one_that_ends_last():
    assert plan.makespan([5, 3, 3, 1], 2) == 6
    assert plan.makespan([3, 3, 1, 5], 2) == 8
    assert plan.makespan([3, 1], 8) == 3
    assert plan.makespan([], 2) == 0
