"""Baselines on the branch `seatrial-baselines`: read at a commit, written by compare-and-swap."""

from __future__ import annotations

import contextlib
import random
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from seatrial.errors import BaselineError
from seatrial.git import RefMoved, Repository, fetch, push, update_ref, write_commit

BRANCH = "seatrial-baselines"
LOCAL = f"refs/heads/{BRANCH}"
RELEASE = "release.json"

_ATTEMPTS = 60
_README = b"""# Released baselines

Written by `seatrial release`; each commit is one release. `suites/<suite>/<agent>/release.json` says
which run is the baseline, from which commit it was made and who approved it. Beside it lie the
records and traces that changes are compared with. Nothing here is edited by hand.
"""


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest state of the branch that this clone knows."""

    commit: str
    name: str
    """`seatrial-baselines` or `origin/seatrial-baselines`."""


def folder(suite: str, agent: str) -> str:
    """Where the baseline of an agent in a suite lies."""
    return f"suites/{suite}/{agent}"


def tip(repository: Repository) -> Tip | None:
    """The local branch or the one last fetched, whichever is ahead; None when there is neither.

    Raises:
        BaselineError: they have gone apart.
    """
    remote = repository.remote()
    local = repository.ref(LOCAL)
    fetched = repository.ref(f"refs/remotes/{remote}/{BRANCH}") if remote else None
    if fetched is None or fetched == local:
        return Tip(local, BRANCH) if local else None
    if local is None or repository.is_ancestor(local, fetched):
        return Tip(fetched, f"{remote}/{BRANCH}")
    if repository.is_ancestor(fetched, local):
        return Tip(local, BRANCH)
    raise BaselineError(
        f"{BRANCH} and {remote}/{BRANCH} have gone apart: each has releases that the other lacks",
        hint=f"look at both (`git log {BRANCH} {remote}/{BRANCH}`), then give up one of them: "
        f"git branch --force {BRANCH} {remote}/{BRANCH}",
    )


@dataclass(slots=True, eq=False)
class Files(Mapping[str, bytes]):
    """The files below a folder at a commit; each is read when it is asked for."""

    repository: Repository
    commit: str
    below: str
    _paths: frozenset[str] | None = None
    _read: dict[str, bytes] = field(default_factory=dict)

    def __getitem__(self, path: str) -> bytes:
        if path not in self._read:
            found = self.repository.read_file(self.commit, f"{self.below}/{path}")
            if found is None:
                raise KeyError(path)
            self._read[path] = found
        return self._read[path]

    def __contains__(self, path: object) -> bool:
        return path in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._known))

    def __len__(self) -> int:
        return len(self._known)

    @property
    def _known(self) -> frozenset[str]:
        if self._paths is None:
            at = len(self.below) + 1
            listed = self.repository.paths_at(self.commit, [self.below])
            self._paths = frozenset(path[at:] for path in listed)
        return self._paths


def write(
    repository: Repository,
    below: str,
    files: Mapping[str, bytes],
    message: str,
    remote: str | None,
    *,
    check: Callable[[str | None], None] = lambda _: None,
) -> str:
    """Make `files` all there is under the folder `below`, as a new commit of the branch.

    Whoever loses a race reads the branch again and tries anew. With a remote, its branch moves first
    and the local one follows. `check` is given the commit that is built upon, and raises where that one
    must not be.

    Raises:
        BaselineError: the branch is checked out somewhere, or others kept winning.
        RevisionError: there is no identity to commit with, or the remote refuses.
    """
    where = repository.checked_out_at(LOCAL)
    if where is not None:
        raise BaselineError(
            f"{BRANCH} is checked out at {where}: a release would move it under its feet",
            hint=f"git -C {shlex.quote(where)} switch --detach",
        )
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, 0.02 * min(attempt, 10)))
        try:
            return _attempt(repository, below, files, message, remote, check)
        except RefMoved:
            continue
    raise BaselineError(
        f"others moved {BRANCH} {_ATTEMPTS} times while this release was tried", hint="try again"
    )


def update(repository: Repository, remote: str) -> None:
    """Fetch the branch, so that what others released is known.

    Raises:
        RevisionError: the remote cannot be reached.
    """
    fetch(repository, remote, LOCAL, f"refs/remotes/{remote}/{BRANCH}")


def _attempt(
    repository: Repository,
    below: str,
    files: Mapping[str, bytes],
    message: str,
    remote: str | None,
    check: Callable[[str | None], None],
) -> str:
    theirs = fetch(repository, remote, LOCAL, f"refs/remotes/{remote}/{BRANCH}") if remote else None
    mine = repository.ref(LOCAL)
    newest = tip(repository)
    parent = newest.commit if newest else None
    check(parent)
    changes: dict[str, bytes | None] = {f"{below}/{path}": data for path, data in files.items()}
    if parent is None:
        changes["README.md"] = _README
    else:
        changes = {**dict.fromkeys(repository.paths_at(parent, [below])), **changes}
    commit = write_commit(repository, changes, message, parent=parent)
    if not remote:
        update_ref(repository, LOCAL, commit, mine, reason=message.partition("\n")[0])
        return commit
    push(repository, commit, LOCAL, remote, theirs)
    # From here on the release stands; what the refs of this clone say only follows.
    _follow(repository, f"refs/remotes/{remote}/{BRANCH}", commit)
    _follow(repository, LOCAL, commit)
    return commit


def _follow(repository: Repository, ref: str, commit: str) -> None:
    """Move a ref of this clone on to a commit, unless it is already further or has gone elsewhere."""
    with contextlib.suppress(RefMoved):
        old = repository.ref(ref)
        if old is None or (old != commit and repository.is_ancestor(old, commit)):
            update_ref(repository, ref, commit, old, reason="release")
