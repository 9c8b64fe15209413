"""Cases that must tie between the two arms: declared, tested for equality, and told when they move."""

import numpy as np
import pytest
from tests import bike_shop
from tests.sides import side

from seatrial.compare import CaseFacts, compare
from seatrial.documents import Policy, Suite
from seatrial.gate import rule
from seatrial.loading import load
from seatrial.verdicts import Gate

TWENTY, FIVE = "p" * 20, "p" * 5


def facts(case, *, tie=True, required=False):
    return CaseFacts(case, group="task", agent="helpdesk", must_tie=tie, required=required)


def compared(before, after, cases=None):
    cases = cases or tuple(facts(case) for case in after)
    return compare(side(before, arm="released", cases=cases), side(after, cases=cases), Policy())


def test_suite_that_declares_none_says_nothing_of_ties():
    comparison = compared({"a": TWENTY}, {"a": FIVE}, (facts("a", tie=False),))

    assert comparison.ties is None
    assert not [g for g in rule(comparison).grounds if g.kind == "tie_broken"]


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        (TWENTY, "fffff", True),
        ("f" * 20, "ppppp", True),
        (TWENTY, FIVE, False),
        (TWENTY, "ppppf", False),
        ("pf" * 10, "ppfff", False),
    ],
)
def test_case_that_moves_either_way_is_named(before, after, moved):
    comparison = compared({"a": before, "b": TWENTY}, {"a": after, "b": FIVE})

    assert comparison.ties
    assert [tie.case for tie in comparison.ties.cases if tie.moved] == (["a"] if moved else [])


def test_moving_is_a_warning_with_the_numbers_and_closes_nothing():
    cases = (facts("a"), facts("b"), facts("r", tie=False, required=True))
    comparison = compared(
        {"a": "f" * 20, "b": TWENTY, "r": TWENTY}, {"a": FIVE, "b": FIVE, "r": FIVE}, cases
    )

    ruling = rule(comparison)

    (ground, *_) = [g for g in ruling.grounds if g.kind == "tie_broken"]
    assert (ground.effect, ground.cases) == ("warning", ("a",))
    assert ground.text.startswith("1 case that must tie moved: a (5 of 5 against 0 of 20; p ")
    assert ruling.ruling is Gate.OPEN


def test_many_small_moves_are_seen_together_though_none_is_alone():
    before = {f"c{n}": TWENTY for n in range(12)}
    after = {f"c{n}": "ppppf" for n in range(12)}

    comparison = compared(before, after)

    ties = comparison.ties
    assert ties
    assert not any(tie.moved for tie in ties.cases)
    assert ties.moved_together
    assert ties.drop == pytest.approx(0.2)
    (ground,) = [g for g in rule(comparison).grounds if g.kind == "tie_broken"]
    assert ground.text.startswith("the mean of 12 cases that must tie fell by 20.0 points")


def test_how_much_could_hide_is_told_and_shrinks_with_more_trials():
    def hidden(trials):
        ties = compared({"a": "p" * trials}, {"a": "p" * trials}).ties
        assert ties
        assert ties.hidden is not None
        return ties.hidden

    assert hidden(5) > hidden(20) > hidden(80) > 0


def test_case_with_too_few_trials_is_not_called_a_tie():
    ties = compared({"a": "pppp", "b": TWENTY}, {"a": FIVE, "b": "iii"}).ties

    assert ties
    assert [(tie.case, tie.p, tie.moved) for tie in ties.cases] == [
        ("a", None, False),
        ("b", None, False),
    ]


def test_what_the_baseline_declares_the_change_cannot_take_back():
    comparison = compare(
        side({"a": TWENTY}, arm="released", cases=(facts("a"),)),
        side({"a": FIVE}, cases=(facts("a", tie=False),)),
        Policy(),
    )

    assert comparison.ties
    assert [tie.case for tie in comparison.ties.cases] == ["a"]


def test_swapping_the_arms_changes_neither_who_moved_nor_how_surprising_it_is_together():
    before = {"a": TWENTY, "b": "p" * 12 + "f" * 8, "c": TWENTY}
    after = {"a": "f" * 20, "b": "p" * 15 + "f" * 5, "c": TWENTY}

    here, there = compared(before, after).ties, compared(after, before).ties

    assert here
    assert there
    assert here.drop is not None
    assert there.drop is not None
    assert [(t.case, t.moved) for t in here.cases] == [(t.case, t.moved) for t in there.cases]
    assert here.p_together == pytest.approx(there.p_together)
    assert here.drop == pytest.approx(-there.drop)


def test_cases_that_tie_are_rarely_said_to_move():
    rng = np.random.default_rng(20260101)
    warned = 0
    for _ in range(60):
        rates = rng.beta(18, 2, 20)
        trials = [
            {
                f"c{n}": "".join("p" if x else "f" for x in rng.random(size) < rate)
                for n, rate in enumerate(rates)
            }
            for size in (20, 5)
        ]
        warned += any(g.kind == "tie_broken" for g in rule(compared(*trials)).grounds)
    assert warned <= 9  # two tests at 5 %: 10 or more of 60 have chance 0.03 at 0.095


# --- declared in the suite ---


def tree(must_tie: str) -> dict[str, bytes]:
    import yaml

    cases = [bike_shop.case("rent", tags=["control"]), bike_shop.case("scrap")]
    documents = [c.model_dump(mode="json", by_alias=True, exclude_unset=True) for c in cases]
    world = bike_shop.WORLD.model_dump(mode="json", by_alias=True, exclude_unset=True)
    suite = f"kind: suite\nid: all\ncases: [rent]\nmust_tie: {must_tie}\n"
    return {
        "cases/all.yaml": "---\n".join(yaml.safe_dump(d) for d in documents).encode(),
        "fixtures/world.yaml": yaml.safe_dump(world).encode(),
        "suites/all.yaml": suite.encode(),
    }


@pytest.mark.parametrize("written", ["[rent]", "[{tags: [control]}]", "[rent, {group: task}]"])
def test_ids_and_selectors_choose_among_the_suites_cases(written):
    catalog = load(tree(written))

    assert catalog.must_tie(catalog.suites["all"]) == {"rent"}


def test_suite_without_the_key_declares_none():
    assert Suite.model_validate({"kind": "suite", "id": "a", "cases": ["b"]}).must_tie == ()
