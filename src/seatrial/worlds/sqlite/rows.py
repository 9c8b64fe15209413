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
from seatrial.state import MISSING, Draft, State, state_from_json
from seatrial.state.schemas import did_you_mean
from seatrial.state.values import as_text
from seatrial.trace import Json

OLDEST = (3, 37, 0)
"""The first SQLite that lists its tables with their kinds."""

LONGEST_BLOB = 1024
"""Bytes that are shown of binary content; of more only the size and a digest."""

Row = tuple[int | float | str | bytes | None, ...]
Rows = list[Row]
"""Of one table, as SQLite gives them: comparing them costs little, naming and converting them much."""


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

    def read(self, connection: sqlite3.Connection) -> Rows:
        """Its rows as SQLite gives them; the rowid comes first where it names them."""
        wanted = [quoted(column) for column in self.columns]
        if not self.keys:
            wanted.insert(0, self.rowid)
        asked = f"SELECT {', '.join(wanted)} FROM main.{quoted(self.name)}"
        usual, connection.text_factory = connection.text_factory, str
        try:
            rows: Rows = connection.execute(asked).fetchall()
        except sqlite3.OperationalError:  # columns of text hold what is no text
            connection.text_factory = text_or_bytes
            rows = connection.execute(asked).fetchall()
        finally:
            connection.text_factory = usual
        return rows

    def key(self, row: Row) -> str:
        """What names a row."""
        if not self.keys:
            return str(row[0])
        parts = [as_json(row[at]) for at in self.keys]
        # Several columns as the JSON list of them, so that no two keys are written alike.
        return as_text(parts[0]) if len(parts) == 1 else json.dumps(parts, ensure_ascii=False)

    def properties(self, row: Row) -> dict[str, Json]:
        """A row as the properties of an object."""
        values = row if self.keys else row[1:]
        return dict(zip(self.columns, map(as_json, values), strict=True))

    def objects(self, rows: Rows) -> dict[str, dict[str, Json]]:
        """Key → properties of rows.

        Raises:
            WorldError: two rows have one key.
        """
        found: dict[str, dict[str, Json]] = {}
        for row in rows:
            key = self.key(row)
            if key in found:
                raise _alike(self.name, key)
            found[key] = self.properties(row)
        return found


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a database that are part of its state."""

    by_name: Mapping[str, Table]

    def read(self, connection: sqlite3.Connection) -> dict[str, Rows]:
        """Table → rows."""
        return {name: table.read(connection) for name, table in self.by_name.items()}

    def state(self, rows: Mapping[str, Rows]) -> State:
        """Rows as a state of their own.

        Raises:
            WorldError: two rows of a table have one key.
        """
        return state_from_json({n: self.by_name[n].objects(read) for n, read in rows.items()})

    def state_after(
        self, start: State, before: Mapping[str, Rows], now: Mapping[str, Rows]
    ) -> State:
        """The state of rows that came of `before`, whose state is `start`; it shares what is the same.

        Raises:
            WorldError: two rows of a table have one key.
        """
        draft = Draft(start)
        for name, rows in now.items():
            if rows is before[name]:
                continue
            table, old = self.by_name[name], set(before[name])
            fresh = table.objects([row for row in rows if row not in old])
            gone = {table.key(row) for row in old.difference(rows)}
            for key, properties in fresh.items():
                if key not in gone and start.get(name, key) is not MISSING:
                    raise _alike(name, key)
                draft.put(name, key, properties)
            for key in gone - fresh.keys():
                draft.delete(name, key)
        return draft.state()


def _alike(table: str, key: str) -> WorldError:
    return WorldError(
        f"two rows of table {table!r} have the key {key!r}, so they cannot be told apart"
    )


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
