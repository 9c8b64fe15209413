"""Where the state of a server is read: the files of its folder, a JSON file, a database, a tool."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from seatrial.documents.world.mcp import (
    FromFiles,
    FromJson,
    FromSqlite,
    FromTool,
    StateOfServer,
    Where,
)
from seatrial.errors import WorldError
from seatrial.state import State, state_from_json
from seatrial.trace import Answer, Json
from seatrial.worlds import trees
from seatrial.worlds.finding import objects_at, parsed
from seatrial.worlds.sqlite import rows

MOST_BYTES = 64_000_000
"""The largest JSON file that is read."""


def reader(how: StateOfServer) -> trees.Reader:
    """How the folder itself is read; only where the state is its files, it matters what is left out."""
    if isinstance(how, FromFiles):
        return trees.Reader(how.leave_out, how.folders, how.git)
    return trees.Reader()


def from_folder(how: FromFiles | FromJson | FromSqlite, copied: trees.Copy) -> State:
    """The state as the folder holds it.

    Raises:
        WorldError: it cannot be read, or is no state.
    """
    match how:
        case FromFiles():
            return copied.reader.now(copied)
        case FromJson():
            return _from_json(how, copied.folder)
        case FromSqlite():
            return _from_sqlite(how, copied.folder)


def from_answer(how: FromTool, answer: Answer) -> State:
    """The state as a tool tells it.

    Raises:
        WorldError: the answer is an error, or is no state.
    """
    where = f"the tool {how.tool}"
    if answer.is_error:
        raise WorldError(
            f"{where}, which tells the state, answers with an error: {answer.text[:200]}"
        )
    # The text is what the tool gave; what is structured may be wrapped by the server.
    value = answer.structured
    if answer.text:
        try:
            value = parsed(answer.text)
        except ValueError as error:
            if value is None:
                raise WorldError(f"{where}, which tells the state, answers with no JSON") from error
    return _state(value, how.types, where)


def _from_json(how: FromJson, folder: Path) -> State:
    path = _inside(folder, how.file)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return state_from_json({})
    except OSError as error:
        raise WorldError(f"{how.file} cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise WorldError(f"{how.file} has more than {MOST_BYTES:,} bytes")
    try:
        value = parsed(content)
    except ValueError as error:
        raise WorldError(f"{how.file}, which holds the state, is no JSON: {error}") from error
    return _state(value, how.types, how.file)


def _from_sqlite(how: FromSqlite, folder: Path) -> State:
    path = _inside(folder, how.file)
    if not path.exists():
        return state_from_json({})
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as connection:
            connection.text_factory = rows.text_or_bytes
            connection.execute("BEGIN")
            tables = rows.tables(connection, by_rowid=how.by_rowid, leave_out=how.leave_out)
            return tables.state(tables.read(connection))
    except sqlite3.Error as error:
        raise WorldError(f"{how.file}, which holds the state, cannot be read: {error}") from error


def _inside(folder: Path, file: str) -> Path:
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise WorldError(f"{file} is a link that leads out of the folder")
    return path


def _state(value: Json, types: Mapping[str, Where], where: str) -> State:
    try:
        if types:
            value = {
                type: objects_at(value, type, found.at, found.key, where)
                for type, found in types.items()
            }
        if not isinstance(value, dict):
            raise TypeError("it must map types to keys to objects")
        return state_from_json(value)
    except (TypeError, ValueError) as error:
        raise WorldError(f"what {where} says of the state cannot be used: {error}") from error
