"""A whole run: trials side by side under a limit, stored one by one, stopped cleanly."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from seatrial import arms
from seatrial.checks.again import Grader, functions_named
from seatrial.documents import (
    Arm,
    Case,
    Catalog,
    ObjectsWorld,
    Persona,
    Recorded,
    Server,
    World,
    starts_a_program,
)
from seatrial.errors import UsageError
from seatrial.functions import load_all
from seatrial.gateway import Gateway
from seatrial.plan import Trial
from seatrial.processes import adopting, clear
from seatrial.records import TrialRecord
from seatrial.redaction import listed, redactor
from seatrial.runner.events import Began, Ended, Event
from seatrial.runner.purse import Purse
from seatrial.runner.queueing import Queue
from seatrial.runner.scheduling import NextTrials, Schedule
from seatrial.runner.trials import Conductor, Equipment
from seatrial.servers import ready
from seatrial.store import Key, Writer
from seatrial.worlds import staged

AT_ONCE = 32
"""Trials side by side where nothing else is said: agents mostly wait for their models."""
PROCESSES_PER_CORE = 2
"""Of an arm whose trials are processes, so many per core where nothing else is said."""


def fixed(trials: Sequence[Trial]) -> NextTrials:
    """These trials and no others."""
    rest = list(trials)

    def next_trials(_: tuple[TrialRecord, ...]) -> Iterable[Trial]:
        named = tuple(rest)
        rest.clear()
        return named

    return next_trials


def equip(
    used: Iterable[Arm],
    root: Path,
    environ: Mapping[str, str] | None = None,
    homes: Mapping[str, Path] | None = None,
    cases: Iterable[Case] = (),
    fixtures: Iterable[World | Server | Persona] = (),
) -> Equipment:
    """What these arms, fixtures and the checks of these cases need, before anything of a run is written.

    Args:
        used: the arms.
        root: the repository's root, where arms find their files.
        environ: the environment that arms are given parts of; this process's own when None.
        homes: arms that find their files elsewhere than at the root.
        cases: the cases whose checks may name functions of the repository.
        fixtures: the worlds, servers and people that these cases and arms lean on.

    Raises:
        UsageError: a variable that an arm or a fixture hands on is not set, or what talks to an arm's agent is not
            installed.
        FunctionError: a function that a check names cannot be had.
        InvalidDocuments: the recordings of an arm cannot be read.
    """
    used = tuple(used)
    lacking = {arm.id: what for arm in used if (what := arms.lacking(arm))}
    if lacking:
        raise UsageError(
            f"not installed, but needed by arm {', '.join(lacking)}: {', '.join({*lacking.values()})}",
            hint=" ".join(["pip install", *(f"'{what}'" for what in sorted({*lacking.values()}))]),
        )
    environ = dict(os.environ if environ is None else environ)
    of_arms = {arm.id: arms.variables(arm) for arm in used}
    of_fixtures = {fixture.id: fixture.variables() for fixture in fixtures}
    missing = [
        f"{name} ({kind} {id})"
        for kind, named in (("arm", of_arms), ("fixture", of_fixtures))
        for id, names in named.items()
        for name in names
        if name not in environ
    ]
    if missing:
        raise UsageError(
            f"not set in the environment: {', '.join(missing)}",
            hint="set them, or take them out of `pass_env` (of an `openai` arm: out of `key`; of a person: "
            "out of `model.key`)",
        )
    recordings = {
        arm.id: arms.recordings(arm, root) for arm in used if isinstance(arm.adapter, Recorded)
    }
    shared = tuple(name for names in of_fixtures.values() for name in names)
    # An agent in this process can read what no document gives it.
    known = listed(environ)
    redactors = {
        arm.id: redact
        for arm in used
        if (
            redact := redactor(
                {name: environ[name] for name in (*of_arms[arm.id], *shared)} | known
            )
        )
    }
    return Equipment(
        root=root,
        homes=dict(homes or {}),
        environ=environ,
        recordings=recordings,
        redactors=redactors,
        functions=load_all(functions_named(cases), root),
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    total: int
    """Trials planned in all."""
    stored: int
    """Trials with a record."""
    interrupted: bool
    """It was stopped from outside before all were stored."""


async def run(
    writer: Writer,
    catalog: Catalog,
    next_trials: NextTrials,
    *,
    equipment: Equipment,
    stored: Iterable[Key] = (),
    purse: Purse | None = None,
    at_once: int | None = None,
    tell: Callable[[Event], None] = lambda _: None,
    stop_on: Sequence[signal.Signals] = (),
) -> Outcome:
    """Run every trial that `next_trials` names and that is not stored yet.

    A trial that could not be carried out becomes an invalid record and leaves its siblings alone.

    Args:
        writer: the run folder; each trial is stored in it as it ends.
        catalog: the documents of the run.
        next_trials: which trials, see `NextTrials`.
        equipment: what the arms need, see `equip`.
        stored: which trials the folder holds already.
        purse: what it may spend; None for anything.
        at_once: trials side by side; by kind of arm when None.
        tell: told what happens, as it happens.
        stop_on: signals that end the run cleanly; only in a main thread.

    Raises:
        StorageError: a trial could not be stored; those before it are.
    """
    used = {id: catalog.arms[id] for id in writer.manifest.arms}
    if any(starts_a_program(arm.adapter) for arm in used.values()) or not all(
        isinstance(fixture, ObjectsWorld) for fixture in catalog.built
    ):
        await clear(writer.manifest.run)
    queue = Queue(at_once or AT_ONCE, {id: _room(arm, at_once) for id, arm in used.items()})
    schedule = Schedule(queue, next_trials, stored=stored, tell=tell)
    interrupted = False
    ended = anyio.Event()

    async def carry_out(trial: Trial) -> None:
        nonlocal ended
        tell(Began(trial))
        record, trace = await conductor.carry_out(trial)
        record = writer.add(record, trace)
        # Before it is told: how many there are in all is known when the last of them has ended.
        schedule.ended(trial, record)
        tell(Ended(record, writer.stored, schedule.total))
        ended.set()

    async def stop_when_told(scope: anyio.CancelScope) -> None:
        nonlocal interrupted
        with anyio.open_signal_receiver(*stop_on) as signals:
            async for _ in signals:
                # A second one changes nothing: agents are being ended, each wait of which is bounded.
                interrupted = True
                scope.cancel()

    sharding = writer.manifest.sharding
    fraction = sharding.fraction if sharding is not None else 1.0
    try:
        async with (
            adopting(),
            Gateway.serving() as gateway,
            arms.connections(fraction) as shared,
            staged(equipment.root, equipment.environ, run=writer.manifest.run) as stage,
            ready(equipment.root, equipment.environ, run=writer.manifest.run) as servers,
            anyio.create_task_group() as watching,
        ):
            conductor = Conductor(
                run=writer.manifest.run,
                seed=writer.manifest.seed,
                catalog=catalog,
                equipment=equipment,
                grader=Grader(catalog, equipment.functions),
                gateway=gateway,
                stage=stage,
                servers=servers,
                shared=shared,
                purse=purse,
            )
            async with anyio.create_task_group() as trials:
                if stop_on:
                    watching.start_soon(stop_when_told, trials.cancel_scope)
                schedule.plan()
                while True:
                    for trial in schedule.startable():
                        trials.start_soon(carry_out, trial)
                    if not schedule.running:
                        break
                    await ended.wait()
                    ended = anyio.Event()
            watching.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise _first(group) from group
    return Outcome(schedule.total, writer.stored, interrupted and writer.stored < schedule.total)


def room(used: Iterable[Arm], at_once: int | None = None) -> int:
    """How many trials of these arms go on side by side."""
    used = tuple(used)
    return min(at_once or AT_ONCE, sum(_room(arm, at_once) for arm in used)) or 1


def _room(arm: Arm, at_once: int | None) -> int:
    """How many trials of an arm may go on side by side."""
    if arm.limits.at_once is not None:
        return arm.limits.at_once
    if at_once is None and starts_a_program(arm.adapter):
        return PROCESSES_PER_CORE * (os.cpu_count() or 1)
    return at_once or AT_ONCE


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure behind a group: whoever calls us shall not have to know that we run things side by side."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
