"""A case played by hand has all that a trial has, real servers and mocked answers among it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio
from tests import bike_shop, real_servers

from seatrial import drafts, runner
from seatrial.arms.seat import Reply
from seatrial.documents import Answers, Arm, Case
from seatrial.documents.arm import ShownTool
from seatrial.errors import ArmError
from seatrial.gateway import Channel
from seatrial.records import TrialRecord
from seatrial.trace import Trace
from seatrial.verdicts import Cause, Verdict

SECRET = "s3cret-of-the-server"
MOCKED = Answers.model_validate(
    {
        "kind": "fixture",
        "type": "answers",
        "id": "mocks",
        "tools": {"get_bike": {"rules": [{"answer": {"id": "b-9", "note": "{{run}}"}}]}},
    }
)


class Typist:
    """A person who makes these calls, then replies."""

    notes: Sequence[str] = ()
    meanwhile = ""

    def __init__(self, channel: Channel, calls: Sequence[str], reply: str | None) -> None:
        self._channel = channel
        self._calls = calls
        self._reply = reply

    async def reply(self, turn: int, text: str) -> Reply:
        for tool in self._calls:
            await self._channel.call(tool, {"bike": "b-1"} if tool == "get_bike" else {})
        if self._reply is None:
            raise ArmError("agent_unreachable", "it was ended by hand")
        return Reply(self._reply)


def played(
    case: Case, *calls: str, arm: Arm | None = None, reply: str | None = "Done."
) -> tuple[TrialRecord, Trace]:
    server = real_servers.fixture(pass_env=["SERVER_KEY"])
    plain = bike_shop.catalog(case, *([arm] if arm else []))
    catalog = replace(plain, fixtures={**plain.fixtures, "real": server, "mocks": MOCKED})
    own = runner.by_hand(case, arm)
    equipment = runner.equip(
        [own],
        real_servers.ROOT,
        {"SERVER_KEY": SECRET, "PATH": "/usr/bin:/bin"},
        cases=[case],
        fixtures=[server],
    )

    async def play() -> tuple[TrialRecord, Trace]:
        with anyio.fail_after(60):
            return await runner.play(
                catalog,
                case,
                own,
                equipment,
                run="played-1",
                sit=lambda _, channel: Typist(channel, calls, reply),
            )

    return anyio.run(play)


def test_servers_mocks_and_checks_are_those_of_a_trial_and_secrets_are_kept_out():
    of = bike_shop.case(
        servers=["real"], answers="mocks", checks=[{"check": "tool_called", "tool": "seen"}]
    )

    record, trace = played(of, "get_bike", "seen")

    assert (record.arm, record.verdict) == (runner.BY_HAND, Verdict.PASSED), record.detail
    assert [(call.tool, call.answered_by) for call in trace.calls] == [
        ("get_bike", "mock"),
        ("seen", "server"),
    ]
    assert SECRET not in trace.model_dump_json()
    assert "[SERVER_KEY]" in trace.calls[1].answer.text
    draft = drafts.answers(trace, "seen")
    assert draft.content["tools"]["get_bike"]["rules"][0]["answer"]["note"] == "{{run}}"


def test_the_tools_are_shown_as_by_the_arm_that_is_named_and_time_is_not_limited():
    arm = bike_shop.arm(
        "clerk-2",
        tools={"get_bike": ShownTool(description="Look.").model_dump(exclude_unset=True)},
        servers=["real"],
    )
    of = bike_shop.case(limits={"trial_seconds": 0.001, "turn_seconds": 0.001, "calls": 2})

    record, trace = played(of, "get_bike", "get_bike", "get_bike", arm=arm)

    assert trace.ended == "call_limit"
    assert record.cause is None
    own = runner.by_hand(of, arm)
    assert (own.id, own.servers, own.tools) == (runner.BY_HAND, ("real",), arm.tools)


def test_what_is_ended_before_the_reply_is_no_verdict_but_is_graded_and_kept():
    record, trace = played(bike_shop.case(), "get_bike", reply=None)

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.AGENT_UNREACHABLE)
    assert [finding.status for finding in record.findings] == ["failed"]
    assert len(trace.calls) == 1
    assert trace.changes == ()
