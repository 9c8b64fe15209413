"""One trial, start to end: a fresh world, channel and agent; then the trace, its findings, its record."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import heapq
import math
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio

from seatrial import arms, checks
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
    Prices,
    digest,
    placeholders,
)
from seatrial.errors import ArmError, Error, SimulatorError, ToolServerError, printable
from seatrial.gateway import Channel, Gateway
from seatrial.gateway.channel import MOST_RECORDED
from seatrial.personas import Asking, Company, Line, Over, asking, company
from seatrial.plan import Trial
from seatrial.records import Retried, TrialRecord, Violation
from seatrial.redaction import Redactor
from seatrial.runner.offers import check_offers
from seatrial.runner.purse import Allotment, Purse
from seatrial.servers import Servers
from seatrial.state import placing
from seatrial.state.fitting import misfits
from seatrial.state.rights import Rights, ServerRights
from seatrial.state.values import unkeepable
from seatrial.trace import (
    MOST_COUNTED,
    Beginning,
    Change,
    Completed,
    Event,
    Listed,
    Noted,
    Replied,
    Said,
    Trace,
    Usage,
)
from seatrial.verdicts import Cause, SimulatorFault, Verdict
from seatrial.worlds import Stage

MOST_RETRIES = 2
"""How often a trial is done again that came to nothing without the agent's doing."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a trial could not be carried to its end."""

    cause: Cause
    detail: str
    simulator_fault: SimulatorFault | None = None
    passing: bool = False
    """It was not the agent's doing, and may go away by itself."""


@dataclass(slots=True)
class _Course:
    """How a trial goes, as it goes."""

    begun: Trace
    """Who, which and when."""
    clock: Callable[[], float]
    """Milliseconds since it began."""
    attempt: int = 1
    own: list[Event] = field(default_factory=list)
    """What was said, replied and noted, in order."""
    seen: Sequence[Event] = ()
    """What the gateway saw, in order."""
    changes: tuple[Change, ...] | None = None
    ended: Literal["completed", "call_limit", "step_limit", "gave_up", "broken"] = "completed"
    failure: _Failure | None = None
    allowance: Allotment | None = None
    """What it may spend; None for anything."""
    running: list[anyio.CancelScope] = field(default_factory=list)
    """What bounds the time of the trial and of the turn under way."""
    ended_as: Over | None = None
    """How the people of the conversation ended it."""
    beginning: Beginning | None = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Within the block no time passes for the trial and the turn under way."""
        start = anyio.current_time()
        left = [scope.deadline - start for scope in self.running]
        for scope in self.running:
            scope.deadline = math.inf
        try:
            yield
        finally:
            now = anyio.current_time()
            for scope, seconds in zip(self.running, left, strict=True):
                scope.deadline = now + seconds

    @property
    def trace(self) -> Trace:
        """All of it."""
        return self.begun.model_copy(
            update={
                "events": tuple(heapq.merge(self.own, self.seen, key=lambda event: event.at_ms)),
                "beginning": self.beginning,
                "changes": self.changes,
                "ended": "broken" if self.failure else self.ended,
                "ended_as": self.ended_as.how if self.ended_as else None,
                "exit_intent": self.ended_as.intent if self.ended_as else None,
            }
        )


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

    def _asking(self, course: _Course) -> Asking:
        """How the models of simulated people are asked in a trial."""
        return asking(
            self.shared.client,
            # Where an arm asks the same endpoint, its limits hold for both.
            lambda url: self.shared.pace(url, ArmLimits()),
            self.equipment.environ,
            seed=course.begun.seed + course.attempt - 1,
            waiting=course.waiting,
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
            record = self._record(trace, _Failure(Cause.BUDGET, self.purse.refused))
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
        while True:
            record, trace, passing = await self._once(trial, len(retried) + 1, allowance)
            again = record.cause is Cause.SIMULATOR or passing
            if not again or record.forbidden or len(retried) == MOST_RETRIES:
                return record.model_copy(update={"retried": tuple(retried)}), trace
            assert record.cause is not None
            retried.append(
                Retried(
                    cause=record.cause,
                    detail=record.detail,
                    simulator_fault=record.simulator_fault,
                    usage=record.usage,
                )
            )
            if passing:
                await anyio.sleep(backoff(len(retried) - 1))

    async def _once(
        self, trial: Trial, attempt: int, allowance: Allotment | None
    ) -> tuple[TrialRecord, Trace, bool]:
        """As `carry_out`, once; whether it came to nothing by what may go away by itself."""
        case, arm = self.catalog.cases[trial.case], self.catalog.arms[trial.arm]
        started_at = dt.datetime.now(dt.UTC)
        clock = _stop_watch()
        recordings = self.equipment.recordings.get(trial.arm)
        if recordings is not None:
            course = self._recorded(recordings, trial, case)
        else:
            course = await self._live(trial, attempt, case, arm, clock, allowance)
        trace, failure = course.trace, course.failure
        if replaced := self.equipment.redactors.get(trial.arm):
            # Before it is graded: graded again from the store, it must come to the same.
            trace = Trace.model_validate(replaced(trace.model_dump()))
            failure = replace(failure, detail=replaced(failure.detail)) if failure else None
        record = self._record(trace, failure)
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
        allowance: Allotment | None,
    ) -> _Course:
        lookup = placeholders.of_trial(
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
        course = _Course(begun, clock, attempt, allowance=allowance)
        with _failing(course):
            await self._in_a_world(case.filled(lookup), arm, course, lookup)
        return course

    async def _in_a_world(
        self, case: Case, arm: Arm, course: _Course, lookup: Mapping[str, str]
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
                with _failing(course):
                    await self._within_its_time(case, arm, course, channel, lookup)
            finally:
                channel.close()
                course.seen = channel.events
            _take_for_giving_up(course, channel.turn)
            if channel.flooded:
                course.failure = _Failure(
                    Cause.AGENT_UNREACHABLE,
                    f"the agent's tool calls and their answers came to more than {MOST_RECORDED:,} bytes",
                )
            if channel.faults:
                # The tools come first: an agent that gave up because of them is not to blame.
                fault = channel.faults[0]
                course.failure = _Failure(Cause(fault.cause), printable(fault.message))
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
        course: _Course,
        channel: Channel,
        lookup: Mapping[str, str],
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
        course: _Course,
        channel: Channel,
        conversation: arms.Conversation,
        lookup: Mapping[str, str],
    ) -> None:
        """Every turn of the case, until it is over or the agent makes one call too many."""
        exchange = partial(_exchange, case, arm, course, channel, conversation)
        if case.persona:
            people = [person.filled(lookup) for person in self.catalog.personas(case)]
            modelled = any(person.model is not None for person in people)
            asked = self._asking(course) if modelled else None
            await _talk_with(company(people, asked), case, course, exchange)
            return
        for turn, (text, step) in enumerate(zip(case.messages, case.script, strict=True), 1):
            said = Said(turn=turn, text=text, by=step.by)
            if await exchange(said, seconds=step.seconds) is None:
                return
            if case.on_failed_turn == "stop" and turn < len(case.script):
                course.seen = channel.events
                if self.grader.failed_in_turn(course.trace, turn):
                    why = f"the conversation stopped here: turn {turn} failed (`on_failed_turn: stop`)"
                    course.own.append(Noted(turn=turn, text=why, at_ms=course.clock()))
                    return

    def _seat(self, arm: Arm, course: _Course, channel: Channel) -> arms.Seat:
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
            tell=partial(_take_down, course, arm.prices),
            clock=course.clock,
            waiting=course.waiting,
            allowance=course.allowance,
            environ=self.equipment.environ,
        )

    # --- carried out elsewhere ---

    def _recorded(self, recordings: arms.Recordings, trial: Trial, case: Case) -> _Course:
        course = _Course(Trace(case=trial.case, arm=trial.arm, number=trial.number), _stop_watch())
        with _failing(course):
            world = self.catalog.world(case.world)
            trace = recordings.trace(
                trial.case,
                trial.number,
                server=case.world,
                refusal=Rights(world, case.role).refusal,
                misfits=partial(misfits, world),
            )
            course = _Course(
                trace, course.clock, 1, list(trace.events), (), trace.changes, trace.ended
            )
            if trace.ended == "broken":
                course.failure = _Failure(
                    Cause.AGENT_UNREACHABLE, "the recording says that the trial broke off"
                )
            if missing := unfillable(case, trace):
                course.failure = _Failure(Cause.NO_EVIDENCE, missing)
        return course

    # --- what it comes to ---

    def _record(self, trace: Trace, failure: _Failure | None) -> TrialRecord:
        findings = self.grader.findings(trace)
        verdict, cause, detail = checks.verdict(findings, trace)
        if failure is not None:
            verdict, cause, detail = Verdict.INVALID, failure.cause, failure.detail
        models = {r.served_model for r in trace.replies} | {c.model for c in trace.completions}
        return TrialRecord(
            case=trace.case,
            arm=trace.arm,
            number=trace.number,
            version=self.catalog.arms[trace.arm].version,
            verdict=verdict,
            cause=cause,
            detail=detail,
            simulator_fault=failure.simulator_fault if failure else None,
            simulator_usage=_sum(
                [e.usage for e in trace.events if isinstance(e, Said) and e.usage is not None]
            ),
            simulated=_was_simulated(self.catalog.cases[trace.case], trace, failure),
            findings=findings,
            calls=len(trace.calls),
            violations=len(trace.violations),
            first_violation=_first_violation(trace),
            tools_used=tuple(sorted({f"{c.server}/{c.tool}" for c in trace.calls})),
            tools_listed=tuple(
                sorted(
                    {
                        f"{event.server}/{tool}"
                        for event in trace.events
                        if isinstance(event, Listed)
                        for tool in event.tools
                    }
                )
            ),
            served_model=_joined(models),
            served_fingerprint=_joined({c.fingerprint for c in trace.completions}),
            usage=used(trace),
            reply_digest=digest([r.text for r in trace.replies]),
        )


_Exchange = Callable[[Said], Awaitable[arms.Reply | None]]


async def _talk_with(people: Company, case: Case, course: _Course, exchange: _Exchange) -> None:
    """A conversation with simulated people, until they end it or the agent makes one call too many."""
    turn = 0
    while True:
        with course.waiting():  # how long a person thinks is no matter of the agent's time
            found = await people.next()
        if not isinstance(found, Line):
            break
        turn += 1
        text = case.told(found.text, turn, found.name)
        reply = await exchange(
            Said(
                turn=turn,
                text=text,
                by=found.by,
                usage=found.usage,
                served_model=found.served_model,
            )
        )
        if reply is None:
            return
        people.hear(reply.text)
    course.ended_as = found
    who = f"{found.by} " if found.by else ""
    intent = f" ({found.intent})" if found.intent else ""
    words = f"; last words: {found.last_words}" if found.last_words else ""
    note = f"{who}ended the conversation: {found.how}{intent}{words}"
    course.own.append(Noted(turn=turn, text=note, at_ms=course.clock()))


async def _exchange(
    case: Case,
    arm: Arm,
    course: _Course,
    channel: Channel,
    conversation: arms.Conversation,
    said: Said,
    *,
    seconds: float | None = None,
) -> arms.Reply | None:
    """One turn: what is said, and the reply to it; None when the trial ended at one of its limits."""
    turn = channel.turn = said.turn
    seconds = seconds or case.limits.turn_seconds or arm.limits.turn_seconds
    course.own.append(said.model_copy(update={"at_ms": course.clock()}))
    with anyio.move_on_after(seconds) as scope:
        course.running[1:] = [scope]
        reply = await _reply(
            conversation, channel, turn, said.text, limited=bool(case.limits.calls)
        )
    if scope.cancelled_caught:
        raise ArmError(
            "time",
            f"no reply within {seconds:g} s (turn {turn})",
            detail=conversation.meanwhile,
        )
    course.running[1:] = []
    if reply is not None and reply.step_limit:
        course.ended = "step_limit"
        return None
    if reply is not None:
        course.own.append(
            Replied(
                turn=turn,
                text=reply.text,
                usage=reply.usage,
                served_model=reply.served_model,
                at_ms=course.clock(),
            )
        )
    return None if channel.limit_hit else reply


async def _reply(
    conversation: arms.Conversation, channel: Channel, turn: int, text: str, *, limited: bool
) -> arms.Reply | None:
    """The reply; None when the agent made one call too many before it."""
    if not limited:
        return await conversation.reply(turn, text)
    reply = failure = None

    async def wait_for_limit(scope: anyio.CancelScope) -> None:
        await channel.until_limit()
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait_for_limit, tasks.cancel_scope)
        try:
            reply = await conversation.reply(turn, text)
        except Exception as error:  # raised again outside of the group, which would wrap it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return reply


@contextmanager
def _failing(course: _Course) -> Iterator[None]:
    """What goes wrong inside makes the trial invalid; the first that does is the reason."""
    try:
        yield
    except ArmError as error:
        detail = "; ".join(part for part in (error.message, error.detail) if part)
        course.failure = course.failure or _Failure(
            Cause(error.cause), detail, passing=error.passing
        )
    except SimulatorError as error:
        course.failure = course.failure or _Failure(
            Cause.SIMULATOR, printable(error.message), error.fault
        )
    except ToolServerError as error:
        # It may tell what a server wrote, which must not keep the record from being stored.
        course.failure = course.failure or _Failure(Cause.TOOL_SERVER, printable(error.message))
    except Error as error:
        course.failure = course.failure or _Failure(Cause.INTERNAL, error.message)
    except Exception as error:  # a bug of ours must not cost the siblings their trials
        course.failure = course.failure or _Failure(Cause.INTERNAL, _defect(error))


def _take_down(course: _Course, prices: Prices | None, answer: Completed) -> None:
    """Keep an answer of the model, with what it cost."""
    if prices is not None and answer.usage is not None:
        answer = answer.model_copy(update={"cost": price(answer.usage, prices)})
    course.own.append(answer)


def _take_for_giving_up(course: _Course, turn: int) -> None:
    """An agent that does not reply in a turn in which a case made something go wrong has failed the case.

    The case asks how the agent bears it; what it did instead of replying is kept as a note.
    """
    failure = course.failure
    if failure is None or failure.cause not in _OF_THE_AGENT:
        return
    if course.trace.fault_of(turn) is None:
        return
    course.own.append(
        Noted(turn=turn, text=f"the agent gave up: {failure.detail}", at_ms=course.clock())
    )
    course.ended, course.failure = "gave_up", None


_OF_THE_AGENT = frozenset({Cause.AGENT_UNREACHABLE, Cause.TIME})


def _defect(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return (
        f"Seatrial failed: {type(error).__name__}: {error}{where}; this is a defect of Seatrial, "
        "please file an issue"
    )


def _was_simulated(case: Case, trace: Trace, failure: _Failure | None) -> bool:
    """Whether somebody whom Seatrial simulates took part; in what was recorded elsewhere nobody did."""
    if failure is not None and failure.simulator_fault is not None:
        return True
    return any(isinstance(event, Said) and event.by in case.persona for event in trace.events)


def _first_violation(trace: Trace) -> Violation | None:
    for call in trace.violations:
        return Violation(turn=call.turn, call=call.number, reason=f"{call.tool}: {call.refused}")
    return None


def _stop_watch() -> Callable[[], float]:
    """Milliseconds since now, to the microsecond."""
    start = time.perf_counter()
    return lambda: round((time.perf_counter() - start) * 1000, 3)


def _token(run: str, trial: Trial, attempt: int = 1) -> str:
    """Ten letters and digits that no other attempt at a trial has; nothing about the case can be read from it."""
    again = f"\0{attempt}" if attempt > 1 else ""
    data = f"{run}\0{trial.case}\0{trial.arm}\0{trial.number}{again}".encode()
    return base64.b32encode(hashlib.sha256(data).digest())[:10].decode().lower()


def _seed(seed: int, trial: Trial) -> int:
    """The same for all arms in the same trial of the same case, so that chance favours none."""
    data = f"{seed}\0{trial.case}\0{trial.number}".encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:4])


def _joined(names: Iterable[str | None]) -> str | None:
    """Names, each once, that may be several themselves."""
    found = {one for name in names if name for one in name.split(", ")}
    return ", ".join(sorted(found)) or None


def used(trace: Trace) -> Usage | None:
    """The tokens of a trial: what each answer of the model took, where Seatrial asked it; else what was reported."""
    heard: Sequence[Completed | Replied] = trace.completions or trace.replies
    return _sum([event.usage for event in heard if event.usage is not None])


def _sum(usages: list[Usage]) -> Usage | None:
    if not usages:
        return None
    return Usage(
        input_tokens=min(sum(u.input_tokens for u in usages), MOST_COUNTED),
        output_tokens=min(sum(u.output_tokens for u in usages), MOST_COUNTED),
        cached_input_tokens=min(sum(u.cached_input_tokens for u in usages), MOST_COUNTED),
        reasoning_tokens=min(sum(u.reasoning_tokens for u in usages), MOST_COUNTED),
        cost=min(sum(u.cost for u in usages), MOST_COUNTED),
    )
