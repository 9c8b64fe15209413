"""Practice worlds of any kind, opened and played for tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import yaml
from pydantic import TypeAdapter

from seatrial.documents import Fixture
from seatrial.documents.world import World
from seatrial.state import State
from seatrial.trace import Answer, Change
from seatrial.worlds import WorldCopy, staged

Call = tuple[str, dict[str, Any]]

_FIXTURE: TypeAdapter[Any] = TypeAdapter(Fixture)


def world(text: str, **changes: Any) -> World:
    """A world as its document is read; keys given replace its own."""
    fixture = _FIXTURE.validate_python(yaml.safe_load(text) | changes)
    assert isinstance(fixture, World)
    return fixture


@dataclass(frozen=True)
class Played:
    """What came of calls."""

    answers: list[Answer]
    versions: list[int]
    """After each call."""
    changes: tuple[Change, ...]
    start: State
    end: State

    @property
    def texts(self) -> list[str]:
        """The answers' texts; errors after a `!`."""
        return [f"!{a.text}" if a.is_error else a.text for a in self.answers]


def play(fixture: World, root: Path, *calls: Call, seed: int = 1, run_token: str = "r-1") -> Played:
    """Open a trial's copy, make the calls one after the other, and look at what has become of it."""

    async def use(copy: WorldCopy) -> Played:
        start = await copy.captured()
        answers, versions = [], []
        for tool, arguments in calls:
            answers.append(await copy.call(tool, arguments))
            versions.append(copy.version)
        changes = await copy.difference()
        return Played(answers, versions, changes, start, await copy.captured())

    played: Played = opened(fixture, root, use, seed=seed, run_token=run_token)
    return played


def opened(
    fixture: World,
    root: Path,
    use: Callable[[Any], Awaitable[Any]],
    *,
    seed: int = 1,
    run_token: str = "r-1",
) -> Any:
    """What a function makes of a trial's copy of a world."""

    async def main() -> Any:
        with anyio.fail_after(60):
            async with (
                staged(root) as stage,
                stage.open(fixture, run_token=run_token, seed=seed) as copy,
            ):
                return await use(copy)

    return anyio.run(main)
