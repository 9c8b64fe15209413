"""What must hold for any comparison, whatever the trials were."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sides import record, side

from seatrial.compare import compare
from seatrial.documents import Policy
from seatrial.verdicts import Outcome

NAMES = ("a", "b", "c", "d", "e")

marks = st.integers(0, 8).flatmap(lambda n: st.text("p" * n + "f", min_size=0, max_size=25))
sides = st.fixed_dictionaries(dict.fromkeys(NAMES, marks))
requirements = st.sets(st.sampled_from(NAMES)).map(lambda names: tuple(sorted(names)))

MIRROR = {Outcome.REGRESSED: Outcome.IMPROVED, Outcome.IMPROVED: Outcome.REGRESSED}


def _outcomes(baseline, candidate):
    return {c.case: c.outcome for c in compare(baseline, candidate, Policy()).cases}


@settings(deadline=None)
@given(sides, sides, requirements)
def test_swapping_the_arms_mirrors_regressed_and_improved(one, other, required):
    before, after = (
        side(one, arm="one", required=required),
        side(other, arm="other", required=required),
    )

    here, there = _outcomes(before, after), _outcomes(after, before)

    for case in NAMES:
        changed = {here[case], there[case]} & set(MIRROR)
        if changed:
            assert MIRROR[here[case]] is there[case]


@settings(deadline=None)
@given(sides, sides, requirements, st.randoms(use_true_random=False))
def test_order_of_cases_and_records_does_not_matter(one, other, required, chance):
    before, after = side(one, arm="one", required=required), side(other, required=required)

    shuffled = compare(_shuffled(before, chance), _shuffled(after, chance), Policy())
    straight = compare(before, after, Policy())

    assert sorted(shuffled.cases, key=lambda c: c.case) == sorted(
        straight.cases, key=lambda c: c.case
    )
    assert shuffled.overall == straight.overall
    assert shuffled.pass_k == straight.pass_k


def _shuffled(one, chance: random.Random):
    facts, records = list(one.cases), list(one.records)
    plan = list(one.manifest.plan)
    for things in (facts, records, plan):
        chance.shuffle(things)
    manifest = one.manifest.model_copy(update={"plan": tuple(plan)})
    return replace(one, cases=tuple(facts), records=tuple(records), manifest=manifest)


@settings(deadline=None)
@given(sides, sides, requirements, st.lists(st.tuples(st.sampled_from(NAMES), st.booleans())))
def test_invalid_trials_never_move_a_verdict(one, other, required, invalid):
    before, after = side(one, arm="one", required=required), side(other, required=required)
    more = {True: list(before.records), False: list(after.records)}
    for number, (case, on_baseline) in enumerate(invalid, 100):
        arm = "one" if on_baseline else "candidate"
        if (one if on_baseline else other)[case]:  # with no other record, the case would be new
            more[on_baseline].append(record(case, arm, number, "i"))

    clean = compare(before, after, Policy())
    littered = compare(
        replace(before, records=tuple(more[True])),
        replace(after, records=tuple(more[False])),
        Policy(),
    )

    assert [(c.case, c.outcome, c.evidence, c.lacks) for c in littered.cases] == [
        (c.case, c.outcome, c.evidence, c.lacks) for c in clean.cases
    ]
    assert littered.overall == clean.overall


@settings(deadline=None)
@given(sides, sides, st.sampled_from(NAMES))
def test_one_more_failure_never_makes_a_required_case_look_better(one, other, case):
    before = side(one, arm="one", required=NAMES)
    worse = other | {case: other[case] + "f"}

    here = _outcomes(before, side(other, required=NAMES))[case]
    there = _outcomes(before, side(worse, required=NAMES))[case]

    if here is Outcome.REGRESSED:
        assert there is Outcome.REGRESSED
    if here is not Outcome.IMPROVED:
        assert there is not Outcome.IMPROVED


@settings(deadline=None)
@given(sides, sides, requirements)
def test_split_journal_gives_the_same_comparison(one, other, required):
    """Shards: the records come in parts, in whatever order the parts come."""
    before, after = side(one, arm="one", required=required), side(other, required=required)
    records = list(after.records)
    parts = records[1::2] + records[::2]

    assert compare(before, replace(after, records=iter(parts)), Policy()) == compare(
        before, after, Policy()
    )
