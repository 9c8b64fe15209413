"""What a pattern of files means.

A pattern is a path from the repository's root with `/` between folders. `*`, `?` and `[…]` stand for
something within one name, `**` for any folders. A pattern that names a folder stands for all in it.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator

from seatrial.documents.base import Texts


def matches(pattern: str, path: str) -> bool:
    """Whether the path of a file fits a pattern."""
    parts = _parts(pattern)
    return bool(parts) and _fits(parts, path.split("/"))


def escapes(pattern: str) -> bool:
    """Whether a pattern leads out of the repository, or names nothing in it."""
    return (
        not _parts(pattern)
        or pattern.startswith(("/", "~"))
        or "\\" in pattern
        or ".." in pattern.split("/")
    )


def is_literal(pattern: str) -> bool:
    """Whether a pattern is the plain path of a file or a folder."""
    return not any(mark in pattern for mark in "*?[")


def literal(path: str) -> str:
    """The pattern that only this path fits."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def plain(path: str) -> str:
    """A literal pattern as git writes the path: `./a//b/` is `a/b`."""
    return "/".join(_parts(path))


def inside(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns, when none of them leads out of the repository; a ValueError says which do."""
    leading_out = [pattern for pattern in patterns if escapes(pattern)]
    if leading_out:
        raise ValueError(
            f"{', '.join(map(repr, leading_out))}: no path inside the repository; write it from the "
            "repository's root, with `/` between folders and without `..`"
        )
    return patterns


Patterns = Annotated[Texts, AfterValidator(inside)]
"""One pattern of files inside the repository, or a list of them."""


def module_files(name: str) -> tuple[str, ...]:
    """The patterns of the files that importing a module from the repository's root would run."""
    path = name.replace(".", "/")
    parents = [path[:at] for at, sign in enumerate(path) if sign == "/"]
    return (f"{path}.py", f"{path}/**/*.py", *(f"{parent}/__init__.py" for parent in parents))


def _one_inside(path: str) -> str:
    if escapes(path):
        raise ValueError(
            f"{path!r} is no path inside the repository; write it from the repository's root, with "
            "`/` between folders and without `..`"
        )
    return plain(path)


RepositoryPath = Annotated[str, AfterValidator(_one_inside)]
"""The path of a file or a folder inside the repository, from its root."""


def _parts(pattern: str) -> list[str]:
    return [part for part in pattern.split("/") if part not in ("", ".")]


def _fits(parts: list[str], names: list[str]) -> bool:
    """Whether the first of the names fit the parts, where `**` stands for any number of names.

    Followed side by side are all ways in which the names so far can fit: trying them one after the other takes a time
    that grows with the power of the number of `**`.
    """
    if parts[0] != "**" and not fnmatchcase(names[0], parts[0]):
        return False  # most files of a repository lie in another folder
    reached = {0}
    for name in names:
        waiting = _over_folders(parts, reached)
        if len(parts) in waiting:
            return True
        reached = {at for at in waiting if parts[at] == "**"}
        reached |= {at + 1 for at in waiting if parts[at] != "**" and fnmatchcase(name, parts[at])}
    return len(parts) in reached


def _over_folders(parts: list[str], reached: set[int]) -> set[int]:
    """These places among the parts, and those behind the `**` that begin there."""
    found = set(reached)
    for at in reached:
        while at < len(parts) and parts[at] == "**":
            at += 1
            found.add(at)
    return found
