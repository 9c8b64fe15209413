"""A case carried out for what its real servers answer: a trial, by an arm or by the case's solution."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from seatrial import arms
from seatrial.arms import reference
from seatrial.checks.solutions import Unsolved
from seatrial.documents import Arm, Case, Catalog
from seatrial.errors import UsageError
from seatrial.gateway import Channel
from seatrial.records import TrialRecord
from seatrial.runner.alone import one_trial
from seatrial.runner.proving import REFERENCE, built_in, solution, without_models
from seatrial.runner.trials import Equipment
from seatrial.tools import Tool
from seatrial.trace import Trace


@dataclass(frozen=True, slots=True)
class Recording:
    """What came of it."""

    record: TrialRecord
    trace: Trace
    tools: Mapping[str, Tool]
    """The tools of the trial by name, as their servers declare them."""


def reference_arm(catalog: Catalog, case: Case) -> Arm:
    """The arm that does what the case's solution says."""
    return built_in(catalog, case.agent)[REFERENCE]


async def record(
    catalog: Catalog, case: Case, arm: Arm, equipment: Equipment, *, run: str
) -> Recording:
    """Carry out one trial of a case in which nothing is mocked.

    Args:
        catalog: the documents.
        case: one of its cases, in the environment in which it is to be recorded.
        arm: of the case's agent, or `reference_arm`.
        equipment: what arm, worlds, servers and checks need.
        run: an id of its own, by which what is left of it is found when it is killed.

    Raises:
        UsageError: nobody can tell what a right agent does, and no other arm is given.
    """
    plain = case.model_copy(update={"answers": None})
    solved = solution(plain, catalog) if arm.id == REFERENCE else None
    if isinstance(solved, Unsolved):
        raise UsageError(
            f"case {case.id!r} does not tell what a right agent does: {'; '.join(solved.why)}",
            hint="let an arm carry it out (--arm ID), or write its `solution`",
        )
    own = replace(catalog, arms={arm.id: arm}, cases={case.id: plain}, own_fixtures={})
    if solved is not None:
        own = without_models(own, {case.id: len(solved.turns)})
    tools: dict[str, Tool] = {}

    @asynccontextmanager
    async def seating(
        case: Case, arm: Arm, seat: arms.Seat, shared: arms.Connections, channel: Channel
    ) -> AsyncIterator[arms.Conversation]:
        for line in channel.lines.values():
            tools.update({name: offered.tool for name, offered in line.tools().items()})
        if solved is not None:
            yield reference.Conversation(solved.turns, seat)
            return
        async with arms.open(arm, seat, shared) as conversation:
            yield conversation

    done, trace = await one_trial(own, equipment, run=run, seating=seating)
    return Recording(done, trace, tools)
