"""`seatrial world`: look at a practice world, at what a trial changed in it, or play with it by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.errors import ExitCode, UsageError, printable

if TYPE_CHECKING:
    from seatrial.documents import World
    from seatrial.records import TrialRecord
    from seatrial.state import State
    from seatrial.store import Run
    from seatrial.tools import Tool
    from seatrial.workspace import Workspace

_root = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and fixtures/; the nearest one above, when left out.",
)
_shape = click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")

_TOKEN = "by-hand"
_SEED = 1


@click.group()
def world() -> None:
    """Look at a practice world, at what a trial changed in it, or play with it by hand."""


@world.command()
@click.argument("fixture")
@click.option("--all", "everything", is_flag=True, help="Every object, not the first of each type.")
@_shape
@_root
def show(fixture: str, everything: bool, shape: str, root: Path | None) -> None:
    """Show a world as a trial finds it: roles, tools, and what there is.

    The world is opened for that as for a trial: a server is started, a service is reset.
    """
    import json

    import anyio

    from seatrial.worlds import staged

    workspace, document = _world(fixture, root)

    async def look() -> tuple[tuple[Tool, ...], State]:
        async with (
            staged(workspace.root, _environment(document)) as stage,
            stage.open(document, run_token=_TOKEN, seed=_SEED) as copy,
        ):
            return tuple(copy.tools()), await copy.captured()

    tools, state = anyio.run(look)
    if shape == "json":
        told = {
            "id": document.id,
            "world": document.world,
            "now": document.clock("now"),
            "roles": {name: list(role.allow) for name, role in document.roles.items()},
            "tools": [tool.as_mcp() for tool in tools],
            "state": state.captured(),
        }
        click.echo(json.dumps(told, indent=1))
        return
    for line in _described(document, tools, state, 0 if everything else 5):
        click.echo(printable(line))


@world.command()
@click.argument("run")
@click.argument("case")
@click.argument("trial", type=click.IntRange(min=1))
@click.option("--arm", metavar="ID", help="Whose trial, where the run has several arms.")
@_shape
@_root
def diff(
    run: str, case: str, trial: int, arm: str | None, shape: str, root: Path | None
) -> ExitCode:
    """Show what TRIAL (its number) of CASE changed in its world. RUN is a folder, an id, or `latest`.

    Exit codes: 0 there is a difference or none, 3 the end state was not captured.
    """
    import json

    from seatrial import store
    from seatrial.cli.changes import told
    from seatrial.workspace import Workspace

    stored = store.Run.open(store.find(Workspace.find_or_here(root).root, run))
    record = _record(stored, case, trial, arm)
    changes = stored.trace(record).changes
    if shape == "json":
        written = (
            None if changes is None else [c.model_dump(exclude_defaults=True) for c in changes]
        )
        click.echo(json.dumps(written, indent=1))
        return ExitCode.UNDECIDED if changes is None else ExitCode.OPEN
    click.echo(printable(f"{record.case}, trial {record.number} of {record.arm}: {record.verdict}"))
    if changes is None:
        why = f": {record.detail}" if record.detail else "."
        click.echo(printable(f"The end state was not captured{why}"))
        return ExitCode.UNDECIDED
    for line in told(changes):
        click.echo(line)
    if not changes:
        click.echo("Nothing changed.")
    return ExitCode.OPEN


@world.command()
@click.argument("fixture")
@click.option("--role", metavar="NAME", help="Who acts; needed where the world has roles.")
@click.option("--purpose", metavar="NAME", help="The purpose that the role acts under.")
@_root
def serve(fixture: str, role: str | None, purpose: str | None, root: Path | None) -> None:
    """Serve a world as an MCP server on this machine, to play with by hand, until Ctrl-C.

    What MCP clients need to reach it is printed as their config file. Each call is told as it comes, and
    what all of them changed at the end.
    """
    import anyio

    workspace, document = _world(fixture, root)
    _check_role(document, role)
    _check_purpose(document, role, purpose)
    anyio.run(_served, workspace, document, role, purpose)


async def _served(
    workspace: Workspace, document: World, role: str | None, purpose: str | None
) -> None:
    import json
    import signal

    import anyio

    from seatrial.cli.changes import told
    from seatrial.cli.watching import Watching
    from seatrial.documents import placeholders
    from seatrial.gateway import Gateway
    from seatrial.state.rights import Rights
    from seatrial.worlds import staged

    async with (
        Gateway.serving() as gateway,
        staged(workspace.root, _environment(document)) as stage,
        stage.open(document, run_token=_TOKEN, seed=_SEED, role=role, purpose=purpose) as copy,
    ):
        channel = gateway.open(
            [copy],
            rights=Rights(document, role, copy.tools()),
            lookup=placeholders.of_trial(_TOKEN, document.now),
        )
        calls = Watching(channel)
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            click.echo(json.dumps(channel.config(), indent=2))
            click.echo(f"Serving {document.id}. Ctrl-C ends it.", err=True)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(calls.tell_as_they_come)
                async for _ in signals:
                    break
                tasks.cancel_scope.cancel()
        channel.close()
        calls.tell()
        changes = await copy.difference()
        for line in told(changes):
            click.echo(line)
        if not changes:
            click.echo("Nothing changed.")


def _world(fixture: str, root: Path | None) -> tuple[Workspace, World]:
    import difflib
    from dataclasses import replace

    from seatrial.documents import World
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    catalog = workspace.catalog()
    found = catalog.fixtures.get(fixture)
    if not isinstance(found, World):
        known = [world.id for world in catalog.worlds]
        near = difflib.get_close_matches(fixture, known, n=3) or known[:8]
        raise UsageError(
            f"there is no world {fixture!r}",
            hint=f"there are {', '.join(near)}" if near else "there is no world at all",
        )
    workspace.world_digests(replace(catalog, fixtures={found.id: found}))
    return workspace, found


def _environment(document: World) -> dict[str, str]:
    import os

    missing = [name for name in document.variables() if name not in os.environ]
    if missing:
        raise UsageError(
            f"not set in the environment: {', '.join(missing)} (world {document.id})",
            hint="set them, or take them out of `pass_env`",
        )
    return dict(os.environ)


def _check_role(document: World, role: str | None) -> None:
    if role is None and not document.roles:
        return
    if role not in document.roles:
        known = ", ".join(document.roles)
        raise UsageError(
            f"world {document.id} has no role {role!r}" if role else "which role?",
            hint=f"seatrial world serve {document.id} --role NAME, one of {known}"
            if known
            else "leave --role out",
        )


def _check_purpose(document: World, role: str | None, purpose: str | None) -> None:
    if purpose is None:
        return
    own = document.roles[role].purposes if role is not None else ()
    if purpose not in own:
        raise UsageError(
            f"nobody acts under the purpose {purpose!r} here"
            if role is None
            else f"role {role!r} may not act under the purpose {purpose!r}",
            hint=f"it may act under {', '.join(own)}" if own else "leave --purpose out",
        )


def _record(stored: Run, case: str, trial: int, arm: str | None) -> TrialRecord:
    of_case = [record for record in stored.records(arm) if record.case == case]
    found = [record for record in of_case if record.number == trial]
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        arms = ", ".join(record.arm for record in found)
        raise UsageError(
            f"case {case} has a trial {trial} of several arms: {arms}", hint="name one with --arm"
        )
    if of_case:
        numbers = ", ".join(str(n) for n in sorted({record.number for record in of_case}))
        raise UsageError(f"case {case} has no trial {trial} in this run", hint=f"it has {numbers}")
    cases = sorted({record.case for record in stored.records(arm)})
    raise UsageError(
        f"this run has no trial of case {case!r}" + (f" by {arm}" if arm else ""),
        hint=f"it has trials of {', '.join(cases[:8])}" if cases else "it has no trials",
    )


def _described(document: World, tools: Iterable[Tool], state: State, most: int) -> Iterable[str]:
    from seatrial.cli.changes import shown

    title = f": {document.title}" if document.title else ""
    yield f"{document.id} ({document.world}){title}"
    yield f"clock  {document.clock('now')}"
    for name, role in document.roles.items():
        sees = [f"cleared for {', '.join(role.clearances)}"] if role.clearances else []
        sees += [f"acts for {', '.join(role.purposes)}"] if role.purposes else []
        yield "; ".join([f"role   {name}: {', '.join(role.allow) or 'nothing'}", *sees])
    yield ""
    rows = [(tool.name, _hints(tool), _first_line(tool.description)) for tool in tools]
    wide = [max((len(row[at]) for row in rows), default=0) for at in (0, 1)]
    for name, hints, description in rows:
        yield f"{name:<{wide[0]}}  {hints:<{wide[1]}}  {description}".rstrip()
    yield ""
    for type in state.types():
        objects = list(state.objects(type))
        yield f"{type}: {len(objects)}"
        for key, properties in objects[: most or None]:
            yield f"  {key}  {shown(properties)}"
        if most and len(objects) > most:
            yield f"  … and {len(objects) - most} more"
    links: dict[str, list[Any]] = {}
    for type, source, target in sorted(state.links()):
        links.setdefault(type, []).append(f"  {source} → {target}")
    for type, lines in links.items():
        yield f"{type}: {len(lines)} links"
        yield from lines[: most or None]
        if most and len(lines) > most:
            yield f"  … and {len(lines) - most} more"
    if not state.types() and not links:
        yield "There is nothing in it."


def _hints(tool: Tool) -> str:
    if tool.read_only:
        return "reads"
    if tool.read_only is None and tool.destructive is None:
        return "says nothing"
    return "destroys" if tool.destructive else "writes"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
