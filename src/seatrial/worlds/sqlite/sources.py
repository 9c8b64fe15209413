"""The database that all trials of a world start from: opened, built, and looked through."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from seatrial.documents.world import SqliteWorld
from seatrial.errors import WorldError
from seatrial.state import State
from seatrial.state.schemas import did_you_mean
from seatrial.worlds.sqlite import clock, rows, statements

OF_THE_TRIAL = frozenset({"now", "today", "run"})
"""Parameters of statements that no argument stands for."""

_HOT = bytes.fromhex("d9d505f920a163d7")
"""How a journal begins that still counts (https://sqlite.org/fileformat2.html#the_rollback_journal)."""

BUILD_SECONDS = 60.0
"""How long a script may take."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the copies of a database start from; read, never written."""

    file: Path
    tables: rows.Tables
    rows: dict[str, rows.Rows]
    state: State


def connect(path: Path | None, *, read_only: bool = False) -> clock.Database:
    """A connection in which statements are carried out one by one, with no transaction but our own.

    Without a path the database is one in memory.
    """
    # Immutable: SQLite then leaves no lock and no journal beside a file of the repository.
    mode = "mode=ro&immutable=1" if read_only else "mode=rwc"
    name = ":memory:" if path is None else f"file:{quote(str(path))}?{mode}"
    connection = sqlite3.connect(
        name,
        uri=path is not None,
        isolation_level=None,
        check_same_thread=False,
        factory=clock.Database,
    )
    connection.text_factory = rows.text_or_bytes
    return connection


def prepared(world: SqliteWorld, root: Path, file: Path) -> Start:
    """Build the database that copies are made of, in a new file.

    Raises:
        WorldError: it cannot be built, or a tool does not fit it.
    """
    with contextlib.closing(connect(file)) as connection:
        _fill(world, root, connection)
        found = [*_problems(world, connection)]
        if found:
            path, message = found[0]
            raise WorldError(f"world {world.id!r}: {path}: {message}")
        tables = rows.tables(connection, by_rowid=world.by_rowid, leave_out=world.leave_out)
        start = tables.read(connection)
    return Start(file, tables, start, tables.state(start))


def problems(world: SqliteWorld, root: Path) -> Iterator[tuple[str, str]]:
    """What is wrong with the database, or with the statements of the tools on it."""
    with contextlib.closing(connect(None)) as connection:
        try:
            _fill(world, root, connection)
        except WorldError as error:
            source = next(iter(world.files()), "start")
            yield source, error.message
            return
        yield from _problems(world, connection)


def _fill(world: SqliteWorld, root: Path, connection: clock.Database) -> None:
    connection.execute(f"PRAGMA foreign_keys = {'ON' if world.foreign_keys else 'OFF'}")
    if world.database is not None:
        _copy(root / world.database, world.database, connection)
        return
    script = world.start
    if world.script is not None:
        try:
            script = (root / world.script).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise WorldError(f"{world.script} cannot be read: {error}") from error
    assert script is not None
    clock.freeze_clock(connection, world.now)
    clock.seed_chance(connection, 0)
    try:
        with statements.confined(connection), statements.within(connection, BUILD_SECONDS):
            connection.executescript(script)
        if connection.in_transaction:
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        what = world.script or "the SQL under `start`"
        raise WorldError(f"{what} cannot be carried out: {error}") from error


def _copy(source: Path, name: str, connection: sqlite3.Connection) -> None:
    log = source.with_name(source.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise WorldError(
            f"{name} has changes that stand in {name}-wal only",
            hint=f"sqlite3 {name} 'PRAGMA wal_checkpoint(TRUNCATE)'",
        )
    journal = source.with_name(source.name + "-journal")
    if journal.exists() and journal.read_bytes().startswith(_HOT):
        raise WorldError(
            f"{name} is in the middle of a change that {name}-journal would take back",
            hint=f"sqlite3 {name} 'PRAGMA user_version' takes it back",
        )
    try:
        with contextlib.closing(connect(source, read_only=True)) as original:
            original.backup(connection)
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise WorldError(f"{name} is no database that SQLite can read: {error}") from error


def _problems(world: SqliteWorld, connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    if sqlite3.sqlite_version_info < rows.OLDEST:
        yield (
            "world",
            (
                f"SQLite {'.'.join(map(str, rows.OLDEST))} or newer is needed; this Python has "
                f"{sqlite3.sqlite_version}"
            ),
        )
        return
    yield from rows.table_problems(connection, by_rowid=world.by_rowid, leave_out=world.leave_out)
    for name, tool in world.tools.items():
        known = {*tool.parameters.get("properties", {}), *OF_THE_TRIAL}
        for path, statement in tool.all_statements:
            where = f"tools.{name}.{path}"
            try:
                found = statements.asked_for(connection, statement.sql, read_only=tool.read_only)
            except statements.Forbidden as error:
                why = "a `read_only` tool" if tool.read_only else "a tool"
                yield where, f"{why} may not {error}"
                continue
            except (sqlite3.Error, sqlite3.Warning) as error:
                yield where, f"SQLite does not take it: {error}"
                continue
            for asked in sorted(found - known):
                guess = did_you_mean(asked, sorted(known))
                yield where, f":{asked} is no argument{guess}"
