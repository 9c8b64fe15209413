"""One trial's server, and the copy of a folder that it works on."""

from __future__ import annotations

import secrets
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from seatrial import processes
from seatrial.documents.world import McpWorld
from seatrial.documents.world.mcp import FromFiles, FromTool, Hints
from seatrial.errors import ToolServerError
from seatrial.state import State, difference, state_from_json
from seatrial.state.schemas import schema_problem
from seatrial.state.values import freeze, unkeepable
from seatrial.tools import Tool
from seatrial.trace import Answer, Change, Json
from seatrial.upstream import INTERNAL_ERROR, Rejected
from seatrial.upstream.stdio import StdioServer, started
from seatrial.worlds import trees
from seatrial.worlds.directory import prepared
from seatrial.worlds.mcp import states
from seatrial.worlds.offering import check_roles
from seatrial.worlds.templates import Templates


@asynccontextmanager
async def opened(
    world: McpWorld, root: Path, environ: Mapping[str, str], templates: Templates, *, run: str
) -> AsyncIterator[McpCopy]:
    """A server of a trial's own, over a copy of its own, until the block ends; then neither is left.

    Raises:
        ToolServerError: the folder cannot be copied, the server cannot be started, does not begin a
            session, or its tools or its state cannot be read.
    """
    start = await templates.of(world, partial(_start, world, root))
    folder = templates.new_path("")
    try:
        folder.mkdir(mode=0o700)
        copied = await anyio.to_thread.run_sync(start.reader.copy, start.tree, folder / "snapshot")
        async with started(
            [_filled(word, root, copied.folder) for word in world.command],
            who=f"world {world.id!r}: its server",
            cwd=copied.folder,
            env=_environment(world, root, environ, folder, copied.folder, run),
            mark=("SEATRIAL_WORLD", secrets.token_hex(16)),
            seconds=world.start_seconds,
        ) as server:
            copy = McpCopy(world, server, copied)
            await copy.look()
            yield copy
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(processes.remove, folder)


class _Start:
    """The folder that copies are made of, and how it is read."""

    def __init__(self, reader: trees.Reader, tree: trees.Start) -> None:
        self.reader = reader
        self.tree = tree


def _start(world: McpWorld, root: Path, folder: Path) -> _Start:
    top = folder / "snapshot"
    git = isinstance(world.state, FromFiles) and world.state.git
    prepared(
        top,
        source=dict(world.start or {}) if world.snapshot is None else root / world.snapshot,
        name=world.snapshot or "`start`",
        repository=git,
        now=world.now,
    )
    reader = states.reader(world.state)
    return _Start(reader, reader.start(top))


class McpCopy:
    """One trial's server, served as one tool server."""

    def __init__(self, world: McpWorld, server: StdioServer, copied: trees.Copy) -> None:
        self._world = world
        self._server = server
        self._copied = copied
        self._tools: tuple[Tool, ...] = ()
        self._start = self._state = state_from_json({})
        self._version = 0
        self._lock = anyio.Lock()

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        return self._world.id

    @property
    def instructions(self) -> str:
        """What the server tells agents about itself, after what the fixture says."""
        said = self._server.info.get("instructions")
        own = said if isinstance(said, str) else ""
        return "\n\n".join(filter(None, (self._world.instructions, own)))

    @property
    def version(self) -> int:
        """Rises by one with each call after which the state is another one."""
        return self._version

    @property
    def folder(self) -> Path:
        """Where the copy lies."""
        return self._copied.folder

    def tools(self) -> tuple[Tool, ...]:
        """The server's tools, without those that are hidden."""
        return self._tools

    async def look(self) -> None:
        """Ask for the tools, and read the state that the trial starts from.

        Raises:
            ToolServerError: the server does not answer, or not with tools.
        """
        try:
            listed = await self._server.listed(
                "tools/list", "tools", seconds=self._world.start_seconds
            )
        except Rejected as error:
            raise self._fault(f"its server does not list its tools: {error.message}") from error
        hidden = set(self._world.hide)
        how = self._world.state
        if isinstance(how, FromTool):
            hidden.add(how.tool)
        tools = [self._tool(entry) for entry in listed]
        names = [tool.name for tool in tools]
        for wanted in (*self._world.tools, *sorted(hidden)):
            if wanted not in names:
                raise self._fault(f"its server has no tool {wanted!r}; it has {', '.join(names)}")
        self._tools = tuple(tool for tool in tools if tool.name not in hidden)
        if len(set(names)) < len(names):
            raise self._fault("its server lists two tools of one name")
        check_roles(self._world, self._tools)
        self._start = self._state = await self.captured()

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Let the server carry out a tool.

        What it answers with an error of the protocol is an answer for the agent too, unless it says that
        the server itself failed (an internal error).

        Raises:
            ToolServerError: the server died, hung, failed, or answered with garbage.
        """
        offered = next((known for known in self._tools if known.name == tool), None)
        if offered is None:
            return Answer.of_text(f"there is no such tool: {tool[:80]}", is_error=True)
        if offered.read_only:
            return await self._called(tool, arguments)
        # One after the other, so that each change is known to come of its call.
        async with self._lock:
            answer = await self._called(tool, arguments)
            state = await self.captured()
            if difference(self._state, state):
                self._state = state
                self._version += 1
            return answer

    async def captured(self) -> State:
        """Everything there is now.

        Raises:
            ToolServerError: it cannot be read.
        """
        how = self._world.state
        if isinstance(how, FromTool):
            return states.from_answer(how, await self._called(how.tool, how.arguments))
        return await anyio.to_thread.run_sync(states.from_folder, how, self._copied)

    async def difference(self) -> tuple[Change, ...]:
        """The exact difference from the trial's start to now.

        A server that keeps its state in the folder is ended first: some write it down only then.
        """
        if not isinstance(self._world.state, FromTool):
            if self._server.is_gone:
                raise self._fault("its server ended before the trial did")
            with anyio.CancelScope(shield=True):
                await self._server.leave()
        return difference(self._start, await self.captured())

    # --- within ---

    async def _called(self, tool: str, arguments: Mapping[str, Json]) -> Answer:
        params = {"name": tool, "arguments": dict(arguments)}
        try:
            result = await self._server.request("tools/call", params, seconds=self._world.seconds)
        except Rejected as error:
            if error.code == INTERNAL_ERROR:
                raise self._fault(f"its server failed in {tool}: {error.message}") from error
            text = f"MCP error {error.code}: {error.message}"
            return Answer.of_text(text, is_error=True, code=error.code)
        content = result.get("content", [])
        if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
            raise self._fault(f"its server answers {tool} with what is no content")
        structured = result.get("structuredContent")
        if why := unkeepable([content, structured]):
            raise self._fault(f"its server answers {tool} with what is no JSON: {why}")
        return Answer(
            content=tuple(content),
            structured=structured,
            is_error=result.get("isError") is True,
        )

    def _tool(self, entry: Any) -> Tool:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name:
            raise self._fault("its server lists a tool without a name")
        schemas = {key: entry.get(key) for key in ("inputSchema", "outputSchema")}
        for key, schema in schemas.items():
            if schema is None and key == "outputSchema":
                continue
            problem = schema_problem(schema) if isinstance(schema, dict) else "is no mapping"
            if problem:
                raise self._fault(f"the {key} of its server's tool {name} {problem}")
        said = entry.get("annotations")
        annotations = said if isinstance(said, dict) else {}
        hints = self._world.tools.get(name) or Hints()
        return Tool(
            name=name,
            description=str(entry.get("description") or ""),
            input_schema=freeze(schemas["inputSchema"]),
            output_schema=freeze(schemas["outputSchema"]),
            read_only=_hint(hints.read_only, annotations.get("readOnlyHint")),
            destructive=_hint(hints.destructive, annotations.get("destructiveHint")),
            leaves_world=_hint(hints.leaves_world, annotations.get("openWorldHint")),
            title=str(entry.get("title") or annotations.get("title") or ""),
        )

    def _fault(self, what: str) -> ToolServerError:
        return ToolServerError(f"world {self._world.id!r}: {what}")


def _hint(written: bool | None, said: Any) -> bool | None:
    """What the fixture says, else what the server says."""
    if written is not None:
        return written
    return said if isinstance(said, bool) else None


def _filled(word: str, root: Path, snapshot: Path) -> str:
    if word == "{python}":
        return sys.executable
    return word.replace("{root}", str(root)).replace("{snapshot}", str(snapshot))


def _environment(
    world: McpWorld,
    root: Path,
    given: Mapping[str, str],
    folder: Path,
    snapshot: Path,
    run: str,
) -> dict[str, str]:
    home, scratch = folder / "home", folder / "tmp"
    home.mkdir()
    scratch.mkdir()
    return {
        **{name: given[name] for name in processes.INHERITED if name in given},
        "HOME": str(home),
        "TMPDIR": str(scratch),
        **{name: _filled(value, root, snapshot) for name, value in world.env.items()},
        **{name: given[name] for name in world.pass_env if name in given},
        "SEATRIAL_NOW": str(world.clock("now")),
        "SEATRIAL_RUN": run,
    }
