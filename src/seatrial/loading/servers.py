"""Real MCP servers beside a world: tools of one name, and mocked answers where nothing may be mocked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seatrial.documents import Answers, Case
from seatrial.documents.server import Server, is_live
from seatrial.loading.library import Draft, Found, Library
from seatrial.loading.mistakes import Mistake
from seatrial.loading.places import Steps


def mocks_where_none_may_be(library: Library) -> Found:
    """Mocked answers in a live environment, or of tools of a server that is real in the case's."""
    told: set[tuple[str, str]] = set()
    for draft, case in library.of(Case):
        if case.answers is None:
            continue
        if is_live(case.environment):
            message = f"environment `{case.environment}` is live, and these answers are mocked: nothing may be there"
            yield draft, Mistake(("answers",), message, "Leave `answers` out", "mock-live")
            continue
        fixture = library.drafts.get(("fixture", case.answers))
        if fixture is None or not isinstance(fixture.document, Answers):
            continue
        for tool in fixture.document.tools:
            for why in _refused(library, case, tool):
                if (tool, why) not in told:
                    told.add((tool, why))
                    message = f"`{tool}` cannot be mocked in case `{case.id}`: {why}"
                    yield fixture, Mistake(("tools", tool), message, "", "mock-not-mocked", True)


def _refused(library: Library, case: Case, tool: str) -> Iterator[str]:
    """Why a tool cannot be mocked, as far as documents say whose it is."""
    servers = [server for _, server in library.servers_of(case)]
    for server in servers:
        if tool in server.tools and (why := server.mocks_refused(case.environment)):
            yield why
            return
    world = library.world_of(case)
    tools = world.declared_tools() if world is not None else {}
    if not servers or tools is None or tool in tools:
        return
    # It must be of one of the servers; where none of them may be mocked, it does not matter of which.
    refusals = [server.mocks_refused(case.environment) for server in servers]
    if all(refusals) and refusals[0] is not None:
        yield refusals[0]


def tools_of_one_name(library: Library) -> Found:
    """Two tools of one name in one case, as far as documents say: an agent could not tell them apart."""
    known: dict[tuple[str, ...], list[_Clash]] = {}
    for draft, case in library.of(Case):
        servers = list(library.servers_of(case))
        if not servers:
            continue  # nobody else offers a tool that one of the world's could be taken for
        key = (case.world, *(server.id for _, server in servers))
        if key not in known:
            known[key] = list(_clashes(library, case, servers))
        for clash in known[key]:
            message = (
                f"two tools of case `{case.id}` are called `{clash.tool}`: "
                f"{clash.first} and {clash.second}"
            )
            hint = "Name one under `hide`, or leave one of the two out"
            yield draft, Mistake(_steps(case, clash.server), message, hint, "two-tools")


@dataclass(frozen=True, slots=True)
class _Clash:
    """Two tools of one name, each with the place where it stands."""

    tool: str
    first: str
    second: str
    server: Server
    """Whose the second one is."""


def _clashes(
    library: Library, case: Case, servers: Sequence[tuple[Draft, Server]]
) -> Iterator[_Clash]:
    first: dict[str, str] = {}
    world = library.world_of(case)
    of_world = library.drafts.get(("fixture", case.world))
    if world is not None and of_world is not None:
        for tool in world.declared_tools() or ():
            first[tool] = _place(of_world, (world.tools_key, tool))
    for of_server, server in servers:
        for tool in server.declared():
            if tool in server.hide:
                continue
            place = _place(of_server, ("tools", tool))
            before = first.setdefault(tool, place)
            if before != place:
                yield _Clash(tool, before, place, server)


def _place(draft: Draft, steps: Steps) -> str:
    file, line, column = draft.places.of_key(steps)
    return f"{file}:{line}:{column}"


def _steps(case: Case, server: Server) -> Steps:
    return ("servers", case.servers.index(server.id)) if server.id in case.servers else ()
