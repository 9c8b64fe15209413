"""Trials in which something goes wrong on purpose: an agent that gives up fails, and no trial is invalid for it."""

from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop, shop_trials

from seatrial import checks
from seatrial.documents import Answers, Catalog
from seatrial.records import TrialRecord
from seatrial.trace import Called, Noted, Trace
from seatrial.verdicts import Cause, Verdict

AGENTS = """\
import threading

never = threading.Event()


def retries(text, seat):
    for _ in range(5):
        found = seat.call("get_bike", bike="b-1")
        if not found.is_error:
            break
    renter = text.split()[2].rstrip(".")
    return seat.call("rent", bike="b-1", renter=renter).text


def raises(text, seat):
    found = seat.call("get_bike", bike="b-1")
    if found.is_error:
        raise RuntimeError("the tool is broken")
    return "fine"


def hangs(text, seat):
    if seat.call("get_bike", bike="b-1").is_error:
        never.wait(20)
    return "fine"


def waits(text, seat):
    seat.call("get_bike", bike="b-1")
    return "fine"


def raises_first(text, seat):
    raise RuntimeError("no model")
"""


def trial(
    tmp_path: Path, agent: str, entry: dict[str, Any], **case: Any
) -> tuple[TrialRecord, Trace]:
    (tmp_path / "fault_agents.py").write_text(AGENTS, encoding="utf-8")
    answers = Answers.model_validate(
        {"kind": "fixture", "type": "answers", "id": "storm", "tools": {"get_bike": entry}}
    )
    shop = bike_shop.catalog(
        bike_shop.case(answers="storm", **case),
        bike_shop.arm(agent, {"type": "python", "target": f"fault_agents:{agent}"}),
    )
    catalog = Catalog(
        cases=shop.cases,
        suites=shop.suites,
        arms=shop.arms,
        fixtures={**shop.fixtures, "storm": answers},
        sources=shop.sources,
    )
    ((record, trace),) = shop_trials.carried_out(tmp_path, catalog)
    again = checks.verdict(record.findings, trace)
    assert again[0] == record.verdict  # graded again from the store it comes to the same
    return record, trace


def test_an_agent_that_bears_what_goes_wrong_passes(tmp_path: Path):
    entry = {"pass_through": True, "fail": {"calls": [1, 2], "message": "busy"}, "delay_ms": 1}

    record, trace = trial(tmp_path, "retries", entry)

    assert record.verdict == Verdict.PASSED
    calls = [call for call in trace.calls if call.tool == "get_bike"]
    assert [(c.answered_by, c.rule, c.fault, c.waited_ms) for c in calls] == [
        ("mock", "pass_through", "fail", 1),
        ("mock", "pass_through", "fail", 1),
        ("world", "pass_through", None, 1),
    ]


@pytest.mark.parametrize(
    "entry",
    [
        {"fail": "busy"},
        {"answer": "x", "broken": {"how": "html"}, "fail": {"calls": [1]}},
        {"wire": "dropped"},
    ],
)
def test_an_agent_that_breaks_down_after_a_fault_has_failed(tmp_path: Path, entry: dict[str, Any]):
    record, trace = trial(tmp_path, "raises", entry)

    assert (record.verdict, record.cause, trace.ended) == (Verdict.FAILED, None, "gave_up")
    (found,) = (finding for finding in record.findings if finding.check == "gave_up")
    assert found.reason.startswith(
        "the agent gave up after a call that went wrong on purpose (get_bike: "
    )
    assert "): the agent fault_agents:raises raised" in found.reason
    assert (found.call, found.turn) == (1, 1)
    notes = [event.text for event in trace.events if isinstance(event, Noted)]
    assert any("the agent gave up: the agent fault_agents:raises raised" in note for note in notes)


def test_an_agent_that_hangs_after_a_fault_has_failed(tmp_path: Path):
    record, trace = trial(tmp_path, "hangs", {"fail": "busy"}, limits={"turn_seconds": 0.3})

    assert (record.verdict, trace.ended) == (Verdict.FAILED, "gave_up")


def test_an_agent_that_waits_longer_than_its_trial_has_failed_and_the_wait_is_in_the_record(
    tmp_path: Path,
):
    entry = {"answer": "x", "delay_ms": 60_000}

    record, trace = trial(tmp_path, "waits", entry, limits={"turn_seconds": 0.3})

    assert (record.verdict, trace.ended) == (Verdict.FAILED, "gave_up")
    (call,) = (event for event in trace.events if isinstance(event, Called))
    assert (call.fault, call.rule) == ("delay", "answer")


def test_an_agent_that_breaks_down_without_a_fault_is_no_failure(tmp_path: Path):
    entry = {"answer": "x", "fail": {"calls": [9]}}

    record, trace = trial(tmp_path, "raises_first", entry)

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.AGENT_UNREACHABLE)
    assert trace.ended == "broken"
