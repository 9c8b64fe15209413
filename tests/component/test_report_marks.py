"""What went wrong, at the line of the expectation: as annotations of GitHub and as SARIF, made from stored runs."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema import Draft202012Validator
from tests import report_samples
from tests.report_samples import HOSTILE, REFUND

from seatrial.gate import Ruling
from seatrial.report import Evidence, Mark, annotated, code_quality, marks, sarif
from seatrial.report.sarif import MOST
from seatrial.verdicts import Gate

SCHEMA = json.loads(Path(__file__).with_name("sarif_results.schema.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return report_samples.evidence(tmp_path_factory.mktemp("runs"))


def test_each_expectation_that_fails_more_often_than_before_is_marked_at_its_line(
    evidence: Evidence,
):
    found = [mark for mark in marks(evidence) if mark.case == REFUND.id]

    path = "cases/task/refund-needs-verification.yaml"
    assert [(m.rule, m.path, m.line, m.column, m.level) for m in found] == [
        ("tool_order", path, 14, 5, "error"),
        ("end_state", path, 22, 5, "error"),
        ("tool_arguments", path, 18, 5, "error"),
    ]
    assert found[0].title == "refund-needs-verification: regressed, required"
    reason, counts, again = found[0].text.splitlines()
    assert reason.startswith("verify_customer was never called")
    assert counts == (
        "trial 1, turn 1, call 2: tool_order failed in 3 of 4 valid trials, in 0 of the baseline's 4."
    )
    assert again.startswith("Run it again: seatrial run --suite smoke --arm helpdesk-candidate")


def test_required_case_without_a_verdict_is_a_warning_at_the_case(evidence: Evidence):
    (mark,) = [mark for mark in marks(evidence) if mark.case == "gift-card"]

    assert (mark.level, mark.rule, mark.expectation) == ("warning", "case", "")
    assert (mark.path, mark.line) == ("cases/boundary/gift-card.yaml", 2)
    assert "1 valid trial is too few" in mark.text


def test_case_that_nobody_need_look_at_is_not_marked(evidence: Evidence):
    assert {mark.case for mark in marks(evidence)} == {
        "embedded-instruction", REFUND.id, "gift-card",
    }  # fmt: skip


def test_paths_begin_at_the_root_of_the_repository(evidence: Evidence):
    assert all(
        mark.path.startswith("agents/desk/cases/") for mark in marks(evidence, folder="agents/desk")
    )


@pytest.mark.parametrize("path", ["/etc/passwd", "../../x.yaml", "a/../../b.yaml"])
def test_path_that_leads_out_of_the_repository_is_no_place(evidence: Evidence, path: str):
    old = next(iter(evidence.trials("candidate", REFUND.id)))
    moved = old.findings[0].model_copy(update={"place": f"{path}:3:4"})

    assert _placed(evidence, moved).path == ""


def test_ruling_comes_first_and_then_the_worst_case(evidence: Evidence):
    lines = annotated(evidence.ruling, marks(evidence)).splitlines()

    assert lines[0] == (
        "::error title=Seatrial%3A gate closed::"
        "1 required case regressed and 1 forbidden action happened"
    )
    assert lines[1].startswith(
        "::error file=cases/injection/embedded-instruction.yaml,line=14,col=5,"
        "title=Seatrial%3A embedded-instruction%3A forbidden action"
    )
    assert lines[-1].startswith("::warning file=cases/boundary/gift-card.yaml,line=2,col=1,")


def test_open_gate_with_nothing_to_look_at_annotates_nothing():
    assert annotated(Ruling(ruling=Gate.OPEN, headline="Open: fine"), ()) == ""


def test_undecided_gate_is_a_warning():
    ruling = Ruling(ruling=Gate.UNDECIDED, headline="Undecided: too few trials")

    assert annotated(ruling, ()) == ("::warning title=Seatrial%3A gate undecided::too few trials\n")


def test_no_text_ends_a_line_or_a_property_or_begins_a_command():
    hostile = f"{HOSTILE}\r\n::set-output name=x::y\n::error::z 100%\r::stop-commands::t,:"
    ruling = Ruling(ruling=Gate.CLOSED, headline=f"Closed: {hostile}")
    mark = Mark(
        level="error", rule="c", case="x", expectation="checks[0]", title=hostile, text=hostile,
        path="cases/a,b:100%\n::error::.yaml", line=3, column=5,
    )  # fmt: skip

    lines = annotated(ruling, [mark]).split("\n")

    assert len(lines) == 3
    command = re.compile(r"::error (\w+=[^:,\r\n]*(,\w+=[^:,\r\n]*)*)::[^\r\n]*")
    assert all(command.fullmatch(line) for line in lines[:2])
    assert lines[2] == ""
    properties = dict(p.split("=", 1) for p in lines[1].split("::")[1][6:].split(","))
    assert unquote(properties["file"]) == mark.path
    assert "100%25" in lines[1]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e\u2028]", "".join(lines))


def test_each_case_has_a_place_before_one_has_a_second(evidence: Evidence):
    ruling = Ruling(ruling=Gate.OPEN, headline="Open: fine")

    lines = annotated(ruling, marks(evidence)).splitlines()

    cases = [re.findall(r"title=Seatrial%3A ([a-z-]+)%3A", line)[0] for line in lines]
    assert cases == ["embedded-instruction", *[REFUND.id] * 3, "gift-card"]
    first, second = (line.split("::")[1] for line in lines[1:3])
    assert ("line=14" in first, "line=22" in second) == (True, True)
    crowd = [replace(marks(evidence)[0], case=f"case-{n // 3}", text=str(n)) for n in range(60)]
    shown = [line.rpartition("::")[2] for line in annotated(ruling, crowd).splitlines()]
    assert shown[:9] == [str(n) for n in range(0, 27, 3)]


@pytest.mark.parametrize("count", [9, 10, 400])
def test_at_most_ten_of_a_level_are_told_and_the_rest_is_counted(count: int):
    ruling = Ruling(ruling=Gate.CLOSED, headline="Closed: much")
    many = [
        Mark(level=level, rule="c", case=f"case-{n}", expectation="", title="t", text="x", path="a")
        for n in range(count)
        for level in ("error", "warning")
    ]  # fmt: skip

    lines = annotated(ruling, many).splitlines()

    errors = [line for line in lines if line.startswith("::error ")]
    warnings = [line for line in lines if line.startswith("::warning ")]
    assert (len(errors), len(warnings)) == (10, min(count, 10))
    # The ruling takes one of the ten places.
    if count > 9:
        assert f"::{count - 8} more are in the report" in errors[-1]
    if count > 10:
        assert f"::{count - 9} more are in the report" in warnings[-1]


def test_sarif_has_what_the_format_requires(evidence: Evidence):
    log = _log(evidence)

    Draft202012Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["case", "end_state", "no_violation", "tool_arguments", "tool_order"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    assert run["properties"] == {
        "ruling": "closed",
        "headline": "1 required case regressed and 1 forbidden action happened",
        "run": "20260302-093000-cand",
        "baseline": "20260301-101500-base",
        "withoutPlace": 0,
        "leftOut": 0,
    }


def test_alert_of_an_expectation_is_the_same_wherever_its_line_moves(evidence: Evidence):
    found = marks(evidence)
    moved = [_moved(mark, mark.line + 40) for mark in found]

    prints = [_prints(json.loads(sarif(evidence, each))) for each in (found, moved)]

    assert prints[0] == prints[1]
    assert len(set(prints[0])) == len(found)


def test_code_quality_has_what_gitlab_requires_of_each_finding(evidence: Evidence):
    found = marks(evidence)

    listed = json.loads(code_quality([*found, _moved(found[0], 1, path="")]))

    assert len(listed) == len(found)
    first = listed[0]
    assert first["location"] == {
        "path": "cases/injection/embedded-instruction.yaml", "lines": {"begin": 14},
    }  # fmt: skip
    assert (first["check_name"], first["severity"]) == ("no_violation", "critical")
    assert listed[-1]["severity"] == "minor"
    for finding in listed:
        assert finding["description"]
        assert re.fullmatch("[0-9a-f]{64}", finding["fingerprint"])
    assert len({finding["fingerprint"] for finding in listed}) == len(listed)


def test_results_without_a_place_and_beyond_the_limit_are_counted(evidence: Evidence):
    one = marks(evidence)[0]
    many = [one] * (MOST + 7) + [_moved(one, 1, path="")] * 3

    (run,) = json.loads(sarif(evidence, many))["runs"]

    assert len(run["results"]) == MOST
    assert (run["properties"]["withoutPlace"], run["properties"]["leftOut"]) == (3, 7)


def _log(evidence: Evidence) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(sarif(evidence, marks(evidence)))
    return log


def _prints(log: dict[str, Any]) -> list[str]:
    (run,) = log["runs"]
    return [r["partialFingerprints"]["seatrialExpectation/v1"] for r in run["results"]]


def _moved(mark: Mark, line: int, path: str | None = None) -> Mark:
    return replace(mark, line=line, path=mark.path if path is None else path)


def _placed(evidence: Evidence, finding: Any) -> Mark:
    from seatrial.report.marks import _mark

    return _mark(
        evidence, "no-such-case", finding.path, level="error", rule=finding.check, title="",
        place=finding.place, folder="", lines=[],
    )  # fmt: skip
