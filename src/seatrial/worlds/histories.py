"""The git repositories in a folder as objects: branches, tags, commits, and what is checked out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from seatrial.errors import RevisionError, WorldError
from seatrial.git import command
from seatrial.state import MISSING, State
from seatrial.trace import Json

TYPES = ("branch", "tag", "commit", "head")

OWN_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
"""What a repository of a world is must not depend on who runs the trial."""

_STATUS = {"A": "added", "D": "deleted", "M": "changed", "T": "changed"}
_START = b"\x01"

Found = dict[str, dict[str, dict[str, Json] | None]]


def read(folder: Path, known: State | None) -> Found:
    """Type → key → properties of all that the repositories below a folder hold; see `TYPES`.

    Of commits that `known` has, None stands for the properties: a commit never changes. A repository
    that is not the folder itself is named before its keys: `tools:main`.

    Raises:
        WorldError: git cannot read a repository.
    """
    found: Found = {type: {} for type in TYPES}
    for inside in repositories(folder):
        prefix = f"{inside}:" if inside else ""
        try:
            _read(folder / inside, prefix, known, found)
        except RevisionError as error:
            raise WorldError(
                f"the repository {inside or 'of the folder'} cannot be read: {error.message}"
            ) from error
    return found


def repositories(folder: Path) -> Iterator[str]:
    """The folders below a folder that are git repositories, as paths inside it."""
    for here, folders, _ in os.walk(folder):
        folders.sort()
        if ".git" in folders and not (Path(here) / ".git").is_symlink():
            inside = Path(os.path.relpath(here, folder)).as_posix()
            yield "" if inside == "." else inside
            folders.remove(".git")


def _read(repository: Path, prefix: str, known: State | None, found: Found) -> None:
    head = (repository / ".git" / "HEAD").read_text(encoding="utf-8", errors="replace").strip()
    branch = head.removeprefix("ref: refs/heads/")
    if branch != head:
        found["head"][f"{prefix}HEAD"] = {"branch": branch}
    else:
        found["head"][f"{prefix}HEAD"] = {"commit": head}
    refs = _git(
        repository, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(*objectname)",
        "refs/heads", "refs/tags",
    )  # fmt: skip
    for line in refs.decode("utf-8", "backslashreplace").splitlines():
        name, direct, peeled = line.split("\0")
        _, kind, short = name.split("/", 2)
        type = "branch" if kind == "heads" else "tag"
        found[type][f"{prefix}{short}"] = {"commit": peeled or direct}
    reachable = ["--branches", "--tags", *(["HEAD"] if branch == head else [])]
    # Before the first commit there is nothing that git could list.
    listed = _git(repository, "rev-list", *reachable) if refs or branch == head else b""
    commits = listed.decode().split()
    fresh = []
    for commit in commits:
        found["commit"][f"{prefix}{commit}"] = None
        if known is None or known.get("commit", f"{prefix}{commit}") is MISSING:
            fresh.append(commit)
    found["commit"] |= {f"{prefix}{c}": about for c, about in _commits(repository, fresh)}


def _commits(repository: Path, names: Iterable[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    wanted = "".join(f"{name}\n" for name in names).encode()
    if not wanted:
        return
    listed = _git(
        repository, "log", "--no-walk=unsorted", "--stdin", "-z", "--name-status", "--no-renames",
        "--diff-merges=first-parent", "--no-show-signature", "--no-ext-diff", "--no-textconv",
        "--format=%x01%H%x00%an <%ae>%x00%P%x00%B%x00", stdin=wanted,
    )  # fmt: skip
    words = iter(listed.decode("utf-8", "backslashreplace").split("\0"))
    start = _START.decode()
    word = next(words, "")
    while word.startswith(start):
        commit, author, parents, message = word[1:], next(words), next(words), next(words)
        files: dict[str, Json] = {}
        for word in words:
            if word.startswith(start):
                break
            if word.strip():
                files[next(words)] = _STATUS.get(word.strip()[:1], word.strip())
        else:
            word = ""
        yield (
            commit,
            {
                "message": message.strip(),
                "author": author,
                "parents": parents.split(),
                "files": files,
            },
        )


def _git(repository: Path, *words: str, stdin: bytes | None = None) -> bytes:
    return command.demand(repository, *words, stdin=stdin, extra=OWN_SETTINGS)
