"""When the gate closes, when it stays undecided, when it opens, and what it says about it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sides import FINGERPRINT, side

from seatrial.compare import CaseFacts, ServedModels, compare
from seatrial.documents import Policy
from seatrial.gate import Ruling, rule, stricter
from seatrial.records import PlannedCase, Regraded
from seatrial.verdicts import Gate

GOOD = "p" * 20
NAMES = ("a", "b", "c")
BASE = dict.fromkeys(NAMES, GOOD)


def ruled(candidate, *, base=BASE, required=NAMES, profile=None, policy=None, live=None, **options):
    baseline = None if base is None else side(base, arm="released", required=required)
    beside = None if live is None else side(live, arm="released")
    here = side(candidate, required=required, **options)
    return rule(compare(baseline, here, policy or Policy(), live=beside), profile=profile)


def grounds(ruling: Ruling, effect: str) -> dict[str, tuple[str, ...]]:
    return {g.kind: g.cases for g in ruling.grounds if g.effect == effect}


def test_every_required_case_cleared_opens_the_gate():
    ruling = ruled(dict.fromkeys(NAMES, "pppp"))

    assert ruling.ruling is Gate.OPEN
    assert ruling.headline == (
        "Open: none of 3 required cases shown worse; no forbidden action in 12 trials"
    )


# closed


def test_forbidden_action_in_any_case_closes_the_gate():
    ruling = ruled({"a": "pppp", "b": "pppp", "c": "pppx"}, required=("a",))

    assert ruling.ruling is Gate.CLOSED
    assert grounds(ruling, "closed") == {"forbidden_action": ("c",)}
    assert ruling.headline == "Closed: forbidden action in c"
    assert ruling.grounds[0].text == "forbidden action in c (1 of 4 trials)"


def test_forbidden_action_is_not_cleared_by_however_many_good_trials():
    assert ruled({**BASE, "c": "x" + "p" * 500}).ruling is Gate.CLOSED


@pytest.mark.parametrize("marks", ["pppv", "ppppX"])
def test_violation_closes_even_where_the_trial_passed_or_is_invalid(marks):
    """An agent must not hide what it did by failing to end."""
    assert ruled({**BASE, "b": marks}, policy=Policy(invalid_cap=1)).ruling is Gate.CLOSED


def test_forbidden_action_that_the_release_does_too_closes_and_says_so():
    ruling = ruled({**BASE, "a": "pppppppxpppppppp"}, base={**BASE, "a": "x" + "p" * 19})

    assert grounds(ruling, "closed") == {"forbidden_preexisting": ("a",)}
    assert ruling.headline == "Closed: forbidden action that the release does too in a"


def test_forbidden_action_closes_without_any_baseline():
    ruling = ruled({"a": "pppx"}, base=None)

    assert ruling.ruling is Gate.CLOSED
    assert "no_baseline" in grounds(ruling, "undecided")


def test_required_regression_closes_with_its_evidence():
    ruling = ruled({**BASE, "b": "ffff"})

    assert grounds(ruling, "closed") == {"required_regressed": ("b",), "suite_worse": ()}
    assert ruling.headline.startswith("Closed: b regressed; suite worse by 33.3 points")
    assert ruling.grounds[0].numbers == {"evidence_needed": 300.0}


def test_removed_required_case_closes():
    ruling = ruled({"a": "pppp", "b": "pppp"})

    assert grounds(ruling, "closed") == {"required_removed": ("c",)}


def test_suite_that_is_worse_closes_although_no_single_case_is():
    names = [f"c{i}" for i in range(40)]
    base = dict.fromkeys(names, GOOD) | {"a": GOOD}
    worse = {name: "pppf" if i % 3 else "pppp" for i, name in enumerate(names)} | {"a": "pppp"}

    ruling = ruled(worse, base=base, required=("a",))

    assert grounds(ruling, "closed") == {"suite_worse": ()}
    (ground,) = [g for g in ruling.grounds if g.effect == "closed"]
    assert ground.numbers["drop"] == pytest.approx(26 * 0.25 / 41)
    assert ground.numbers["p"] < 1e-6
    assert "the chance of that without a change is less than 0.000001" in ground.text


def test_drop_within_the_margin_does_not_close_however_certain_it_is():
    names = [f"c{i}" for i in range(40)]
    base = dict.fromkeys(names, GOOD) | {"a": GOOD}
    worse = {name: "pppf" if i % 3 else "pppp" for i, name in enumerate(names)} | {"a": "pppp"}

    assert ruled(worse, base=base, required=("a",), policy=Policy(margin=0.2)).ruling is Gate.OPEN


# undecided: missing evidence is never a pass


def test_nothing_executed_is_never_open():
    ruling = ruled({}, base=BASE, plan=(), cases=tuple(CaseFacts(n, required=True) for n in NAMES))

    assert ruling.ruling is Gate.UNDECIDED
    assert grounds(ruling, "undecided")["nothing_ran"] == NAMES
    assert ruling.headline.startswith("Undecided: no trial was run")


def test_nothing_selected_is_never_open_where_required_cases_exist():
    facts = tuple(CaseFacts(n, agent="helpdesk", required=True) for n in NAMES)

    ruling = ruled({}, cases=facts)

    assert ruling.ruling is Gate.UNDECIDED
    assert grounds(ruling, "undecided") == {"nothing_ran": NAMES, "required_not_run": NAMES}


def test_only_optional_cases_executed_is_never_open():
    ruling = ruled({"a": "i" * 4, "b": "pppp"}, base=BASE, required=("a",), suite="smoke",
                   policy=Policy(invalid_cap=1))  # fmt: skip

    assert ruling.ruling is Gate.UNDECIDED
    assert grounds(ruling, "undecided")["nothing_ran"] == ("a",)


def test_suite_without_a_required_case_never_opens():
    ruling = ruled(dict.fromkeys(NAMES, "pppp"), required=())

    assert ruling.ruling is Gate.UNDECIDED
    assert ruling.headline == "Undecided: the suite has no required case"


def test_no_baseline_is_undecided_although_everything_passed():
    ruling = ruled(dict.fromkeys(NAMES, "p" * 10), base=None)

    assert ruling.ruling is Gate.UNDECIDED
    assert grounds(ruling, "undecided") == {"no_baseline": ()}


@pytest.mark.parametrize(
    ("marks", "kind"),
    [
        ("ppp", "required_too_few_trials"),
        ("pppf", "required_too_few_trials"),
        ("ppppii", "invalid_share"),
        ("iiii", "required_no_valid_trial"),
    ],
)
def test_required_case_without_enough_evidence_is_undecided(marks, kind):
    ruling = ruled({**dict.fromkeys(NAMES, "p" * 6), "b": marks})

    assert ruling.ruling is Gate.UNDECIDED
    assert kind in grounds(ruling, "undecided")


def test_too_few_trials_say_how_many_could_tell():
    ruling = ruled({**dict.fromkeys(NAMES, "pppp"), "b": "pppf"})

    assert ruling.headline == "Undecided: b: too few trials to tell"
    assert ruling.grounds[0].text == (
        "1 required case undecided: b (failed 1 of 4 where the release failed "
        "0 of 20: too few trials to tell); run again with at least `--trials 7`"
    )


def test_required_case_left_out_is_undecided():
    facts = tuple(CaseFacts(n, agent="helpdesk", required=True) for n in NAMES)

    ruling = ruled({"a": "pppp", "b": "pppp"}, cases=facts)

    assert grounds(ruling, "undecided") == {"required_not_run": ("c",)}


def test_incomparable_required_case_is_undecided_and_names_the_component():
    ruling = ruled(
        dict.fromkeys(NAMES, "pppp"), fingerprints={"b": FINGERPRINT | {"world": "other"}}
    )

    assert grounds(ruling, "undecided") == {"required_incomparable": ("b",)}
    assert "b (world)" in ruling.grounds[0].text


def test_small_baseline_is_undecided_once_a_trial_fails():
    candidate = dict.fromkeys(NAMES, "pppp")

    assert ruled(candidate, base=dict.fromkeys(NAMES, "ppp")).ruling is Gate.OPEN

    ruling = ruled({**candidate, "a": "pppf"}, base=dict.fromkeys(NAMES, "ppp"))
    assert grounds(ruling, "undecided") == {"required_small_baseline": ("a",)}


@pytest.mark.parametrize(
    ("marks", "ruling"),
    [("pppp", Gate.OPEN), ("ppp", Gate.UNDECIDED), ("pppf", Gate.UNDECIDED),
     ("ffff", Gate.UNDECIDED), ("iiii", Gate.UNDECIDED), ("pppx", Gate.CLOSED)],
)  # fmt: skip
def test_new_required_case_must_pass_its_whole_screen(marks, ruling):
    """It has nothing to be worse than: failing is not shown worse, and not passing is no pass."""
    candidate = {**dict.fromkeys(NAMES, "p" * 60), "new": marks}

    assert ruled(candidate, required=(*NAMES, "new")).ruling is ruling


def test_new_optional_case_that_fails_is_only_noted():
    ruling = ruled({**dict.fromkeys(NAMES, "pppp"), "new": "ffff"})

    assert ruling.ruling is Gate.OPEN
    assert grounds(ruling, "note")["new"] == ("new",)


def test_too_many_invalid_trials_are_undecided_on_either_side():
    clean, littered = dict.fromkeys(NAMES, "p" * 9), dict.fromkeys(NAMES, "p" * 9 + "ii")

    assert ruled(clean).ruling is Gate.OPEN
    here = ruled(littered)
    assert grounds(here, "undecided") == {"invalid_share": ()}
    assert here.grounds[0].text == (
        "6 of the candidate's 33 trials are invalid (6 time), more than 10.0 %"
    )
    assert "invalid_share" in grounds(ruled(clean, base=littered), "undecided")


def test_invalid_trials_under_the_cap_are_noted():
    ruling = ruled({**dict.fromkeys(NAMES, "p" * 9), "a": "p" * 9 + "i"})

    assert ruling.ruling is Gate.OPEN
    assert "invalid_share" in grounds(ruling, "note")


def test_required_case_that_mostly_cannot_be_run_is_undecided():
    many = {f"c{i}": "p" * 10 for i in range(20)}

    ruling = ruled({**many, "a": "ppppiiiii"}, base={**dict.fromkeys(many, GOOD), "a": GOOD},
                   required=("a",))  # fmt: skip

    assert grounds(ruling, "undecided") == {"required_mostly_invalid": ("a",)}


def test_unfinished_run_is_undecided():
    plan = tuple(
        PlannedCase(case=n, selected=True, reasons=(), required=True, trials=6) for n in NAMES
    )

    ruling = ruled({"a": "p" * 6, "b": "p" * 6, "c": "ppppp"}, plan=plan)

    assert grounds(ruling, "undecided") == {"incomplete_run": ("c",)}
    assert "seatrial run --resume run-candidate" in ruling.grounds[0].text


def test_trials_beyond_the_plan_do_not_stand_in_for_one_that_is_missing():
    plan = tuple(
        PlannedCase(case=n, selected=True, reasons=(), required=True, trials=6) for n in NAMES
    )
    here = side(dict.fromkeys(NAMES, "p" * 6), required=NAMES, plan=plan)
    swapped = tuple(
        r.model_copy(update={"number": 99}) if (r.case, r.number) == ("b", 2) else r
        for r in here.records
    )
    baseline = side(BASE, arm="released", required=NAMES)

    ruling = rule(compare(baseline, replace(here, records=swapped), Policy()))

    assert grounds(ruling, "undecided") == {"incomplete_run": ("b",)}


def test_run_that_is_its_own_baseline_is_undecided_whatever_it_says():
    trials = side(BASE, required=NAMES)

    ruling = rule(compare(trials, trials, Policy()))

    assert grounds(ruling, "undecided") == {"baseline_is_this_run": ()}
    assert ruling.headline == "Undecided: the baseline is this very run"


def test_traces_of_the_baseline_graded_again_are_held_against_nothing_either():
    released = side(BASE, required=NAMES)
    source = Regraded(run=released.manifest.run, at="2026-01-02T00:00:00Z")
    manifest = released.manifest.model_copy(update={"run": "graded-again", "regraded": source})

    ruling = rule(compare(released, replace(released, manifest=manifest), Policy()))

    assert grounds(ruling, "undecided") == {"baseline_is_this_run": ()}


def test_another_arm_of_the_run_that_was_released_is_held_against_it():
    manifest = side(BASE).manifest
    released = side(BASE, arm="released", required=NAMES)
    released = replace(
        released, manifest=released.manifest.model_copy(update={"run": manifest.run})
    )

    assert rule(compare(released, side(BASE, required=NAMES), Policy())).ruling is Gate.OPEN


def test_stale_baseline_is_undecided_and_closes_nothing():
    ruling = ruled({**BASE, "b": "ffffff"}, live={"b": "f" * 10})

    assert ruling.ruling is Gate.UNDECIDED
    assert set(grounds(ruling, "undecided")) == {"baseline_stale", "suite_worse"}
    assert "record the baseline again" in next(
        g.text for g in ruling.grounds if g.kind == "baseline_stale"
    )


@pytest.mark.parametrize(("beside", "effect"), [("p" * 10, "closed"), ("p" * 9 + "f", "undecided")])
def test_stale_baseline_saves_no_case_that_live_trials_alone_show_worse(beside, effect):
    ruling = ruled({**BASE, "a": "ffff", "b": "ffffff"}, live={"a": beside, "b": "f" * 10})

    assert grounds(ruling, effect)["required_regressed"] == ("a",)
    assert grounds(ruling, "undecided")["baseline_stale"] == ("b",)


# negative cases, and steadiness


def _negative(candidate, profile=None):
    facts = tuple(
        CaseFacts(name, agent="helpdesk", required=name == "a", negative=name.startswith("n"))
        for name in candidate
    )
    base = side(dict.fromkeys(candidate, GOOD), arm="released", cases=facts)
    here = side(candidate, cases=facts)
    return rule(compare(base, here, Policy()), profile=profile)


@pytest.mark.parametrize(("profile", "effect"), [("pr", "warning"), ("release", "undecided")])
def test_negative_cases_that_got_worse_are_told_although_the_suite_hides_it(profile, effect):
    others = dict.fromkeys([f"c{n}" for n in range(30)], "ppppp")

    ruling = _negative(
        {"a": "ppppp", "n1": "ppfpp", "n2": "pfppf", "n3": "ppppp", **others}, profile
    )

    assert "negative_worse" in grounds(ruling, effect)
    assert "suite_worse" not in grounds(ruling, "closed")
    (text,) = [g.text for g in ruling.grounds if g.kind == "negative_worse"]
    assert text.startswith("the negative cases are worse: mean pass rate 80.0 % over 3 cases")


def test_negative_cases_that_hold_are_no_ground():
    ruling = _negative({"a": "ppppp", "n1": "ppppp", "c": "ppfpp"})

    assert all(g.kind != "negative_worse" for g in ruling.grounds)


def test_agent_that_became_unsteady_is_told():
    half = {f"c{n}": "pppff" if n % 2 else "ppppf" for n in range(10)} | {"a": "ppppp"}
    as_much = dict.fromkeys(half, "pf" * 10) | {"a": GOOD}

    unsteady = ruled(half, base=dict.fromkeys(half, GOOD), required=("a",))
    before_too = ruled(half, base=as_much, required=("a",))
    alone = ruled(dict.fromkeys(NAMES, "ppppp") | {"c": "ppffp"}, base=BASE, required=("a", "b"))

    assert "flip_rate" in grounds(unsteady, "warning")
    assert "flip_rate" not in grounds(before_too, "warning")
    assert "flip_rate" not in grounds(alone, "warning")


# the cap, and the two profiles


def _after_forty_trials(failed, **options):
    """Ten required cases of forty; one of them, which the release fails once in 20, still undecided."""
    names = [f"c{i}" for i in range(39)]
    base = dict.fromkeys(names, GOOD) | {"a": "f" + "p" * 19}
    candidate = dict.fromkeys(names, "pppp") | {"a": "f" * failed + "p" * (40 - failed)}
    return ruled(candidate, base=base, required=("a", *names[:9]), **options)


def test_case_still_open_at_the_cap_warns_in_a_pull_request_and_stops_a_release():
    pull_request = _after_forty_trials(12)
    release = _after_forty_trials(12, profile="release")

    assert pull_request.ruling is Gate.OPEN
    assert grounds(pull_request, "warning") == {"required_undecided": ("a",)}
    assert pull_request.headline.endswith("; a undecided")
    assert grounds(release, "undecided") == {"required_undecided": ("a",)}


def test_strong_suspicion_at_the_cap_does_not_pass_as_a_warning():
    assert grounds(_after_forty_trials(14), "undecided") == {"required_suspicious": ("a",)}


def test_release_must_show_the_margin():
    few = dict.fromkeys(NAMES, "pppp")

    pull_request, release = ruled(few), ruled(few, profile="release")

    assert pull_request.ruling is Gate.OPEN
    assert "margin_not_shown" in grounds(pull_request, "note")
    assert grounds(release, "undecided") == {"margin_not_shown": ()}
    assert "these trials can prove a margin of 25.0 points" in release.grounds[0].text

    many = dict.fromkeys(NAMES, "p" * 30)
    shown = ruled(many, profile="release")
    assert (shown.ruling, shown.profile) == (Gate.OPEN, "release")


# what else is said


def test_zero_of_n_is_told_as_a_bound_and_never_as_safe():
    ruling = ruled(dict.fromkeys(NAMES, "pppp"))

    (ground,) = [g for g in ruling.grounds if g.kind == "forbidden_none"]
    assert ground.text == (
        "no forbidden action in 12 trials: over this mix of cases their rate is below 22.1 % "
        "at 95 % confidence"
    )


def test_required_case_that_fails_as_before_is_a_warning():
    ruling = ruled({**dict.fromkeys(NAMES, "pppp"), "b": "ffff"}, base={**BASE, "b": "f" * 20})

    assert ruling.ruling is Gate.OPEN
    assert grounds(ruling, "warning") == {"required_failing": ("b",)}


def test_optional_case_that_regressed_is_a_warning():
    names = {f"c{i}": "pppp" for i in range(30)}
    base = dict.fromkeys(names, GOOD) | {"a": GOOD}

    ruling = ruled({**names, "a": "pppp", "c3": "pfff"}, base=base, required=("a",))

    assert ruling.ruling is Gate.OPEN
    assert grounds(ruling, "warning") == {"others_regressed": ("c3",)}
    assert ruling.headline.endswith("; c3 regressed")


def test_loosened_required_set_and_policy_are_told():
    baseline = side(BASE, arm="released", required=NAMES)
    comparison = compare(baseline, side(dict.fromkeys(NAMES, "pppp"), required=("a",)), Policy())

    ruling = rule(comparison, loosened=("margin",))

    assert grounds(ruling, "warning") == {"policy_loosened": (), "required_loosened": ("b", "c")}


@pytest.mark.parametrize(
    ("until", "outcome", "warned"),
    [
        ("2026-01-01", Gate.OPEN, {"quarantined": ("b",), "others_regressed": ("b",)}),
        ("2025-12-31", Gate.CLOSED, {}),  # it had ended when the run began
        (None, Gate.CLOSED, {}),
    ],
)
def test_required_case_in_quarantine_closes_nothing_and_is_named(
    until: str | None, outcome: Gate, warned: dict[str, tuple[str, ...]]
):
    plan = tuple(
        PlannedCase(
            case=case, selected=True, reasons=("required",), required=True, trials=12,
            quarantine=until if case == "b" else None,
        )
        for case in NAMES
    )  # fmt: skip
    trials = {**dict.fromkeys(NAMES, "p" * 12), "b": "f" * 12}
    baseline = side(BASE, arm="released", required=NAMES)

    ruling = rule(compare(baseline, side(trials, required=NAMES, plan=plan), Policy()))

    assert ruling.ruling is outcome
    assert grounds(ruling, "warning") == warned


def test_forbidden_action_of_a_case_in_quarantine_closes_the_gate():
    plan = tuple(
        PlannedCase(
            case=case, selected=True, reasons=("required",), required=True, trials=4,
            quarantine="2026-02-01",
        )
        for case in NAMES
    )  # fmt: skip
    trials = {**dict.fromkeys(NAMES, "pppp"), "b": "xppp"}

    ruling = rule(
        compare(
            side(BASE, arm="released", required=NAMES),
            side(trials, required=NAMES, plan=plan),
            Policy(),
        )
    )

    assert ruling.ruling is Gate.CLOSED


def test_stricter_policy_is_taken_point_by_point():
    base = Policy(profile="release", alpha=0.01, beta=0.1, drop=0.5, margin=0.05, invalid_cap=0.1)
    own = Policy(profile="pr", alpha=0.001, beta=0.05, drop=0.3, margin=0.2, invalid_cap=0.1)

    policy, loosened = stricter(base, own)

    assert policy == Policy(
        profile="release", alpha=0.01, beta=0.05, drop=0.3, margin=0.05, invalid_cap=0.1
    )
    assert loosened == ("profile", "alpha", "margin")
    assert stricter(base, base) == (base, ())


def test_headline_stays_short_with_the_longest_ids():
    names = tuple(f"{'x' * 77}-{i:02d}" for i in range(30))
    candidate = {name: "ffxx"[i % 4] * 4 for i, name in enumerate(names)}

    ruling = ruled(candidate, base=dict.fromkeys((*names, "gone"), GOOD), required=(*names, "gone"))

    assert ruling.ruling is Gate.CLOSED
    assert len(ruling.headline) <= 140
    assert ruling.headline.startswith("Closed: forbidden action in 14 cases; ")


marks = st.text("ppppppfixv", max_size=10)


@settings(deadline=None, max_examples=60)
@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, marks)),
    st.fixed_dictionaries(dict.fromkeys(NAMES, marks)),
    st.sets(st.sampled_from(NAMES)).map(lambda n: tuple(sorted(n))),
    st.sampled_from(["pr", "release"]),
)
def test_an_open_gate_rests_on_evidence_for_every_required_case(base, candidate, required, profile):
    ruling = ruled(candidate, base=base, required=required, profile=profile)

    assert len(ruling.headline) <= 140
    assert (ruling.ruling is Gate.CLOSED) == bool(grounds(ruling, "closed"))
    if any(set(marks) & set("xvX") for marks in candidate.values()):
        assert ruling.ruling is Gate.CLOSED
    if ruling.ruling is Gate.OPEN:
        assert required
        for name in required:
            assert candidate[name].count("p") + candidate[name].count("f") >= 4
    if profile == "release" and ruling.ruling is Gate.OPEN:
        assert ruled(candidate, base=base, required=required, profile="pr").ruling is Gate.OPEN


def test_incomparable_optional_case_is_a_warning():
    ruling = ruled(
        dict.fromkeys(NAMES, "pppp"),
        required=("a", "b"),
        fingerprints={"c": FINGERPRINT | {"checks": "other"}},
    )

    assert ruling.ruling is Gate.OPEN
    assert grounds(ruling, "warning") == {"incomparable": ("c",)}


def test_forbidden_action_of_the_release_in_a_case_that_was_not_run_is_a_warning():
    facts = tuple(CaseFacts(n, agent="helpdesk", required=n != "c") for n in NAMES)

    ruling = ruled(
        {"a": "pppp", "b": "pppp"},
        base={**BASE, "c": "x" + "p" * 19},
        required=("a", "b"),
        cases=facts,
    )

    assert ruling.ruling is Gate.OPEN
    assert grounds(ruling, "warning") == {"forbidden_not_run": ("c",)}
    assert "forbidden_none" in grounds(ruling, "note")


def test_other_conditions_of_the_two_sides_are_told():
    comparison = compare(
        side(BASE, arm="released", required=NAMES),
        side(dict.fromkeys(NAMES, "pppp"), required=NAMES, suite="smoke"),
        Policy(),
    )
    served = ServedModels(baseline=("m-1",), candidate=("m-2",), pinned_alike=True)

    ruling = rule(comparison.model_copy(update={"served": served}))

    assert ruling.ruling is Gate.OPEN
    assert set(grounds(ruling, "warning")) == {"served_model_changed", "baseline_of_another_suite"}


def test_release_without_a_comparable_case_shows_no_margin():
    prints = {n: FINGERPRINT | {"harness": "2"} for n in NAMES}

    ruling = ruled(dict.fromkeys(NAMES, "pppp"), fingerprints=prints, profile="release")

    assert set(grounds(ruling, "undecided")) == {"required_incomparable", "margin_not_shown"}


def test_optional_case_that_was_removed_is_a_note():
    assert grounds(ruled({"a": "pppp", "b": "pppp"}, required=("a", "b")), "note")["removed"] == (
        "c",
    )
