"""Which trials an adaptive run adds: a function of the records, whatever order and stops they came in."""

import random
from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sides import record

from seatrial.adaptive import Pursuit, adding, rule_of, screened
from seatrial.plan import Halt, Trial
from seatrial.records import Adding, PlannedCase, TrialRecord
from seatrial.stats.sequential import Rule

RULE = Rule(cases=8, confirm=6)
Marks = Mapping[tuple[str, str], str]
"""Case and arm → what its trials come to, one character each; the last one goes on for ever."""


def test_case_that_passes_its_first_batch_costs_nothing_more():
    ran = _run({("a", "new"): "pppp"})

    assert ran == {("a", "new"): 4}


def test_case_of_which_nothing_is_stored_or_that_is_not_required_is_not_followed_up():
    said = adding(RULE, {}, baseline="r-1")

    assert _run({("a", "new"): "ffff"}, said) == {("a", "new"): 4}


def test_one_failure_costs_the_candidate_trials_only():
    ran = _run({("a", "new"): "pppfpppppppp"})

    assert ran == {("a", "new"): 11}


def test_case_that_died_is_certain_after_its_first_batch_and_the_confirmation():
    ran = _run({("a", "new"): "f", ("a", "old"): "p"})

    assert ran == {("a", "new"): 4, ("a", "old"): 6}


def test_release_that_fails_as_well_ends_it():
    ran = _run({("a", "new"): "f", ("a", "old"): "f"})

    assert ran == {("a", "new"): 4, ("a", "old"): 6}


def test_without_a_released_arm_the_stored_trials_must_do():
    ran = _run({("a", "new"): "f"}, live=None)

    assert ran == {("a", "new"): 4}


def test_case_in_which_the_released_arm_cannot_be_run_must_do_with_the_stored_trials():
    ran = _run({("a", "new"): "f", ("b", "new"): "f", ("b", "old"): "p"}, alone={"a"})

    assert ran == {("a", "new"): 4, ("b", "new"): 4, ("b", "old"): 6}


def test_both_arms_take_turns():
    pursuit = _pursuit("a")
    pursuit(())

    steps = pursuit(_ended({("a", "new"): "ppff"}, [("a", "new", n) for n in range(1, 5)]))

    assert steps == [
        Trial("a", "new", 5), Trial("a", "old", 1), Trial("a", "new", 6), Trial("a", "old", 2),
    ]  # fmt: skip


def test_nothing_is_decided_before_the_whole_batch_has_ended_and_no_case_waits_for_another():
    pursuit = _pursuit("a", "b")
    pursuit(())
    marks = {("a", "new"): "pfff", ("b", "new"): "pppf"}

    assert pursuit(_ended(marks, [("a", "new", n) for n in (2, 3, 4)])) == []
    assert {t.case for t in pursuit(_ended(marks, [("a", "new", 1)])) if isinstance(t, Trial)} == {
        "a"
    }


def test_first_forbidden_action_halts_its_case_and_no_other():
    pursuit = _pursuit("a", "b")
    pursuit(())

    assert pursuit((record("a", "new", 2, "x"),)) == [Halt("a")]
    assert pursuit((record("a", "new", 1, "v"),)) == []
    assert pursuit(_ended({("a", "new"): "fxff"}, [("a", "new", n) for n in (3, 4)])) == []
    assert pursuit(_ended({("b", "new"): "pppf"}, [("b", "new", n) for n in (1, 2, 3, 4)]))


def test_forbidden_action_in_a_case_that_is_not_followed_up_halts_it_too():
    pursuit = Pursuit(adding(RULE, {}, baseline="r"), _first("a"), candidate="new")
    pursuit(())

    assert pursuit((record("a", "new", 1, "X"),)) == [Halt("a")]


def test_what_the_release_does_wrong_halts_nothing():
    pursuit = _pursuit("a")
    pursuit(())
    pursuit(_ended({("a", "new"): "f"}, [("a", "new", n) for n in range(1, 5)]))

    assert pursuit((record("a", "old", 1, "x"),)) == []


def test_invalid_trials_are_replaced_while_most_are_valid():
    assert _run({("a", "new"): "ipppp"}) == {("a", "new"): 5}
    assert _run({("a", "new"): "iippp"}) == {("a", "new"): 6}


@pytest.mark.parametrize("mark", ["i", "iiip", "iiif"])
def test_case_of_which_most_trials_are_invalid_is_given_up(mark: str):
    assert _run({("a", "new"): mark}) == {("a", "new"): 4}


def test_release_of_which_most_trials_are_invalid_is_given_up():
    assert _run({("a", "new"): "f", ("a", "old"): "i"}) == {("a", "new"): 4, ("a", "old"): 6}


def test_no_more_trials_are_run_than_the_run_may_have():
    marks = {(c, arm): m for c in "abc" for arm, m in (("new", "f"), ("old", "p"))}
    said = adding(RULE, dict.fromkeys("abc", (20, 20)), baseline="r", most=25)

    pursuit = Pursuit(said, _first("a", "b", "c"), candidate="new", live="old")
    ran = _carry_out(pursuit, marks)

    assert ran.total() == 12 + 2 * 6
    assert len(pursuit.short) == 1


def test_first_batches_are_long_enough_to_clear_a_required_case():
    plan = [
        PlannedCase(case="a", selected=True, reasons=(), required=True, trials=2),
        PlannedCase(case="b", selected=True, reasons=(), trials=2),
        PlannedCase(case="c", selected=False, reasons=(), required=True),
        PlannedCase(case="d", selected=True, reasons=(), required=True, trials=9),
    ]

    assert [entry.trials for entry in screened(plan, 4)] == [4, 2, 0, 9]


def test_manifest_keeps_the_whole_rule():
    rule = Rule(cases=3, alpha=0.02, beta=0.2, drop=0.4, confirm=6)

    assert rule_of(adding(rule, {}, baseline="r")) == rule


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["new", "old"])),
        st.text("ppppfi", min_size=1, max_size=60),
        min_size=1,
    ),
    st.randoms(use_true_random=False),
    st.integers(0, 60),
)
def test_neither_order_nor_a_stop_changes_what_is_run(
    given_marks: dict[tuple[str, str], str], chance: random.Random, stop: int
):
    marks = {(c, a): given_marks.get((c, a), "p") for c in "abcd" for a in ("new", "old")}
    in_order = _run(marks)

    shuffled = _carry_out(_pursuit("a", "b", "c", "d"), marks, pick=chance.randrange)
    before: list[TrialRecord] = []
    _carry_out(_pursuit("a", "b", "c", "d"), marks, pick=chance.randrange, stop=stop, into=before)
    again = _pursuit("a", "b", "c", "d", stored=before)
    gone_on = _carry_out(again, marks, pick=chance.randrange, known=before)

    assert shuffled == in_order
    assert gone_on == in_order


@given(st.integers(0, 80), st.integers(24, 90), st.randoms(use_true_random=False))
def test_bound_holds_over_a_stop(stop: int, most: int, chance: random.Random):
    marks = {
        (c, arm): "".join(chance.choice(m) for _ in range(60))
        for c in "abcdef"
        for arm, m in (("new", "pf"), ("old", "p"))
    }
    said = adding(RULE, dict.fromkeys("abcdef", (20, 20)), baseline="r", most=most)

    def pursuit(stored: list[TrialRecord]) -> Pursuit:
        return Pursuit(said, _first(*"abcdef"), candidate="new", live="old", stored=stored)

    before: list[TrialRecord] = []
    _carry_out(pursuit([]), marks, pick=chance.randrange, stop=stop, into=before)
    ran = _carry_out(pursuit(before), marks, pick=chance.randrange, known=before)

    assert ran.total() <= most


def _first(*cases: str, trials: int = 4) -> list[Trial]:
    return [Trial(case, "new", n) for n in range(1, trials + 1) for case in cases]


def _pursuit(*cases: str, stored: list[TrialRecord] | None = None) -> Pursuit:
    said = adding(RULE, dict.fromkeys(cases, (20, 20)), baseline="r-1")
    return Pursuit(said, _first(*cases), candidate="new", live="old", stored=stored or ())


def _run(
    marks: Marks,
    said: Adding | None = None,
    *,
    live: str | None = "old",
    alone: set[str] | None = None,
) -> Counter[tuple[str, str]]:
    cases = tuple(dict.fromkeys(case for case, _ in marks))
    said = said or adding(RULE, dict.fromkeys(cases, (20, 20)), baseline="r-1")
    pursuit = Pursuit(said, _first(*cases), candidate="new", live=live, alone=alone or set())
    return _carry_out(pursuit, marks)


def _carry_out(
    pursuit: Pursuit,
    marks: Marks,
    *,
    pick: Callable[[int], int] = lambda _: 0,
    stop: int | None = None,
    known: list[TrialRecord] | None = None,
    into: list[TrialRecord] | None = None,
) -> Counter[tuple[str, str]]:
    """Run what is named, one at a time and in any order; how often each case was run by each arm."""
    done = {(r.case, r.arm, r.number) for r in known or ()}
    ended = [] if into is None else into
    waiting: list[tuple[str, str, int]] = []

    def plan(steps: list[Trial | Halt]) -> None:
        for step in steps:
            assert isinstance(step, Trial)
            key = (step.case, step.arm, step.number)
            if key not in done and key not in waiting:
                waiting.append(key)

    plan(pursuit(()))
    while waiting and (stop is None or len(ended) < stop):
        key = waiting.pop(pick(len(waiting)))
        done.add(key)
        ended += _ended(marks, [key])
        plan(pursuit((ended[-1],)))
    return Counter((case, arm) for case, arm, _ in done)


def _ended(marks: Marks, keys: list[tuple[str, str, int]]) -> tuple[TrialRecord, ...]:
    return tuple(
        record(case, arm, n, (own := marks[case, arm])[min(n, len(own)) - 1])
        for case, arm, n in keys
    )
