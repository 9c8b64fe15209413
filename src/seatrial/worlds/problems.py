"""What is wrong with the files that a world names, found without starting anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seatrial.documents.world import DirectoryWorld, McpWorld, PythonWorld, SqliteWorld, World
from seatrial.worlds import directory, python, sqlite

Found = tuple[str, str]
"""Path inside the document, and what is wrong there."""


def file_problems(world: World, root: Path) -> Iterator[Found]:
    """Everything that the files behind a world show to be wrong; they are there and can be read."""
    match world:
        case PythonWorld():
            yield from python.problems(world, root)
        case SqliteWorld():
            yield from sqlite.problems(world, root)
        case DirectoryWorld(tree=str(tree)):
            yield from directory.problems(root / tree, "tree", name=tree, folder=True)
        case DirectoryWorld(bundle=str(bundle)):
            yield from directory.problems(root / bundle, "bundle", name=bundle, folder=False)
        case McpWorld(snapshot=str(snapshot)):
            yield from directory.problems(root / snapshot, "snapshot", name=snapshot, folder=True)
        case _:
            return
