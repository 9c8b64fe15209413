"""A second work tree at another commit, for as long as it is needed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from seatrial.git import command
from seatrial.git.repository import Repository

_PREFIX = "seatrial-revision-"


@contextlib.contextmanager
def work_tree(repository: Repository, commit: str) -> Iterator[Path]:
    """The files of a commit, checked out into a temporary folder that is gone afterwards.

    The work tree, the index and the branch of the repository stay as they are. What git does not keep
    (caches, environments, what a build makes) is not in the folder. What a killed process left behind is
    removed when the next one needs a work tree of the same repository.

    Raises:
        RevisionError: the commit is not in this clone; it says what to fetch.
    """
    found = repository.resolve(commit)
    _sweep(repository)
    parent = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    try:
        with _held(parent):
            folder = parent / "tree"
            command.demand(
                repository.root, "worktree", "add", "--quiet", "--detach", str(folder), found
            )
            try:
                yield folder
            finally:
                _remove(repository, folder)
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def _sweep(repository: Repository) -> None:
    """Remove the work trees of processes that are no more."""
    listed = command.demand(repository.root, "worktree", "list", "--porcelain", "-z")
    for entry in listed.split(b"\0"):
        folder = Path(os.fsdecode(entry.removeprefix(b"worktree ")))
        if not entry.startswith(b"worktree ") or not folder.parent.name.startswith(_PREFIX):
            continue
        with contextlib.suppress(BlockingIOError, FileNotFoundError), _held(folder.parent):
            _remove(repository, folder)
            shutil.rmtree(folder.parent, ignore_errors=True)
    command.demand(repository.root, "worktree", "prune")


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Say that a process needs this folder; a BlockingIOError says that another one does."""
    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(held)


def _remove(repository: Repository, folder: Path) -> None:
    # Twice: once for what an agent has written into it, once for a lock that git keeps on it.
    command.call(repository.root, "worktree", "remove", "--force", "--force", str(folder))
