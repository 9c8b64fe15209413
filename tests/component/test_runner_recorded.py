"""The runner with a recorded arm: nothing is executed, everything is graded and stored like any trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests import bike_shop

from seatrial import plan, runner, store
from seatrial.errors import InvalidDocuments
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.trace import Trace
from seatrial.verdicts import Cause, Verdict

RENTED = [
    {"what": "changed", "type": "bike", "key": "b-1", "property": "status", "old": "free",
     "new": "rented"},
    {"what": "changed", "type": "bike", "key": "b-1", "property": "renter", "old": None,
     "new": "ada"},
]  # fmt: skip


def recording(number: int = 1, tool: str = "rent", **changed: Any) -> dict[str, Any]:
    arguments = json.dumps({"bike": "b-1", "renter": "ada"})
    called = {"id": "c", "type": "function", "function": {"name": tool, "arguments": arguments}}
    return {
        "case": "rent-a-bike",
        "trial": number,
        "messages": [
            {"role": "user", "content": "I am ada. I would like bike b-1."},
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "tool", "tool_call_id": "c", "content": "done"},
            {"role": "assistant", "content": "It is yours."},
        ],
        "changes": RENTED,
        "run_token": "ada",
        "model": "m-2026-01-01",
    } | changed


def run(root: Path, *lines: dict[str, Any], trials: int = 1) -> list[tuple[TrialRecord, Trace]]:
    (root / "runs.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    arm = bike_shop.arm("elsewhere", {"type": "recorded", "files": "runs.jsonl"})
    catalog = bike_shop.catalog(bike_shop.case(), arm)
    planned = (PlannedCase(case="rent-a-bike", selected=True, reasons=("all",), trials=trials),)
    manifest = Manifest(
        run=store.new_run_id(),
        suite="all",
        arms=("elsewhere",),
        trials=trials,
        seed=7,
        created_at="2026-04-01T10:00:00Z",
        seatrial="0.1.0",
        plan=planned,
    )
    equipment = runner.equip([arm], root, {})
    next_trials = runner.fixed(plan.expand(planned, catalog, [arm]))

    async def carry_out(writer: store.Writer) -> None:
        with anyio.fail_after(60):
            await runner.run(writer, catalog, next_trials, equipment=equipment)

    with store.Writer.create(root / "run", manifest, catalog) as writer:
        anyio.run(carry_out, writer)
    stored = store.Run.open(root / "run")
    return sorted(
        ((record, stored.trace(record)) for record in stored.records()), key=lambda e: e[0].number
    )


def test_a_recorded_trial_is_graded_and_stored_like_any_other(tmp_path: Path):
    ((record, trace),) = run(tmp_path, recording())

    assert (record.verdict, record.cause, record.detail) == (Verdict.PASSED, None, "")
    assert record.findings[0].place == "cases/rent-a-bike.yaml:9:5"
    assert record.tools_used == ("bike-shop/rent",)
    assert record.served_model == "m-2026-01-01"
    assert [event.event for event in trace.events] == ["said", "called", "replied"]


def test_a_trial_that_nobody_recorded_is_invalid_and_leaves_its_siblings_alone(tmp_path: Path):
    ended = run(tmp_path, recording(), recording(number=3), trials=3)

    assert [record.verdict for record, _ in ended] == [
        Verdict.PASSED,
        Verdict.INVALID,
        Verdict.PASSED,
    ]
    assert ended[1][0].cause == Cause.AGENT_UNREACHABLE
    assert ended[1][0].detail == "no recorded trial 2 of case rent-a-bike (recorded: 1, 3)"


def test_a_recorded_call_beyond_the_role_is_a_violation_though_it_went_through(tmp_path: Path):
    ((record, trace),) = run(tmp_path, recording(tool="scrap"))

    assert (record.violations, record.forbidden) == (1, True)
    assert trace.calls[0].refused == (
        "role 'clerk' may not call scrap: it is not in roles.clerk.allow"
    )
    assert trace.calls[0].answer.text == "done"


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"ended": "broken"}, Cause.AGENT_UNREACHABLE),
        ({"changes": None}, Cause.NO_EVIDENCE),
        ({"run_token": ""}, Cause.NO_EVIDENCE),
    ],
)
def test_a_recording_that_lacks_what_grading_needs_is_invalid(tmp_path: Path, changed, cause):
    ((record, _),) = run(tmp_path, recording(**changed))

    assert (record.verdict, record.cause) == (Verdict.INVALID, cause)


def test_a_recording_that_ran_out_of_steps_failed_although_its_end_state_is_right(tmp_path: Path):
    ((record, _),) = run(tmp_path, recording(ended="step_limit"))

    assert record.verdict == Verdict.FAILED
    assert [(f.check, f.status.value) for f in record.findings] == [
        ("end_state", "passed"),
        ("limit", "failed"),
    ]


def test_recordings_that_cannot_be_read_stop_the_run_before_anything_is_written(tmp_path: Path):
    with pytest.raises(InvalidDocuments):
        run(tmp_path, {"case": "rent-a-bike"})

    assert not (tmp_path / "run").exists()
