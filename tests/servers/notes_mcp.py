"""A real MCP server, written with the official SDK: notes in a folder, or in a database."""

import importlib
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

sdk: Any = importlib.import_module("mcp.server")
if not hasattr(sdk, "MCPServer"):  # mcp 1.x
    sdk.MCPServer = importlib.import_module("mcp.server.fastmcp").FastMCP
hints: Any = importlib.import_module("mcp.types").ToolAnnotations

READS, WRITES = hints(readOnlyHint=True), hints(destructiveHint=False)
server = sdk.MCPServer("notes", instructions="Keep notes short.")
database = (
    sqlite3.connect("notes.sqlite", check_same_thread=False) if "sqlite" in sys.argv else None
)
if database is not None:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, text TEXT)")
    database.commit()


@server.tool(annotations=READS)
def read_note(name: str) -> str:
    """Read a note."""
    return Path(f"{name}.md").read_text(encoding="utf-8")


@server.tool(annotations=WRITES)
def write_note(name: str, text: str) -> str:
    """Write a note."""
    if database is not None:
        database.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (name, text))
        database.commit()
    else:
        Path(f"{name}.md").write_text(text, encoding="utf-8")
    return f"wrote {name}"


@server.tool()
def delete_note(name: str) -> str:
    """Delete a note."""
    Path(f"{name}.md").unlink()
    return "deleted"


@server.tool(annotations=READS)
def dump() -> str:
    """All notes, for whoever grades."""
    notes = {p.stem: {"text": p.read_text(encoding="utf-8")} for p in Path.cwd().glob("*.md")}
    return json.dumps({"note": notes})


server.run("stdio")
