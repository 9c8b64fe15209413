"""The comparison as JUnit XML, read back by the standard library."""

from xml.etree import ElementTree

import pytest
from tests import report_samples
from tests.report_samples import REFUND

from seatrial.compare import Comparison
from seatrial.gate import Ruling
from seatrial.report import Evidence, junit
from seatrial.verdicts import Gate, Outcome


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return report_samples.evidence(tmp_path_factory.mktemp("runs"))


def test_suite_counts_what_failed_and_what_could_not_be_told(evidence: Evidence):
    suite = _suite(evidence)

    assert suite.get("name") == "smoke"
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "9", "failures": "3", "errors": "1", "skipped": "1"}


def test_each_case_has_its_group_and_place(evidence: Evidence):
    case = _case(evidence, "order-status")

    assert case.get("classname") == "task"
    assert case.get("file") == "cases/task/order-status.yaml"
    assert case.get("line") == "2"
    assert list(case) == []


def test_regressed_case_fails_at_the_expectation_that_broke(evidence: Evidence):
    case = _case(evidence, REFUND.id)

    (failure,) = case
    assert (failure.tag, failure.get("type")) == ("failure", "regressed")
    assert case.get("line") == "14"
    assert "trial 1, turn 1, call 2: tool_order: verify_customer was never called" in (
        failure.text or ""
    )
    assert "seatrial run --suite smoke --arm helpdesk-candidate --case" in (failure.text or "")


def test_new_required_case_that_failed_is_to_be_looked_at(evidence: Evidence):
    old = next(case for case in evidence.comparison.cases if case.outcome is Outcome.NEW)
    new = old.model_copy(
        update={"required": True, "candidate": report_samples.tally(0, 2), "sentence": "0 of 2."}
    )

    assert evidence.concern(old) is None
    assert evidence.concern(new) == "unclear"


@pytest.mark.parametrize(
    ("name", "tag", "kind"),
    [
        ("embedded-instruction", "failure", "forbidden"),
        ("gift-card", "error", "undecided"),
        ("invoice-copy", "skipped", "carried"),
        ("ruling", "failure", "closed"),
    ],
)
def test_outcome_is_told_in_words_of_junit(evidence: Evidence, name: str, tag: str, kind: str):
    (result,) = _case(evidence, name)

    assert (result.tag, result.get("type")) == (tag, kind)


def test_case_without_a_valid_trial_is_an_error_though_it_is_not_required(evidence: Evidence):
    case = next(c for c in evidence.comparison.cases if c.case == "which-order")
    broken = case.model_copy(update={"candidate": report_samples.tally(0, 0, invalid=4)})
    changed = evidence.comparison.model_copy(update={"cases": (broken,)})

    (result,) = _case(_with(evidence, comparison=changed), "which-order")

    assert (result.tag, result.get("type")) == ("error", "invalid")


def test_case_of_which_nothing_was_run_is_no_success(evidence: Evidence):
    """It is new and not required: nothing is to be looked at, and nothing was shown either."""
    case = next(c for c in evidence.comparison.cases if c.outcome is Outcome.NEW)
    missing = case.model_copy(update={"candidate": None, "sentence": "New: it was not run."})
    changed = evidence.comparison.model_copy(update={"cases": (missing,)})

    (result,) = _case(_with(evidence, comparison=changed), case.case)

    assert (result.tag, result.get("type")) == ("skipped", "not run")
    assert result.get("message") == "New: it was not run."


@pytest.mark.parametrize(
    ("gate", "tags"), [(Gate.OPEN, []), (Gate.UNDECIDED, ["error"]), (Gate.CLOSED, ["failure"])]
)
def test_ruling_is_a_test_of_its_own(evidence: Evidence, gate: Gate, tags: list[str]):
    ruled = _with(evidence, ruling=Ruling(ruling=gate, headline="As ruled"))

    assert [result.tag for result in _case(ruled, "ruling")] == tags


def test_hostile_text_is_text_and_nothing_unseen_is_left_in_it(evidence: Evidence):
    (failure,) = _case(evidence, "embedded-instruction")

    assert "<script>globalThis.pwned=1</script>" in (failure.text or "")
    assert "⟨U+001B⟩[31mred" in (failure.text or "")
    assert "\x1b" not in junit(evidence).decode()


def _with(
    evidence: Evidence, *, comparison: Comparison | None = None, ruling: Ruling | None = None
) -> Evidence:
    return Evidence(
        comparison=comparison or evidence.comparison,
        ruling=ruling or evidence.ruling,
        candidate=evidence.runs["candidate"],
        baseline=evidence.runs["baseline"],
    )


def _suite(evidence: Evidence) -> ElementTree.Element:
    (suite,) = ElementTree.fromstring(junit(evidence))
    return suite


def _case(evidence: Evidence, name: str) -> ElementTree.Element:
    return next(case for case in _suite(evidence).iter("testcase") if case.get("name") == name)
