"""A case played by hand: a trial whose agent is a person, or a program that a person has started.

World, servers, mocked answers, rights, limits of calls, record and checks are those of a trial. Only time
is not limited: a person thinks, and eats.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from seatrial import __version__, arms
from seatrial.documents import Arm, Case, Catalog, Python
from seatrial.documents.arm import ArmLimits
from seatrial.gateway import Channel
from seatrial.records import TrialRecord
from seatrial.runner.alone import one_trial
from seatrial.runner.trials import Equipment
from seatrial.trace import Trace

BY_HAND = "by-hand"
"""The arm of such a trial: never one that could be released."""
_SECONDS = 30 * 24 * 3600.0

Sit = Callable[[Case, Channel], arms.Conversation]
"""Brings the person to the seat: of the case as it stands in this trial, and with the trial's channel."""


def by_hand(case: Case, of: Arm | None, servers: tuple[str, ...] = ()) -> Arm:
    """The arm of a case that is played by hand.

    Args:
        case: the case.
        of: the arm whose tool descriptions and servers are taken; None for none.
        servers: the servers, where no arm is given.
    """
    return Arm(
        kind="arm",
        id=BY_HAND,
        agent=case.agent,
        version=__version__ if of is None else of.version,
        adapter=Python(type="python", target="seatrial.runner.playing:by_hand"),
        servers=servers if of is None else of.servers,
        tools={} if of is None else of.tools,
        limits=ArmLimits(turn_seconds=_SECONDS, trial_seconds=_SECONDS),
    )


async def play(
    catalog: Catalog, case: Case, arm: Arm, equipment: Equipment, *, run: str, sit: Sit
) -> tuple[TrialRecord, Trace]:
    """Carry out one trial of a case with a person at the agent's place.

    Args:
        catalog: the documents.
        case: one of its cases.
        arm: the person's, see `by_hand`.
        equipment: what worlds, servers and checks need.
        run: an id of its own, by which what is left of it is found when it is killed.
        sit: opens the person's conversation.

    Returns:
        Record and trace, as of any trial.
    """
    untimed = case.limits.model_copy(update={"turn_seconds": None, "trial_seconds": None})
    played = case.model_copy(update={"limits": untimed})
    own = replace(catalog, arms={arm.id: arm}, cases={case.id: played}, own_fixtures={})

    @asynccontextmanager
    async def seating(
        case: Case, arm: Arm, seat: arms.Seat, shared: arms.Connections, channel: Channel
    ) -> AsyncIterator[arms.Conversation]:
        yield sit(case, channel)

    return await one_trial(own, equipment, run=run, seating=seating)
