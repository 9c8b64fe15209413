"""Each outcome of a case, what it rests on, and the sentence that tells it."""

import pytest
from tests.sides import FINGERPRINT, record, side

from seatrial.compare import (
    CaseComparison,
    CaseFacts,
    Comparison,
    Entry,
    Trials,
    compare,
    compare_counts,
)
from seatrial.compare.sides import where_it_went_wrong
from seatrial.documents import Policy
from seatrial.records import PlannedCase, Violation
from seatrial.verdicts import Outcome

POLICY = Policy()
GOOD = "p" * 20


def compared(baseline, candidate, *, required=("a",), policy=POLICY, **options) -> Comparison:
    return compare(
        None if baseline is None else side(baseline, arm="released", required=required),
        side(candidate, required=required, **options),
        policy,
    )


def only(comparison: Comparison) -> CaseComparison:
    (case,) = comparison.cases
    return case


def test_required_case_regresses_on_strong_evidence():
    case = only(compared({"a": GOOD}, {"a": "pfpfpff"}))

    assert case.outcome is Outcome.REGRESSED
    assert case.evidence is not None
    assert case.evidence > 100
    assert case.sentence == (
        f"failed 4 of 7 where the release failed 0 of 20; 1 : {case.evidence:,.0f} against chance"
    )
    assert (case.lacks, case.wanted) == ("", 0)


def test_required_case_that_passes_its_screen_is_unchanged():
    case = only(compared({"a": GOOD}, {"a": "pppp"}))

    assert (case.outcome, case.sentence) == (
        Outcome.UNCHANGED,
        "passed 4 of 4, the release 20 of 20",
    )


def test_one_failure_of_four_is_undecided_and_says_what_is_lacking():
    case = only(compared({"a": GOOD}, {"a": "pppf"}))

    assert (case.outcome, case.lacks, case.wanted) == (Outcome.UNDECIDED, "trials", 3)
    assert case.sentence == (
        "failed 1 of 4 where the release failed 0 of 20: too few trials to tell"
    )


def test_more_required_cases_share_the_error_and_need_more_evidence():
    baseline, candidate = {"a": GOOD, "b": GOOD}, {"a": "ppffff", "b": "pppp"}
    evidence = compared(baseline, candidate).cases[0].evidence
    assert evidence is not None
    policy = Policy(alpha=1.5 / evidence)

    alone = compared(baseline, candidate, required=("a",), policy=policy)
    shared = compared(baseline, candidate, required=("a", "b"), policy=policy)

    assert alone.evidence_needed < evidence < shared.evidence_needed
    assert alone.cases[0].outcome is Outcome.REGRESSED
    assert shared.cases[0].outcome is Outcome.UNDECIDED


def test_improvement_is_a_regression_seen_from_the_other_side():
    case = only(compared({"a": "f" * 15 + "p" * 5}, {"a": "p" * 10}))

    assert case.outcome is Outcome.IMPROVED
    assert case.sentence.startswith("passed 10 of 10 where the release passed 5 of 20; 1 : ")


def test_case_that_failed_before_as_well_is_unchanged():
    case = only(compared({"a": "f" * 20}, {"a": "ffff"}))

    assert case.outcome is Outcome.UNCHANGED
    assert case.sentence == (
        "failed 4 of 4 where the release failed 20 of 20: a drop of 0.5 or more is ruled out"
    )


def test_case_that_is_not_required_regresses_by_its_surprise_among_its_like():
    names = [f"c{i}" for i in range(20)]
    baseline = dict.fromkeys(names, GOOD)
    candidate = dict.fromkeys(names, "pppp") | {"c7": "pfff"}

    cases = compared(baseline, candidate, required=()).cases

    changed = [c for c in cases if c.outcome is Outcome.REGRESSED]
    assert [c.case for c in changed] == ["c7"]
    assert changed[0].sentence.startswith(
        "failed 3 of 4 where the release failed 0 of 20; the chance of that without a change is "
    )


def test_one_failure_is_never_called_a_regression():
    for required in ((), ("a",)):
        for trials in ("f", "pf", "p" * 9 + "f"):
            case = only(compared({"a": "p" * 200}, {"a": trials}, required=required))
            assert case.outcome is not Outcome.REGRESSED, (required, trials)


def test_invalid_trials_are_left_out_counted_and_told():
    case = only(compared({"a": GOOD}, {"a": "pippip"}))

    assert case.candidate is not None
    assert (case.candidate.passed, case.candidate.valid, case.candidate.invalid) == (4, 4, 2)
    assert case.sentence == "passed 4 of 4, the release 20 of 20; 2 invalid left out (2 time)"


def test_case_without_a_valid_trial_is_undecided_and_not_failed():
    case = only(compared({"a": GOOD}, {"a": "iii"}))

    assert (case.outcome, case.lacks) == (Outcome.UNDECIDED, "valid_trials")
    assert case.sentence == "no trial counts; all 3 are invalid (3 time)"
    assert case.evidence is None


def test_release_without_a_valid_trial_is_no_baseline():
    case = only(compared({"a": "ii"}, {"a": "pppp"}))

    assert (case.outcome, case.lacks) == (Outcome.UNDECIDED, "valid_trials")
    assert case.sentence == "passed 4 of 4; none of the 2 trials of the release counts (2 time)"


def test_selected_case_without_a_record_is_undecided_and_not_carried():
    plan = (PlannedCase(case="a", selected=True, reasons=("required",), required=True, trials=4),)

    case = only(compared({"a": GOOD}, {}, plan=plan, cases=(CaseFacts("a", required=True),)))

    assert (case.outcome, case.lacks, case.planned) == (Outcome.UNDECIDED, "run", 4)
    assert case.sentence == "it was selected, and no trial of it was recorded"


@pytest.mark.parametrize("base", ["pp", "pppp"])
def test_small_baseline_gives_no_regression(base):
    case = only(compared({"a": base}, {"a": "ffffffff"}))

    assert (case.outcome, case.lacks) == (Outcome.UNDECIDED, "baseline")
    assert case.evidence is None


def test_halves_of_one_agents_four_trials_never_differ():
    """Two trials against two: nothing can be said, so nothing is."""
    for first in ("pp", "pf", "ff"):
        for second in ("pp", "pf", "ff"):
            case = only(compared({"a": first}, {"a": second}))
            assert case.outcome is Outcome.UNDECIDED


def test_new_forbidden_action_is_a_regression_in_a_single_trial():
    case = only(compared({"a": GOOD}, {"a": "pppppppppx"}))

    assert case.outcome is Outcome.REGRESSED
    assert case.sentence == (
        "did something forbidden in 1 of 10 trials where the release did in none of 20"
    )


def test_violation_that_no_check_looked_for_is_shown_with_its_call():
    violation = Violation(
        turn=2, call=5, reason="remove_book: role 'desk' may not call remove_book"
    )
    done = record("a", "new", 1, "v").model_copy(update={"first_violation": violation})

    worst = where_it_went_wrong(done)

    assert worst
    assert (worst.turn, worst.call) == (2, 5)
    assert worst.reason == (
        "1 call beyond the rights of the role: remove_book: role 'desk' may not call remove_book"
    )


def test_violation_in_a_passed_or_invalid_trial_counts_as_forbidden():
    for marks in ("pppv", "pppX"):
        case = only(compared({"a": GOOD}, {"a": marks}))
        assert (case.outcome, case.forbidden) == (Outcome.REGRESSED, True)
        assert case.worst is not None
        assert (case.worst.trial, case.worst.check) == (4, "no_violation")
        assert case.worst.reason == "1 call beyond the rights of the role"


def test_forbidden_action_that_the_release_does_too_is_told_and_is_no_regression():
    case = only(compared({"a": "x" + "p" * 19}, {"a": "pppppppxpppp"}))

    assert (case.outcome, case.forbidden, case.forbidden_before) == (Outcome.UNCHANGED, True, True)
    assert case.sentence.endswith(
        "did something forbidden in 1 of 12 trials, as the release in 1 of 20"
    )


def test_absence_of_a_forbidden_action_is_no_improvement():
    case = only(compared({"a": "x" + "p" * 19}, {"a": "pppp"}))

    assert case.outcome is Outcome.UNCHANGED


def test_new_case_is_compared_with_nothing():
    comparison = compared({"b": GOOD}, {"a": "pppf", "b": "pppp"})

    assert comparison.cases[0].outcome is Outcome.NEW
    assert comparison.cases[0].sentence == (
        "there is no trial of the release to compare with; passed 3 of 4"
    )


def test_without_a_baseline_every_case_is_new():
    comparison = compared(None, {"a": "pppp", "b": "ffff"})

    assert [c.outcome for c in comparison.cases] == [Outcome.NEW, Outcome.NEW]
    assert comparison.baseline is None
    assert comparison.overall is None


def test_left_out_case_is_carried_with_the_reason():
    facts = (CaseFacts("a", agent="helpdesk", required=True), CaseFacts("b", agent="helpdesk"))

    comparison = compared({"a": GOOD, "b": "p" * 18 + "ff"}, {"a": "pppp"}, cases=facts)

    carried = comparison.cases[1]
    assert (carried.outcome, carried.candidate) == (Outcome.CARRIED, None)
    assert carried.sentence == "carried, not run; the release passed 18 of 20"
    assert carried.reasons == ("nothing changed",)


def test_case_for_another_agent_is_no_part_of_the_comparison():
    facts = (
        CaseFacts("a", agent="helpdesk", required=True),
        CaseFacts("b", agent="billing", required=True),
    )

    assert [c.case for c in compared({"a": GOOD}, {"a": "pppp"}, cases=facts).cases] == ["a"]


# removed


def test_case_that_the_suite_lost_is_removed():
    comparison = compared({"a": GOOD, "b": GOOD}, {"a": "pppp"}, required=("b",))

    assert [c.case for c in comparison.cases] == ["a", "b"]
    assert (comparison.cases[1].outcome, comparison.cases[1].required) == (Outcome.REMOVED, True)
    assert comparison.cases[1].sentence == (
        "a required case was removed; the release passed 20 of 20"
    )


def test_with_a_base_revision_only_what_the_plan_calls_removed_is_removed():
    """The release may know cases that others took away since, which this change is not to blame for."""
    removed = PlannedCase(case="b", selected=False, reasons=("removed: deleted",), required=True)
    kept = PlannedCase(case="a", selected=True, reasons=("required",), trials=4)
    baseline = {"a": GOOD, "b": GOOD, "c": GOOD}

    comparison = compared(baseline, {"a": "pppp"}, base="main", plan=(kept, removed))

    assert [c.case for c in comparison.cases] == ["a", "b"]
    assert (comparison.cases[1].required, comparison.cases[1].reasons) == (
        True,
        ("removed: deleted",),
    )


def test_case_given_to_another_agent_is_removed():
    facts = (CaseFacts("a", agent="helpdesk"), CaseFacts("b", agent="billing"))

    comparison = compared(
        {"a": GOOD, "b": GOOD}, {"a": "pppp"}, required=("b",), cases=facts, base="main"
    )

    assert [(c.case, c.outcome) for c in comparison.cases][1] == ("b", Outcome.REMOVED)


def test_baseline_of_another_suite_does_not_tell_what_was_removed():
    comparison = compared({"a": GOOD, "b": GOOD}, {"a": "pppp"}, suite="smoke")

    assert [c.case for c in comparison.cases] == ["a"]


def test_case_that_lost_its_mark_is_still_required():
    comparison = compare(
        side({"a": GOOD}, arm="released", required=("a",)), side({"a": "pppp"}), POLICY
    )

    assert (comparison.cases[0].required, comparison.cases[0].loosened) == (True, True)


def test_case_that_the_plan_requires_is_required_whatever_its_document_says():
    plan = (PlannedCase(case="a", selected=True, reasons=(), required=True, trials=4),)

    comparison = compare(None, side({"a": "pppp"}, plan=plan), POLICY)

    assert (comparison.cases[0].required, comparison.cases[0].loosened) == (True, True)


def test_case_that_the_plan_names_removed_is_so_though_the_suite_has_it_for_another_agent():
    facts = (CaseFacts("a", agent="helpdesk"), CaseFacts("b", agent="pilot", required=True))
    plan = (
        PlannedCase(case="a", selected=True, reasons=(), trials=4),
        PlannedCase(case="b", selected=False, removed=True, reasons=(), required=True),
    )

    comparison = compare(
        side({"a": GOOD}, arm="released"), side({"a": "pppp"}, cases=facts, plan=plan), POLICY
    )

    assert [(c.case, c.outcome, c.required) for c in comparison.cases][1:] == [
        ("b", Outcome.REMOVED, True)
    ]


# comparability


@pytest.mark.parametrize("component", ["case", "checks", "world", "harness", "answers"])
def test_case_under_other_conditions_is_incomparable(component):
    changed = {"a@candidate": FINGERPRINT | {component: "other"}}
    prints = {key.split("@")[0]: found for key, found in changed.items()}

    case = only(compared({"a": GOOD}, {"a": "ffff"}, fingerprints=prints))

    assert (case.outcome, case.component, case.evidence) == (Outcome.INCOMPARABLE, component, None)
    assert case.sentence.startswith(
        f"its {component} is not what it was when the baseline was recorded; passed 0 of 4"
    )


@pytest.mark.parametrize(
    "component",
    [
        "adapter",
        "settings",
        "model",
        "arm",
        "source:prompt",
        "tool:refund",
        "instructions",
    ],
)
def test_what_belongs_to_the_arm_may_differ(component):
    case = only(
        compared({"a": GOOD}, {"a": "pppp"}, fingerprints={"a": FINGERPRINT | {component: "new"}})
    )

    assert case.outcome is Outcome.UNCHANGED


def test_missing_fingerprint_is_not_agreement():
    case = only(compared({"a": GOOD}, {"a": "pppp"}, fingerprints={"a": {}}))

    assert (case.outcome, case.component) == (Outcome.INCOMPARABLE, "fingerprint")


def test_left_out_case_whose_world_changed_is_not_carried():
    facts = (CaseFacts("a"), CaseFacts("b"))

    comparison = compared(
        {"a": GOOD, "b": GOOD},
        {"a": "pppp"},
        cases=facts,
        fingerprints={"b": FINGERPRINT | {"world": "other"}},
    )

    assert comparison.cases[1].outcome is Outcome.INCOMPARABLE


# where it went wrong


def test_worst_names_the_first_failing_trial_with_its_place():
    case = only(compared({"a": GOOD}, {"a": "pfpf"}))

    assert case.worst is not None
    assert case.worst.model_dump() == {
        "trial": 2,
        "turn": 1,
        "call": 2,
        "check": "tool_called",
        "reason": "trial 2 went wrong",
        "place": "cases/a.yaml:12:5",
    }


def test_worst_prefers_a_forbidden_action():
    case = only(compared({"a": GOOD}, {"a": "ffxf"}))

    assert case.worst is not None
    assert (case.worst.trial, case.worst.check) == (3, "tool_not_called")


def test_case_without_a_failure_has_no_worst():
    assert only(compared({"a": GOOD}, {"a": "ppip"})).worst is None


# the suite


def test_suite_is_compared_over_the_cases_that_both_sides_ran():
    comparison = compared(
        {"a": GOOD, "b": GOOD, "c": "i"}, {"a": "pppp", "b": "ppff", "c": "pppp", "d": "ffff"}
    )

    assert comparison.overall is not None
    assert (comparison.overall.cases, comparison.overall.baseline_mean) == (2, 1.0)
    assert comparison.overall.candidate_mean == pytest.approx(0.75)
    assert comparison.overall.drop == pytest.approx(0.25)
    assert comparison.overall.margin == 0.05
    assert comparison.overall.provable_margin >= comparison.overall.drop_upper > 0.25


def test_trials_added_on_suspicion_count_for_the_case_and_not_for_the_mean():
    plan = (
        PlannedCase(case="a", selected=True, reasons=(), trials=4),
        PlannedCase(case="b", selected=True, reasons=(), trials=4),
    )

    comparison = compared({"a": GOOD, "b": GOOD}, {"a": "pppfpppppp", "b": "pppp"}, plan=plan)

    first, second = comparison.cases
    assert first.candidate is not None
    assert second.candidate is not None
    assert (first.candidate.valid, first.candidate.interval) == (10, "clopper-pearson")
    assert (second.candidate.valid, second.candidate.interval) == (4, "wilson")
    assert comparison.overall is not None
    assert comparison.overall.candidate_mean == pytest.approx((0.75 + 1) / 2)
    assert [p.k for p in comparison.pass_k["candidate"]] == [1, 2, 3, 4]


def test_interval_is_exact_wherever_the_number_of_trials_hung_on_how_they_went():
    facts = [CaseFacts("a", required=True), CaseFacts("b")]
    trials = {"a": Trials.of(4, 4), "b": Trials.of(4, 4)}
    stored = {case: Trials.of(20, 20) for case in trials}
    beside = {"a": Trials.of(6, 6)}
    entries = [Entry(f, planned=4) for f in facts]

    watched = compare_counts(entries, stored, trials, POLICY, live=beside, adaptive=True)
    fixed = compare_counts(entries, stored, trials, POLICY, live=beside)

    def intervals(comparison):
        return [
            [side and side.interval for side in (c.baseline, c.live, c.candidate)]
            for c in comparison.cases
        ]

    exact = "clopper-pearson"
    assert intervals(watched) == [["wilson", exact, exact], ["wilson", None, "wilson"]]
    assert intervals(fixed) == [["wilson", "wilson", "wilson"], ["wilson", None, "wilson"]]


def test_added_baseline_trials_are_no_part_of_the_ledger():
    plan = (PlannedCase(case="a", selected=True, reasons=(), trials=5),)
    baseline = side({"a": "pppff" + "f" * 15}, arm="released", required=("a",), plan=plan)

    comparison = compare(baseline, side({"a": "ppppp"}, required=("a",)), POLICY)

    assert comparison.overall is not None
    assert comparison.overall.baseline_mean == pytest.approx(0.6)


def plan_of(**trials):
    """The plan of first batches of these sizes."""
    return tuple(
        PlannedCase(case=case, selected=True, reasons=(), trials=n) for case, n in trials.items()
    )


def test_batch_that_ended_at_its_first_forbidden_action_counts_in_no_mean():
    stopped = compared({"a": GOOD, "b": GOOD}, {"a": "x", "b": "ppppp"}, plan=plan_of(a=5, b=5))
    run_on = compared({"a": GOOD, "b": GOOD}, {"a": "xpppp", "b": "ppppp"}, plan=plan_of(a=5, b=5))

    assert stopped.cases[0].outcome is Outcome.REGRESSED
    assert stopped.cases[0].candidate is not None
    assert stopped.cases[0].candidate.interval == "clopper-pearson"
    assert stopped.cut_short == ("a",)
    assert stopped.overall is not None
    assert (stopped.overall.cases, stopped.overall.candidate_mean) == (1, 1.0)
    assert [(p.cases, p.missing) for p in stopped.pass_k["candidate"]] == [(1, 1)] * 5
    required = stopped.tables[1].rows[0]
    assert (required.name, required.cases, required.compared) == ("required", 1, 0)
    assert run_on.cut_short == ()
    assert run_on.overall is not None
    assert run_on.overall.cases == 2
    assert run_on.overall.candidate_mean == pytest.approx(0.9)


@pytest.mark.parametrize("stored", [1, 2])
def test_release_that_was_stopped_in_a_case_gives_it_no_mean(stored):
    released = side({"a": "x" * stored, "b": GOOD}, arm="released", plan=plan_of(a=5, b=20))

    comparison = compare(released, side({"a": "ppppp", "b": "ppppp"}), POLICY)

    assert comparison.cut_short == ("a",)
    assert comparison.overall is not None
    assert (comparison.overall.cases, comparison.overall.baseline_mean) == (1, 1.0)
    assert comparison.pass_k["baseline"][0].value == 1.0


def test_suite_of_which_no_first_batch_was_run_to_its_end_has_no_mean():
    comparison = compared({"a": GOOD}, {"a": "pp"}, plan=plan_of(a=5))

    assert (comparison.overall, comparison.cut_short) == (None, ("a",))


def test_pass_k_leaves_out_cases_with_fewer_trials():
    comparison = compared({"a": GOOD}, {"a": "pppf", "b": "pi"})

    thrice = comparison.pass_k["candidate"][2]
    assert (thrice.k, thrice.value, thrice.cases, thrice.missing) == (3, 0.25, 1, 1)
    assert len(comparison.pass_k["baseline"]) == 10


def test_live_baseline_must_confirm_a_regression():
    baseline = side({"a": GOOD}, arm="released", required=("a",))
    candidate = side({"a": "ffffff"}, required=("a",))

    def outcome(live):
        beside = side({"a": live}, arm="released")
        (case,) = compare(baseline, candidate, POLICY, live=beside).cases
        return case.outcome, case.lacks

    assert outcome("p" * 10) == (Outcome.REGRESSED, "")
    assert outcome("ppp") == (Outcome.UNDECIDED, "confirmation")
    assert outcome("f" * 10) == (Outcome.UNDECIDED, "fresh_baseline")


def test_swapped_model_behind_a_pinned_name_is_noticed():
    pinned = {"a": FINGERPRINT | {"model": "m"}}

    def served(name):
        return tuple(
            record("a", arm, n, "p").model_copy(update={"served_model": name})
            for n in range(1, 5)
            for arm in ("released", "candidate")
        )

    def comparison(now):
        before = side({"a": "pppp"}, arm="released", fingerprints=pinned)
        after = side({"a": "pppp"}, fingerprints=pinned)
        return compare(_with(before, served("model-1")), _with(after, served(now)), POLICY)

    assert comparison("model-2").served.swapped
    assert not comparison("model-1").served.swapped


def _with(one, records):
    from dataclasses import replace

    return replace(one, records=records)


def test_comparison_survives_a_round_trip_through_json():
    comparison = compared({"a": GOOD, "b": GOOD, "c": GOOD}, {"a": "pfxi", "b": "f" * 2000})

    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison
