"""How a plan is divided, and what a shard's plan asks for."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import bike_shop

from seatrial import plan, sharding
from seatrial.comparability import fingerprints
from seatrial.documents import Catalog
from seatrial.records import Manifest, PlannedCase, Rerun, Sharding

IDS = tuple(f"case-{n}" for n in range(12))
ARMS = ("one", "two")

plans = st.lists(
    st.tuples(st.sampled_from(IDS), st.booleans(), st.integers(1, 5)),
    unique_by=lambda entry: entry[0],
)
timings = st.dictionaries(st.sampled_from(IDS), st.integers(1, 100_000))


def catalog() -> Catalog:
    cases = [bike_shop.case(id) for id in IDS]
    return bike_shop.catalog(*cases, *(bike_shop.arm(id) for id in ARMS))


def planned(
    entries: list[tuple[str, bool, int]], known: Mapping[str, int] = MappingProxyType({})
) -> tuple[PlannedCase, ...]:
    return tuple(
        PlannedCase(
            case=case,
            selected=selected,
            reasons=("all",),
            trials=trials,
            expected_ms=known.get(case, 0),
        )
        for case, selected, trials in entries
    )


def manifest(entries: list[tuple[str, bool, int]], **more: Any) -> Manifest:
    whole = catalog()
    return Manifest(
        run="r", suite="all", arms=ARMS, trials=1, seed=1, created_at="now", seatrial="0",
        plan=planned(entries),
        fingerprints=fingerprints(whole, whole.arms.values(), {}).by_case,
        **more,
    )  # fmt: skip


@given(entries=plans, known=timings, shards=st.integers(1, 9))
def test_each_selected_case_lives_in_one_shard(
    entries: list[tuple[str, bool, int]], known: dict[str, int], shards: int
):
    loads = sharding.loads(planned(entries, known), catalog(), ARMS, shards)

    assert len(loads) == shards
    assert Counter(case for load in loads for case in load.cases) == Counter(
        case for case, selected, _ in entries if selected
    )
    assert sum(load.trials for load in loads) == 2 * sum(n for _, chosen, n in entries if chosen)
    assert loads == sharding.loads(planned(entries, known), catalog(), ARMS, shards)


@given(entries=plans, known=timings, shards=st.integers(1, 9))
def test_no_shard_has_more_to_do_than_an_even_share_and_its_last_case(
    entries: list[tuple[str, bool, int]], known: dict[str, int], shards: int
):
    loads = sharding.loads(planned(entries, known), catalog(), ARMS, shards)
    whole = sum(load.expected_ms for load in loads)

    longest = max((t for load in one_each(entries, known) for t in [load.expected_ms]), default=0)
    assert max(load.expected_ms for load in loads) <= whole / shards + longest


def one_each(
    entries: list[tuple[str, bool, int]], known: dict[str, int]
) -> tuple[sharding.Load, ...]:
    chosen = max(1, sum(selected for _, selected, _ in entries))
    return sharding.loads(planned(entries, known), catalog(), ARMS, chosen)


def test_long_cases_are_spread():
    entries = [(id, True, 1) for id in IDS[:4]]
    known = {"case-0": 9_000, "case-1": 8_000, "case-2": 1_000, "case-3": 2_000}

    loads = sharding.loads(planned(entries, known), catalog(), ("one",), 2)

    assert [load.cases for load in loads] == [("case-0", "case-2"), ("case-1", "case-3")]
    assert [load.expected_ms for load in loads] == [10_000, 10_000]


@pytest.mark.parametrize(
    ("each_ms", "trials", "at_once", "shards"),
    [
        (60_000, 10, 1, 12),  # ten minutes a case
        (60_000, 10, 12, 1),
        (60_000, 5, 1, 6),
        (600_000, 10, 1, 12),  # a case cannot be divided
        (1, 1, 32, 1),
    ],
)
def test_number_of_shards_is_the_least_that_ends_within_ten_minutes(
    each_ms: int, trials: int, at_once: int, shards: int
):
    entries = planned([(id, True, trials) for id in IDS], dict.fromkeys(IDS, each_ms))

    found = sharding.enough(entries, catalog(), ("one",), at_once)

    assert found == shards


def test_plan_without_cases_takes_one_shard():
    assert sharding.enough((), catalog(), ARMS, 32) == 1


@given(whole=st.integers(0, 10_000), shards=st.integers(1, 20))
def test_shares_come_to_just_the_whole(whole: int, shards: int):
    parts = [Sharding(shard=n, cases=((),) * shards).share(whole) for n in range(1, shards + 1)]

    assert sum(parts) == whole
    assert max(parts) - min(parts) <= 1


reruns = st.one_of(
    st.none(),
    st.builds(
        lambda fixed, left_out: Rerun(
            arm="two",
            released_arm="two",
            release="x",
            fixed=fixed,
            left_out=dict.fromkeys(left_out, ""),
        ),
        st.booleans(),
        st.sets(st.sampled_from(IDS)),
    ),
)


@given(entries=plans, rerun=reruns, shard=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_keys_of_a_plan_are_those_of_its_trials(
    entries: list[tuple[str, bool, int]], rerun: Rerun | None, shard: int
):
    part = None
    if shard:
        loads = sharding.loads(planned(entries), catalog(), ARMS, 3)
        part = Sharding(shard=shard, cases=tuple(load.cases for load in loads))
    made = manifest(entries, rerun=rerun, sharding=part)

    trials = plan.trials_of(made, catalog())

    assert plan.keys_of(made) == {(t.case, t.arm, t.number) for t in trials}


def test_plan_digest_tells_of_everything_but_the_shard():
    entries = [("case-0", True, 2), ("case-1", True, 2)]
    part = Sharding(shard=1, cases=(("case-0",), ("case-1",)))
    one = manifest(entries, sharding=part)
    other = one.model_copy(
        update={
            "run": "s", "created_at": "later", "sharding": part.model_copy(update={"shard": 2}),
            "plan": tuple(e.model_copy(update={"weak": True}) for e in one.plan),
        }
    )  # fmt: skip

    assert sharding.plan_digest(one) == sharding.plan_digest(other)
    assert sharding.apart(one, other) == ()
    for change in ({"seed": 2}, {"revision": "abc"}, {"dirty": True}, {"arms": ("one",)}):
        changed = one.model_copy(update=change)
        assert sharding.plan_digest(changed) != sharding.plan_digest(one)
        assert sharding.apart(one, changed) == tuple(change)
