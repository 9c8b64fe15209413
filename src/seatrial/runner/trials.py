"""One trial, start to end: a fresh world, channel and agent; then the trace, its findings, its record."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from seatrial import arms
from seatrial.chat import backoff
from seatrial.checks.again import Grader
from seatrial.checks.objects import beginning, types_of
from seatrial.checks.regrading import unfillable
from seatrial.costs import price
from seatrial.documents import (
    Arm,
    ArmLimits,
    Case,
    Catalog,
    ObjectsWorld,
    placeholders,
)
from seatrial.errors import ArmError, ToolServerError, printable
from seatrial.gateway import Channel, Gateway
from seatrial.gateway.record import MOST_RECORDED
from seatrial.personas import Asking, asking, company
from seatrial.plan import Trial
from seatrial.records import Retried, TrialRecord
from seatrial.redaction import Redactor
from seatrial.runner.bills import Bill, cost
from seatrial.runner.course import Course, Failure, failing, take_down, take_for_giving_up
from seatrial.runner.offers import check_offers
from seatrial.runner.outcomes import record_of
from seatrial.runner.purse import Allotment, Purse
from seatrial.runner.talking import exchange, talk_with
from seatrial.servers import Servers
from seatrial.state import placing
from seatrial.state.fitting import misfits
from seatrial.state.rights import Rights, ServerRights
from seatrial.state.values import unkeepable
from seatrial.trace import (
    Noted,
    Said,
    Trace,
    Usage,
)
from seatrial.verdicts import Cause
from seatrial.worlds import Stage

MOST_RETRIES = 2
"""How often a trial is done again that came to nothing without the agent's doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What the arms of a run need from outside."""

    root: Path
    """The repository's root."""
    homes: Mapping[str, Path]
    """Arms that find their files elsewhere: the root of another revision."""
    environ: Mapping[str, str] = field(repr=False)
    """The environment that agents are given parts of."""
    recordings: Mapping[str, arms.Recordings]
    """Of arms whose trials took place elsewhere."""
    redactors: Mapping[str, Redactor]
    """By arm, what takes its secrets out of a JSON value; of arms that have any."""
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """What checks of kind `python` name, by `module:function`."""


Opening = Callable[
    [Case, Arm, arms.Seat, arms.Connections], AbstractAsyncContextManager[arms.Conversation]
]
"""Opens an agent for one trial of a case. Of the case it hands on nothing to an agent that is tried."""


def _by_its_adapter(
    case: Case, arm: Arm, seat: arms.Seat, shared: arms.Connections
) -> AbstractAsyncContextManager[arms.Conversation]:
    return arms.open(arm, seat, shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conductor:
    """Carries trials out; what it holds is shared by all trials of a run."""

    run: str
    seed: int
    catalog: Catalog
    equipment: Equipment
    grader: Grader
    gateway: Gateway
    stage: Stage
    servers: Servers
    shared: arms.Connections
    placed: placing.Placed = field(default_factory=placing.Placed)
    """Worlds with the payloads of injection cases."""
    opening: Opening = _by_its_adapter
    """How an agent is brought to its seat."""
    purse: Purse | None = None
    """What the run may spend; None for anything."""

    def _asking(self, course: Course) -> Asking:
        """How the models of simulated people are asked in a trial."""
        return asking(
            self.shared.client,
            # Where an arm asks the same endpoint, its limits hold for both.
            lambda url: self.shared.pace(url, ArmLimits()),
            self.equipment.environ,
            seed=course.begun.seed + course.attempt - 1,
            waiting=course.waiting,
            account=course.people,
        )

    async def carry_out(self, trial: Trial) -> tuple[TrialRecord, Trace]:
        """The trial's record and trace. Whatever goes wrong within the trial is in the record.

        Where the run may not spend what it may take, it is not begun.
        """
        record, trace = await self._afforded(trial)
        prices = self.catalog.arms[trial.arm].prices
        if prices is not None and record.usages:
            cost = math.fsum(price(used, prices) for used in record.usages)
            record = record.model_copy(update={"cost": cost, "currency": prices.currency})
        return record, trace

    async def _afforded(self, trial: Trial) -> tuple[TrialRecord, Trace]:
        if self.purse is None or trial.arm in self.equipment.recordings:
            return await self._attempts(trial, None)
        allotment = await self.purse.admit(trial)
        if allotment is None:
            trace = Trace(case=trial.case, arm=trial.arm, number=trial.number, ended="broken")
            record = self._record(trace, Failure(Cause.BUDGET, self.purse.refused))
            now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
            return record.model_copy(update={"started_at": now}), trace
        used: tuple[Usage, ...] = ()
        try:
            record, trace = await self._attempts(trial, allotment)
            used = record.usages
        finally:
            self.purse.close(allotment, used)
        return record, trace

    async def _attempts(
        self, trial: Trial, allowance: Allotment | None
    ) -> tuple[TrialRecord, Trace]:
        """A trial, done again as often as that is right.

        What came to nothing without the agent's doing is done again, in a fresh world with a fresh agent: what a
        simulated person spoilt, and what the network or a service that is busy or broken did. Twice at most, and
        never where something forbidden was done, which counts whatever became of the trial.
        """
        retried: list[Retried] = []
        bills: list[Bill] = []
        while True:
            bills.append(Bill(allowance))
            record, trace, passing = await self._once(trial, bills[-1], len(bills))
            again = record.cause is Cause.SIMULATOR or passing
            if not again or record.forbidden or len(retried) == MOST_RETRIES:
                record = record.model_copy(update={"retried": tuple(retried)})
                if (of_people := cost(bills)) is not None:
                    told = dict(
                        zip(("simulator_cost", "simulator_currency"), of_people, strict=True)
                    )
                    record = record.model_copy(update=told)
                return record, trace
            assert record.cause is not None
            retried.append(
                Retried(
                    cause=record.cause,
                    detail=record.detail,
                    simulator_fault=record.simulator_fault,
                    usage=record.usage,
                    simulator_usage=record.simulator_usage,
                )
            )
            if passing:
                await anyio.sleep(backoff(len(retried) - 1))

    async def _once(
        self, trial: Trial, bill: Bill, attempt: int
    ) -> tuple[TrialRecord, Trace, bool]:
        """As `carry_out`, once; whether it came to nothing by what may go away by itself."""
        case, arm = self.catalog.cases[trial.case], self.catalog.arms[trial.arm]
        started_at = dt.datetime.now(dt.UTC)
        clock = _stop_watch()
        recordings = self.equipment.recordings.get(trial.arm)
        if recordings is not None:
            course = self._recorded(recordings, trial, case)
        else:
            course = await self._live(trial, attempt, case, arm, clock, bill)
        trace, failure = course.trace, course.failure
        if replaced := self.equipment.redactors.get(trial.arm):
            # Before it is graded: graded again from the store, it must come to the same.
            trace = Trace.model_validate(replaced(trace.model_dump()))
            failure = replace(failure, detail=replaced(failure.detail)) if failure else None
        record = self._record(trace, failure, course.people.usages)
        times = {
            "started_at": started_at.isoformat(timespec="milliseconds"),
            "duration_ms": clock(),
        }
        passing = failure is not None and failure.passing
        return record.model_copy(update=times), trace, passing

    # --- carried out here ---

    async def _live(
        self,
        trial: Trial,
        attempt: int,
        case: Case,
        arm: Arm,
        clock: Callable[[], float],
        bill: Bill,
    ) -> Course:
        lookup: dict[str, Any] = case.lookup | placeholders.of_trial(
            _token(self.run, trial, attempt), self.catalog.world(case.world, arm.id).now
        )
        begun = Trace(
            case=trial.case,
            arm=trial.arm,
            number=trial.number,
            seed=_seed(self.seed, trial),
            run_token=lookup["run"],
            now=lookup["now"],
        )
        course = Course(begun, clock, attempt, allowance=bill.allowance, people=bill)
        with failing(course):
            await self._in_a_world(case.filled(lookup), arm, course, lookup)
        return course

    async def _in_a_world(
        self, case: Case, arm: Arm, course: Course, lookup: Mapping[str, Any]
    ) -> None:
        fixture = self.placed.world(case, self.catalog.world(case.world, arm.id))
        token, seed = course.begun.run_token, course.begun.seed
        documents = self.catalog.servers(case, arm)
        answers = None
        if case.answers is not None:
            answers = placing.answers_of(case, self.catalog.answers(case.answers))
        mocked = answers.tools.keys() if answers is not None else ()
        alone = answers.answered_here if answers is not None else ()
        async with (
            self.stage.open(
                fixture, run_token=token, seed=seed, role=case.role, purpose=case.purpose
            ) as world,
            self.servers.open(documents, environment=case.environment, mocked=alone) as servers,
        ):
            check_offers(self.catalog, case, world, zip(documents, servers, strict=True), mocked)
            if (types := types_of(case)) and not isinstance(fixture, ObjectsWorld):
                course.beginning = beginning(types, await world.captured())
            denials = {document.id: document.denied_when for document in documents}
            channel = self.gateway.open(
                [world, *servers],
                rights=Rights(
                    fixture,
                    case.role,
                    world.tools(),
                    see_refused=case.see_refused,
                    purpose=case.purpose,
                ),
                # The roles of a world speak of its own tools; fixtures of servers say what is allowed there.
                of_servers={
                    document.id: ServerRights(
                        document,
                        case.role,
                        server.tools(),
                        see_refused=case.see_refused,
                        purpose=case.purpose,
                    )
                    if document.roles
                    else None
                    for document, server in zip(documents, servers, strict=True)
                },
                answers=answers,
                calls_limit=case.limits.calls,
                lookup=lookup,
                shown=arm.tools,
                denials={**denials, world.name: fixture.denied_when},
                seed=seed,
                clock=course.clock,
            )
            try:
                with failing(course):
                    await self._within_its_time(case, arm, course, channel, lookup)
            finally:
                channel.close()
                course.seen = channel.events
            take_for_giving_up(course, channel.turn)
            if channel.flooded:
                course.failure = Failure(
                    Cause.AGENT_UNREACHABLE,
                    f"the agent's tool calls and their answers came to more than {MOST_RECORDED:,} bytes",
                )
            if channel.faults:
                # The tools come first: an agent that gave up because of them is not to blame.
                fault = channel.faults[0]
                course.failure = Failure(Cause(fault.cause), printable(fault.message))
            if channel.limit_hit:
                course.ended = "call_limit"
            changes = await world.difference()
            if why := unkeepable([change.model_dump() for change in changes]):
                raise ToolServerError(
                    f"world {fixture.id!r}: what changed in it cannot be kept: {why}"
                )
            course.changes = changes

    async def _within_its_time(
        self,
        case: Case,
        arm: Arm,
        course: Course,
        channel: Channel,
        lookup: Mapping[str, Any],
    ) -> None:
        seconds = case.limits.trial_seconds or arm.limits.trial_seconds
        conversation = None
        with anyio.move_on_after(seconds) as scope:
            course.running = [scope]
            try:
                seat = self._seat(arm, course, channel)
                async with self.opening(case, arm, seat, self.shared) as conversation:
                    await self._talk(case, arm, course, channel, conversation, lookup)
            finally:
                for note in conversation.notes if conversation is not None else ():
                    course.own.append(Noted(turn=channel.turn, text=note, at_ms=course.clock()))
        if scope.cancelled_caught:
            raise ArmError(
                "time", f"the trial was not over after {seconds:g} s (turn {channel.turn})"
            )

    async def _talk(
        self,
        case: Case,
        arm: Arm,
        course: Course,
        channel: Channel,
        conversation: arms.Conversation,
        lookup: Mapping[str, Any],
    ) -> None:
        """Every turn of the case, until it is over or the agent makes one call too many."""
        one_turn = partial(exchange, case, arm, course, channel, conversation)
        if case.persona:
            people = [person.filled(lookup) for person in self.catalog.personas(case)]
            modelled = any(person.model is not None for person in people)
            asked = self._asking(course) if modelled else None
            await talk_with(company(people, asked), case, course, one_turn)
            return
        for turn, (text, step) in enumerate(zip(case.messages, case.script, strict=True), 1):
            said = Said(turn=turn, text=text, by=step.by)
            if await one_turn(said, seconds=step.seconds) is None:
                return
            if case.on_failed_turn == "stop" and turn < len(case.script):
                course.seen = channel.events
                if self.grader.failed_in_turn(course.trace, turn):
                    why = f"the conversation stopped here: turn {turn} failed (`on_failed_turn: stop`)"
                    course.own.append(Noted(turn=turn, text=why, at_ms=course.clock()))
                    return

    def _seat(self, arm: Arm, course: Course, channel: Channel) -> arms.Seat:
        urls = {name: channel.url(name) for name in channel.lines}
        return arms.Seat(
            run=self.run,
            trial=course.begun.run_token,
            root=self.equipment.homes.get(arm.id, self.equipment.root),
            now=course.begun.now,
            seed=course.begun.seed,
            settings=arm.settings,
            url=channel.base_url,
            urls=urls,
            token=channel.token,
            config=channel.config(),
            call=channel.call,
            tools=channel,
            tell=partial(take_down, course, arm.prices),
            clock=course.clock,
            waiting=course.waiting,
            allowance=course.allowance,
            environ=self.equipment.environ,
        )

    # --- carried out elsewhere ---

    def _recorded(self, recordings: arms.Recordings, trial: Trial, case: Case) -> Course:
        course = Course(Trace(case=trial.case, arm=trial.arm, number=trial.number), _stop_watch())
        with failing(course):
            world = self.catalog.world(case.world)
            trace = recordings.trace(
                trial.case,
                trial.number,
                server=case.world,
                refusal=Rights(world, case.role).refusal,
                misfits=partial(misfits, world),
            )
            course = Course(
                trace, course.clock, 1, list(trace.events), (), trace.changes, trace.ended
            )
            if trace.ended == "broken":
                course.failure = Failure(
                    Cause.AGENT_UNREACHABLE, "the recording says that the trial broke off"
                )
            if missing := unfillable(case, trace):
                course.failure = Failure(Cause.NO_EVIDENCE, missing)
        return course

    # --- what it comes to ---

    def _record(
        self, trace: Trace, failure: Failure | None, of_people: Sequence[Usage] | None = None
    ) -> TrialRecord:
        return record_of(
            trace,
            self.grader.findings(trace),
            failure,
            version=self.catalog.arms[trace.arm].version,
            case=self.catalog.cases[trace.case],
            of_people=of_people,
        )


def _stop_watch() -> Callable[[], float]:
    """Milliseconds since now, to the microsecond."""
    start = time.perf_counter()
    return lambda: round((time.perf_counter() - start) * 1000, 3)


def _token(run: str, trial: Trial, attempt: int = 1) -> str:
    """What no other attempt at a trial has: ten letters and digits, with `-2`, `-3` … from the second trial on.

    Nothing about the case can be read from it. Each trial has letters of its own, so that no token is a part of
    another: whoever looks for it in a text does not take what a neighbour left there for it.
    """
    number = f"\0number {trial.number}" if trial.number > 1 else ""
    again = f"\0{attempt}" if attempt > 1 else ""
    data = f"{run}\0{trial.case}\0{trial.arm}{number}{again}".encode()
    letters = base64.b32encode(hashlib.sha256(data).digest())[:10].decode().lower()
    return letters if trial.number == 1 else f"{letters}-{trial.number}"


def _seed(seed: int, trial: Trial) -> int:
    """The same for all arms in the same trial of the same case, so that chance favours none."""
    data = f"{seed}\0{trial.case}\0{trial.number}".encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:4])
