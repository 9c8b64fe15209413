"""Whole trials with real MCP servers beside the world: recorded, mocked where that may be, and refused where not."""

import datetime as dt
import itertools
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop
from tests.real_servers import ROOT, answers, fixture
from tests.shop_trials import carried_out

from seatrial.comparability import between, fingerprints
from seatrial.documents import Answers, Case, Catalog, Kind, Server, Source
from seatrial.errors import UsageError
from seatrial.records import TrialRecord
from seatrial.trace import Called, Trace
from seatrial.verdicts import Cause, Verdict


def case(*calls: str, **more: Any) -> Case:
    """A case whose agent makes these calls, and that passes when it called `echo`."""
    return bike_shop.case(
        task="\n".join(calls),
        checks=[{"check": "tool_called", "tool": "echo"}],
        servers=["real"],
        **more,
    )


def server(how: str = "", **more: Any) -> Server:
    return fixture(**{"command": ["{python}", "{root}/real.py", how], **more})


def trial(
    root: Path,
    of: Case,
    *fixtures: Any,
    environ: dict[str, str] | None = None,
    arm: dict[str, Any] | None = None,
) -> tuple[TrialRecord, Trace]:
    """The one trial of a case."""
    shutil.copy(ROOT / "tests" / "agents" / "obedient.py", root)
    shutil.copy(ROOT / "tests" / "servers" / "real.py", root)
    obedient = bike_shop.arm(
        "obedient", {"type": "python", "target": "obedient:obey"}, **(arm or {})
    )
    ((record, trace),) = carried_out(root, catalog(of, obedient, *fixtures), environ=environ)
    return record, trace


def catalog(of: Case, arm: Any, *fixtures: Any) -> Catalog:
    plain = bike_shop.catalog(of, arm)
    sources: dict[tuple[Kind, str], Source] = {
        ("fixture", id): Source(f"fixtures/{id}.yaml", {"": (1, 1)})
        for id in ("bike-shop", *(fixture.id for fixture in fixtures))
    }
    return replace(
        plain,
        fixtures={**plain.fixtures, **{fixture.id: fixture for fixture in fixtures}},
        sources={**plain.sources, **sources},
    )


def test_a_trial_uses_its_world_and_its_server_side_by_side(tmp_path: Path):
    record, trace = trial(
        tmp_path, case('get_bike {"bike": "b-1"}', 'echo {"text": "ahoi"}', "fail"), server()
    )

    assert (record.verdict, record.detail) == (Verdict.PASSED, "")
    assert [(call.server, call.tool, call.answered_by) for call in trace.calls] == [
        ("bike-shop", "get_bike", "world"),
        ("real", "echo", "server"),
        ("real", "fail", "server"),
    ]
    assert trace.changes == ()
    assert trace.replies[0].text.endswith("ahoi\nit did not work")


@pytest.mark.parametrize(
    ("how", "call", "why"),
    [
        ("", "die", "server 'real' was killed by SIGKILL; its last words on stderr: Segmentation"),
        ("", "break", "server 'real' failed in break: it broke"),
        ("exits", 'echo {"text": "x"}', "server 'real' exited with status 1"),
    ],
)
def test_a_server_that_fails_makes_the_trial_invalid(tmp_path: Path, how: str, call: str, why: str):
    record, trace = trial(tmp_path, case(call), server(how))

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.TOOL_SERVER)
    assert record.detail.startswith(why)
    assert trace.ended == "broken"


def test_a_server_that_ends_after_its_last_answer_costs_no_evidence(tmp_path: Path):
    dies_late = server(command=["{python}", "-c", _DIES_LATE])
    record, _ = trial(tmp_path, case('echo {"text": "x"}', 'get_bike {"bike": "b-1"}'), dies_late)

    assert (record.verdict, record.detail) == (Verdict.PASSED, "")


_DIES_LATE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}},
        "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    }.get(message["method"], {"content": []})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    if message["method"] == "tools/call":
        sys.exit(3)
"""


def test_mocked_answers_are_recorded_with_who_answered(tmp_path: Path):
    record, trace = trial(
        tmp_path,
        case('echo {"text": "x"}', "fail", answers="mocks"),
        server(targets={"test": "pass_through"}),
        answers(echo="mocked"),
    )

    assert record.verdict == Verdict.PASSED
    assert [(call.answered_by, call.answer.text) for call in trace.calls] == [
        ("mock", "mocked"),
        ("server", "it did not work"),
    ]


@pytest.mark.parametrize(
    ("environment", "targets", "why"),
    [
        ("production", {}, "environment 'production' is live, and nothing may be mocked there"),
        ("staging", {"test": "mock"}, "write `targets: {staging: pass_through}` (or `mock`)"),
    ],
)
def test_mocks_are_refused_at_run_time_too(
    tmp_path: Path, environment: str, targets: dict[str, str], why: str
):
    record, trace = trial(
        tmp_path,
        case('echo {"text": "x"}', answers="mocks", environment=environment),
        server(targets=targets),
        answers(echo="mocked"),
    )

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.INTERNAL)
    assert why in record.detail
    assert trace.calls == ()


def test_tools_of_one_name_are_refused_when_the_trial_opens_with_both_places(tmp_path: Path):
    other = server(id="other")
    of = case('echo {"text": "x"}')
    record, trace = trial(tmp_path, of, server(), other, arm={"servers": ["other"]})

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.TOOL_SERVER)
    assert record.detail == (
        "two tools of case 'rent-a-bike' are called 'echo': of server 'real' (fixtures/real.yaml:1:1) and of "
        "server 'other' (fixtures/other.yaml:1:1); name one under `hide`"
    )
    assert trace.calls == ()


def test_what_a_server_refuses_itself_is_a_violation(tmp_path: Path):
    refusing = server(denied_when=[{"code": -32602, "text": "not like"}])
    record, trace = trial(tmp_path, case("refuse", 'echo {"text": "x"}'), refusing)

    assert record.violations == 1
    assert trace.violations[0].tool == "refuse"


def test_secrets_of_a_server_are_in_no_file(tmp_path: Path):
    environ = {"PATH": os.environ["PATH"], "DESK_TOKEN": "s3cret-of-the-desk"}
    record, trace = trial(
        tmp_path,
        case("seen", 'echo {"text": "x"}'),
        server(pass_env=["DESK_TOKEN"]),
        environ=environ,
    )

    assert record.verdict == Verdict.PASSED
    assert '"DESK_TOKEN": "[DESK_TOKEN]"' in trace.calls[0].answer.text
    for file in (tmp_path / ".trials").rglob("*"):
        assert not file.is_file() or b"s3cret-of-the-desk" not in file.read_bytes()


def test_a_secret_that_is_not_set_is_told_before_anything_runs(tmp_path: Path):
    with pytest.raises(UsageError, match=r"DESK_TOKEN \(fixture real\)"):
        trial(tmp_path, case("fail"), server(pass_env=["DESK_TOKEN"]), environ={})


def test_an_arm_may_describe_a_tool_of_a_server_in_its_own_words(tmp_path: Path):
    words = {"tools": {"echo": {"description": "Say it twice."}}}
    record, trace = trial(tmp_path, case('echo {"text": "x"}'), server(), arm=words)

    assert record.verdict == Verdict.PASSED
    assert isinstance(trace.calls[0], Called)


def test_servers_are_part_of_what_makes_trials_comparable():
    def prints(of: Server, **arm: Any) -> dict[str, str]:
        one = bike_shop.arm("obedient", **arm)
        made = fingerprints(catalog(case("fail"), one, of, server(id="own")), [one], {})
        return made.whole()["rent-a-bike@obedient"]

    assert prints(server()) == prints(server(title="For people"))
    assert between(prints(server()), prints(server("greets"))) == ("servers",)
    assert between(prints(server()), prints(server(), servers=["own"])) == ("server:own",)


def test_clocks_that_are_wrong_change_neither_the_order_nor_the_times_of_a_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """This machine's clock is set back by a day whenever it is read, and the server's is years ahead."""
    days = itertools.count()
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0 - 86_400 * next(days))
    monkeypatch.setattr(dt, "datetime", _SetBack)
    monkeypatch.setattr(_SetBack, "days", days)
    ahead = server(
        command=["{python}", "-c", "import time; time.time = lambda: 4e9\n" + _TELLS_ITS_TIME]
    )
    mocks = Answers.model_validate(
        {
            "kind": "fixture",
            "type": "answers",
            "id": "mocks",
            "tools": {"get_bike": {"answer": "seen {{now}}", "delay_ms": 30}},
        }
    )

    record, trace = trial(
        tmp_path,
        case('get_bike {"bike": "b-1"}', "echo", 'get_bike {"bike": "b-1"}', answers="mocks"),
        ahead,
        mocks,
    )

    assert next(days) > 0, "the clock was read"
    assert (record.verdict, record.detail) == (Verdict.PASSED, "")
    assert [call.answer.text for call in trace.calls] == [
        "seen 2026-04-01T10:00:00Z", "4000000000.0", "seen 2026-04-01T10:00:00Z",
    ]  # fmt: skip
    times = [event.at_ms for event in trace.events]
    assert times == sorted(times)
    assert min(times) >= 0
    assert [call.waited_ms for call in trace.calls] == [30, 0, 30]
    assert all(call.took_ms >= call.waited_ms for call in trace.calls)
    assert record.duration_ms >= times[-1]


class _SetBack(dt.datetime):
    days = itertools.count()

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> "_SetBack":
        return cls(2027, 1, 15, tzinfo=tz) - dt.timedelta(days=next(cls.days))


_TELLS_ITS_TIME = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}},
        "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    }.get(message["method"], {"content": [{"type": "text", "text": str(time.time())}]})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
