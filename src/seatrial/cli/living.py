"""What `seatrial check --live` finds: fixtures that no longer fit the worlds and servers they were written for."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.errors import Problem, ToolServerError, printable

if TYPE_CHECKING:
    from seatrial.documents import Answers, Catalog, Server, World
    from seatrial.servers import Servers
    from seatrial.tools import Tool
    from seatrial.worlds import Stage


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of asking worlds and servers what they offer."""

    problems: tuple[Problem, ...]
    asked: int
    """Worlds and servers that answered."""


def live(root: Path, catalog: Catalog) -> Outcome:
    """Start every server, and every world that mocked answers are for, and hold fixtures against their tools.

    Nothing is called; what was started is ended.

    Raises:
        UsageError: a variable that one of them hands on is not set.
    """
    import os

    import anyio

    from seatrial import runner
    from seatrial.servers import ready
    from seatrial.worlds import staged

    wanted = _Wanted.of(catalog)
    runner.equip([], root, fixtures=(*wanted.worlds, *wanted.servers))
    run = f"live-{secrets.token_hex(6)}"

    async def ask() -> Outcome:
        async with (
            staged(root, os.environ, run=run) as stage,
            ready(root, os.environ, run=run) as servers,
        ):
            offers: dict[str, Mapping[str, Tool] | str] = {}
            for world in wanted.worlds:
                offers[world.id] = await _of_world(stage, world)
            for server in wanted.servers:
                offers[server.id] = await _of_server(servers, server)
        return Outcome(
            tuple(sorted(set(_problems(catalog, wanted, offers)))),
            sum(not isinstance(offer, str) for offer in offers.values()),
        )

    return anyio.run(ask)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is asked, and what is held against it."""

    worlds: tuple[World, ...]
    servers: tuple[Server, ...]
    mocks: tuple[tuple[Answers, tuple[str, ...]], ...]
    """Mocked answers, each with the fixtures of a case whose tools they are for."""

    @classmethod
    def of(cls, catalog: Catalog) -> _Wanted:
        from seatrial.documents import Server

        arms: dict[str, list[str]] = {}
        for arm in catalog.arms.values():
            arms.setdefault(arm.agent, []).extend(arm.servers)
        mocks: dict[tuple[str, tuple[str, ...]], None] = {}
        for case in catalog.cases.values():
            if case.answers is not None:
                behind = (case.world, *case.servers, *arms.get(case.agent, ()))
                mocks[case.answers, tuple(dict.fromkeys(behind))] = None
        worlds = dict.fromkeys(behind[0] for _, behind in mocks)
        return cls(
            worlds=tuple(catalog.world(id) for id in worlds),
            servers=tuple(f for f in catalog.fixtures.values() if isinstance(f, Server)),
            mocks=tuple((catalog.answers(id), behind) for id, behind in mocks),
        )


async def _of_world(stage: Stage, world: World) -> Mapping[str, Tool] | str:
    """The tools of a world, or why it does not say."""
    try:
        async with stage.open(world, run_token="check", seed=1) as copy:
            return {tool.name: tool for tool in copy.tools()}
    except ToolServerError as error:
        return error.message


async def _of_server(servers: Servers, server: Server) -> Mapping[str, Tool] | str:
    """The tools of a server, or why it does not say. Whatever answers for it in an environment, it is started."""
    real = server.model_copy(update={"targets": {}})
    try:
        async with AsyncExitStack() as stack:
            (opened,) = await stack.enter_async_context(
                servers.open([real], environment="check", mocked=())
            )
            return {tool.name: tool for tool in opened.tools()}
    except ToolServerError as error:
        return error.message


def _problems(
    catalog: Catalog, wanted: _Wanted, offers: Mapping[str, Mapping[str, Tool] | str]
) -> Iterator[Problem]:
    for id, offer in offers.items():
        if isinstance(offer, str):
            yield _problem(catalog, id, "", printable(offer), "live-server")
    for server in wanted.servers:
        offer = offers[server.id]
        if not isinstance(offer, str):
            yield from _of_document(catalog, server, offer)
    for answers, behind in wanted.mocks:
        known = [offers[id] for id in behind]
        tools = {
            n: tool for offer in known if not isinstance(offer, str) for n, tool in offer.items()
        }
        whole = not any(isinstance(offer, str) for offer in known)
        yield from _of_answers(catalog, answers, tools, behind, whole=whole)


def _of_document(
    catalog: Catalog, server: Server, offered: Mapping[str, Tool]
) -> Iterator[Problem]:
    """What a fixture says of a server's tools without asking it."""
    from seatrial.state.schema_changes import no_longer_fits

    for name, tool in server.tools.items():
        if name not in offered:
            continue  # hidden; one that there is not, the server's own door refuses
        path, real = f"tools.{name}", offered[name]
        for key, said, is_now in (
            ("parameters", tool.parameters, real.input_schema),
            ("output", tool.output, real.output_schema),
        ):
            if said is not None and (found := list(no_longer_fits(said, is_now or {}))):
                message = f"stale: what the server declares of `{name}` is another: {_some(found)}"
                yield _problem(catalog, server.id, f"{path}.{key}", message, "mock-stale")


def _of_answers(
    catalog: Catalog,
    answers: Answers,
    tools: Mapping[str, Tool],
    behind: Sequence[str],
    *,
    whole: bool,
) -> Iterator[Problem]:
    """Mocked answers held against the tools of one case; `whole`: all that is behind it has answered."""
    from seatrial.gateway.fitting import problems_of

    for name in answers.tools:
        path = f"tools.{name}"
        if name not in tools:
            if whole:
                message = f"neither of {', '.join(behind)} offers a tool `{name}`"
                yield _problem(catalog, answers.id, path, message, "unknown-tool")
            continue
        for told in problems_of(answers, name, tools[name]):
            code = "mock-stale" if told.startswith("stale") else "mock-misfit"
            yield _problem(catalog, answers.id, path, f"`{name}`: {told}", code)


def _some(found: Iterable[str]) -> str:
    told = list(found)
    return "; ".join(told[:5]) + (f" (and {len(told) - 5} more)" if len(told) > 5 else "")


def _problem(catalog: Catalog, fixture: str, path: str, message: str, code: str) -> Problem:
    source = catalog.sources[("fixture", fixture)]
    return Problem(*source.at(path), printable(message), "", code)
