"""A database as objects: tables are types, primary keys are keys, columns are properties."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from seatrial.errors import WorldError
from seatrial.state import Draft, State, state_from_json
from seatrial.state.schemas import did_you_mean
from seatrial.state.values import as_text
from seatrial.trace import Json

OLDEST = (3, 37, 0)
"""The first SQLite that lists its tables with their kinds."""

LONGEST_BLOB = 1024
"""Bytes that are shown of binary content; of more only the size and a digest."""

Row = tuple[Json, ...]


def text_or_bytes(raw: bytes) -> str | bytes:
    """What stands in a column of text: text, or bytes where it is none."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def as_json(value: object) -> Json:
    """A value of SQL as a JSON value."""
    if isinstance(value, bytes):
        if len(value) > LONGEST_BLOB:
            return {"sha256": hashlib.sha256(value).hexdigest(), "bytes": len(value)}
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    return value


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows are objects."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[int, ...]
    """Where its primary key stands among the columns; empty where rows are named by their rowid."""
    rowid: str = ""
    """The name under which the rowid can be read."""

    def rows(self, connection: sqlite3.Connection) -> dict[str, Row]:
        """The rows by key, in the order of the keys.

        Raises:
            WorldError: two rows have one key.
        """
        wanted = [quoted(column) for column in self.columns]
        if not self.keys:
            wanted.insert(0, self.rowid)
        found: dict[str, Row] = {}
        for read in connection.execute(f"SELECT {', '.join(wanted)} FROM main.{quoted(self.name)}"):
            row = tuple(map(as_json, read))
            if self.keys:
                key = _key([row[at] for at in self.keys])
            else:
                key, row = str(row[0]), row[1:]
            if key in found:
                raise WorldError(
                    f"two rows of table {self.name!r} have the key {key!r}, so they cannot be told apart"
                )
            found[key] = row
        return found

    def properties(self, row: Row) -> dict[str, Json]:
        """A row as the properties of an object."""
        return dict(zip(self.columns, row, strict=True))


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a database that are part of its state."""

    by_name: Mapping[str, Table]

    def rows(self, connection: sqlite3.Connection) -> dict[str, dict[str, Row]]:
        """Table → key → row."""
        return {name: table.rows(connection) for name, table in self.by_name.items()}

    def state(self, rows: Mapping[str, Mapping[str, Row]]) -> State:
        """Rows as a state of their own."""
        return state_from_json(
            {
                name: {key: self.by_name[name].properties(row) for key, row in keyed.items()}
                for name, keyed in rows.items()
            }
        )

    def state_after(
        self,
        start: State,
        before: Mapping[str, Mapping[str, Row]],
        now: Mapping[str, Mapping[str, Row]],
    ) -> State:
        """The state of rows that came of `before`, whose state is `start`; it shares what is the same."""
        draft = Draft(start)
        for name, keyed in now.items():
            old = before[name]
            if keyed is old:
                continue
            for key, row in keyed.items():
                if key not in old or old[key] != row:
                    draft.put(name, key, self.by_name[name].properties(row))
            for key in old.keys() - keyed.keys():
                draft.delete(name, key)
        return draft.state()


def tables(
    connection: sqlite3.Connection, *, by_rowid: Iterable[str] = (), leave_out: Iterable[str] = ()
) -> Tables:
    """The tables of a database, without SQLite's own and those left out.

    Raises:
        WorldError: a table has no primary key and is not among `by_rowid`.
    """
    found, problems = _read(connection, tuple(by_rowid), tuple(leave_out))
    for _, message in problems:
        raise WorldError(message)
    return Tables(found)


def table_problems(
    connection: sqlite3.Connection, *, by_rowid: Iterable[str], leave_out: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Why tables cannot be read as objects, each with the key of the document that says so."""
    yield from _read(connection, tuple(by_rowid), tuple(leave_out))[1]


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _read(
    connection: sqlite3.Connection, by_rowid: tuple[str, ...], leave_out: tuple[str, ...]
) -> tuple[dict[str, Table], list[tuple[str, str]]]:
    names = [
        name
        for name, kind in connection.execute(
            "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name"
        )
        if kind in ("table", "virtual") and not name.startswith("sqlite_")
    ]
    problems: list[tuple[str, str]] = []
    for key, named in (("by_rowid", by_rowid), ("leave_out", leave_out)):
        for number, name in enumerate(named):
            if name not in names:
                message = f"there is no table {name!r}{did_you_mean(name, names)}"
                problems.append((f"{key}[{number}]", message))
    found = {}
    for name in names:
        if name in leave_out:
            continue
        table = _table(connection, name)
        if not table.keys and name not in by_rowid:
            problems.append(
                (
                    "by_rowid",
                    f"table {name!r} has no primary key: give it one, or name it under `by_rowid` (its "
                    "rows are then told apart by their rowid) or `leave_out`",
                )
            )
        found[name] = table
    return found, problems


def _table(connection: sqlite3.Connection, name: str) -> Table:
    described = connection.execute(
        "SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden IN (0, 2, 3) ORDER BY cid", (name,)
    ).fetchall()
    columns = tuple(column for column, _ in described)
    ranked = sorted((rank, at) for at, (_, rank) in enumerate(described) if rank)
    taken = {column.lower() for column in columns}
    rowid = next((alias for alias in ("rowid", "_rowid_", "oid") if alias not in taken), "rowid")
    return Table(name, columns, tuple(at for _, at in ranked), rowid)


def _key(parts: list[Json]) -> str:
    """One column as it is; several as the JSON list of them, so that no two keys are written alike."""
    return as_text(parts[0]) if len(parts) == 1 else json.dumps(parts, ensure_ascii=False)
