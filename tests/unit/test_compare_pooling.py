"""Which of the release's trials count: its ledger, its arm run again, and the model that was served."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from tests.sides import FINGERPRINT, side

from seatrial import gate
from seatrial.compare import CaseComparison, Comparison, Side, Tally, compare
from seatrial.documents import Model, Policy
from seatrial.verdicts import Outcome

POLICY = Policy()
GOOD = "p" * 20
OTHER = FINGERPRINT | {"world": "other"}


def by_case(comparison: Comparison) -> dict[str, CaseComparison]:
    return {case.case: case for case in comparison.cases}


def valid(tally: Tally | None) -> int:
    assert tally is not None
    return tally.valid


def released(trials: Mapping[str, str], **more) -> Side:
    return side(trials, arm="released", required=("a",), **more)


def candidate(trials: Mapping[str, str], **more) -> Side:
    return side(trials, required=("a",), **more)


def served(one: Side, *models: str | None) -> Side:
    """The side with these models behind its trials, the last one behind all further ones."""
    names = [*models, *[models[-1]] * 100]
    records = tuple(
        record.model_copy(update={"served_model": names[at]})
        for at, record in enumerate(one.records)
    )
    return replace(one, records=records)


# --- the ledger ---


def test_batches_of_the_ledger_count_as_trials_of_the_release():
    batches = [released({"a": "pppf" * 5}), released({"a": GOOD})]

    comparison = compare(released({"a": GOOD}), candidate({"a": "pppp"}), POLICY, ledger=batches)

    case = by_case(comparison)["a"]
    assert case.baseline is not None
    assert (case.baseline.passed, case.baseline.valid, case.batches) == (55, 60, 3)
    assert case.baseline.interval == "wilson"


def test_flakes_that_only_the_ledger_has_seen_make_the_evidence_weaker():
    failing = candidate({"a": "fffp"})
    alone = compare(released({"a": GOOD}), failing, POLICY)
    known = compare(released({"a": GOOD}), failing, POLICY, ledger=[released({"a": "pf" * 10})])

    before, after = (by_case(c)["a"].evidence for c in (alone, known))
    assert before is not None
    assert after is not None
    assert after < before


def test_order_of_the_batches_changes_nothing():
    first, second = released({"a": "ppff"}), released({"a": GOOD})
    new = candidate({"a": "ppfp"})

    one = compare(released({"a": GOOD}), new, POLICY, ledger=[first, second])
    other = compare(released({"a": GOOD}), new, POLICY, ledger=[second, first])

    assert one == other


def test_batch_counts_only_in_cases_in_which_it_can_be_compared():
    batch = released({"a": "ffff", "b": "pppp"}, fingerprints={"a": OTHER})
    new = candidate({"a": "pppp", "b": "pppp"})

    found = by_case(compare(released({"a": GOOD, "b": GOOD}), new, POLICY, ledger=[batch]))

    assert (valid(found["a"].baseline), found["a"].batches) == (20, 1)
    assert (valid(found["b"].baseline), found["b"].batches) == (24, 2)


def test_case_that_changed_since_the_release_is_compared_with_batches_of_what_it_is_now():
    now = {"a": OTHER}
    batch = released({"a": "ppppp"}, fingerprints=now)

    case = by_case(
        compare(
            released({"a": GOOD}),
            candidate({"a": "pppp"}, fingerprints=now),
            POLICY,
            ledger=[batch],
        )
    )["a"]

    assert (case.outcome, valid(case.baseline), case.batches) == (Outcome.UNCHANGED, 5, 1)


def test_case_that_only_the_ledger_has_is_not_new():
    batch = released({"a": GOOD, "b": "ppppp"})

    found = by_case(
        compare(
            released({"a": GOOD}),
            candidate({"a": "pppp", "b": "pppp"}),
            POLICY,
            ledger=[batch],
        )
    )

    assert found["b"].outcome is Outcome.UNCHANGED


def test_without_a_release_a_ledger_is_nothing():
    comparison = compare(None, candidate({"a": "pppp"}), POLICY, ledger=[released({"a": GOOD})])

    assert by_case(comparison)["a"].outcome is Outcome.NEW


def test_every_component_that_differs_is_named_and_what_is_tried_beside_it():
    now = {"a": FINGERPRINT | {"world": "x", "answers": "y", "source:rules": "z", "tool:pay": "t"}}

    case = by_case(
        compare(released({"a": GOOD}), candidate({"a": "pppp"}, fingerprints=now), POLICY)
    )["a"]

    assert (case.outcome, case.component) == (Outcome.INCOMPARABLE, "answers")
    assert "its answers and world are not what they were" in case.sentence
    assert case.changed == ("adapter", "source:rules", "tool:pay")


# --- the released arm, run again ---


def test_release_run_again_stands_for_stored_trials_that_cannot_be_compared():
    now = {"a": OTHER}
    again = released({"a": "pppp"}, fingerprints=now)

    def case(trials: str) -> CaseComparison:
        new = candidate({"a": trials}, fingerprints=now)
        return by_case(compare(released({"a": GOOD}), new, POLICY, live=again))["a"]

    good, bad = case("pppp"), case("ffff")
    assert (good.outcome, valid(good.baseline), good.rerun) == (Outcome.UNCHANGED, 4, True)
    assert (good.live, good.batches) == (None, 0)
    # Four trials are too few a baseline to call anything regressed, and it says so.
    assert (bad.outcome, bad.lacks) == (Outcome.UNDECIDED, "baseline")


def test_release_run_again_needs_nothing_else_to_confirm_it():
    now = {"a": OTHER}
    again = released({"a": "p" * 20}, fingerprints=now)
    new = candidate({"a": "f" * 20}, fingerprints=now)

    case = by_case(compare(released({"a": GOOD}), new, POLICY, live=again))["a"]

    assert case.outcome is Outcome.REGRESSED


def test_where_both_can_be_compared_the_stored_trials_stay_and_the_others_confirm():
    again = released({"a": "pppp"})
    new = candidate({"a": "ffff"})

    def case(confirm: int) -> CaseComparison:
        stored = released({"a": GOOD})
        return by_case(compare(stored, new, POLICY, live=again, confirm=confirm))["a"]

    assert (case(6).outcome, case(6).lacks) == (Outcome.UNDECIDED, "confirmation")
    assert case(4).outcome is Outcome.REGRESSED
    assert (valid(case(4).baseline), valid(case(4).live), case(4).rerun) == (20, 4, False)


def test_new_case_that_the_release_ran_too_is_compared():
    again = released({"a": "pppp", "b": "p" * 8})

    found = by_case(
        compare(released({"a": GOOD}), candidate({"a": "pppp", "b": "pppp"}), POLICY, live=again)
    )

    assert (found["b"].outcome, found["b"].rerun) == (Outcome.UNCHANGED, True)


# --- the model that was served ---

PINNED = {"a": FINGERPRINT | {"model": "m"}, "b": FINGERPRINT | {"model": "m"}}


def compared_when_served(
    before: tuple[str | None, ...], now: tuple[str | None, ...], **more
) -> CaseComparison:
    old = served(released({"a": GOOD}, fingerprints=PINNED), *before)
    new = served(candidate({"a": "pppp"}, fingerprints=more.pop("prints", PINNED)), *now)
    return by_case(compare(old, new, POLICY, **more))["a"]


def test_model_that_the_provider_swapped_behind_the_pinned_name_makes_the_case_incomparable():
    case = compared_when_served(("m-1",), ("m-2",))

    assert (case.outcome, case.component) == (Outcome.INCOMPARABLE, "model")
    assert case.sentence.startswith(
        "the provider served m-2 behind the pinned model, and m-1 for the baseline"
    )


@pytest.mark.parametrize(
    ("before", "now"), [(("m-1",), ("m-1",)), ((None,), ("m-2",)), (("m-1",), (None,))]
)
def test_same_model_and_one_that_nobody_named_say_nothing_against_comparing(
    before: tuple[str | None, ...], now: tuple[str | None, ...]
):
    assert compared_when_served(before, now).outcome is Outcome.UNCHANGED


def test_other_model_is_what_is_tried_where_another_one_is_pinned():
    prints = {"a": FINGERPRINT | {"model": "another"}}

    assert compared_when_served(("m-1",), ("m-2",), prints=prints).outcome is Outcome.UNCHANGED


@pytest.mark.parametrize("prints", [PINNED, {"a": FINGERPRINT | {"model": "another"}}])
def test_pinned_model_that_changes_during_a_run_makes_every_case_incomparable(prints):
    case = compared_when_served(("m-1",), ("m-1", "m-2"), prints=prints)

    assert (case.outcome, case.component) == (Outcome.INCOMPARABLE, "model")
    assert "changed the pinned model during the run: m-1, m-2" in case.sentence


def test_trial_that_several_models_answered_counts_as_a_change():
    case = compared_when_served(("m-1",), ("m-1, m-2",))

    assert case.component == "model"


def test_pinned_model_that_changed_while_the_baseline_was_recorded_is_named():
    case = compared_when_served(("m-1", "m-2"), ("m-2",))

    assert case.component == "model"
    assert "changed the pinned model while the baseline was recorded: m-1, m-2" in case.sentence


def test_agent_that_pins_no_model_may_use_several():
    old = served(released({"a": GOOD}), "m-1", "m-2")
    new = served(candidate({"a": "pppp"}), "m-1", "m-3")

    assert by_case(compare(old, new, POLICY))["a"].outcome is Outcome.UNCHANGED


def test_batch_with_the_model_that_is_served_now_is_the_one_that_counts():
    batch = served(released({"a": "ppppp"}, fingerprints=PINNED), "m-2")

    case = compared_when_served(("m-1",), ("m-2",), ledger=[batch])

    assert (case.outcome, valid(case.baseline), case.batches) == (Outcome.UNCHANGED, 5, 1)


def test_candidate_that_answered_with_a_swapped_model_is_still_held_to_what_is_forbidden():
    old = served(released({"a": GOOD}, fingerprints=PINNED), "m-1")
    new = served(candidate({"a": "pppx"}, fingerprints=PINNED), "m-2")

    case = by_case(compare(old, new, POLICY))["a"]

    assert (case.outcome, case.forbidden) == (Outcome.INCOMPARABLE, True)


PIN = Model(name="m-1", served=("*/m-1.gguf",))


@pytest.mark.parametrize("name", ["m-1", "/models/m-1.gguf"])
def test_model_served_under_a_name_that_its_pin_gives_it_is_compared(name: str):
    old, new = pinned(PIN, (name,), (name,))

    assert by_case(compare(old, new, POLICY))["a"].outcome is Outcome.UNCHANGED


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        ("m-1", "m-2", "the provider served m-2, which is not the pinned model"),
        ("m-2", "m-2", "the provider served m-2, which is not the pinned model"),
        ("m-2", "m-1", "for the baseline the provider served m-2, which is not the pinned model"),
    ],
)
def test_served_model_that_is_not_the_pinned_one_is_compared_with_nothing(
    before: str, now: str, says: str
):
    comparison = compare(*pinned(PIN, (before,), (now,)), POLICY)

    case = by_case(comparison)["a"]
    assert (case.outcome, case.component) == (Outcome.INCOMPARABLE, "model")
    assert says in case.sentence
    assert comparison.served.strays
    assert any(g.kind == "served_model_changed" for g in gate.rule(comparison).grounds)


@pytest.mark.parametrize(("pin", "comparable"), [(None, True), ("fp_1", False)])
def test_fingerprint_counts_only_where_it_is_pinned_and_a_change_is_noted(
    pin: str | None, comparable: bool
):
    old, new = pinned(Model(name="m-1", fingerprint=pin), ("m-1",), ("m-1",))
    ran_on = replace(
        new,
        records=tuple(
            record.model_copy(update={"served_fingerprint": f"fp_{record.number}"})
            for record in new.records
        ),
    )

    comparison = compare(old, ran_on, POLICY)

    outcome = by_case(comparison)["a"].outcome
    assert (outcome is not Outcome.INCOMPARABLE) == comparable
    kinds = {ground.kind for ground in gate.rule(comparison).grounds}
    assert "served_fingerprint_changed" in kinds


def pinned(pin: Model, before: tuple[str, ...], now: tuple[str, ...]) -> tuple[Side, Side]:
    old = served(released({"a": GOOD}, fingerprints=PINNED), *before)
    new = served(candidate({"a": "pppp"}, fingerprints=PINNED), *now)
    return replace(old, pin=pin), replace(new, pin=pin)


# --- replies that are alike ---


@pytest.mark.parametrize(
    ("digests", "alike"), [("xxxx", 3), ("xxxy", 2), ("wxyz", 0), (("", "", "", ""), 0)]
)
def test_trials_with_the_very_same_replies_are_counted(digests: Sequence[str], alike: int):
    new = candidate({"a": "pppp"})
    records = tuple(
        record.model_copy(update={"reply_digest": digests[record.number - 1]})
        for record in new.records
    )

    comparison = compare(released({"a": GOOD}), replace(new, records=records), POLICY)

    tally = by_case(comparison)["a"].candidate
    assert tally is not None
    assert tally.alike == alike
    kinds = {ground.kind for ground in gate.rule(comparison).grounds}
    assert ("identical_replies" in kinds) == (alike == 3)
