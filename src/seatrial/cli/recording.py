"""What `seatrial record` does: one trial, stand-ins for what may not be kept, and a fixture that `check` takes."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import click
from pydantic import TypeAdapter, ValidationError

from seatrial import drafts, loading, runner
from seatrial.cli.keys import key_of
from seatrial.cli.playing import behind, one_case
from seatrial.documents import Arm, Case, Catalog, MockedTool, Recorded, Server
from seatrial.documents.base import Id
from seatrial.documents.world import HttpWorld, McpWorld
from seatrial.errors import ExitCode, UsageError, printable
from seatrial.loading.writing import written
from seatrial.stand_ins import Replaced, StandIns
from seatrial.state.mocking import misfits
from seatrial.tools import Tool
from seatrial.trace import Answer, Called, Json, Trace
from seatrial.verdicts import Cause
from seatrial.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the person wants."""

    arm: str | None
    environment: str | None
    fixture: str | None
    """The id of the fixture."""
    replay: str
    ids: bool
    """Ids are replaced."""
    undeclared: str | None
    """Why tools are recorded that declare nothing."""
    declare: bool
    """Tell what the servers declare."""
    again: bool
    """An earlier recording is overwritten."""


def record(workspace: Workspace, id: str, wishes: Wishes) -> ExitCode:
    """Record a case.

    Raises:
        UsageError: there is no such case or arm, nothing real stands behind it, or the file is there already.
        InvalidDocuments: the documents are wrong.
    """
    catalog = workspace.catalog()
    case = one_case(catalog, id)
    if wishes.environment is not None:
        case = case.model_copy(update={"environment": wishes.environment})
    arm = _arm(catalog, case, wishes.arm)
    fixture = _id(wishes.fixture or f"{case.written_as}-recorded")
    path = Path("fixtures") / f"{fixture}.yaml"
    if (workspace.root / path).exists() and not wishes.again:
        raise UsageError(
            f"{path} is there already", hint="--again overwrites it, --id ID names another"
        )
    recorded = _recorded(catalog, case, arm)
    fixtures = behind(catalog, case, arm)
    equipment = runner.equip([arm], workspace.root, cases=[case], fixtures=fixtures)
    run = f"recorded-{secrets.token_hex(6)}"
    done = anyio.run(lambda: runner.record(catalog, case, arm, equipment, run=run))
    if done.record.cause not in (None, Cause.NO_EVIDENCE):
        _say(f"The trial is invalid ({done.record.cause}): {done.record.detail}")
        _say("Nothing was written.")
        return ExitCode.UNDECIDED
    stand_ins = StandIns(
        key_of(workspace.root), keep=_written(catalog, case, fixtures), ids=wishes.ids
    )
    trace = _with_stand_ins(done.trace, recorded, stand_ins)
    redact = equipment.redactors.get(arm.id)
    tools = {
        name: tool if redact is None else _redacted(tool, redact)
        for name, tool in done.tools.items()
    }
    draft = drafts.answers(
        trace,
        fixture,
        tools,
        title=f"What {', '.join(recorded)} answered in case {case.written_as}",
        servers=recorded,
        undeclared=wishes.undeclared,
    )
    content, unfit = _fitting({**draft.content, "replay": wishes.replay}, tools)
    left_out = (*draft.left_out, *unfit)
    _say(
        f"Case {case.id} was carried out by arm {arm.id}: {done.record.verdict}, {done.record.calls} calls"
    )
    for sentence in left_out:
        _say(f"  left out: {sentence}")
    if not content["tools"]:
        raise UsageError(
            f"{', '.join(recorded)} answered nothing in this trial that can be mocked",
            hint="only tools that declare themselves read-only are; --allow-undeclared REASON takes those that "
            "declare nothing",
        )
    text = _file(content, left_out, stand_ins.told)
    files = dict(loading.read_tree(workspace.root)) | {path.as_posix(): text.encode()}
    loading.load(files)
    (workspace.root / path).parent.mkdir(exist_ok=True)
    (workspace.root / path).write_text(text, encoding="utf-8")
    for line in _outcome(path, content, stand_ins.told):
        click.echo(printable(line))
    for line in _to_do(catalog, case, fixture, recorded):
        click.echo(printable(line))
    if wishes.declare:
        owners = {call.tool: call.server for call in trace.calls}
        for text in _declared({name: tools[name] for name in content["tools"]}, owners):
            click.echo(printable(text, keep="\n"))
    return ExitCode.OPEN


# --- before ---


def _id(id: str) -> str:
    try:
        return TypeAdapter[str](Id).validate_python(id)
    except ValidationError:
        raise UsageError(
            f"{id!r} is no id",
            hint="--id with lower-case letters, digits, `.`, `_` and `-`, at most 80 characters",
        ) from None


def _arm(catalog: Catalog, case: Case, id: str | None) -> Arm:
    if id is None:
        return runner.reference_arm(catalog, case)
    if id not in catalog.arms:
        raise UsageError(
            f"there is no arm {id!r}", hint=f"there are {', '.join(sorted(catalog.arms)[:8])}"
        )
    arm = catalog.arms[id]
    if arm.agent != case.agent:
        raise UsageError(
            f"arm {id!r} is one of agent {arm.agent!r}, and case {case.id!r} is for {case.agent!r}",
            hint="name an arm of the case's agent, or none",
        )
    if isinstance(arm.adapter, Recorded):
        raise UsageError(
            f"the trials of arm {id!r} took place elsewhere",
            hint="name an arm that is carried out here",
        )
    return arm


def _recorded(catalog: Catalog, case: Case, arm: Arm) -> tuple[str, ...]:
    """The servers whose answers are taken: all real ones, else a world that is one.

    Raises:
        UsageError: there is none, or one is not reached in this environment.
    """
    servers = catalog.servers(case, arm)
    for server in servers:
        if server.target(case.environment) == "mock":
            raise UsageError(
                f"server {server.id!r} is `mock` in environment {case.environment!r}: there nothing real answers",
                hint="--environment NAME, one in which it is `real` or `pass_through`",
            )
    if servers:
        return tuple(server.id for server in servers)
    if isinstance(catalog.world(case.world), HttpWorld | McpWorld):
        return (case.world,)
    raise UsageError(
        f"no real server stands behind case {case.id!r}",
        hint="name one under `servers`; what a practice world answers, "
        f"`seatrial gateway serve {case.id} --save-answers FILE` writes",
    )


def _written(catalog: Catalog, case: Case, fixtures: Iterable[Any]) -> Iterator[str]:
    """What stands in the documents of the case: it is in the repository already."""
    written = catalog.cases[case.id].model_dump(mode="json")
    for value in (written, *(fixture.model_dump(mode="json") for fixture in fixtures)):
        yield from _texts(value)


def _texts(value: Json) -> Iterator[str]:
    match value:
        case dict():
            for key, item in value.items():
                yield str(key)
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
        case str() | int():
            yield str(value)
        case _:
            return


# --- stand-ins ---


def _with_stand_ins(trace: Trace, servers: Sequence[str], stand_ins: StandIns) -> Trace:
    """The trace with stand-ins in all calls of these servers."""
    calls = [call for call in trace.calls if call.server in servers]
    for call in calls:
        stand_ins.learn(call.arguments, f"{call.tool}: arguments")
        stand_ins.learn(_said(call.answer), f"{call.tool}: answer")
    made = {call.number: _call_with(call, stand_ins) for call in calls}
    events = [made.get(e.number, e) if isinstance(e, Called) else e for e in trace.events]
    return trace.model_copy(update={"events": tuple(events)})


def _said(answer: Answer) -> Json:
    """An answer as it is written down."""
    return answer.text if answer.structured is None else answer.structured


def _call_with(call: Called, stand_ins: StandIns) -> Called:
    content = tuple(
        {**part, "text": stand_ins.replaced(part["text"])} if part.get("type") == "text" else part
        for part in call.answer.content
    )
    answer = call.answer.model_copy(
        update={"content": content, "structured": stand_ins.replaced(call.answer.structured)}
    )
    return call.model_copy(
        update={"arguments": stand_ins.replaced(call.arguments), "answer": answer}
    )


def _redacted(tool: Tool, redact: Any) -> Tool:
    """A tool without the secrets of this run, which a server may have written into its schemas."""
    from dataclasses import replace

    return replace(
        tool, input_schema=redact(tool.input_schema), output_schema=redact(tool.output_schema)
    )


# --- after ---


def _fitting(
    content: dict[str, Any], tools: Mapping[str, Tool]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fixture without rules that no client would take; a sentence for each that is left out."""
    told: list[str] = []
    kept: dict[str, Any] = {}
    for name, mocked in content["tools"].items():
        schema = tools[name].output_schema
        wrong: dict[int, str] = {}
        try:
            tool = MockedTool.model_validate(mocked)
        except ValidationError as error:
            told.append(f"{name}: {error.errors()[0]['msg']}")
            continue
        for path, sentence in misfits(tool, True if schema is None else schema):
            found = re.match(r"rules\[(\d+)\]", path)
            assert found is not None, path
            wrong.setdefault(int(found.group(1)), sentence)
        told += [
            f"an answer of {name} does not fit its output schema: {why}" for why in wrong.values()
        ]
        rules = [rule for number, rule in enumerate(mocked["rules"]) if number not in wrong]
        if rules:
            kept[name] = {**mocked, "rules": rules}
    return {**content, "tools": kept}, tuple(told)


def _file(content: dict[str, Any], left_out: Sequence[str], told: Sequence[Replaced]) -> str:
    head = [
        f"{content['title']}. Look it over before it is committed: names in the middle of prose are not found.",
        *(f"Left out: {sentence}." for sentence in left_out),
        *(f"Replaced: {_of(one)}." for one in told),
    ]
    text = written(content)
    return "".join(f"# {printable(line)}\n" for line in head) + text


def _of(one: Replaced) -> str:
    return f"{one.place}, {one.kind}" + (f" ({one.values} values)" if one.values > 1 else "")


def _outcome(path: Path, content: Mapping[str, Any], told: Sequence[Replaced]) -> Iterator[str]:
    rules = sum(len(tool["rules"]) for tool in content["tools"].values())
    yield f"Wrote {path}: {len(content['tools'])} tools, {rules} rules, replay {content['replay']}"
    if not told:
        yield "Nothing was replaced."
    for one in told:
        yield f"  replaced: {_of(one)}"
    yield "Look it over before you commit it: names in the middle of prose are not found."


def _to_do(catalog: Catalog, case: Case, fixture: str, recorded: Sequence[str]) -> Iterator[str]:
    """What the case and its servers still need for the answers to be given."""
    written = catalog.cases[case.id]
    if written.answers != fixture:
        yield f"  → write `answers: {fixture}` in case {case.written_as}"
    for id in recorded:
        server = catalog.fixtures[id]
        if isinstance(server, Server) and (why := server.mocks_refused(written.environment)):
            yield f"  → {why}"


def _declared(tools: Mapping[str, Tool], owners: Mapping[str, str]) -> Iterator[str]:
    """What the servers declare of these tools, as their fixtures say it."""
    by_server: dict[str, dict[str, Any]] = {}
    for name, tool in tools.items():
        said = {
            "read_only": tool.read_only,
            "title": tool.title or None,
            "description": tool.description or None,
            "parameters": tool.input_schema,
            "output": tool.output_schema,
        }
        told = {key: value for key, value in said.items() if value is not None}
        # Frozen schemas are no plain mappings, which a file is written of.
        by_server.setdefault(owners[name], {})[name] = json.loads(json.dumps(told))
    for server, declared in by_server.items():
        text = written({"tools": declared})
        yield f"# For fixture `{server}`:\n{text.rstrip()}"


def _say(text: str) -> None:
    click.echo(printable(text), err=True)
