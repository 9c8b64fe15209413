"""The comment: the ruling first, ten cases, the rest folded, within its budget, and nothing in it that acts."""

import re
from dataclasses import replace
from html import unescape

import pytest
from markdown import Markdown
from tests import report_samples

from seatrial.compare import CaseComparison, Tally, Worst
from seatrial.forge import GitHub, Subject, Told, marker, ruled, started, unruled
from seatrial.forge.asking import Api
from seatrial.gate import Ground, RuledChange
from seatrial.records import PolicyChange
from seatrial.report import Evidence
from seatrial.verdicts import Outcome

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SUBJECT = Subject(
    repository="acme/helpdesk", commit=COMMIT, pull_request=7, web="https://github.com/acme/helpdesk"
)  # fmt: skip
RUN = "https://github.com/acme/helpdesk/actions/runs/42"
MARK = marker("seatrial/gate")
GITHUB = GitHub(Api("https://api.github.com", {}), SUBJECT)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    evidence: Evidence = report_samples.evidence(tmp_path_factory.mktemp("runs"))
    cases = [case for case in evidence.worst_first() if evidence.concern(case)]
    return Told(
        ruling=evidence.ruling,
        comparison=evidence.comparison,
        cases=cases,
        commands={case.case: evidence.reproduction(case.case) for case in cases},
        report="https://reports.example.com/pr/7/index.html",
    )


def comment(told: Told) -> str:
    return ruled(told, GITHUB, SUBJECT, MARK, told.report or RUN)


def test_marker_is_first_then_the_ruling_then_its_grounds(told: Told):
    lines = comment(told).splitlines()

    assert lines[0] == "<!-- seatrial seatrial/gate -->"
    assert (
        lines[2] == "## 🔴 Gate closed: 1 required case regressed and 1 forbidden action happened"
    )
    assert lines[4].startswith("- **closed** A forbidden action happened in 1 of 32 trials")


def test_case_has_its_step_check_counts_of_both_sides_link_and_command(told: Told):
    text = comment(told)

    case = text[text.index("**refund-needs-verification**") :]
    assert (
        "(https://reports.example.com/pr/7/case.html?id=refund-needs-verification) regressed"
        in case
    )
    assert "Baseline 4/4, candidate 1/4." in case
    assert "trial 1, turn 1, call 2: tool_order, expected at [" in case
    link = f"https://github.com/acme/helpdesk/blob/{COMMIT}/cases/task/refund-needs-verification.yaml#L14"
    assert f"({link})" in case
    assert "```text\nverify_customer was never called" in case
    assert "```sh\nseatrial run --suite smoke --arm helpdesk-candidate --case refund-needs" in case


def test_commit_that_was_run_stands_beside_the_one_that_it_is_told_of(told: Told):
    text = comment(replace(told, revision="fedcba987654 with uncommitted changes"))

    assert f"Candidate **helpdesk-candidate 1.5.0** for `{COMMIT[:12]}` (suite smoke, run " in text
    assert ", of commit fedcba987654 with uncommitted changes) against **" in text


def test_place_in_a_folder_of_the_repository_is_linked_there(told: Told):
    assert f"/blob/{COMMIT}/agents/desk/cases/task/" in comment(replace(told, folder="agents/desk"))


def test_without_a_report_the_run_is_linked_and_cases_are_not(told: Told):
    text = comment(replace(told, report=""))

    assert f"[The run]({RUN})" in text
    assert "case.html" not in text


def test_ten_cases_are_told_and_the_rest_is_folded(told: Told):
    text = comment(_many(told, 25))

    shown, folded = text.split("<details>")
    assert len(re.findall(r"(?m)^\[\*\*bad-", shown)) == 10
    assert "<summary>15 more to look at</summary>" in folded
    assert len(re.findall(r"(?m)^\| bad-", folded)) == 15
    assert "left out" not in text


@pytest.mark.parametrize("count", [5, 60, 5_000])
def test_comment_stays_in_its_budget_and_says_what_it_left_out(told: Told, count: int):
    long = "🙂 <script> @octocat " * 400
    many = _many(told, count, reason=long, sentence=long)
    grounds = [Ground(kind="k", effect="closed", text=long)] * 300
    many = replace(many, ruling=many.ruling.model_copy(update={"grounds": tuple(grounds)}))

    text = comment(many)

    assert len(text.encode()) <= GITHUB.comment_bytes
    assert re.search(r"- \d+ more grounds are left out here", text)
    told_of = len(re.findall(r"(?m)^\[\*\*bad-", text)) + len(re.findall(r"(?m)^\| bad-", text))
    left_out = re.search(r"(\d+) cases to look at are left out here", text)
    assert told_of + (int(left_out[1]) if left_out else 0) == count


def test_what_the_change_would_loosen_stands_below_the_grounds_and_fits_as_well(told: Told):
    change = PolicyChange(
        id="1", kind="gate_loosened", subject="suite full", old="0.05", new="0.2",
        text=f"the margin is wider {report_samples.HOSTILE}",
    )  # fmt: skip
    ruled_changes = (RuledChange(change=change), RuledChange(change=change, approved_by="rita"))
    ruling = told.ruling.model_copy(update={"policy_changes": ruled_changes * 500})

    text = comment(replace(_many(told, 25), ruling=ruling))

    section = unescape(text.partition("### Policy changes")[2].partition("###")[0])
    assert "(0.05 → 0.2): not approved" in section
    assert "approved by rita" in section
    assert re.search(r"- \d+ more policy changes are left out here: `seatrial gate`", section)
    assert not re.search(r"@\w|(?<!&)#\d|-->|<script", text.removeprefix(MARK))
    assert len(re.findall(r"(?m)^\[\*\*bad-", text)) == 10
    assert len(text.encode()) <= GITHUB.comment_bytes


def test_nothing_in_it_mentions_links_shows_or_ends_anything(told: Told):
    hostile = _many(
        told, 12, reason=report_samples.HOSTILE, sentence=report_samples.HOSTILE,
        check=report_samples.HOSTILE, place=f"cases/a)[x](y {report_samples.HOSTILE}.yaml:3:5",
    )  # fmt: skip

    for text in (comment(told), comment(hostile)):
        inner = text.removeprefix(MARK)
        assert not re.search(r"@\w|(?<!&)#\d|-->", inner)
        outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", inner)
        assert "<!--" not in outside
        assert set(re.findall(r"<(/?\w+)", outside)) <= {
            "details",
            "/details",
            "summary",
            "/summary",
        }
        rendered = Markdown(extensions=["tables", "fenced_code"]).convert(outside)
        assert not re.search(r"<(img|script|h[3-6])\b(?!>To look at)", rendered)
        targets = re.findall(r'href="([^"]*)"', rendered)
        assert targets
        for target in targets:
            assert target.startswith(("https://reports.example.com/pr/7/", SUBJECT.web)), target


@pytest.mark.parametrize("place", ["../../etc/passwd:1:1", "/etc/passwd:1:1", "recorded", ""])
def test_place_outside_of_the_repository_is_no_link(told: Told, place: str):
    assert "/blob/" not in comment(_many(told, 1, place=place))


def test_case_without_a_failing_trial_is_told_by_its_sentence(told: Told):
    case = CaseComparison(case="gone", outcome=Outcome.REMOVED, required=True, sentence="Removed.")

    assert ") removed, required: Removed.\n\nBaseline –, candidate –." in comment(
        replace(told, cases=[case])
    )


def test_ruling_alone_is_told_with_its_grounds(told: Told):
    text = comment(Told(ruling=told.ruling))

    assert text.splitlines()[2].startswith("## 🔴 Gate closed")
    assert f"For `{COMMIT[:12]}`." in text


def test_before_and_without_a_ruling_there_is_no_word_of_one(told: Told):
    first = started(SUBJECT, MARK, RUN)
    last = unruled(SUBJECT, MARK, "`seatrial run` ended with exit code 4 @octocat", RUN)

    assert first.startswith(f"{MARK}\n\n## ⏳ Gate: trials are running\n")
    assert last.startswith(f"{MARK}\n\n## ⚪ No ruling\n")
    assert "@octocat" not in last
    for text in (first, last):
        assert f"]({RUN})" in text
        assert not re.search("open|closed|passed", text)


def test_name_of_a_status_cannot_end_the_marker():
    made = marker("a --> <b> @octocat --!> \u202e")

    assert made.count(">") == made.count("<") == 1
    assert made.isascii()
    assert marker("x") != marker("y")


def _many(told: Told, count: int, **worst: str) -> Told:
    sentence = worst.pop("sentence", "passed 0 of 4, the release 12 of 12")
    fields = {"check": "tool_order", "reason": "never", "place": "cases/a.yaml:3:5"} | worst
    cases = [
        CaseComparison(
            case=f"bad-{number}", outcome=Outcome.REGRESSED, required=True, sentence=sentence,
            baseline=Tally(passed=12, valid=12), candidate=Tally(passed=0, valid=4),
            worst=Worst(trial=1, turn=1, call=2, **fields),
        )
        for number in range(count)
    ]  # fmt: skip
    commands = {case.case: "seatrial run --case bad" for case in cases}
    return replace(told, cases=cases, commands=commands)


def test_policy_changes_are_told_with_both_values_both_places_and_who_approved_them(told: Told):
    change = PolicyChange(
        id="1", kind="gate_loosened", subject="suite full", path="gate.margin", old="0.05", new="0.2",
        old_place="suites/full.yaml:9:3", new_place="suites/full.yaml:11:3",
        text="suite full: `margin` of the gate is 0.2 @everyone",
    )  # fmt: skip
    waiting = RuledChange(
        change=change, refused=("the approval of ann does not count: it is hers",)
    )
    passed = RuledChange(change=change, approved_by="rita", reason="it is noisy")
    ruling = told.ruling.model_copy(update={"policy_changes": (waiting, passed)})

    text = comment(replace(told, ruling=ruling))

    section = unescape(text.partition("### Policy changes")[2].partition("\n\nCandidate")[0])
    assert "0.05 → 0.2; suites/full.yaml:9:3 → suites/full.yaml:11:3" in section
    assert "not approved; the approval of ann does not count" in section
    assert "approved by rita: it is noisy" in section
    assert "@everyone" not in section
    many = told.ruling.model_copy(update={"policy_changes": (waiting,) * 900})
    told_all = comment(replace(told, ruling=many))
    assert "more policy changes are left out here" in told_all
    assert len(told_all.encode()) <= GITHUB.comment_bytes


def test_release_whose_gate_was_not_open_is_shown_as_such(told: Told):
    assert told.comparison is not None
    assert told.comparison.baseline is not None
    baseline = told.comparison.baseline.model_copy(update={"override": "in a hurry"})
    comparison = told.comparison.model_copy(update={"baseline": baseline})

    text = unescape(comment(replace(told, comparison=comparison)))

    assert "though its gate was not open: in a hurry" in text
