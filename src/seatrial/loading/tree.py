"""The files of a work tree that hold documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from seatrial.errors import Problem
from seatrial.loading.bounds import MAX_BYTES

FOLDERS = ("cases", "suites", "arms", "fixtures")
"""Folders of a repository that hold documents."""
SUFFIXES = (".yaml", ".yml")
_MARKS = ("cases", "suites", ".git")
ALLOWED = "real-data.yaml"
"""A file beside the folders of documents: a list of `value` (`*` stands for anything) and `reason`."""


class Tree(dict[str, bytes]):
    """Path relative to the repository → content, and what could not be read."""

    def __init__(self, files: Iterable[tuple[str, bytes]] = (), problems: Iterable[Problem] = ()):
        super().__init__(files)
        self.problems = tuple(problems)


def is_document(path: str) -> bool:
    """Whether a file at this path of a repository (`/` between folders) holds documents."""
    parts = PurePosixPath(path).parts
    return len(parts) > 1 and parts[0] in FOLDERS and parts[-1].endswith(SUFFIXES)


def root_around(start: Path) -> Path | None:
    """The nearest folder, from `start` upwards, with documents or `.git`."""
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return None


def read_tree(root: Path) -> Tree:
    """Every document file under `root`, and a problem for each that is not read.

    Not read are files beyond `MAX_BYTES`, what is no regular file, links to folders, and links
    that lead out of `root`.
    """
    home = os.path.realpath(root)
    files: dict[str, bytes] = {}
    problems: list[Problem] = []
    for folder in FOLDERS:
        if (root / folder).is_symlink():
            problems.append(_link_to_folder(folder))
        elif (root / folder).is_dir():
            _collect(root, folder, home, files, problems)
    return Tree(sorted(files.items()), sorted(problems))


def _collect(
    root: Path, folder: str, home: str, files: dict[str, bytes], problems: list[Problem]
) -> None:
    waiting = [folder]
    while waiting:
        above = waiting.pop()
        try:
            entries = sorted(os.scandir(root / above), key=lambda entry: entry.name)
        except OSError as error:
            problems.append(_unreadable(above, error))
            continue
        for entry in entries:
            path = f"{above}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif _is_link_to_folder(entry):
                problems.append(_link_to_folder(path))
            elif entry.name.endswith(SUFFIXES):
                content = _content(entry.path, path, home)
                if isinstance(content, Problem):
                    problems.append(content)
                else:
                    files[path] = content


def read_beside(root: Path, name: str) -> bytes | Problem | None:
    """What a file beside the folders holds, or why it is not read; None where there is none."""
    path = root / name
    return (
        _content(os.fspath(path), name, os.path.realpath(root)) if os.path.lexists(path) else None
    )


def _is_link_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:  # a link in a circle leads to no folder
        return False


def _content(where: str, path: str, home: str) -> bytes | Problem:
    if os.path.islink(where):
        target = os.path.realpath(where)
        if os.path.commonpath([target, home]) != home:
            return Problem(
                path, 1, 1, "a link that leads out of the repository is not followed",
                "Put the file itself here", "link",
            )  # fmt: skip
    try:
        # O_NONBLOCK: opening a pipe must not wait for somebody to write into it.
        file = os.open(where, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                return Problem(path, 1, 1, "not a file", "Remove it", "not-a-file")
            if status.st_size > MAX_BYTES:
                return too_large(path, status.st_size)
            return _whole(file, status.st_size)
        finally:
            os.close(file)
    except OSError as error:
        return _unreadable(path, error)


def _whole(file: int, size: int) -> bytes:
    """All that a file holds, as far as files are read; without the layers of `open`, which cost as much again."""
    content = os.read(file, size + 1)
    while len(content) <= MAX_BYTES and (more := os.read(file, MAX_BYTES + 1 - len(content))):
        content += more
    return content


def too_large(path: str, size: int) -> Problem:
    """The problem of a file beyond `MAX_BYTES`."""
    message = f"the file has {size / 1e6:.1f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read"
    return Problem(path, 1, 1, message, "Split it", "too-large")


def _unreadable(path: str, error: OSError) -> Problem:
    return Problem(path, 1, 1, f"cannot be read: {error.strerror}", code="unreadable")


def _link_to_folder(path: str) -> Problem:
    return Problem(
        path, 1, 1, "a link to a folder is not followed", "Put the files themselves here", "link"
    )
