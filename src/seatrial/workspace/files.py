"""The files an arm is built from, as they lie in the folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from seatrial.documents import Arm, Catalog, digest
from seatrial.documents.patterns import is_literal, matches, plain
from seatrial.documents.sources import PROMPT, patterns
from seatrial.errors import InvalidDocuments, Problem
from seatrial.git import Repository
from seatrial.workspace.following import hashed, leads_out, within
from seatrial.workspace.settings import settings_problems

_NEVER_SOURCES = frozenset({".git", ".seatrial", ".venv", "__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Files below a root.

    A pattern does not fit what git ignores (caches beside the code); a path that is written out is
    taken even then.
    """

    root: Path
    repository: Repository | None
    prefix: str
    """What paths of the repository have before paths of the root: nothing, or `folder/`."""

    def digests(self, catalog: Catalog, arm: Arm) -> dict[str, str]:
        """Component → digest of the names and contents of its files.

        Raises:
            InvalidDocuments: a source or the prompt names no file, or one outside of the repository; or the
                settings do not fit their schema.
        """
        problems = settings_problems(self.home, self.root, catalog, arm)
        digests = {}
        for component, files in self._by_component(arm).items():
            contents = {}
            for path in files:
                try:
                    contents[path] = self.content(path)
                except OSError as error:
                    message = f"source {component!r}: {path} cannot be read: {error.strerror}"
                    problems.append(_problem(catalog, arm, component, message))
                except ValueError:
                    message = (
                        f"source {component!r}: {path} is a link that leads out of the repository"
                    )
                    problems.append(_problem(catalog, arm, component, message))
            if files:
                digests[component] = digest(contents)
            elif component in arm.sources:
                named = ", ".join(arm.sources[component])
                message = f"source {component!r}: no file fits {named}"
                problems.append(_problem(catalog, arm, component, message))
            elif component == PROMPT:
                message = "there is no such file for the prompt of the arm"
                problems.append(_problem(catalog, arm, component, message))
        if problems:
            raise InvalidDocuments(problems)
        return digests

    def of(self, arm: Arm) -> frozenset[str]:
        """Every file behind an arm, relative to the root."""
        return frozenset(path for files in self._by_component(arm).values() for path in files)

    def known(self) -> frozenset[str]:
        """Every file below the root that git does not ignore; outside of git, every file."""
        if self.repository is None:
            return frozenset(_walk(self.root, ""))
        known = self.repository.known_paths([self.prefix.rstrip("/")] if self.prefix else [])
        return frozenset(path.removeprefix(self.prefix) for path in known)

    def real(self, path: str) -> str:
        """Where a path leads when links are followed, relative to the root."""
        return os.path.relpath((self.root / path).resolve(), self.root).replace(os.sep, "/")

    @property
    def home(self) -> Path:
        """The folder that no file may lead out of."""
        return self.repository.root if self.repository else self.root

    def fitting(self, pattern: str) -> tuple[str, ...]:
        """The files that a pattern with wildcards fits, sorted."""
        return tuple(sorted(path for path in self.known() if matches(pattern, path)))

    def named(
        self, patterns: Iterable[str], known: Collection[str] | None = None
    ) -> tuple[str, ...]:
        """The files that any of the patterns fits, sorted; `known` are the files there are, where they are known."""
        files: set[str] = set()
        for pattern in patterns:
            if is_literal(pattern):
                files.update(self._expanded(plain(pattern)))
                continue
            known = self.known() if known is None else known
            fitting = (path for path in known if matches(pattern, path))
            files.update(file for path in fitting for file in self._expanded(path))
        return tuple(sorted(files))

    def content(self, path: str) -> str:
        """A digest of what a file holds.

        Raises:
            OSError: it cannot be read.
            ValueError: it lies outside of the repository.
        """
        return hashed(within(self.root / path, self.home))[0]

    def _by_component(self, arm: Arm) -> dict[str, tuple[str, ...]]:
        components = patterns(arm)
        wild = any(not is_literal(p) for named in components.values() for p in named)
        known = self.known() if wild else None
        return {component: self.named(named, known) for component, named in components.items()}

    def _expanded(self, path: str) -> Iterator[str]:
        """A file itself; for a folder (or a link to one) the files in it that git does not ignore."""
        target = self.root / path
        if target.is_file():
            yield path
        elif target.is_dir():
            if leads_out(target, self.home):
                yield path  # whoever reads it says so; what lies out there is not looked through
                return
            if self.repository is None or target.is_symlink():
                yield from _walk(target, path)
                return
            for known in self.repository.known_paths([self.prefix + path]):
                inside = known.removeprefix(self.prefix)
                if (self.root / inside).is_file():
                    yield inside


def _walk(folder: Path, name: str) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - _NEVER_SOURCES)
        inside = Path(here).relative_to(folder).as_posix()
        for file in files:
            yield "/".join(part for part in (name, inside, file) if part not in ("", "."))


def _problem(catalog: Catalog, arm: Arm, component: str, message: str) -> Problem:
    source = catalog.sources.get(("arm", arm.id))
    if source is None:
        return Problem(f"arm {arm.id}", 1, 1, message, code="source")
    named = {PROMPT: "adapter.prompt"}.get(component, "adapter")
    path = f"sources.{component}" if component in arm.sources else named
    return Problem(*source.at(path), message, code="source")
