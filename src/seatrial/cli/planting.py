"""New files in a folder of documents: all of them or none, and never over one that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from seatrial.errors import InvalidDocuments, StorageError, UsageError


def schema_line(path: str, kind: str) -> str:
    """The first line of a document at this path (relative to the root), for editors."""
    schema = os.path.relpath(f"site/schema/{kind}.json", os.path.dirname(path))
    return f"# yaml-language-server: $schema={Path(schema).as_posix()}\n"


def refuse_what_is_wrong(root: Path, files: Mapping[str, bytes]) -> None:
    """Whether the documents among these files are right beside those that are there.

    Raises:
        UsageError: the documents that are there are not right, so nothing can be said of new ones.
        InvalidDocuments: the new ones are not right beside them (an id that is taken, for example).
    """
    from seatrial import loading

    there = loading.read_tree(root)
    if there or there.problems:
        try:
            loading.load(there)
        except InvalidDocuments as error:
            raise UsageError(
                f"the documents in {root} are not right: {error.message}",
                hint="run `seatrial check`, and mend them first",
            ) from error
    new = {path: data for path, data in files.items() if loading.is_document(path)}
    loading.load(loading.Tree(sorted((there | new).items())))


def plant(
    root: Path,
    files: Mapping[str, bytes],
    otherwise: str = "choose another name with --agent, or remove what is there",
) -> None:
    """Write new files.

    Args:
        root: the folder that paths are relative to; it is made when it is not there.
        files: path (`/` between folders) → content.
        otherwise: what to do where something is there already.

    Raises:
        UsageError: something stands at one of the paths, or a link leads out of the folder. Nothing is written.
        StorageError: a file could not be written; those before it are there.
    """
    home = root.resolve()
    taken = [path for path in files if os.path.lexists(root / path)]
    if taken:
        raise UsageError(
            f"{', '.join(sorted(taken))}: there already, and nothing is overwritten",
            hint=otherwise,
        )
    for path in files:
        if not (root / path).resolve().is_relative_to(home):
            raise UsageError(
                f"{path}: a link leads out of {home}", hint="nothing is written outside of it"
            )
    for path, data in files.items():
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            with (root / path).open("xb") as file:
                file.write(data)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be written: {error.strerror}",
                hint="make room for it, remove what was written before it, and start again",
            ) from error
