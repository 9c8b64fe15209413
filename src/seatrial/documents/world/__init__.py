"""Practice worlds, one module per kind."""

from __future__ import annotations

from seatrial.documents.world.base import (
    DeclaredTool,
    Denial,
    Grants,
    Name,
    Role,
    ToolAsData,
    World,
)
from seatrial.documents.world.directory import DirectoryWorld
from seatrial.documents.world.http import HttpTool, HttpWorld
from seatrial.documents.world.locks import Lock
from seatrial.documents.world.mcp import McpWorld
from seatrial.documents.world.objects import (
    Action,
    AddToProperty,
    Bind,
    CreateObject,
    DeleteObject,
    Effect,
    Find,
    Link,
    LinkType,
    MakeLink,
    ObjectsWorld,
    ObjectType,
    Precondition,
    SetProperties,
)
from seatrial.documents.world.python import PythonTool, PythonWorld
from seatrial.documents.world.sqlite import SqliteWorld, SqlTool, Statement

WORLDS: dict[str, type[World]] = {
    "objects": ObjectsWorld,
    "python": PythonWorld,
    "sqlite": SqliteWorld,
    "directory": DirectoryWorld,
    "http": HttpWorld,
    "mcp": McpWorld,
}
"""Kind of practice world → its model."""

__all__ = [
    "WORLDS",
    "Action",
    "AddToProperty",
    "Bind",
    "CreateObject",
    "DeclaredTool",
    "DeleteObject",
    "Denial",
    "DirectoryWorld",
    "Effect",
    "Find",
    "Grants",
    "HttpTool",
    "HttpWorld",
    "Link",
    "LinkType",
    "Lock",
    "MakeLink",
    "McpWorld",
    "Name",
    "ObjectType",
    "ObjectsWorld",
    "Precondition",
    "PythonTool",
    "PythonWorld",
    "Role",
    "SetProperties",
    "SqlTool",
    "SqliteWorld",
    "Statement",
    "ToolAsData",
    "World",
]
