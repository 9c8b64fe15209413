"""A practice world of kind `mcp`: a real MCP server over a copied folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from seatrial.documents.base import Part
from seatrial.documents.patterns import RepositoryPath, escapes, inside, literal
from seatrial.documents.world.base import Name, World
from seatrial.documents.world.directory import FileName


class Where(Part):
    """Where the objects of a type stand in a larger value."""

    at: str = ""
    """A dotted path; the whole value when empty. A list of objects, or a mapping from keys to objects."""
    key: Name = "id"
    """In a list, the property that is an object's key."""


class FromFiles(Part):
    """The state is the files of the folder: types `file` and `link`, and those of git repositories."""

    read: Literal["files"]
    """What the state is read from."""
    leave_out: Annotated[tuple[str, ...], AfterValidator(inside)] = ()
    """Files that are no part of it."""
    folders: StrictBool = False
    """Folders are objects of type `folder` too."""
    git: StrictBool = False
    """Git repositories in the folder are compared too: branches, tags, commits and the head."""


class FromJson(Part):
    """The state stands in a JSON file of the folder."""

    read: Literal["json"]
    """What the state is read from."""
    file: FileName
    """The file, from the top of the folder. As long as it is not there, there are no objects."""
    types: dict[Name, Where] = Field(default_factory=dict)
    """Object type → where its objects stand. Left out: the file holds `{type: {key: {property: value}}}`."""


class FromSqlite(Part):
    """The state is an SQLite database in the folder: each row an object of its table."""

    read: Literal["sqlite"]
    """What the state is read from."""
    file: FileName
    """The database, from the top of the folder. As long as it is not there, there are no objects."""
    by_rowid: tuple[str, ...] = ()
    """Tables without a primary key whose rows are named by their rowid."""
    leave_out: tuple[str, ...] = ()
    """Tables that are no part of it."""


class FromTool(Part):
    """The state is what a tool of the server gives; agents never see that tool."""

    read: Literal["tool"]
    """What the state is read from."""
    tool: str = Field(min_length=1)
    """The tool's name."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """What it is called with."""
    types: dict[Name, Where] = Field(default_factory=dict)
    """Object type → where its objects stand. Left out: it gives `{type: {key: {property: value}}}`."""


StateOfServer = Annotated[FromFiles | FromJson | FromSqlite | FromTool, Field(discriminator="read")]


class Hints(Part):
    """What a server does not say about one of its tools, or says wrongly."""

    read_only: StrictBool | None = None
    """Changes nothing."""
    destructive: StrictBool | None = None
    """Deletes or overwrites what cannot be had back."""
    leaves_world: StrictBool | None = None
    """Its arguments reach somebody outside."""


class McpWorld(World):
    """A practice world of kind `mcp`: a real MCP server, started for each trial over a copy of a folder.

    The server is spoken to on its stdin and stdout. It is started in the copy.
    """

    world: Literal["mcp"]
    """The kind of practice world."""
    snapshot: RepositoryPath | None = None
    """The folder that is copied."""
    start: dict[FileName, str] | None = None
    """The files of the folder written here, path → text; in place of `snapshot`."""
    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments. `{python}` is the running interpreter, `{root}` the repository's root,
    `{snapshot}` the copy; the program is started in the copy."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables set for it; `{root}` and `{snapshot}` as in the command."""
    pass_env: tuple[str, ...] = ()
    """Names of variables handed on from the runner's own environment; their values are kept out of every file."""
    state: StateOfServer = Field(default_factory=lambda: FromFiles(read="files"))
    """Where the state is read; the files of the folder when left out."""
    sources: Annotated[tuple[str, ...], AfterValidator(inside)] = ()
    """Files or globs that the server is built from, beside those of the command that begin with `{root}/`;
    a change in any of them is a change of the world."""
    tools: dict[Name, Hints] = Field(default_factory=dict)
    """What the server does not say about its tools."""
    hide: tuple[str, ...] = ()
    """Tools that agents never see."""
    start_seconds: StrictFloat | StrictInt = Field(default=30.0, gt=0)
    """How long the server may take to start."""
    seconds: StrictFloat | StrictInt = Field(default=60.0, gt=0)
    """How long a call may take."""

    @model_validator(mode="after")
    def _starts_from_something(self) -> McpWorld:
        if (self.snapshot is None) == (self.start is None):
            raise ValueError("write `snapshot` (a folder) or `start` (files)")
        return self

    def variables(self) -> tuple[str, ...]:
        return self.pass_env

    def files(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        if self.snapshot is not None:
            found["snapshot"] = (literal(self.snapshot),)
        programs = [word.removeprefix("{root}/") for word in self.command if "{root}/" in word]
        named = tuple(literal(path) for path in programs if not escapes(path) and "{" not in path)
        if named:
            found["command"] = named
        if self.sources:
            found["sources"] = self.sources
        return found

    def declared_types(self) -> Mapping[str, frozenset[str] | None] | None:
        if isinstance(self.state, FromJson | FromTool) and self.state.types:
            return dict.fromkeys(self.state.types)
        return None
