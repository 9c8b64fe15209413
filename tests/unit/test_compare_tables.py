"""The suite in parts: which cases stand in which row, and what a row says of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sides import side

from seatrial.compare import CaseFacts, compare
from seatrial.documents import Policy
from seatrial.stats.passk import mean_pass_k


def facts(case, **given):
    return CaseFacts(case, agent="helpdesk", **{"group": "task", **given})


def tables(before, after, *cases, **given):
    comparison = compare(
        side(before, arm="released", cases=cases), side(after, cases=cases, **given), Policy()
    )
    return {table.by: {row.name: row for row in table.rows} for table in comparison.tables}


TWENTY, FIVE = "p" * 20, "p" * 5


def test_cases_are_put_together_by_group_category_tag_and_provenance():
    found = tables(
        {"a": TWENTY, "b": TWENTY, "c": TWENTY},
        {"a": FIVE, "b": FIVE, "c": FIVE},
        facts("a", required=True, tags=("money", "slow"), provenance="hand"),
        facts("b", negative=True, tags=("money", "money"), group="boundary"),
        facts("c", group="clarify", provenance="production"),
    )

    assert {by: [(row.name, row.cases) for row in rows.values()] for by, rows in found.items()} == {
        "group": [("task", 1), ("boundary", 1), ("clarify", 1)],
        "category": [("required", 1), ("not required", 2), ("negative", 1)],
        "tag": [("money", 2), ("slow", 1)],
        "provenance": [("hand", 1), ("not given", 1), ("production", 1)],
    }


def test_kinds_of_part_that_no_case_has_make_no_table():
    found = tables({"a": TWENTY}, {"a": FIVE}, facts("a"))

    assert list(found) == ["group", "category"]


def test_row_has_both_means_with_the_interval_of_the_suites_own_mean():
    found = tables(
        {"a": TWENTY, "b": "p" * 10 + "f" * 10, "c": TWENTY},
        {"a": FIVE, "b": "pffff", "c": FIVE},
        facts("a", tags=("money",)),
        facts("b", tags=("money",)),
        facts("c"),
    )["tag"]["money"]

    before, after = mean_pass_k([(20, 20), (10, 20)], 1), mean_pass_k([(5, 5), (1, 5)], 1)
    assert before
    assert after
    assert found.baseline
    assert found.candidate
    assert found.drop is not None
    assert (found.baseline.value, found.candidate.value) == (0.75, 0.6)
    assert (found.baseline.low, found.baseline.high) == (before.low, before.high)
    assert (found.candidate.low, found.candidate.high) == (after.low, after.high)
    assert found.drop == pytest.approx(0.15)
    assert found.drop_upper is not None
    assert found.drop_upper > found.drop


def test_only_cases_with_valid_trials_on_both_sides_are_compared():
    found = tables(
        {"a": TWENTY, "b": TWENTY, "c": "iii"},
        {"a": FIVE, "b": "iii", "c": FIVE},
        facts("a"),
        facts("b"),
        facts("c"),
    )["group"]["task"]

    assert (found.cases, found.compared) == (3, 1)
    assert found.drop == 0


def test_row_without_a_compared_case_says_nothing():
    found = tables({"a": TWENTY}, {"a": "ii"}, facts("a"))["group"]["task"]

    assert (found.cases, found.compared, found.baseline, found.candidate, found.drop) == (
        1, 0, None, None, None,
    )  # fmt: skip


def test_row_counts_what_became_of_its_cases():
    found = tables(
        {"a": TWENTY, "b": "f" * 20, "c": TWENTY, "d": TWENTY},
        {"a": "fffff", "b": FIVE, "c": "pfppp", "d": FIVE},
        *(facts(case, required=True) for case in "abcd"),
    )["category"]["required"]

    assert (found.regressed, found.improved, found.undecided) == (1, 1, 1)


marks = st.text("pf", min_size=1, max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(marks, marks, st.sampled_from("xyz")), min_size=1, max_size=6))
def test_rows_of_a_partition_add_up_to_the_suite(rows):
    cases = [facts(f"c{n}", provenance=where) for n, (_, _, where) in enumerate(rows)]
    before = {f"c{n}": base for n, (base, _, _) in enumerate(rows)}
    after = {f"c{n}": now for n, (_, now, _) in enumerate(rows)}
    comparison = compare(
        side(before, arm="released", cases=tuple(cases)),
        side(after, cases=tuple(cases)),
        Policy(),
    )
    (parts,) = [t for t in comparison.tables if t.by == "provenance"]

    assert comparison.overall
    total = sum(row.drop * row.compared for row in parts.rows if row.drop is not None)
    assert total / comparison.overall.cases == pytest.approx(comparison.overall.drop)
