"""What copies of worlds are made of: prepared once for each fixture, in a folder of the run."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from seatrial import processes
from seatrial.documents.world import World
from seatrial.errors import ToolServerError

_T = TypeVar("_T")


@dataclass(slots=True)
class _Template:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    made: Any = None
    failed: ToolServerError | None = None


class Templates:
    """Prepares what the copies of a world have in common when the first of them is wanted."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._folder: Path | None = None
        self._templates: dict[int, tuple[World, _Template]] = {}
        self._numbers = itertools.count(1)

    async def of(self, world: World, make: Callable[[Path], _T]) -> _T:
        """What `make` gives for this world, made once in a thread; it is given an empty folder.

        Raises:
            ToolServerError: from `make`, every time.
        """
        _, template = self._templates.setdefault(id(world), (world, _Template()))
        async with template.lock:
            if template.failed is not None:
                raise type(template.failed)(template.failed.message, hint=template.failed.hint)
            if template.made is None:
                folder = self.new_path("")
                folder.mkdir(mode=0o700)
                try:
                    template.made = await anyio.to_thread.run_sync(partial(make, folder))
                except ToolServerError as error:
                    template.failed = error
                    raise
        made: _T = template.made
        return made

    def new_path(self, suffix: str) -> Path:
        """A path that nothing else has, in a folder that only this user can look into."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=f"{processes.prefix(self._run)}worlds-"))
        return self._folder / f"{next(self._numbers)}{suffix}"

    def close(self) -> None:
        """Remove all of it."""
        if self._folder is not None:
            processes.remove(self._folder)
            self._folder = None
