"""What a repository says: revisions, changed paths, files at a revision, and who wrote them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seatrial.errors import RevisionError, printable
from seatrial.git import command, hints

_REGULAR_FILES = (b"100644", b"100755")
_CONTACT = re.compile(r"(.*?) ?<([^<>]*)>$")
_IDENTITY = re.compile(r"(.*?) ?<([^<>]*)> ")
_CO_AUTHOR = re.compile(r"^\s*co-authored-by:\s*(.*?)\s*(?:<([^<>]*)>)?\s*$", re.IGNORECASE | re.M)


@dataclass(frozen=True, slots=True, order=True)
class Person:
    """Somebody named in a commit."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>" if self.email else self.name


@dataclass(frozen=True, slots=True)
class Repository:
    """A git work tree. Paths are relative to its root, `/` between folders."""

    root: Path

    @classmethod
    def find(cls, path: Path) -> Repository | None:
        """The repository whose work tree `path` lies in; None when there is none.

        Raises:
            RevisionError: there is one, but git will not open it.
        """
        path = path.resolve()
        if not any((folder / ".git").exists() for folder in (path, *path.parents)):
            return None
        top = command.demand(path, "rev-parse", "--show-toplevel")
        return cls(Path(os.fsdecode(top.removesuffix(b"\n"))))

    # --- revisions ---

    def resolve(self, revision: str) -> str:
        """The full name of the commit that `revision` stands for.

        Raises:
            RevisionError: there is no such commit here; it says what there is and what to fetch.
        """
        found = self.ref(revision)
        if found is None:
            raise hints.missing(self, revision)
        return found

    def head(self) -> str | None:
        """The commit that is checked out; None before the first commit."""
        return self.ref("HEAD")

    def ref(self, name: str) -> str | None:
        """The commit that a revision stands for, `refs/heads/main` or any other; None when it is not here."""
        if not hints.can_be_revision(name):
            return None
        done = command.call(
            self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"
        )
        return done.stdout.decode().strip() if done.returncode == 0 else None

    @property
    def is_shallow(self) -> bool:
        """The clone's history is cut off."""
        return self._git("rev-parse", "--is-shallow-repository").strip() == b"true"

    def merge_base(self, one: str, other: str) -> str:
        """The commit where two revisions parted; one of them, when the other descends from it.

        Raises:
            RevisionError: there is none in this clone; it says what to fetch. Never an empty answer.
        """
        first, second = self.resolve(one), self.resolve(other)
        done = command.call(self.root, "merge-base", first, second)
        if done.returncode == 0:
            return done.stdout.split()[0].decode()
        if done.returncode != 1:
            raise command.failure("merge-base", done.stderr)
        if self.is_shallow:
            remote = self.remote() or "origin"
            raise RevisionError(
                f"this clone is shallow: where {one!r} and {other!r} parted was not fetched",
                hint=f"git fetch --deepen=100 {remote} {first} {second}, "
                f"or the whole history: git fetch --unshallow {remote}",
            )
        raise RevisionError(
            f"{one!r} and {other!r} have no commit in common",
            hint="name a base that belongs to the same history",
        )

    def parent(self, commit: str) -> str | None:
        """The first parent of a commit; None for the first commit, and where the history is cut off."""
        return self.ref(f"{commit}^1")

    def tree(self, commit: str) -> str:
        """The name of all that is in a commit: two with the same hold the same files."""
        return (
            self._git("rev-parse", "--verify", f"{self.resolve(commit)}^{{tree}}").decode().strip()
        )

    def trees(self, until: str, *, most: int, since: str | None = None) -> frozenset[str]:
        """The trees of the last commits up to one, of those that are not reachable from another."""
        span = [self.resolve(until)] + ([f"^{self.resolve(since)}"] if since else [])
        listed = self._git("log", "--format=%T", f"--max-count={most}", *span)
        return frozenset(listed.decode().split())

    def parents(self, commit: str) -> tuple[str, ...]:
        """The parents of a commit, as far as this clone has them."""
        listed = self._git("rev-list", "--parents", "-n", "1", self.resolve(commit)).split()[1:]
        return tuple(name.decode() for name in listed)

    def is_cut_off(self, until: str, *, since: str | None = None) -> bool:
        """Whether the history between two commits is not all here: a shallow clone ends within it."""
        if not self.is_shallow:
            return False
        where = self._git("rev-parse", "--path-format=absolute", "--git-path", "shallow")
        try:
            ends = Path(os.fsdecode(where.removesuffix(b"\n"))).read_bytes().split()
        except FileNotFoundError:
            return False
        span = [self.resolve(until)] + ([f"^{self.resolve(since)}"] if since else [])
        within = set(self._git("rev-list", *span).split())
        return any(end in within for end in ends)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` descends from `older` (or is it), as far as this clone knows."""
        done = command.call(self.root, "merge-base", "--is-ancestor", older, newer)
        if done.returncode not in (0, 1):
            raise command.failure("merge-base", done.stderr)
        return done.returncode == 0

    def remote(self) -> str | None:
        """The remote to fetch from: `origin`, else the first; None without any."""
        names = self._git("remote").decode("utf-8", "replace").split()
        return "origin" if "origin" in names else next(iter(names), None)

    def branch(self) -> str | None:
        """The branch that is checked out; None where a commit is."""
        done = command.call(self.root, "symbolic-ref", "--quiet", "--short", "HEAD")
        return done.stdout.decode("utf-8", "replace").strip() or None

    def address(self) -> str | None:
        """The address of the remote to fetch from; it may hold a password."""
        remote = self.remote()
        if remote is None:
            return None
        return self._git("remote", "get-url", remote).decode("utf-8", "replace").strip() or None

    def names(self) -> tuple[str, ...]:
        """Branches, remote branches and tags, in short."""
        listed = self._git(
            "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"
        )
        return tuple(listed.decode("utf-8", "replace").splitlines())

    def checked_out_at(self, ref: str) -> str | None:
        """The work tree in which the branch `refs/heads/…` is checked out."""
        where = self._git("for-each-ref", "--format=%(worktreepath)", ref)
        return os.fsdecode(where).strip() or None

    # --- what changed ---

    def changed_paths(self, base: str, head: str | None = None) -> frozenset[str]:
        """Paths that differ between two commits, or between `base` and the work tree.

        Deleted paths are among them, and both names of a renamed file. The work tree counts with
        its untracked files, but not with the ignored ones; a file that was changed since `base` and
        then put back by hand still counts.
        """
        last = self.resolve("HEAD" if head is None else head)
        differing = _paths(
            self._git(
                "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff",
                "--no-textconv", self.resolve(base), last,
            )
        )  # fmt: skip
        return differing if head is not None else differing | self.dirty_paths()

    def dirty_paths(self, prefixes: Iterable[str] = ()) -> frozenset[str]:
        """Paths under `prefixes` (all, when there are none) where the work tree is not what is committed."""
        # `git diff` would also answer this, but rewrites the index in passing.
        listed = self._git(
            "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all",
            "--ignore-submodules=none", "--", *prefixes,
        )  # fmt: skip
        return frozenset(os.fsdecode(line[3:]) for line in listed.split(b"\0") if line)

    def is_dirty(self, prefixes: Iterable[str] = ()) -> bool:
        """Whether the work tree under `prefixes` is not what is committed."""
        return bool(self.dirty_paths(prefixes))

    def known_paths(self, prefixes: Iterable[str] = ()) -> frozenset[str]:
        """Files of the work tree that git does not ignore: tracked, or not yet."""
        options = ("--cached", "--others", "--exclude-standard", "-z")
        return _paths(self._git("ls-files", *options, "--", *prefixes))

    def tracked_paths(self, prefixes: Iterable[str] = ()) -> frozenset[str]:
        """Files that git tracks."""
        return _paths(self._git("ls-files", "--cached", "-z", "--", *prefixes))

    # --- files at a revision ---

    def paths_at(self, revision: str, prefixes: Iterable[str] = ()) -> tuple[str, ...]:
        """Files at a revision, sorted; symbolic links and submodules are none."""
        return tuple(path for path, _ in self._entries(self.resolve(revision), prefixes))

    def read_tree(
        self,
        revision: str,
        prefixes: Iterable[str] = (),
        *,
        wanted: Callable[[str], bool] = lambda _: True,
    ) -> dict[str, bytes]:
        """Files under `prefixes` (all, when there are none) at a revision, by path.

        `wanted` is asked for each path before its content is read. A prefix that does not exist at the
        revision has no files.
        """
        entries = [e for e in self._entries(self.resolve(revision), prefixes) if wanted(e[0])]
        contents = self._blobs([blob for _, blob in entries])
        return {path: content for (path, _), content in zip(entries, contents, strict=True)}

    def read_file(self, revision: str, path: str) -> bytes | None:
        """One file at a revision; None when there is none of that name."""
        entries = self._entries(self.resolve(revision), (path,))
        exact = [blob for name, blob in entries if name == path]
        return self._blobs(exact)[0] if exact else None

    # --- people ---

    def identity(self) -> Person:
        """In whose name git commits here.

        Raises:
            RevisionError: git does not know.
        """
        done = command.call(self.root, "var", "GIT_COMMITTER_IDENT")
        found = _IDENTITY.match(done.stdout.decode("utf-8", "replace"))
        if done.returncode or found is None:
            raise RevisionError(
                "git does not know in whose name to commit",
                hint='git config user.name "Your Name" && git config user.email you@example.org',
            )
        return Person(found[1], found[2])

    def canonical(self, person: Person) -> Person:
        """A person as `.mailmap` has it; as it is, where that says nothing."""
        contact = f"{person.name} <{person.email}>"
        done = command.call(self.root, "check-mailmap", "--", contact)
        found = _CONTACT.match(done.stdout.decode("utf-8", "replace").strip())
        return Person(found[1], found[2]) if done.returncode == 0 and found else person

    def committer(self, commit: str) -> Person:
        """Who made a commit, under the name written there."""
        said = self._git(
            "log", "-1", "--no-show-signature", "--format=%cn%x00%ce", self.resolve(commit)
        )
        name, _, email = said.decode("utf-8", "replace").rstrip("\n").partition("\0")
        return Person(name, email)

    def people(
        self, until: str, *, since: str | None = None, prefixes: Iterable[str] = ()
    ) -> frozenset[Person]:
        """Authors, committers and co-authors of a commit, or of all commits since another one.

        With `since`, the commits reachable from `until` and not from `since`, and of these the ones
        that touch `prefixes`. Each person under the name written and under the one `.mailmap` gives.
        """
        last = self.resolve(until)
        span = ("--no-walk", last) if since is None else (last, f"^{self.resolve(since)}")
        return frozenset().union(*self._people(span, prefixes).values())

    def commits(
        self, until: str, patterns: Iterable[str], *, since: str | None = None
    ) -> dict[str, frozenset[Person]]:
        """The commits up to one that touch files of these patterns, each with its people, newest first.

        Args:
            until: the last one.
            patterns: patterns of files as `seatrial.documents.patterns` has them; one that names a folder stands
                for all in it. Git may take one for a little more than it says, never for less.
            since: only those that are not reachable from it.
        """
        last = self.resolve(until)
        span = (last,) if since is None else (last, f"^{self.resolve(since)}")
        wanted = [f":(top{magic}){pattern}" for pattern in patterns for magic in ("", ",glob")]
        return self._people(span, wanted, {"GIT_LITERAL_PATHSPECS": "0"}) if wanted else {}

    def _people(
        self,
        span: Iterable[str],
        paths: Iterable[str],
        extra: Mapping[str, str] | None = None,
    ) -> dict[str, frozenset[Person]]:
        """The people of each commit; each under the name written and under the one `.mailmap` gives."""
        fields = ("%H", "%an", "%ae", "%aN", "%aE", "%cn", "%ce", "%cN", "%cE", "%B")
        shape = "%x00".join(fields)
        # Merges are followed as they are: without --full-history a path limit would hide commits.
        listed = command.demand(
            self.root, "log", "-z", "--full-history", "--no-show-signature", f"--format=tformat:{shape}",
            *span, "--", *paths, extra=extra,
        )  # fmt: skip
        words = listed.decode("utf-8", "replace").split("\0")[:-1]
        found: dict[str, frozenset[Person]] = {}
        for at in range(0, len(words), len(fields)):
            commit, *named, message = words[at : at + len(fields)]
            pairs = zip(named[::2], named[1::2], strict=True)
            people = {Person(name, email) for name, email in pairs}
            people |= {Person(name, email or "") for name, email in _CO_AUTHOR.findall(message)}
            found[commit] = frozenset(people)
        return found

    def log(
        self, revision: str, prefixes: Iterable[str] = (), *, since: str | None = None
    ) -> tuple[tuple[str, str], ...]:
        """Commits up to a revision that touch `prefixes`, newest first: full name and first line.

        With `since`, those that are reachable from `revision` and not from it.
        """
        span = [self.resolve(revision)] + ([f"^{self.resolve(since)}"] if since else [])
        listed = self._git("log", "-z", "--format=tformat:%H%x00%s", *span, "--", *prefixes)
        words = listed.decode("utf-8", "replace").split("\0")[:-1]
        return tuple(zip(words[::2], map(printable, words[1::2]), strict=True))

    # --- within ---

    def _git(self, *arguments: str | bytes, stdin: bytes | None = None) -> bytes:
        return command.demand(self.root, *arguments, stdin=stdin)

    def _entries(self, commit: str, prefixes: Iterable[str]) -> list[tuple[str, bytes]]:
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *prefixes)
        entries = []
        for line in listed.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, _, blob = about.split(b" ")
            if mode in _REGULAR_FILES:
                entries.append((os.fsdecode(path), blob))
        return sorted(entries)

    def _blobs(self, names: Sequence[bytes]) -> list[bytes]:
        if not names:
            return []
        wanted = b"".join(name + b"\n" for name in names)
        answer = memoryview(self._git("cat-file", "--batch", stdin=wanted))
        contents, at = [], 0
        for name in names:
            end = _line_end(answer, at)
            head = bytes(answer[at:end]).split(b" ")
            if len(head) != 3:
                raise RevisionError(
                    f"the object {name.decode()} is missing from this clone",
                    hint=f"git fetch {self.remote() or 'origin'}",
                )
            start = end + 1
            at = start + int(head[2]) + 1
            contents.append(bytes(answer[start : at - 1]))
        return contents


def _paths(listed: bytes) -> frozenset[str]:
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)


def _line_end(view: memoryview, start: int) -> int:
    window = bytes(view[start : start + 200])
    return start + window.index(b"\n")
