"""The tools of a trial, of its world and its servers: each name once, and mocked only where that may be."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from seatrial.documents import Case, Catalog, Server
from seatrial.documents.server import is_live
from seatrial.errors import ToolServerError, UsageError, WorldError
from seatrial.servers import RealServer
from seatrial.state.access import covers
from seatrial.tools import Tool


class _Offering(Protocol):
    def tools(self) -> Iterable[Tool]: ...


def check_offers(
    catalog: Catalog,
    case: Case,
    world: _Offering,
    servers: Iterable[tuple[Server, _Offering]],
    mocked: Collection[str],
) -> None:
    """Hold what is offered in a trial against itself and its mocked answers.

    Documents are checked when they are loaded; this is what only running servers tell.

    Raises:
        ToolServerError: two tools have one name: an agent could not tell them apart; or a role of a server names
            a tool that it does not have.
        UsageError: a tool is mocked where it may not be.
    """
    if mocked and is_live(case.environment):
        raise UsageError(
            f"case {case.id!r}: environment {case.environment!r} is live, and nothing may be mocked there"
        )
    places = {tool.name: _place(catalog, "world", case.world) for tool in world.tools()}
    for document, server in servers:
        if isinstance(server, RealServer):
            _check_rights(document, case, server)
        refusal = document.mocks_refused(case.environment)
        place = _place(catalog, "server", document.id)
        for tool in server.tools():
            if tool.name in places:
                raise ToolServerError(
                    f"two tools of case {case.id!r} are called {tool.name!r}: of {places[tool.name]} and of "
                    f"{place}; name one under `hide`"
                )
            places[tool.name] = place
            if tool.name in mocked and refusal is not None:
                raise UsageError(f"{tool.name!r} cannot be mocked in case {case.id!r}: {refusal}")


def _check_rights(document: Server, case: Case, server: RealServer) -> None:
    """Hold what a role may call of a server against what there is: a name that nobody has would never be allowed."""
    granted = document.roles.get(case.role) if case.role is not None else None
    if granted is None:
        return
    named = [*granted.allow, *(n for names in granted.allow_for.values() for n in names)]
    known = [tool.name for tool in server.tools()]
    for entry in (*named, *granted.when):
        if not any(covers(entry, name) for name in known):
            raise WorldError(
                f"server {document.id!r}: roles.{case.role} names {entry!r}, and it has no such tool; it has "
                + ", ".join(known)
            )


def _place(catalog: Catalog, kind: str, id: str) -> str:
    place = catalog.place("fixture", id)
    return f"{kind} {id!r}" + (f" ({place})" if place else "")
