"""The Markdown summary: bounded, the ruling first, and nothing in it that a forge would act on."""

import copy
import re
from html import unescape

import pytest
from markdown import Markdown
from tests import report_samples

from seatrial.compare import CaseComparison
from seatrial.gate import RuledChange
from seatrial.records import PolicyChange
from seatrial.report import Evidence, summary
from seatrial.report.summary import BUDGET
from seatrial.verdicts import Outcome


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return report_samples.evidence(tmp_path_factory.mktemp("runs"))


def test_ruling_comes_first_with_its_grounds(evidence: Evidence):
    lines = summary(evidence).splitlines()

    assert (
        lines[0] == "## 🔴 Gate closed: 1 required case regressed and 1 forbidden action happened"
    )
    assert lines[2].startswith("- **closed** A forbidden action happened in 1 of 32 trials")
    assert "- **undecided** 1 required case has no verdict: 3 of its 4 trials are invalid." in lines


def test_case_that_no_mean_counts_is_named(evidence: Evidence):
    left_out = "Left out of means, not run to the end of the first batch: embedded-instruction."
    assert left_out in summary(evidence)


def test_case_to_look_at_says_where_it_went_wrong_and_how_to_run_it_again(evidence: Evidence):
    text = summary(evidence)

    case = text[text.index("<b>refund-needs-verification</b>") :]
    assert "trial 1, turn 1, call 2, tool_order — expected at cases/task/" in case
    assert "Baseline 4/4 (65–100 %), the release beside it 6/6 (65–100 %), candidate 1/4 " in case
    assert "2 added" in case
    assert "```text\nverify_customer was never called" in case
    assert (
        "```sh\nseatrial run --suite smoke --arm helpdesk-candidate --case refund-needs-verification"
        " --seed 7 --trials 4\n```"
    ) in case


def test_cases_to_look_at_come_before_the_table_of_the_others(evidence: Evidence):
    text = summary(evidence)

    order = [
        "embedded-instruction",
        "refund-needs-verification",
        "gift-card",
        "4 other cases",
        "close-ticket",
    ]
    places = [text.index(name, text.index("### To look at")) for name in order]
    assert places == sorted(places)
    assert "1 case is carried, not touched by this change." in text


def test_nothing_in_it_mentions_links_shows_or_ends_anything(evidence: Evidence):
    text = summary(evidence)

    assert not re.search(r"@\w|(?<!&)#\d|-->", text)
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", text)
    assert set(re.findall(r"<(/?\w+)", outside)) == {
        "details",
        "/details",
        "summary",
        "/summary",
        "b",
        "/b",
    }
    assert not re.search(r"\]\(|://|^ {0,3}#{3,6} (?!To look at)", outside, re.MULTILINE)
    rendered = Markdown(extensions=["tables", "fenced_code"]).convert(outside)
    assert not re.search(r"<(a|img|script|h[3-6])\b(?!>To look at)", rendered)


def test_summary_stays_in_its_budget_and_says_what_it_left_out(evidence: Evidence):
    many = _many(evidence, 4_000)

    text = summary(many)

    assert len(text.encode()) <= BUDGET
    assert re.search(r"\d more cases to look at do not fit here", text)
    told, left_out = (
        text.count("<summary><b>"),
        re.search(r"(\d+) more cases to look", text),
    )
    assert left_out
    assert told + int(left_out[1]) == 4_000
    assert "rows do not fit here" in text


@pytest.mark.parametrize("budget", [5_000, 65_000])
def test_smaller_budget_is_kept_as_well(evidence: Evidence, budget: int):
    text = summary(_many(evidence, 500), budget=budget)

    assert len(text.encode()) <= budget
    assert text.startswith("## 🔴 Gate closed")


def test_policy_changes_stand_below_the_grounds_and_fit_as_well(evidence: Evidence):
    change = PolicyChange(
        id="1", kind="gate_loosened", subject="suite full", old="0.05", new="0.2", text="the margin is *wider*"
    )  # fmt: skip
    ruled = (RuledChange(change=change), RuledChange(change=change, approved_by="rita"))
    ruling = evidence.ruling.model_copy(update={"policy_changes": ruled * 500})
    with_changes = copy.copy(evidence)
    with_changes.ruling = ruling

    text = summary(with_changes, budget=20_000)

    section = unescape(text.partition("### Policy changes")[2])
    assert "the margin is *wider* (0.05 → 0.2): not approved" in section
    assert "approved by rita" in section
    assert "more policy changes" in section
    assert len(text.encode()) <= 20_000


def test_release_whose_gate_was_not_open_is_shown_as_such(evidence: Evidence):
    assert evidence.comparison.baseline is not None
    baseline = evidence.comparison.baseline.model_copy(update={"override": "in a hurry"})
    hurried = copy.copy(evidence)
    hurried.comparison = evidence.comparison.model_copy(update={"baseline": baseline})

    assert "though its gate was not open: in a hurry" in unescape(summary(hurried))


def _many(evidence: Evidence, count: int) -> Evidence:
    """As many regressed cases, and as many undecided ones."""
    model = next(c for c in evidence.comparison.cases if c.case == "embedded-instruction")
    cases: list[CaseComparison] = []
    for number in range(count):
        cases.append(
            model.model_copy(update={"case": f"bad-{number}", "outcome": Outcome.REGRESSED})
        )
        cases.append(
            CaseComparison(
                case=f"open-{number}", outcome=Outcome.UNDECIDED, sentence="More trials are needed."
            )
        )
    return Evidence(
        comparison=evidence.comparison.model_copy(update={"cases": tuple(cases)}),
        ruling=evidence.ruling,
        candidate=evidence.runs["candidate"],
        baseline=evidence.runs["baseline"],
    )
