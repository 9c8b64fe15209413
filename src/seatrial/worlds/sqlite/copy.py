"""One trial's copy of a database."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from seatrial.documents import placeholders
from seatrial.documents.world import SqliteWorld, SqlTool
from seatrial.errors import WorldError
from seatrial.state import State, difference, look_up
from seatrial.state.actions import tool as as_tool
from seatrial.state.actions import with_defaults
from seatrial.state.answers import tool_answer
from seatrial.state.schemas import validator
from seatrial.state.values import MISSING, as_text
from seatrial.tools import Tool
from seatrial.trace import Answer, Change, Json
from seatrial.worlds.sqlite import clock, rows, statements
from seatrial.worlds.sqlite.sources import Start, connect, prepared
from seatrial.worlds.templates import Templates
from seatrial.worlds.told import Told

CALL_SECONDS = 10.0
"""How long a tool may take."""
MOST_ROWS = 10_000
"""Rows that an answer may have."""


@asynccontextmanager
async def opened(
    world: SqliteWorld, root: Path, templates: Templates, *, run_token: str, seed: int
) -> AsyncIterator[SqliteCopy]:
    """A trial's copy of the database, until the block ends.

    Raises:
        WorldError: the database cannot be built, or a tool does not fit it.
    """
    start = await templates.of(world, lambda folder: prepared(world, root, folder / "start.sqlite"))
    file = templates.new_path(".sqlite")
    try:
        copy = await anyio.to_thread.run_sync(
            partial(SqliteCopy, world, start, file, run_token=run_token, seed=seed)
        )
        try:
            yield copy
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(copy.close)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)


class SqliteCopy:
    """One trial's database, served as one tool server."""

    def __init__(
        self, world: SqliteWorld, start: Start, file: Path, *, run_token: str, seed: int
    ) -> None:
        self._world = world
        self._start = start
        self._tools = tuple(as_tool(name, tool) for name, tool in world.tools.items())
        self._given = {
            "now": world.clock("now"),
            "today": world.clock("today"),
            "run": run_token,
        }
        self._rows = dict(start.rows)
        self._version = 0
        self._lock = threading.Lock()
        shutil.copyfile(start.file, file)
        self._connection = connect(file)
        for setting in (
            "journal_mode = MEMORY",  # a copy that dies with its trial needs no safety from crashes
            "synchronous = OFF",
            "temp_store = MEMORY",
            f"foreign_keys = {'ON' if world.foreign_keys else 'OFF'}",
        ):
            self._connection.execute(f"PRAGMA {setting}")
        clock.freeze_clock(self._connection, world.now)
        clock.seed_chance(self._connection, seed)

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        return self._world.id

    @property
    def instructions(self) -> str:
        """What the server tells agents about itself; may be empty."""
        return self._world.instructions

    @property
    def version(self) -> int:
        """Rises by one with each call that changed something."""
        return self._version

    def tools(self) -> tuple[Tool, ...]:
        """The tools of the fixture, in its order."""
        return self._tools

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Carry out the statements of a tool."""
        return await anyio.to_thread.run_sync(self.act, tool, arguments)

    def act(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Carry out the statements of a tool: all, or none where one fails.

        Raises:
            WorldError: SQLite cannot do what the fixture says, or not in time.
        """
        declared = self._world.tools.get(tool)
        if declared is None:
            return Answer.of_text(f"there is no such tool: {tool[:80]}", is_error=True)
        args = with_defaults(declared.parameters, arguments)
        with self._lock:
            try:
                answer, written = self._carried_out(tool, declared, args)
            except Told as told:
                self._rollback()
                return Answer.of_text(f"{told}", is_error=True)
            except BaseException:
                self._rollback()
                raise
            self._connection.execute("COMMIT")
            if self._look_again(written):
                self._version += 1
            return answer

    async def captured(self) -> State:
        """Everything there is now: each row an object of its table."""
        return await anyio.to_thread.run_sync(self._state)

    async def difference(self) -> tuple[Change, ...]:
        """The exact difference from the trial's start to now, row by row and column by column."""
        return difference(self._start.state, await self.captured())

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    # --- within ---

    def _carried_out(
        self, name: str, tool: SqlTool, args: Mapping[str, Json]
    ) -> tuple[Answer, set[str]]:
        """The answer, and the tables that the statements may have written."""
        where = f"world {self._world.id!r}: tools.{name}"
        parameters = _Parameters(self._given | {key: _for_sql(v) for key, v in args.items()})
        self._connection.execute("BEGIN IMMEDIATE")
        found: list[dict[str, Json]] | None = None
        with (
            statements.guarded(self._connection, read_only=tool.read_only) as seen,
            statements.within(self._connection, CALL_SECONDS),
        ):
            for path, statement in tool.all_statements:
                try:
                    cursor = self._connection.execute(statement.sql, parameters)
                    if cursor.description is not None:
                        found = _rows(cursor)
                    nothing = not (found if cursor.description is not None else cursor.rowcount)
                except sqlite3.IntegrityError as error:
                    raise Told(f"{name}: {error}.") from error
                except OverflowError as error:
                    raise Told(f"{name}: a number is too large.") from error
                except (sqlite3.Error, sqlite3.Warning) as error:
                    why = f"it may not {seen.refused}" if seen.refused else str(error)
                    raise WorldError(f"{where}.{path} cannot be carried out: {why}") from error
                if nothing and statement.otherwise:
                    raise Told(self._filled(statement.otherwise, args))
        if found is not None and len(found) > MOST_ROWS:
            raise WorldError(
                f"{where} gives more than {MOST_ROWS} rows", hint="write a LIMIT into its statement"
            )
        output = None if tool.output is None else validator(tool.output)
        answer = tool_answer(
            _shaped(found, tool), output, world=self._world.id, tool=f"tools.{name}"
        )
        return answer, seen.written

    def _filled(self, text: str, args: Mapping[str, Json]) -> str:
        def lookup(name: str) -> str:
            value = look_up({"args": args, **self._given}, name)
            return as_text(self._world.clock(name) if value is MISSING else value)

        return str(placeholders.fill(text, lookup))

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _look_again(self, written: set[str]) -> bool:
        """Read tables that may have been written; whether anything is not as it was."""
        changed = False
        for name in written & self._start.tables.by_name.keys():
            now = self._start.tables.by_name[name].read(self._connection)
            if now != self._rows[name]:
                self._rows[name] = now
                changed = True
        return changed

    def _state(self) -> State:
        with self._lock:
            start = self._start
            return start.tables.state_after(start.state, start.rows, self._rows)


class _Parameters(dict[str, Json]):
    """What stands for the parameters of a statement; an argument that was not given is NULL."""

    def __missing__(self, name: str) -> None:
        return None


def _for_sql(value: Json) -> Json:
    """An argument as SQLite takes it: lists and mappings as JSON text, for its JSON functions."""
    return as_text(value) if isinstance(value, dict | list) else value


def _rows(cursor: sqlite3.Cursor) -> list[dict[str, Json]]:
    columns = [column for column, *_ in cursor.description]
    read = cursor.fetchmany(MOST_ROWS + 1)
    return [dict(zip(columns, map(rows.as_json, row), strict=True)) for row in read]


def _shaped(found: list[dict[str, Json]] | None, tool: SqlTool) -> Json:
    if found is None or tool.answer == "done":
        return "done"
    if tool.answer == "rows":
        return {"rows": found}
    first = found[0] if found else None
    return first if tool.answer == "row" or first is None else next(iter(first.values()))
