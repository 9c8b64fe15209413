"""What the worlds of a run share, and the door through which each trial gets its copy."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from seatrial.documents.world import (
    DirectoryWorld,
    HttpWorld,
    McpWorld,
    ObjectsWorld,
    PythonWorld,
    SqliteWorld,
    World,
)
from seatrial.worlds import directory, http, mcp, python, sqlite
from seatrial.worlds.copies import WorldCopy
from seatrial.worlds.objects import open_world
from seatrial.worlds.templates import Templates


@dataclass(slots=True)
class Stage:
    """Where the worlds of a run stand."""

    root: Path
    """The repository's root: fixtures name their files from there."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment that worlds are given parts of."""
    run: str = ""
    """The run's id."""
    templates: Templates = field(init=False)
    """What copies are made of."""
    services: http.Services = field(default_factory=http.Services)
    """What the trials of services share."""

    def __post_init__(self) -> None:
        self.templates = Templates(self.run)

    @asynccontextmanager
    async def open(
        self,
        fixture: World,
        *,
        run_token: str,
        seed: int,
        role: str | None = None,
        purpose: str | None = None,
    ) -> AsyncIterator[WorldCopy]:
        """A trial's own copy of a world, until the block ends; then nothing of it is left.

        Args:
            fixture: the world.
            run_token: what `{{run}}` stands for.
            seed: what is drawn at random is drawn from this.
            role: the role that it serves; None: all is seen.
            purpose: the purpose that the role acts under.

        Raises:
            ToolServerError: the world cannot be set up.
        """
        match fixture:
            case ObjectsWorld():
                yield open_world(
                    fixture, run_token=run_token, seed=seed, role=role, purpose=purpose
                )
            case HttpWorld():
                async with http.opened(
                    fixture, self.services, self.environ, run_token=run_token
                ) as service:
                    yield service
            case McpWorld():
                async with mcp.opened(
                    fixture, self.root, self.environ, self.templates, run=self.run
                ) as server:
                    yield server
            case PythonWorld():
                async with python.opened(
                    fixture, self.root, self.templates, run_token=run_token, seed=seed
                ) as state:
                    yield state
            case SqliteWorld():
                async with sqlite.opened(
                    fixture, self.root, self.templates, run_token=run_token, seed=seed
                ) as database:
                    yield database
            case DirectoryWorld():
                async with directory.opened(fixture, self.root, self.templates) as folder:
                    yield folder
            case _:
                raise AssertionError(f"no world of kind {fixture.world!r} is known here")


@asynccontextmanager
async def staged(
    root: Path, environ: Mapping[str, str] | None = None, *, run: str = ""
) -> AsyncIterator[Stage]:
    """A stage for the worlds of a run, until the block ends; then nothing of it is left.

    Args:
        root: the repository's root.
        environ: the environment that worlds are given parts of.
        run: the run's id, by which what is left of it is found when it is killed.
    """
    stage = Stage(root, environ or {}, run or secrets.token_hex(8))
    try:
        yield stage
    finally:
        with anyio.CancelScope(shield=True):
            await stage.services.close()
            await anyio.to_thread.run_sync(stage.templates.close)
