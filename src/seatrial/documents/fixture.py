"""A fixture: what a case leans on, one of several types."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from seatrial.documents.answers import Answers
from seatrial.documents.payloads import Payloads
from seatrial.documents.persona import Persona
from seatrial.documents.price_list import PriceList
from seatrial.documents.server import Server
from seatrial.documents.world import (
    DirectoryWorld,
    HttpWorld,
    McpWorld,
    ObjectsWorld,
    PythonWorld,
    SqliteWorld,
)


def _tag(value: Any) -> str | None:
    """The type, or of a world its kind, which is `objects` where none is written."""
    read = value.get if isinstance(value, dict) else lambda key, default=None: getattr(value, key)
    type = read("type")
    return read("world", "objects") if type == "world" else type


Fixture = Annotated[
    Annotated[ObjectsWorld, Tag("objects")]
    | Annotated[PythonWorld, Tag("python")]
    | Annotated[SqliteWorld, Tag("sqlite")]
    | Annotated[DirectoryWorld, Tag("directory")]
    | Annotated[HttpWorld, Tag("http")]
    | Annotated[McpWorld, Tag("mcp")]
    | Annotated[Answers, Tag("answers")]
    | Annotated[Payloads, Tag("payloads")]
    | Annotated[Persona, Tag("persona")]
    | Annotated[PriceList, Tag("prices")]
    | Annotated[Server, Tag("server")],
    Discriminator(_tag),
]
