"""The tools of a trial, of its world and its servers: each name once, and mocked only where that may be."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from seatrial.documents import Case, Catalog, Server
from seatrial.documents.server import is_live
from seatrial.errors import ToolServerError, UsageError
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
        ToolServerError: two tools have one name: an agent could not tell them apart.
        UsageError: a tool is mocked where it may not be.
    """
    if mocked and is_live(case.environment):
        raise UsageError(
            f"case {case.id!r}: environment {case.environment!r} is live, and nothing may be mocked there"
        )
    places = {tool.name: _place(catalog, "world", case.world) for tool in world.tools()}
    for document, server in servers:
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


def _place(catalog: Catalog, kind: str, id: str) -> str:
    place = catalog.place("fixture", id)
    return f"{kind} {id!r}" + (f" ({place})" if place else "")
