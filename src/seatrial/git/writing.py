"""Commits by plumbing: a branch moves by compare-and-swap, work tree and index stay as they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from seatrial.errors import RevisionError, printable
from seatrial.git import command
from seatrial.git.repository import Repository

_NOTHING = "0" * 40


class RefMoved(RevisionError):
    """Somebody else moved the ref first: read it again and try anew."""


def write_tree_commit(
    repository: Repository,
    ref: str,
    files: Mapping[str, bytes | None],
    message: str,
    expected_old: str | None,
) -> str:
    """Put `files` on top of `expected_old` as one commit and move `ref` from there to it.

    Args:
        repository: Where the ref lives.
        ref: A full name, `refs/heads/…`.
        files: Path → content; None deletes the path. Paths not named stay as they are.
        message: Of the commit.
        expected_old: Where the ref must be; None: it must not exist.

    Returns:
        The new commit.

    Raises:
        RefMoved: the ref was elsewhere. The commit stays behind unreferenced; nothing else happened.
        RevisionError: no identity to commit with, or git failed.
    """
    commit = write_commit(repository, files, message, parent=expected_old)
    update_ref(repository, ref, commit, expected_old, reason=message.partition("\n")[0])
    return commit


def write_commit(
    repository: Repository, files: Mapping[str, bytes | None], message: str, *, parent: str | None
) -> str:
    """A commit of `files` on top of `parent` (or the first of its history) that no ref points at yet."""
    root = repository.root
    require_identity(repository)
    for path in files:
        # git would leave such a path out without a word of failure
        if "\0" in path or any(
            p in ("", ".", "..") or p.lower() == ".git" for p in path.split("/")
        ):
            raise ValueError(f"{path!r} is no path in a tree")
    lines = []
    for path, content in sorted(files.items()):
        if content is None:
            lines.append(b"0 " + _NOTHING.encode() + b"\t" + os.fsencode(path))
            continue
        blob = command.demand(root, "hash-object", "-w", "--stdin", stdin=content).strip()
        lines.append(b"100644 " + blob + b"\t" + os.fsencode(path))
    with tempfile.TemporaryDirectory(prefix="seatrial-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        if parent is not None:
            command.demand(root, "read-tree", parent, extra=index)
        listed = b"".join(line + b"\0" for line in lines)
        command.demand(root, "update-index", "-z", "--index-info", stdin=listed, extra=index)
        tree = command.demand(root, "write-tree", "--missing-ok", extra=index).decode().strip()
    parents = ("-p", parent) if parent is not None else ()
    made = command.demand(root, "commit-tree", tree, *parents, "-F", "-", stdin=message.encode())
    return made.decode().strip()


def update_ref(
    repository: Repository, ref: str, new: str, expected_old: str | None, *, reason: str = ""
) -> None:
    """Move `ref` to `new`, but only from `expected_old` (None: it must not exist).

    Raises:
        RefMoved: it was elsewhere, or another process is just moving it.
    """
    done = command.call(
        repository.root, "update-ref", "--no-deref", "-m", printable(reason) or "seatrial",
        ref, new, expected_old or _NOTHING,
    )  # fmt: skip
    if done.returncode == 0:
        return
    if repository.ref(ref) != expected_old or b"File exists" in done.stderr:
        raise RefMoved(f"{ref} moved meanwhile", hint="try again")
    raise command.failure("update-ref", done.stderr)


def push(
    repository: Repository, commit: str, ref: str, remote: str, expected_old: str | None
) -> None:
    """Move `ref` on the remote to `commit`, but only from `expected_old` (None: it must not exist).

    Raises:
        RefMoved: it was elsewhere on the remote.
        RevisionError: the remote cannot be reached, or refuses.
    """
    done = command.call(
        repository.root, "push", "--porcelain", "--no-verify", "--no-follow-tags",
        f"--force-with-lease={ref}:{expected_old or ''}", "--end-of-options", remote,
        f"{commit}:{ref}", seconds=command.NETWORK_SECONDS,
    )  # fmt: skip
    if done.returncode == 0:
        return
    said = done.stdout + done.stderr
    lost = (
        b"stale info",
        b"fetch first",
        b"non-fast-forward",
        b"cannot lock ref",
        b"failed to update ref",
    )
    if any(words in said for words in lost):
        raise RefMoved(f"{ref} moved on {remote} meanwhile", hint="try again")
    raise command.failure("push", said)


def fetch(repository: Repository, remote: str, ref: str, into: str) -> str | None:
    """Fetch one ref of a remote into a ref here; None when the remote does not have it.

    Raises:
        RevisionError: the remote cannot be reached.
    """
    done = command.call(
        repository.root, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc",
        "--end-of-options", remote, f"+{ref}:{into}", seconds=command.NETWORK_SECONDS,
    )  # fmt: skip
    if done.returncode == 0:
        return repository.ref(into)
    if b"couldn't find remote ref" in done.stderr:
        return None
    raise command.failure("fetch", done.stderr)


def require_identity(repository: Repository) -> None:
    """Check that git knows in whose name it would commit.

    Raises:
        RevisionError: it does not.
    """
    for role in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        if command.call(repository.root, "var", role).returncode:
            raise RevisionError(
                "git does not know in whose name to commit",
                hint='git config user.name "Your Name" && git config user.email you@example.org',
            )
