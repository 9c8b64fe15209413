"""What `seatrial gateway serve` does: a case is played by a person, and told and kept as a trial is."""

from __future__ import annotations

import datetime as dt
import difflib
import secrets
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import anyio
import click

from seatrial import __version__, bridge, drafts, runner, store
from seatrial.arms.seat import Reply
from seatrial.cli.changes import told
from seatrial.cli.watching import Watching
from seatrial.documents import (
    Arm,
    Case,
    Catalog,
    ConfigFormat,
    Persona,
    Server,
    Suite,
    Transport,
    World,
)
from seatrial.errors import ArmError, UsageError, printable
from seatrial.gateway import Channel
from seatrial.loading.writing import written
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.runtimes import HOME, RUNTIMES, Endpoint, Runtime
from seatrial.threads import in_thread
from seatrial.tools import Tool
from seatrial.trace import Trace
from seatrial.workspace import Workspace

END_OF_REPLY = "."
"""The line that ends a reply which is typed or pasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the person wants."""

    arm: str | None
    """Whose tool descriptions and servers."""
    format: str
    """The runtime whose config file is printed."""
    transport: Transport | None
    stdio: bool
    """Be the MCP server on this process's own pipes."""
    server: str | None
    """Which one."""
    save_answers: Path | None
    save_solution: Path | None
    save_golden: Path | None
    out: Path | None
    """The folder of the run."""


def serve(workspace: Workspace, case: str, wishes: Wishes) -> None:
    """Play a case until the person ends it.

    Raises:
        UsageError: there is no such case, arm or format, or a file to be written is there already.
        InvalidDocuments: the documents are wrong.
    """
    catalog = workspace.catalog()
    played = one_case(catalog, case)
    _runtime(wishes)
    for path in (wishes.save_answers, wishes.save_solution, wishes.save_golden, wishes.out):
        if path is not None and path.exists():
            raise UsageError(
                f"{path} is there already", hint="name another, nothing is overwritten"
            )
    arm = _arm(catalog, played, wishes.arm)
    fixtures = behind(catalog, played, arm)
    own = replace(catalog, fixtures={**catalog.fixtures})
    workspace.world_digests(replace(own, fixtures={fixture.id: fixture for fixture in fixtures}))
    equipment = runner.equip([arm], workspace.root, cases=[played], fixtures=fixtures)
    run = f"played-{secrets.token_hex(6)}"

    person = Person(wishes)

    async def carried_out() -> tuple[TrialRecord, Trace]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(person.hear_signals)
            if not wishes.stdio:
                tasks.start_soon(person.read_lines)
            done = await runner.play(catalog, played, arm, equipment, run=run, sit=person.sit)
            tasks.cancel_scope.cancel()
        person.close()
        return done

    record, trace = anyio.run(carried_out)
    for line in _outcome(record, trace):
        click.echo(printable(line), err=wishes.stdio)
    _save(wishes, run, catalog, played, arm, record, trace, person.tools)


class Person:
    """At the agent's place: told what is said, and asked for the reply."""

    notes: Sequence[str] = ()
    meanwhile = ""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        self.tools: dict[str, Tool] = {}
        """The tools of the trial, as their servers declare them."""
        self._ended = anyio.Event()
        self._lines, self._typed = anyio.create_memory_object_stream[str](100)
        self._case: Case | None = None
        self._channel: Channel | None = None
        self._watching: Watching | None = None

    def close(self) -> None:
        """Nothing is typed any more."""
        self._lines.close()
        self._typed.close()

    def sit(self, case: Case, channel: Channel) -> Person:
        """Take the place in a trial."""
        self._case, self._channel, self._watching = case, channel, Watching(channel)
        self.tools = {
            name: offered.tool
            for line in channel.lines.values()
            for name, offered in line.tools().items()
        }
        return self

    async def hear_signals(self) -> None:
        """Until we are cancelled; any signal ends the conversation."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                self._ended.set()

    async def read_lines(self) -> None:
        """Hand on what is typed; on a terminal its end is the conversation's."""
        while line := await in_thread(sys.stdin.readline, "stdin"):
            await self._lines.send(line)
        if sys.stdin.isatty():
            self._ended.set()

    async def reply(self, turn: int, text: str) -> Reply:
        """What the person says that the agent has replied.

        Raises:
            ArmError: the person ended it before.
        """
        assert self._channel is not None
        assert self._watching is not None
        if turn == 1:
            self._show_the_way(self._channel)
        _say(f"\nTurn {turn}. Tell your agent:\n")
        _say("\n".join(f"  {line}" for line in text.splitlines()))
        if not self._wishes.stdio:
            _say(
                f"\nPaste its reply and end it with a line `{END_OF_REPLY}`; Ctrl-C ends the conversation."
            )
        reply = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watching.tell_as_they_come)
            tasks.start_soon(self._until_ended, tasks.cancel_scope)
            if self._wishes.stdio:
                await self._bridge(self._channel)
            else:
                reply = await self._reply()
            tasks.cancel_scope.cancel()
        self._watching.tell()
        if reply is None:
            raise ArmError(
                "agent_unreachable", f"it was ended by hand before the reply to turn {turn}"
            )
        return Reply(reply)

    async def _reply(self) -> str:
        lines: list[str] = []
        while (line := await self._typed.receive()).strip() != END_OF_REPLY:
            lines.append(line)
        return "".join(lines).strip()

    async def _until_ended(self, scope: anyio.CancelScope) -> None:
        await self._ended.wait()
        scope.cancel()

    async def _bridge(self, channel: Channel) -> None:
        """Let a program of our own speak on this process's pipes, until its client leaves."""
        environment = {
            "SEATRIAL_MCP_URL": channel.url(self._server(channel)),
            "SEATRIAL_MCP_TOKEN": channel.token,
        }
        process = await anyio.open_process(
            bridge.PROGRAM, stdin=None, stdout=None, stderr=None, env=environment
        )
        try:
            await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.terminate()
                await process.wait()

    def _server(self, channel: Channel) -> str:
        wanted = self._wishes.server
        if wanted is not None and wanted not in channel.lines:
            raise ArmError(
                "agent_unreachable",
                f"there is no server {wanted!r}; there are {', '.join(channel.lines)}",
            )
        return wanted or next(iter(channel.lines))

    def _show_the_way(self, channel: Channel) -> None:
        assert self._case is not None
        case = self._case
        roles = f", role {case.role}" if case.role else ""
        purpose = f", purpose {case.purpose}" if case.purpose else ""
        _say(f"{case.id}: {case.title} ({case.agent}{roles}{purpose})")
        if self._wishes.stdio:
            _say(f"Serving {self._server(channel)} on stdin and stdout.")
            return
        for name in channel.lines:
            _say(f"Address of {name}: {channel.url(name)}")
        _say(f"Token: {channel.token}")
        runtime = _runtime(self._wishes)
        path = runtime.path.replace(f"{HOME}/", "~/", 1)
        _say(f"Its config file ({runtime.title}; {path}):")
        endpoints = {
            name: Endpoint(
                url=channel.url(name), token=channel.token, bridge=bridge.PROGRAM, marks={}
            )
            for name in channel.lines
        }
        click.echo(runtime.file(endpoints, self._wishes.transport).rstrip())
        sys.stdout.flush()


def _say(text: str) -> None:
    click.echo(printable(text, keep="\n"), err=True)


# --- before ---


def one_case(catalog: Catalog, id: str) -> Case:
    """The case of an id.

    Raises:
        UsageError: there is none, or the id stands for several variants.
    """
    named = catalog.named(id)
    if len(named) == 1:
        return catalog.cases[named[0]]
    if named:
        raise UsageError(
            f"case {id!r} stands for {len(named)} variants",
            hint=f"name one: {', '.join(named[:8])}",
        )
    near = difflib.get_close_matches(id, catalog.cases, n=3) or sorted(catalog.cases)[:8]
    raise UsageError(
        f"there is no case {id!r}",
        hint=f"did you mean {', '.join(near)}?" if near else "there is no case at all",
    )


def _runtime(wishes: Wishes) -> Runtime:
    if wishes.format not in RUNTIMES:
        near = difflib.get_close_matches(wishes.format, RUNTIMES, n=1) or list(RUNTIMES)
        raise UsageError(f"{wishes.format!r} is no format", hint=f"did you mean {', '.join(near)}?")
    runtime = RUNTIMES[cast(ConfigFormat, wishes.format)]
    if wishes.transport is not None and wishes.transport not in runtime.transports:
        raise UsageError(
            f"{runtime.title} cannot reach MCP servers over {wishes.transport}",
            hint="leave out --transport",
        )
    return runtime


def _arm(catalog: Catalog, case: Case, id: str | None) -> Arm:
    if id is None:
        # As everywhere where no arm is named: the servers of the agent's first one.
        own = sorted(
            (a for a in catalog.arms.values() if a.agent == case.agent), key=lambda a: a.id
        )
        return runner.by_hand(case, None, own[0].servers if own else ())
    if id not in catalog.arms:
        near = difflib.get_close_matches(id, catalog.arms, n=3) or sorted(catalog.arms)[:8]
        raise UsageError(f"there is no arm {id!r}", hint=f"there are {', '.join(near)}")
    return runner.by_hand(case, catalog.arms[id])


def behind(catalog: Catalog, case: Case, arm: Arm) -> list[World | Server | Persona]:
    """World, servers and persons of a case that an arm carries out."""
    found = (catalog.fixtures[id] for id in dict.fromkeys((*case.fixtures, *arm.servers)))
    return [fixture for fixture in found if isinstance(fixture, World | Server | Persona)]


# --- after ---


def _outcome(record: TrialRecord, trace: Trace) -> Iterator[str]:
    yield ""
    yield f"{record.calls} calls, {record.violations} of them forbidden"
    if record.detail:
        yield f"not graded as a trial: {record.detail}" if record.cause else record.detail
    for finding in record.findings:
        yield f"{finding.status}  {finding.check}: {finding.reason}"
    if trace.changes is None:
        yield "The end state was not captured."
        return
    yield from told(trace.changes)
    if not trace.changes:
        yield "Nothing changed."


def _save(
    wishes: Wishes,
    run: str,
    catalog: Catalog,
    case: Case,
    arm: Arm,
    record: TrialRecord,
    trace: Trace,
    tools: Mapping[str, Tool],
) -> None:
    if wishes.save_solution is not None:
        draft = drafts.solution(trace, len(case.messages) or max(1, len(trace.replies)))
        head = f"Case {case.id}, played by hand. Look it over, then put it into the case."
        _write(wishes.save_solution, head, draft)
    if wishes.save_golden is not None:
        people = {person.id: person.name for person in catalog.personas(case)}
        draft = drafts.golden(trace, case.speakers or (people if len(people) > 1 else {}))
        head = f"Case {case.id}, played by hand. Review it, then put it in the place of the case's messages."
        _write(wishes.save_golden, head, draft)
    if wishes.save_answers is not None:
        draft = drafts.answers(trace, wishes.save_answers.stem, tools)
        head = f"What tools answered when {case.id} was played by hand. Look it over; cases name it under `answers`."
        if draft.content["tools"]:
            _write(wishes.save_answers, head, draft)
        else:
            _say(f"Nothing to write to {wishes.save_answers}: no call can be mocked.")
            for sentence in draft.left_out:
                _say(f"  {sentence}")
    if wishes.out is not None:
        _keep(wishes.out, run, catalog, case, arm, record, trace)
        click.echo(printable(f"Run: {wishes.out}"), err=wishes.stdio)


def _write(path: Path, head: str, draft: drafts.Draft) -> None:
    comments = [head, *(f"Left out: {sentence}." for sentence in draft.left_out)]
    text = written(draft.content)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"# {printable(comment)}\n" for comment in comments)
    path.write_text(lines + text, encoding="utf-8")
    _say(f"Wrote {path}" + (f", {len(draft.left_out)} calls left out" if draft.left_out else ""))


def _keep(
    folder: Path,
    run: str,
    catalog: Catalog,
    case: Case,
    arm: Arm,
    record: TrialRecord,
    trace: Trace,
) -> None:
    """As a run of one trial, for `seatrial report`, `regrade` and `world diff`."""
    suite = Suite(
        kind="suite", id=runner.BY_HAND, title="Played by hand", cases=(case.id,), trials=1
    )
    kept: dict[str, Any] = {
        "cases": {case.id: case},
        "suites": {suite.id: suite},
        "arms": {arm.id: arm},
    }
    manifest = Manifest(
        run=run,
        suite=suite.id,
        arms=(arm.id,),
        trials=1,
        seed=1,
        created_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        seatrial=__version__,
        plan=(PlannedCase(case=case.id, selected=True, reasons=("played by hand",), trials=1),),
    )
    with store.Writer.create(folder, manifest, replace(catalog, **kept)) as writer:
        writer.add(record, trace)
