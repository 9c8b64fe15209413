"""Each case carried out by two built-in arms: one that does nothing, and one that does what is right.

Both act in the case's own world through the gateway, in this process, and are graded like any agent. A case
that the first passes is weak; one that the second fails cannot be passed, or its solution is wrong.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from seatrial import __version__, arms
from seatrial.arms import idle, reference
from seatrial.checks.again import Grader
from seatrial.checks.solutions import Solved, Unsolved, solution_of
from seatrial.documents import Arm, Case, Catalog, Python
from seatrial.documents.checks import CallOrStep
from seatrial.documents.server import is_live
from seatrial.gateway import Gateway
from seatrial.plan import Trial
from seatrial.processes import adopting, clear
from seatrial.records import TrialRecord
from seatrial.runner.trials import Conductor, Equipment
from seatrial.servers import ready
from seatrial.state.placing import Placed
from seatrial.verdicts import Cause, Verdict
from seatrial.worlds import staged

IDLE, REFERENCE = "idle", "reference"
"""The built-in arms."""
AT_ONCE = 8
"""Cases side by side: what takes long are worlds that are processes."""

_Do = Callable[[Case], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Proof:
    """What the built-in arms came to in one case."""

    case: str
    idle: TrialRecord
    reference: TrialRecord | None
    """None where nobody can tell what a right agent does."""
    solution: Solved | Unsolved
    took_ms: float

    @property
    def weak(self) -> bool | None:
        """Doing nothing passes the case; None where that could not be tried."""
        return weak(self.idle)


def weak(record: TrialRecord) -> bool | None:
    """Whether a trial of the idle arm shows that its case is weak; None where it shows neither."""
    if record.verdict is Verdict.INVALID:
        # Nothing to grade is no pass: an agent that does nothing gets none either.
        return False if record.cause is Cause.NO_EVIDENCE else None
    return record.verdict is Verdict.PASSED


async def prove(
    catalog: Catalog, cases: Sequence[Case], equipment: Equipment, *, run: str
) -> tuple[Proof, ...]:
    """Carry out cases by both built-in arms.

    Args:
        catalog: the documents.
        cases: some of its cases; the proofs come in their order.
        equipment: what their checks and worlds need.
        run: an id of its own, by which what is left of it is found when it is killed.
    """
    found: dict[str, Proof] = {}
    solutions = {case.id: solution(case, catalog) for case in cases}
    async with _rehearsal(catalog, equipment, solutions, run) as conductors:

        async def one(case: Case) -> None:
            start = time.perf_counter()
            did_nothing, _ = await conductors[case.agent, IDLE].carry_out(Trial(case.id, IDLE, 1))
            solution = solutions[case.id]
            did_right = None
            if isinstance(solution, Solved):
                right = conductors[case.agent, REFERENCE]
                did_right, _ = await right.carry_out(Trial(case.id, REFERENCE, 1))
            took = (time.perf_counter() - start) * 1000
            found[case.id] = Proof(case.id, did_nothing, did_right, solution, took)

        await _each(cases, one)
    return tuple(found[case.id] for case in cases)


async def weaknesses(
    catalog: Catalog, cases: Sequence[Case], equipment: Equipment, *, run: str
) -> dict[str, bool | None]:
    """Which of these cases are weak, by the idle arm alone; None where that could not be tried."""
    found: dict[str, bool | None] = {}
    async with _rehearsal(catalog, equipment, {}, run) as conductors:

        async def one(case: Case) -> None:
            record, _ = await conductors[case.agent, IDLE].carry_out(Trial(case.id, IDLE, 1))
            found[case.id] = weak(record)

        await _each(cases, one)
    return {case.id: found[case.id] for case in cases}


def solution(case: Case, catalog: Catalog) -> Solved | Unsolved:
    """What a right agent does in a case, as far as that is known; in a live environment nothing is tried."""
    if is_live(case.environment):
        why = f"environment `{case.environment}` is live, and nothing is tried there"
        return Unsolved((why,), for_good=True)
    return solution_of(case, catalog.world(case.world), _skills(catalog.arms.values(), case.agent))


async def _each(cases: Iterable[Case], do: _Do) -> None:
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def within(case: Case) -> None:
        async with limit:
            await do(case)

    async with anyio.create_task_group() as tasks:
        for case in cases:
            tasks.start_soon(within, case)


@asynccontextmanager
async def _rehearsal(
    catalog: Catalog, equipment: Equipment, solutions: Mapping[str, Solved | Unsolved], run: str
) -> AsyncIterator[dict[tuple[str, str], Conductor]]:
    """For the cases of each agent, what carries out their trials by each of the built-in arms."""

    @asynccontextmanager
    async def opening(
        case: Case, arm: Arm, seat: arms.Seat, shared: arms.Connections
    ) -> AsyncIterator[arms.Conversation]:
        if arm.id == IDLE:
            yield idle.Conversation()
            return
        solution = solutions[case.id]
        assert isinstance(solution, Solved)
        yield reference.Conversation(solution.turns, seat)

    await clear(run)
    async with (
        adopting(),
        arms.connections() as shared,
        staged(equipment.root, equipment.environ, run=run) as stage,
        ready(equipment.root, equipment.environ, run=run) as servers,
    ):
        placed = Placed()
        gateway = Gateway()  # nobody reaches it from outside: both arms call within this process

        def conductor(agent: str, id: str) -> Conductor:
            # Of the documents' own arms none takes part, and the fixtures are those of today.
            own = replace(catalog, arms=built_in(catalog, agent), own_fixtures={})
            acting = own
            if id == IDLE:
                # It calls nothing, so that no server needs to be there for it.
                quiet = {"servers": (), "answers": None}
                cases = {id: case.model_copy(update=quiet) for id, case in own.cases.items()}
                acting = replace(own, cases=cases)
            turns = None if id == IDLE else {c: _turns(found) for c, found in solutions.items()}
            acting = without_models(acting, turns)
            return Conductor(
                run=run,
                seed=1,
                catalog=acting,
                equipment=replace(equipment, recordings={}, redactors={}),
                grader=Grader(own, equipment.functions),
                gateway=gateway,
                stage=stage,
                servers=servers,
                shared=shared,
                placed=placed,
                opening=opening,
            )

        agents = {case.agent for case in catalog.cases.values()}
        conductors = {(a, id): conductor(a, id) for a in agents for id in (IDLE, REFERENCE)}
        yield conductors


def _turns(solution: Solved | Unsolved) -> int:
    return len(solution.turns) if isinstance(solution, Solved) else 1


def without_models(catalog: Catalog, turns: Mapping[str, int] | None) -> Catalog:
    """The documents with a person without a model in the place of each who has one: proving asks nobody.

    Args:
        catalog: the documents.
        turns: case → turns after which such a person has what it wants; None: after one message there is no more.
    """
    cases = dict(catalog.cases)
    fixtures = dict(catalog.fixtures)
    for case in catalog.cases.values():
        people = catalog.personas(case)
        if all(person.model is None for person in people):
            continue
        # A fixture may serve several cases, whose solutions are of different lengths.
        own = [f"{person.id}@{case.id}" for person in people]
        for id, person in zip(own, people, strict=True):
            after = None if turns is None else turns.get(case.id, 1)
            fixtures[id] = person if person.model is None else person.stand_in(after)
        cases[case.id] = case.model_copy(update={"persona": tuple(own)})
    return replace(catalog, cases=cases, fixtures=fixtures)


def built_in(catalog: Catalog, agent: str) -> dict[str, Arm]:
    """The built-in arms in the place of an agent, with the skills that its own arms declare."""
    return {
        id: Arm(
            kind="arm",
            id=id,
            agent=agent,
            version=__version__,
            adapter=Python(type="python", target=f"seatrial.arms.{id}:Conversation"),
            skills=_skills(catalog.arms.values(), agent),
            servers=_servers(catalog.arms.values(), agent) if id == REFERENCE else (),
        )
        for id in (IDLE, REFERENCE)
    }


def _servers(declared: Iterable[Arm], agent: str) -> tuple[str, ...]:
    """The servers that an agent has in every case: those of its first arm by id."""
    own = sorted((arm for arm in declared if arm.agent == agent), key=lambda arm: arm.id)
    return own[0].servers if own else ()


def _skills(declared: Iterable[Arm], agent: str) -> dict[str, CallOrStep]:
    """The skills of an agent; of two arms that declare one, the first by id says how it is read."""
    found: dict[str, CallOrStep] = {}
    for arm in sorted(declared, key=lambda arm: arm.id):
        if arm.agent == agent:
            for name, step in arm.skills.items():
                found.setdefault(name, step)
    return found
