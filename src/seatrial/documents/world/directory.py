"""A practice world of kind `directory`: a folder of files, perhaps a git repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt, model_validator

from seatrial.documents.base import Part
from seatrial.documents.patterns import RepositoryPath, escapes, inside, literal
from seatrial.documents.world.base import DeclaredTool, World

FileTool = Literal["list_files", "read_file", "write_file", "delete_file", "move_file"]
GitTool = Literal["git_log", "git_status", "git_commit", "git_create_branch", "git_switch"]

FILE_TOOLS: tuple[FileTool, ...] = (
    "list_files", "read_file", "write_file", "delete_file", "move_file",
)  # fmt: skip
GIT_TOOLS: tuple[GitTool, ...] = (
    "git_log", "git_status", "git_commit", "git_create_branch", "git_switch",
)  # fmt: skip


def _object(
    required: dict[str, dict[str, Any]], optional: dict[str, dict[str, Any]] | None = None
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "string"} | ({"description": description} if description else {}) | more


PARAMETERS: Mapping[str, dict[str, Any]] = {
    "list_files": _object({}, {"folder": _text("Only below this folder")}),
    "read_file": _object({"path": _text()}),
    "write_file": _object({"path": _text(), "text": _text()}),
    "delete_file": _object({"path": _text()}),
    "move_file": _object(
        {
            "source": _text("A file or a folder"),
            "destination": _text("Its new path; nothing may be there yet"),
        }
    ),
    "git_log": _object(
        {},
        {
            "branch": _text("The current one when left out"),
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        },
    ),
    "git_status": _object({}),
    "git_commit": _object({"message": _text(minLength=1)}),
    "git_create_branch": _object({"name": _text()}),
    "git_switch": _object({"branch": _text()}),
}
"""Tool → JSON Schema of its arguments."""
READ_ONLY = frozenset({"list_files", "read_file", "git_log", "git_status"})
DESTRUCTIVE = frozenset({"write_file", "delete_file"})

LONGEST_TEXT = 256 * 1024
"""Bytes of a text file that are compared as text; of longer ones, as of binary files, a digest."""

_FILE = {
    "file": frozenset({"text", "sha256", "bytes", "executable"}),
    "link": frozenset({"target"}),
}
_GIT = {
    "branch": frozenset({"commit"}),
    "tag": frozenset({"commit"}),
    "commit": frozenset({"message", "author", "parents", "files"}),
    "head": frozenset({"branch", "commit"}),
}


def _a_file_name(path: str) -> str:
    if escapes(path) or path.endswith("/"):
        raise ValueError(f"{path!r} is no path of a file inside the folder")
    return path


FileName = Annotated[str, AfterValidator(_a_file_name)]
"""The path of a file from the top of a folder."""


class Written(Part):
    """A text file that is written into a copied folder before any trial sees it."""

    path: FileName
    """Its path from the top of the folder."""
    text: str
    """The text."""
    how: Literal["append", "prepend", "replace"] = "replace"
    """replace: the whole file; append and prepend: on lines of its own, after or before what is there."""


class DirectoryWorld(World):
    """A practice world of kind `directory`: a copy of a folder for each trial, and tools for its files.

    A file is an object of type `file`, its path its key, its `text` (of binary files `sha256` and `bytes`)
    its properties. Of a git repository, branches, tags, commits and the head are objects too.
    """

    world: Literal["directory"]
    """The kind of practice world."""
    tree: RepositoryPath | None = None
    """The folder that is copied."""
    start: dict[FileName, str] | None = None
    """The files written here, path → text; in place of `tree`."""
    bundle: RepositoryPath | None = None
    """A git bundle (`git bundle create FILE --all`) in place of `tree`: its history, and the files of its
    head."""
    written: tuple[Written, ...] = ()
    """Files written into the folder after `tree` or `bundle` was copied."""
    git: StrictBool = False
    """The folder is a git repository: the one that `tree` is, or one with everything in its first commit."""
    folders: StrictBool = False
    """Folders are objects of type `folder` too; otherwise a folder is there when a file is in it."""
    leave_out: Annotated[tuple[str, ...], AfterValidator(inside)] = ()
    """Files that are no part of the state: what happens to them is never seen."""
    tools: tuple[FileTool | GitTool, ...] | None = Field(default=None, min_length=1)
    """The tools that there are, of `list_files`, `read_file`, `write_file`, `delete_file`, `move_file`, and
    in a git repository `git_log`, `git_status`, `git_commit`, `git_create_branch`, `git_switch`. All when left
    out."""
    largest_file: StrictInt = Field(default=1_000_000, ge=1)
    """Bytes that a file may get."""

    @model_validator(mode="after")
    def _starts_from_something(self) -> DirectoryWorld:
        if sum(given is not None for given in (self.tree, self.start, self.bundle)) != 1:
            raise ValueError(
                "write one of `tree` (a folder), `start` (files) and `bundle` (a git bundle)"
            )
        if self.written and self.start is not None:
            raise ValueError(
                "`written` belongs to `tree` or `bundle`; with `start`, write the file there"
            )
        return self

    @property
    def is_repository(self) -> bool:
        """Whether the folder is a git repository."""
        return self.git or self.bundle is not None

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of its tools."""
        return self.tools or (*FILE_TOOLS, *(GIT_TOOLS if self.is_repository else ()))

    def files(self) -> Mapping[str, tuple[str, ...]]:
        named = {"tree": self.tree, "bundle": self.bundle}
        return {key: (literal(path),) for key, path in named.items() if path is not None}

    def declared_tools(self) -> Mapping[str, DeclaredTool]:
        return {name: DeclaredTool(PARAMETERS[name], name in READ_ONLY) for name in self.offered}

    def declared_types(self) -> Mapping[str, frozenset[str]]:
        folder = {"folder": frozenset[str]()} if self.folders else {}
        return _FILE | folder | (_GIT if self.is_repository else {})

    def declared_start(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
        if self.start is None or self.is_repository or self.folders or self.leave_out:
            return None
        if any(
            len(text.encode("utf-8", "replace")) > LONGEST_TEXT or "\0" in text
            for text in self.start.values()
        ):
            return None
        return {"file": {path: {"text": text} for path, text in self.start.items()}}

    def declared_keys(self, type: str) -> frozenset[str] | None:
        if type == "file" and self.start is not None:
            return frozenset(self.start)
        return None
