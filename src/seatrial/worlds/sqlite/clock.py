"""A frozen clock and repeatable chance for SQL: a trial must not depend on when it is run."""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
from collections.abc import Callable

_OF_TIME = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Function → which of its arguments is the moment; the moment is `now` where it is not given."""

_KEYWORDS = {
    "current_timestamp": "%Y-%m-%d %H:%M:%S",
    "current_date": "%Y-%m-%d",
    "current_time": "%H:%M:%S",
}

SqlValue = None | int | float | str | bytes


class Database(sqlite3.Connection):
    """A connection, and the one that works out moments for it."""

    aside: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close both."""
        if self.aside is not None:
            self.aside.close()
        super().close()


def freeze_clock(connection: Database, now: dt.datetime) -> None:
    """Let every function of SQL that asks for the present moment find this one."""
    moment = now.astimezone(dt.UTC)
    aside = connection.aside = sqlite3.connect(":memory:", check_same_thread=False)
    for name, at in _OF_TIME.items():
        if _is_known(aside, name):
            function = _at(aside, name, at, moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3])
            # Deterministic, as the originals are for any fixed moment: indexes may be built on them.
            connection.create_function(name, -1, function, deterministic=True)
    for name, shape in _KEYWORDS.items():
        connection.create_function(name, 0, _constant(moment.strftime(shape)), deterministic=True)


def seed_chance(connection: sqlite3.Connection, seed: int) -> None:
    """Let `random()` and `randomblob()` give the same in every trial of this seed."""
    chance = random.Random(seed)
    connection.create_function("random", 0, lambda: chance.getrandbits(64) - 2**63)
    connection.create_function("randomblob", 1, lambda size: chance.randbytes(max(int(size), 1)))


def _at(aside: sqlite3.Connection, name: str, at: int, now: str) -> Callable[..., SqlValue]:
    def function(*given: SqlValue) -> SqlValue:
        arguments = list(given)
        if len(arguments) == at:
            arguments.append("now")
        if len(arguments) > at:
            moment = arguments[at]
            if isinstance(moment, str) and moment.lower() == "now":
                arguments[at] = now
        marks = ", ".join("?" * len(arguments))
        found: SqlValue = aside.execute(f"SELECT {name}({marks})", arguments).fetchone()[0]
        return found

    return function


def _constant(value: str) -> Callable[[], str]:
    return lambda: value


def _is_known(connection: sqlite3.Connection, name: str) -> bool:
    try:
        connection.execute(f"EXPLAIN SELECT {name}('2000-01-01')")
    except sqlite3.Error:
        return False
    return True
