"""One trial by itself, with a gateway, worlds and servers of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from seatrial import arms
from seatrial.checks.again import Grader
from seatrial.documents import Arm, Case, Catalog
from seatrial.gateway import Channel, Gateway
from seatrial.plan import Trial
from seatrial.processes import adopting, clear
from seatrial.records import TrialRecord
from seatrial.runner.trials import Conductor, Equipment
from seatrial.servers import ready
from seatrial.trace import Trace
from seatrial.worlds import staged

Seating = Callable[
    [Case, Arm, arms.Seat, arms.Connections, Channel],
    AbstractAsyncContextManager[arms.Conversation],
]
"""Brings somebody to the seat of a trial: the case as it stands in it, and its channel."""


async def one_trial(
    catalog: Catalog, equipment: Equipment, *, run: str, seating: Seating
) -> tuple[TrialRecord, Trace]:
    """Carry out the first trial of the one case by the one arm that the documents hold.

    Args:
        catalog: the documents.
        equipment: what worlds, servers and checks need.
        run: an id of its own, by which what is left of it is found when it is killed.
        seating: brings whoever answers to the seat.
    """
    (case,), (arm,) = catalog.cases, catalog.arms
    await clear(run)
    async with (
        adopting(),
        Gateway.serving() as gateway,
        arms.connections() as shared,
        staged(equipment.root, equipment.environ, run=run) as stage,
        ready(equipment.root, equipment.environ, run=run) as servers,
    ):

        def opening(
            case: Case, arm: Arm, seat: arms.Seat, shared: arms.Connections
        ) -> AbstractAsyncContextManager[arms.Conversation]:
            (channel,) = gateway.channels
            return seating(case, arm, seat, shared, channel)

        conductor = Conductor(
            run=run,
            seed=1,
            catalog=catalog,
            equipment=equipment,
            grader=Grader(catalog, equipment.functions),
            gateway=gateway,
            stage=stage,
            servers=servers,
            shared=shared,
            opening=opening,
        )
        return await conductor.carry_out(Trial(case, arm, 1))
