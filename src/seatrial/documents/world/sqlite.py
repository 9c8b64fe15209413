"""A practice world of kind `sqlite`: a database, and tools that are SQL statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, StrictBool, model_validator

from seatrial.documents.base import Part
from seatrial.documents.patterns import RepositoryPath, literal
from seatrial.documents.world.base import Name, ToolAsData, World


class Statement(Part):
    """One SQL statement of a tool."""

    sql: str = Field(min_length=1)
    """Arguments stand in it as `:name`; one that was not given is NULL. `:now`, `:today` and `:run` are
    the trial's."""
    otherwise: str = ""
    """What the agent is told when the statement finds no row, or changes none; nothing is then changed.
    May hold `{{args.…}}`. Left out: no row is an answer like any other."""


class SqlTool(ToolAsData):
    """A tool that carries out SQL statements, all or none."""

    sql: str | None = Field(default=None, min_length=1)
    """The statement, where there is one; as under `statements`."""
    otherwise: str = ""
    """For `sql`, as under `statements`."""
    statements: tuple[Statement, ...] = ()
    """Several statements, carried out in order in one transaction."""
    answer: Literal["rows", "row", "value", "done"] = "rows"
    """What the agent gets of the last statement that gives rows: all (`{"rows": […]}`), the first, the
    first column of the first, or only that it is done."""

    @model_validator(mode="after")
    def _says_what_to_do(self) -> SqlTool:
        if (self.sql is None) == (not self.statements):
            raise ValueError("write `sql` (one statement) or `statements` (a list of them)")
        if self.otherwise and self.sql is None:
            raise ValueError("`otherwise` belongs to `sql`; write it into the statement it is for")
        return self

    @property
    def all_statements(self) -> tuple[tuple[str, Statement], ...]:
        """Each statement with its path inside the tool."""
        if self.sql is not None:
            return (("sql", Statement(sql=self.sql, otherwise=self.otherwise)),)
        return tuple((f"statements[{i}].sql", s) for i, s in enumerate(self.statements))


class SqliteWorld(World):
    """A practice world of kind `sqlite`: a copy of a database for each trial, and SQL as its tools.

    A row is an object: the table is its type, the primary key its key, the columns its properties.
    """

    world: Literal["sqlite"]
    """The kind of practice world."""
    database: RepositoryPath | None = None
    """A database file of the repository."""
    script: RepositoryPath | None = None
    """A file of SQL statements that build the database; in place of `database`."""
    start: str | None = Field(default=None, min_length=1)
    """The same statements, written here."""
    by_rowid: tuple[str, ...] = ()
    """Tables without a primary key whose rows are named by their rowid."""
    leave_out: tuple[str, ...] = ()
    """Tables that are no part of the state: what happens in them is never seen."""
    foreign_keys: StrictBool = True
    """Whether foreign keys are enforced."""
    tools: dict[Name, SqlTool] = Field(min_length=1)
    """Tools by name; the agent sees them on a server named as the world."""

    @model_validator(mode="after")
    def _starts_from_something(self) -> SqliteWorld:
        if sum(given is not None for given in (self.database, self.script, self.start)) != 1:
            raise ValueError(
                "write one of `database` (a database file), `script` (a file of SQL) and `start` (SQL)"
            )
        return self

    def files(self) -> Mapping[str, tuple[str, ...]]:
        named = {"database": self.database, "script": self.script}
        return {key: (literal(path),) for key, path in named.items() if path is not None}

    def tools_as_data(self) -> Mapping[str, ToolAsData]:
        return self.tools
