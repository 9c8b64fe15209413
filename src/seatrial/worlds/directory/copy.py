"""One trial's copy of a folder."""

from __future__ import annotations

import datetime as dt
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from seatrial.documents.world import DirectoryWorld
from seatrial.documents.world.directory import DESTRUCTIVE, PARAMETERS, READ_ONLY
from seatrial.errors import RevisionError, WorldError
from seatrial.state import State, difference
from seatrial.state.answers import tool_answer
from seatrial.state.values import freeze
from seatrial.tools import Tool
from seatrial.trace import Answer, Change, Json
from seatrial.worlds import trees
from seatrial.worlds.directory.commits import Commits
from seatrial.worlds.directory.files import Files
from seatrial.worlds.directory.preparing import prepared
from seatrial.worlds.templates import Templates
from seatrial.worlds.told import Told, without_folder

_DESCRIPTIONS = {
    "list_files": "List the files, all or those below a folder.",
    "read_file": "Read a text file.",
    "write_file": "Write a text file: a new one, or in place of what it holds.",
    "delete_file": "Delete a file.",
    "move_file": "Give a file or a folder a new path.",
    "git_log": "The last commits of a branch, newest first.",
    "git_status": "The branches, the one that is checked out, and the files that are not committed.",
    "git_commit": "Commit all files as they are, on the branch that is checked out.",
    "git_create_branch": "Make a branch from here, and check it out.",
    "git_switch": "Check a branch out.",
}


@asynccontextmanager
async def opened(
    world: DirectoryWorld, root: Path, templates: Templates
) -> AsyncIterator[DirectoryCopy]:
    """A trial's copy of the folder, until the block ends.

    Raises:
        WorldError: it cannot be made.
    """
    reader = trees.Reader(world.leave_out, world.folders, world.is_repository)
    start = await templates.of(world, partial(_start, world, root, reader))
    top = templates.new_path("")
    try:
        copied = await anyio.to_thread.run_sync(reader.copy, start, top)
        copy = DirectoryCopy(world, copied)
        try:
            yield copy
        finally:
            copy.close()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(partial(shutil.rmtree, top, ignore_errors=True))


def _start(world: DirectoryWorld, root: Path, reader: trees.Reader, folder: Path) -> trees.Start:
    top = folder / "top"
    source = world.tree or world.bundle
    prepared(
        top,
        source=root / source if source is not None else dict(world.start or {}),
        name=source or "`start`",
        bundle=world.bundle is not None,
        repository=world.is_repository,
        now=world.now,
        written=world.written,
    )
    return reader.start(top)


class DirectoryCopy:
    """One trial's folder, served as one tool server."""

    def __init__(self, world: DirectoryWorld, copied: trees.Copy) -> None:
        self._world = world
        self._copied = copied
        self._files = Files(copied.folder, largest_file=world.largest_file)
        self._commits = Commits(copied.folder, world.now.astimezone(dt.UTC))
        self._tools = tuple(map(_tool, world.offered))
        self._state: State | None = copied.start
        """As it was last read; None where it is another one by now."""
        self._version = 0
        self._lock = threading.Lock()
        self._closed = False

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

    @property
    def folder(self) -> Path:
        """Where the copy lies."""
        return self._copied.folder

    def tools(self) -> tuple[Tool, ...]:
        """The tools of the fixture."""
        return self._tools

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Carry out a tool."""
        return await anyio.to_thread.run_sync(self.act, tool, arguments)

    def act(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Carry out a tool; paths never lead out of the folder.

        Raises:
            WorldError: the file system or git does not do what it should.
        """
        if tool not in self._world.offered:
            return Answer.of_text(f"there is no such tool: {tool[:80]}", is_error=True)
        with self._lock:
            if self._closed:
                raise WorldError(f"world {self._world.id!r}: the trial is over")
            try:
                value = self._carried_out(tool, arguments)
            except Told as told:
                return Answer.of_text(f"{tool}: {told}.", is_error=True)
            except (OSError, RevisionError) as error:
                why = without_folder(error, self._copied.folder)
                raise WorldError(f"world {self._world.id!r}: {tool} failed: {why}") from error
            return tool_answer(value, None, world=self._world.id, tool=tool)

    async def captured(self) -> State:
        """Everything there is now."""
        return await anyio.to_thread.run_sync(self._capture)

    async def difference(self) -> tuple[Change, ...]:
        """The exact difference from the trial's start to now: files, and branches, tags and commits."""
        return difference(self._copied.start, await self.captured())

    def close(self) -> None:
        """Wait for a call under way, and carry out none after it."""
        with self._lock:
            self._closed = True

    # --- within ---

    def _carried_out(self, tool: str, arguments: Mapping[str, Any]) -> Json:
        files, commits = self._files, self._commits
        reading: dict[str, Callable[..., Json]] = {
            "list_files": files.list,
            "read_file": files.read,
            "git_log": commits.log,
            "git_status": commits.status,
        }
        if tool in reading:
            return reading[tool](**arguments)
        writing: dict[str, Callable[..., Json]] = {
            "write_file": files.write,
            "delete_file": files.delete,
            "move_file": files.move,
            "git_commit": commits.commit,
            "git_create_branch": commits.create_branch,
            "git_switch": commits.switch,
        }
        if tool in ("write_file", "delete_file") and not self._world.leave_out:
            # These say themselves whether anything changed; the folder need not be read for that.
            value = writing[tool](**arguments)
            if value is not False:
                self._state, self._version = None, self._version + 1
            return "done"
        before = self._state if self._state is not None else self._now()
        value = writing[tool](**arguments)
        self._state = self._now()
        if before != self._state:
            self._version += 1
        return value if isinstance(value, dict) else "done"

    def _now(self) -> State:
        return self._copied.reader.now(self._copied)

    def _capture(self) -> State:
        with self._lock:
            return self._now()


def _tool(name: str) -> Tool:
    return Tool(
        name=name,
        description=_DESCRIPTIONS[name],
        input_schema=freeze(PARAMETERS[name]),
        read_only=name in READ_ONLY,
        destructive=name in DESTRUCTIVE,
    )
