"""Which folder of documents a command is about, and which of its files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seatrial.errors import Problem, UsageError


def scope(
    paths: Sequence[Path], root: Path | None, folders: Sequence[str], command: str
) -> tuple[Path, tuple[str, ...]]:
    """The folder that is read, and which paths in it are meant (none: all).

    Raises:
        UsageError: there is no folder of documents, or a path lies outside of it.
    """
    if root is None and len(paths) == 1 and _holds_documents(paths[0], folders):
        return paths[0], ()
    if root is None:
        here = Path.cwd()
        root = next((f for f in (here, *here.parents) if _holds_documents(f, folders)), None)
    if root is None:
        raise UsageError(
            f"neither {Path.cwd()} nor a folder above it has {', '.join(f'{f}/' for f in folders)}",
            hint=f"go to the folder that holds them, or name it: {command} FOLDER; `seatrial init` begins one",
        )
    meant = []
    for path in paths:
        inside = os.path.relpath(os.path.abspath(path), os.path.abspath(root))
        if inside.split(os.sep)[0] not in folders:
            raise UsageError(
                f"{path} holds no documents of {root}",
                hint=f"they lie under {', '.join(f'{f}/' for f in folders)}",
            )
        meant.append(Path(inside).as_posix())
    return root, tuple(meant)


def is_meant(path: str, meant: Sequence[str]) -> bool:
    """Whether a path is one of those, or lies under one; none stand for all."""
    return not meant or any(path == m or path.startswith(f"{m}/") for m in meant)


def from_here(root: Path, problem: Problem) -> Problem:
    """The problem with its path as a terminal here can follow it."""
    path = Path(os.path.relpath(root / problem.path)).as_posix()
    return replace(problem, path=path)


def _holds_documents(folder: Path, folders: Sequence[str]) -> bool:
    return any((folder / name).is_dir() for name in folders)
