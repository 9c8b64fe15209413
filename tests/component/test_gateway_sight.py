"""Calls beyond what a role may see: recorded as violations by the gateway, however they were answered."""

import anyio
import pytest
from tests.clinic import clinic

from seatrial.gateway import Channel
from seatrial.state.rights import Rights
from seatrial.trace import Called, Json
from seatrial.worlds import open_world


def called(tool: str, arguments: dict[str, Json], *, hidden: str, role: str = "desk") -> Called:
    world = clinic(hidden=hidden)
    copy = open_world(world, run_token="r-1", seed=1, role=role, purpose="treatment")
    channel = Channel([copy], rights=Rights(world, role, copy.tools()))

    async def call() -> None:
        with anyio.fail_after(20):
            await channel.call(tool, arguments)

    anyio.run(call)
    assert channel.faults == ()
    (event,) = (event for event in channel.events if isinstance(event, Called))
    return event


@pytest.mark.parametrize("hidden", ["absent", "refused"])
def test_a_get_of_a_hidden_object_is_a_violation_whatever_it_is_answered(hidden: str):
    event = called("get_patient", {"id": "p-2"}, hidden=hidden)

    assert event.refused == "role 'desk' may not read patient 'p-2': it is marked vip (locks[0])"
    assert event.answered_by == "world"
    assert event.answer.is_error
    absent = "get_patient: there is no patient 'p-2'."
    assert event.answer.text == (absent if hidden == "absent" else f"Not allowed: {event.refused}")


def test_a_call_that_a_condition_over_its_object_forbids_changes_nothing_and_is_a_violation():
    event = called("waive", {"id": "p-1"}, hidden="absent")
    assert (event.refused, event.changed, event.answer.text) == (None, True, "waived")

    world = clinic(locks=())
    copy = open_world(world, run_token="r-1", seed=1, role="desk")
    channel = Channel([copy], rights=Rights(world, "desk", copy.tools()))
    anyio.run(channel.call, "waive", {"id": "p-2"})
    (waived,) = channel.events
    assert isinstance(waived, Called)
    assert "expected patient.balance lte 100, found 250" in (waived.refused or "")
    assert not waived.changed
    assert copy.changes() == ()


def test_what_may_be_seen_is_no_violation_and_a_tool_says_that_it_leaves_the_world():
    assert called("get_patient", {"id": "p-2"}, hidden="refused", role="doctor").refused is None
    mail = called("mail", {"to": "a@example.org", "text": "Hello."}, hidden="absent")
    assert mail.leaves_world is True
    assert called("get_patient", {"id": "p-1"}, hidden="absent").leaves_world is None
