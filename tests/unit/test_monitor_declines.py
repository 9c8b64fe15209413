"""Runs held against the release: what counts, what is called a decline, and when it began."""

from dataclasses import replace

import pytest
from tests.sides import FINGERPRINT, side

from seatrial.monitor import Night, night, watch
from seatrial.records import PlannedCase

RELEASE = side(
    {"a": "p" * 20, "b": "p" * 20, "c": "p" * 15 + "f" * 5}, arm="released", required=("a", "b")
)


def nights(*marks, case="a", others="pppp"):
    """A run for each text of marks of one case; the other cases pass as before."""
    found = []
    for number, text in enumerate(marks):
        rows = {c: text if c == case else others for c in ("a", "b", "c")}
        tallies = {c: (row.count("p"), len(row)) for c, row in rows.items()}
        found.append(Night(run=f"run-{number:03}", revision=f"commit-{number}", tallies=tallies))
    return found


def test_case_that_was_stopped_at_a_forbidden_action_is_left_out_of_its_run_and_named():
    plan = tuple(PlannedCase(case=c, selected=True, reasons=(), trials=4) for c in "ab")

    found = night(RELEASE, side({"a": "px", "b": "pppp"}, plan=plan))

    assert found.tallies == {"b": (4, 4)}
    assert found.cut_short == ("a",)


def test_steady_runs_show_no_decline():
    result = watch(RELEASE, nights(*["pppp"] * 40))

    assert result.declines == ()
    assert {case.case: (case.runs.passed, case.runs.trials) for case in result.cases} == {
        "a": (160, 160), "b": (160, 160), "c": (160, 160),
    }  # fmt: skip
    assert {case.case for case in result.cases if case.required} == {"a", "b"}
    assert result.needed_case == pytest.approx(2 * 3 / 0.05)
    assert result.needed_suite == pytest.approx(40)


def test_a_slow_decline_is_told_with_the_runs_it_began_with_and_their_commits():
    steady, fallen = ["pppp"] * 30, ["pppf", "ppfp", "pppp", "pffp"] * 5

    result = watch(RELEASE, nights(*steady, *fallen))

    (decline,) = [d for d in result.declines if d.case]
    assert decline.case == "a"
    assert decline.evidence > decline.needed
    assert decline.first <= 30 <= decline.last
    assert decline.last - decline.first < 10
    assert decline.good == f"commit-{decline.first - 1}"
    assert decline.bad == f"commit-{decline.last}"
    assert decline.noticed > "run-030"
    assert (decline.release.passed, decline.release.trials) == (20, 20)
    assert decline.before.passed == decline.before.trials
    assert decline.since.passed < decline.since.trials
    assert result.cases[0].case == "a"


def test_what_was_wrong_from_the_first_run_on_began_after_the_release():
    released = replace(
        RELEASE, manifest=RELEASE.manifest.model_copy(update={"revision": "released-commit"})
    )

    result = watch(released, nights(*["ffpf"] * 8))

    decline = next(d for d in result.declines if d.case == "a")
    assert (decline.first, decline.good) == (0, "released-commit")


def test_decline_that_was_mended_since_is_still_told_with_its_own_runs():
    result = watch(RELEASE, nights(*["pppp"] * 20, *["fffp"] * 6, *["pppp"] * 60))

    decline = next(d for d in result.declines if d.case == "a")
    assert decline.first <= 20 <= decline.last <= 21
    assert decline.since.trials <= 6 * 4
    assert decline.noticed <= "run-025"


def test_all_cases_a_little_worse_is_a_decline_of_the_suite():
    weaker = ["pppp", "pppf"] * 12

    result = watch(RELEASE, nights(*weaker, others="pppf"))

    suite = result.declines[0]
    assert (suite.case, suite.needed) == ("", 40)
    assert suite.release.trials == 60
    assert result.suite_evidence > 40


def test_smaller_alpha_asks_for_more_evidence():
    fallen = nights(*["pppp"] * 30, *["pppf", "ppfp"] * 4)

    assert watch(RELEASE, fallen, alpha=0.2).declines
    assert not watch(RELEASE, fallen, alpha=1e-6).declines


def test_run_counts_only_its_first_batch_and_no_invalid_trial():
    from tests.sides import planned

    late = side({"a": "ppfi" + "p" * 6, "b": "iiii"})
    plan = tuple(
        p.model_copy(update={"trials": 4}) for p in planned({"a": "pppp", "b": "pppp"}, late.cases)
    )
    late = replace(late, manifest=late.manifest.model_copy(update={"plan": plan}))

    found = night(RELEASE, late)

    assert found.tallies == {"a": (2, 3)}
    assert (found.run, found.version) == ("run-candidate", "1.0")


def test_case_that_is_not_what_it_was_at_the_release_is_left_out_by_name():
    changed = {"b": {**FINGERPRINT, "world": "other"}}

    found = night(RELEASE, side({"a": "pppp", "b": "ffff"}, fingerprints=changed))

    assert (found.tallies, found.apart) == ({"a": (4, 4)}, {"b": "world"})


def test_runs_without_any_comparable_trial_say_nothing():
    result = watch(RELEASE, [Night(run="r", apart={"a": "world"})])

    assert (result.cases, result.declines, result.suite_evidence) == ((), (), 1.0)
