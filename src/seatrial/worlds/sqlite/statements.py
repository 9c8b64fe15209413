"""SQL statements of tools: what they may do, what they ask for, what they write."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from seatrial.trace import Json

_READING = frozenset({
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
})  # fmt: skip
_WRITING = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})

_NAMES = {
    getattr(sqlite3, name): name.removeprefix("SQLITE_").replace("_", " ")
    for name in (
        "SQLITE_ALTER_TABLE", "SQLITE_ANALYZE", "SQLITE_ATTACH", "SQLITE_CREATE_INDEX",
        "SQLITE_CREATE_TABLE", "SQLITE_CREATE_TEMP_INDEX", "SQLITE_CREATE_TEMP_TABLE",
        "SQLITE_CREATE_TEMP_TRIGGER", "SQLITE_CREATE_TEMP_VIEW", "SQLITE_CREATE_TRIGGER",
        "SQLITE_CREATE_VIEW", "SQLITE_CREATE_VTABLE", "SQLITE_DELETE", "SQLITE_DETACH",
        "SQLITE_DROP_INDEX", "SQLITE_DROP_TABLE", "SQLITE_DROP_TEMP_INDEX",
        "SQLITE_DROP_TEMP_TABLE", "SQLITE_DROP_TEMP_TRIGGER", "SQLITE_DROP_TEMP_VIEW",
        "SQLITE_DROP_TRIGGER", "SQLITE_DROP_VIEW", "SQLITE_DROP_VTABLE", "SQLITE_INSERT",
        "SQLITE_PRAGMA", "SQLITE_REINDEX", "SQLITE_SAVEPOINT", "SQLITE_TRANSACTION",
        "SQLITE_UPDATE",
    )
}  # fmt: skip

_REACHING_OUT = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
_FORBIDDEN_FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}
)

_STEPS_BETWEEN_LOOKS = 10_000
"""Steps of SQLite's machine between two looks at the clock."""


class Forbidden(Exception):
    """A statement would do what it may not; the message says what."""


@dataclass(slots=True)
class Seen:
    """What SQLite asked about the statements of a block."""

    refused: str = ""
    """The first thing that was not allowed."""
    written: set[str] = field(default_factory=set)
    """Tables that they may write, those of their triggers and foreign keys among them."""


@contextmanager
def guarded(connection: sqlite3.Connection, *, read_only: bool) -> Iterator[Seen]:
    """Let statements in the block read, and write rows unless `read_only`; SQLite refuses all else."""
    seen = Seen()

    def authorize(
        action: int, one: str | None, other: str | None, database: str | None, source: str | None
    ) -> int:
        if action in _WRITING and not read_only:
            seen.written.add(one or "")
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and other in _FORBIDDEN_FUNCTIONS:
            seen.refused = seen.refused or f"call {other}()"
            return sqlite3.SQLITE_DENY
        if action in _READING:
            return sqlite3.SQLITE_OK
        seen.refused = seen.refused or " ".join(filter(None, (_NAMES.get(action, ""), one)))
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(authorize)
    try:
        yield seen
    finally:
        connection.set_authorizer(None)


@contextmanager
def confined(connection: sqlite3.Connection) -> Iterator[None]:
    """Let statements in the block do anything within this database, and reach no other file."""

    def authorize(
        action: int, one: str | None, other: str | None, database: str | None, source: str | None
    ) -> int:
        if action in _REACHING_OUT or (
            action == sqlite3.SQLITE_FUNCTION and other in _FORBIDDEN_FUNCTIONS
        ):
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    connection.set_authorizer(authorize)
    try:
        yield
    finally:
        connection.set_authorizer(None)


class _Asked(dict[str, Json]):
    def __init__(self) -> None:
        self.names: set[str] = set()

    def __missing__(self, name: str) -> None:
        self.names.add(name)


def asked_for(connection: sqlite3.Connection, sql: str, *, read_only: bool) -> frozenset[str]:
    """The parameters of a statement, which is compiled for that and not carried out.

    Raises:
        Forbidden: it would do what a tool may not.
        sqlite3.Error: it is no SQL for this database, or more than one statement.
    """
    asked = _Asked()
    if re.match(r"\s*EXPLAIN\b", sql, re.IGNORECASE):
        raise Forbidden("EXPLAIN")
    with guarded(connection, read_only=read_only) as seen:
        try:
            connection.execute(f"EXPLAIN {sql}", asked).close()
        except sqlite3.DatabaseError:
            if seen.refused:
                raise Forbidden(seen.refused) from None
            raise
    return frozenset(asked.names)


@contextmanager
def within(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Interrupt what goes on in the block when it takes longer."""
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
