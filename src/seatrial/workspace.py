"""A folder of documents: where it lies, what is in it now and at a base, and what a run selects.

Joins what `git` and `loading` give, so that every command selects by the same rules.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from seatrial import loading, selection
from seatrial.documents import Arm, Catalog, Suite, digest
from seatrial.documents.patterns import is_literal, matches, plain
from seatrial.documents.sources import patterns
from seatrial.errors import InvalidDocuments, Problem, RevisionError, UsageError
from seatrial.git import Repository
from seatrial.records import PlannedCase

_MARKS = ("cases", "suites", ".git")
_NEVER_SOURCES = frozenset({".git", ".seatrial", ".venv", "__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a run would run, and where it comes from."""

    catalog: Catalog
    suite: Suite
    arms: tuple[Arm, ...]
    cases: tuple[PlannedCase, ...]
    """Every case of the suite, selected or left out, with its reasons; then the removed ones."""
    base: str | None
    """The commit that the documents were compared with."""
    base_name: str
    """The same for people; empty without a base."""

    @property
    def selected(self) -> tuple[PlannedCase, ...]:
        """The cases to run."""
        return tuple(c for c in self.cases if c.selected)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder with `cases/` and `suites/`, usually in a git work tree."""

    root: Path
    repository: Repository | None

    @classmethod
    def find(cls, path: Path | None = None) -> Workspace:
        """The workspace that a folder (the current one) lies in: the nearest with documents or `.git`.

        Raises:
            UsageError: there is none.
            RevisionError: git will not open its repository.
        """
        start = (path or Path.cwd()).resolve()
        root = _root_around(start)
        if root is None:
            raise UsageError(
                f"neither {start} nor a folder above it has cases/ or suites/",
                hint="go to the folder that holds them, or name it with --root",
            )
        return cls(root, Repository.find(root))

    @classmethod
    def find_or_here(cls, path: Path | None = None) -> Workspace:
        """The workspace that a folder lies in, or the folder: for commands that need no documents."""
        start = (path or Path.cwd()).resolve()
        root = _root_around(start) or start
        return cls(root, Repository.find(root))

    # --- documents ---

    def catalog(self) -> Catalog:
        """The documents as they lie in the folder.

        Raises:
            InvalidDocuments: every problem of every file.
        """
        return loading.load(loading.read_tree(self.root))

    def catalog_at(self, revision: str) -> Catalog:
        """The documents as they were at a revision.

        Raises:
            InvalidDocuments: they cannot be read by this version.
            RevisionError: there is no such revision.
        """
        prefix = self._prefix
        files = self._demand_repository().read_tree(
            revision,
            [prefix + folder for folder in loading.FOLDERS],
            wanted=lambda path: loading.is_document(path.removeprefix(prefix)),
        )
        return loading.load({path.removeprefix(prefix): data for path, data in files.items()})

    def suite_and_arms(
        self, catalog: Catalog, suite: str, arms: Sequence[str]
    ) -> tuple[Suite, tuple[Arm, ...]]:
        """The documents behind ids; without arms, all arms of the agents that the suite's cases are for.

        Raises:
            UsageError: there is no such suite or arm.
        """
        if suite not in catalog.suites:
            raise _unknown("suite", suite, catalog.suites)
        for arm in arms:
            if arm not in catalog.arms:
                raise _unknown("arm", arm, catalog.arms)
        found = catalog.suites[suite]
        if arms:
            return found, tuple(catalog.arms[arm] for arm in dict.fromkeys(arms))
        agents = {case.agent for case in catalog.suite_cases(found)}
        fitting = tuple(
            catalog.arms[a] for a in sorted(catalog.arms) if catalog.arms[a].agent in agents
        )
        if not fitting:
            raise UsageError(
                f"no arm is of an agent that suite {suite!r} has cases for",
                hint=f"the cases are for {', '.join(sorted(agents)) or 'nobody'}",
            )
        return found, fitting

    # --- where it comes from ---

    def revision(self) -> tuple[str | None, bool]:
        """The commit that is checked out (None outside git, and before the first), and whether the folder differs."""
        if self.repository is None:
            return None, False
        within = [self._prefix.rstrip("/")] if self._prefix else []
        return self.repository.head(), self.repository.is_dirty(within)

    def source_digests(self, catalog: Catalog, arm: Arm) -> dict[str, str]:
        """A digest of the content of the files behind each component of an arm.

        Raises:
            InvalidDocuments: a source names no file, or one outside of the repository.
        """
        problems: list[Problem] = []
        digests = {}
        for component, files in self._source_files(arm).items():
            contents = {}
            for path in files:
                try:
                    contents[path] = self._content_digest(path)
                except OSError as error:
                    message = f"source {component!r}: {path} cannot be read: {error.strerror}"
                    problems.append(_problem(catalog, arm, component, message))
                except ValueError:
                    message = (
                        f"source {component!r}: {path} is a link that leads out of the repository"
                    )
                    problems.append(_problem(catalog, arm, component, message))
            if not files and component in arm.sources:
                named = ", ".join(arm.sources[component])
                message = f"source {component!r}: no file fits {named}"
                problems.append(_problem(catalog, arm, component, message))
            if files:
                digests[component] = digest(contents)
        if problems:
            raise InvalidDocuments(problems)
        return digests

    # --- selection ---

    def select(
        self,
        suite: str,
        arms: Sequence[str] = (),
        *,
        base: str | None = None,
        trials: int | None = None,
    ) -> Selection:
        """Which cases of a suite run, and why.

        Args:
            suite: Id of the suite.
            arms: Ids of the arms; all that fit, when left out.
            base: A revision. Compared is the folder as it lies there with the commit where that revision
                and HEAD parted, which is the revision itself where HEAD descends from it.
            trials: Trials per case, instead of what cases and suite say.

        Raises:
            InvalidDocuments: the documents of the folder cannot be read.
            UsageError: there is no such suite or arm.
            RevisionError: the base is not in this clone; the hint says what to fetch.
        """
        catalog = self.catalog()
        the_suite, the_arms = self.suite_and_arms(catalog, suite, arms)
        for arm in the_arms:
            self.source_digests(catalog, arm)
        commit, compared = self._base(base, the_arms) if base is not None else (None, None)
        cases = selection.select(catalog, the_suite, the_arms, base=compared, trials=trials)
        return Selection(
            catalog=catalog,
            suite=the_suite,
            arms=the_arms,
            cases=cases,
            base=commit,
            base_name=compared.name if compared else "",
        )

    def _base(self, revision: str, arms: Iterable[Arm]) -> tuple[str, selection.Base]:
        repository = self._demand_repository()
        commit = repository.merge_base(revision, "HEAD")
        changed = {
            path.removeprefix(self._prefix)
            for path in repository.changed_paths(commit)
            if path.startswith(self._prefix)
        }
        known = self._known_files()
        unversioned: set[str] = set()
        for arm in arms:
            for path in {p for files in self._source_files(arm).values() for p in files}:
                real = self._within_root((self.root / path).resolve())
                if real in changed:
                    changed.add(path)
                elif path not in known and real not in known:
                    unversioned.add(path)
        catalog, unreadable = None, ""
        try:
            catalog = self.catalog_at(commit)
        except InvalidDocuments as error:
            first, count = error.problems[0], len(error.problems)
            unreadable = first.render() + (f" (and {count - 1} more)" if count > 1 else "")
        name = revision if commit.startswith(revision) else f"{revision} ({commit[:10]})"
        return commit, selection.Base(
            name=name,
            catalog=catalog,
            unreadable=unreadable,
            changed_files=frozenset(changed),
            unversioned_files=frozenset(unversioned),
        )

    # --- files of an arm ---

    def _source_files(self, arm: Arm) -> dict[str, tuple[str, ...]]:
        """Component → files that exist, relative to the root.

        A pattern does not fit files that git ignores (caches beside the code); a path that is written
        out is taken even then.
        """
        known = None
        found = {}
        for component, named in patterns(arm).items():
            files: set[str] = set()
            for pattern in named:
                if is_literal(pattern):
                    files.update(self._expanded(plain(pattern)))
                    continue
                known = self._known_files() if known is None else known
                fitting = (path for path in known if matches(pattern, path))
                files.update(file for path in fitting for file in self._expanded(path))
            found[component] = tuple(sorted(files))
        return found

    def _known_files(self) -> frozenset[str]:
        if self.repository is None:
            return frozenset(_walk(self.root, ""))
        known = self.repository.known_paths([self._prefix.rstrip("/")] if self._prefix else [])
        return frozenset(path.removeprefix(self._prefix) for path in known)

    def _expanded(self, path: str) -> Iterator[str]:
        """A file itself; for a folder (or a link to one) the files in it that git does not ignore."""
        target = self.root / path
        if target.is_file():
            yield path
        elif target.is_dir():
            if self.repository is None or target.is_symlink():
                yield from _walk(target, path)
                return
            for known in self.repository.known_paths([self._prefix + path]):
                inside = known.removeprefix(self._prefix)
                if (self.root / inside).is_file():
                    yield inside

    def _content_digest(self, path: str) -> str:
        real = (self.root / path).resolve(strict=True)
        self._within(real)
        with real.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _within(self, real: Path) -> None:
        """Check that a path is inside the repository; a ValueError says that it is not."""
        real.relative_to(self.repository.root if self.repository else self.root)

    def _within_root(self, real: Path) -> str:
        return os.path.relpath(real, self.root).replace(os.sep, "/")

    # --- within ---

    @property
    def _prefix(self) -> str:
        """What paths of the repository have before paths of the root: nothing, or `folder/`."""
        if self.repository is None or self.repository.root == self.root:
            return ""
        return self.root.relative_to(self.repository.root).as_posix() + "/"

    def _demand_repository(self) -> Repository:
        if self.repository is None:
            raise RevisionError(
                f"{self.root} is not in a git repository, so there is nothing to compare with",
                hint="leave out --base: then every case is selected",
            )
        return self.repository


def _root_around(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return None


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
    place = source.place(f"sources.{component}" if component in arm.sources else "adapter")
    path, line, column = place.rsplit(":", 2)
    return Problem(path, int(line), int(column), message, code="source")


def _unknown(kind: str, id: str, known: Iterable[str]) -> UsageError:
    names = sorted(known)
    near = difflib.get_close_matches(id, names, n=3)
    listed = ", ".join(near or names[:8]) + (" …" if not near and len(names) > 8 else "")
    ask = "did you mean " if near else "there are "
    hint = f"{ask}{listed}" + ("?" if near else "") if names else f"there is no {kind} at all"
    return UsageError(f"there is no {kind} {id!r}", hint=hint)
