"""The files that worlds and servers are made of, as they lie in the folder, and what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seatrial.documents import Catalog, ObjectsWorld, Server, World, digest
from seatrial.documents.patterns import is_literal, plain
from seatrial.errors import InvalidDocuments, Problem
from seatrial.workspace.files import SourceFiles
from seatrial.workspace.following import hashed, leads_out, within


@dataclass(frozen=True, slots=True)
class WorldFiles:
    """Files behind the worlds and the servers of a catalog.

    A path that is written out stands for all there is at it, also for what git ignores: a world is
    copied whole.
    """

    sources: SourceFiles

    def digests(self, catalog: Catalog) -> dict[str, str]:
        """World or server → digest of the names and contents of its files; those without files are left out.

        Raises:
            InvalidDocuments: a file is missing, lies outside of the repository, or cannot be used.
        """
        problems: list[Problem] = []
        found = {}
        for fixture in catalog.built:
            contents, wrong = self._contents(fixture)
            if isinstance(fixture, Server):
                wrong |= self._no_folder(fixture)
            elif not wrong and not isinstance(fixture, ObjectsWorld):
                from seatrial.worlds import file_problems  # noqa: PLC0415 - loads what worlds need

                wrong = dict(file_problems(fixture, self.sources.root))
            problems += (_problem(catalog, fixture.id, path, wrong[path]) for path in wrong)
            if contents:
                found[fixture.id] = digest(contents)
        if problems:
            raise InvalidDocuments(problems)
        return found

    def of(self, world: World | Server) -> frozenset[str]:
        """Every file behind a world or a server, relative to the root."""
        return frozenset(
            file
            for patterns in world.files().values()
            for pattern in patterns
            for file in self._fitting(pattern)
        )

    def _no_folder(self, server: Server) -> dict[str, str]:
        """What is wrong with where a server is started."""
        if server.cwd is None:
            return {}
        folder = self.sources.root / server.cwd
        if not folder.is_dir():
            return {"cwd": f"there is no folder {server.cwd}"}
        if leads_out(folder, self.sources.home):
            return {"cwd": f"{server.cwd} is a link that leads out of the repository"}
        return {}

    def _contents(self, world: World | Server) -> tuple[dict[str, str], dict[str, str]]:
        """File → digest of its content; and key → what is wrong there."""
        contents: dict[str, str] = {}
        wrong: dict[str, str] = {}
        for key, patterns in world.files().items():
            files = [file for pattern in patterns for file in self._fitting(pattern)]
            if not files and not any(self._is_folder(pattern) for pattern in patterns):
                wrong[key] = f"there is no {patterns[0]}"
            for file in files:
                try:
                    contents[file] = self._content(file)
                except OSError as error:
                    wrong[key] = f"{file} cannot be read: {error.strerror}"
                except ValueError:
                    wrong[key] = f"{file} is a link that leads out of the repository"
        return contents, wrong

    def _fitting(self, pattern: str) -> Iterator[str]:
        if not is_literal(pattern):
            yield from self.sources.fitting(pattern)
            return
        path = plain(pattern)
        target = self.sources.root / path
        if not target.is_dir() or leads_out(target, self.sources.home):
            if target.exists():
                yield path
            return
        for here, folders, files in os.walk(target):
            folders.sort()
            links = [name for name in folders if (Path(here) / name).is_symlink()]
            inside = Path(here).relative_to(self.sources.root).as_posix()
            yield from (f"{inside}/{name}" for name in sorted((*files, *links)))

    def _is_folder(self, pattern: str) -> bool:
        return is_literal(pattern) and (self.sources.root / plain(pattern)).is_dir()

    def _content(self, file: str) -> str:
        """A ValueError says that the file lies outside of the repository."""
        path = self.sources.root / file
        if path.is_symlink():
            if leads_out(path, self.sources.home):
                raise ValueError(file)
            return f"link:{os.readlink(path)}"
        content, mode = hashed(within(path, self.sources.home))
        return f"{'x' if mode & 0o100 else ''}:{content}"


def _problem(catalog: Catalog, id: str, path: str, message: str) -> Problem:
    source = catalog.sources.get(("fixture", id))
    if source is None:
        return Problem(f"fixture {id}", 1, 1, f"`{path}`: {message}", code="world")
    return Problem(*source.at(path), f"`{path}`: {message}", code="world")
