"""The ledger of a release: further whole batches of trials that lie beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from seatrial.baseline.sealed import Sealed, digest
from seatrial.errors import BaselineError
from seatrial.records import Batch
from seatrial.store import Run

FOLDERS: dict[str, str] = {"ledger": "baseline", "watch": "watch"}
"""Folder beside a release → kind of the batches in it."""
BATCH = "batch.json"


@dataclass(frozen=True)
class Recorded:
    """One batch."""

    batch: Batch
    files: Mapping[str, bytes]
    where: str

    @cached_property
    def run(self) -> Run:
        """Its trials. A BaselineError says that a file is not what it was."""
        return Run.of_files(self.files, where=self.where)


def folder_of(batch: Batch) -> str:
    """Where a batch lies beside its release."""
    (folder,) = (name for name, kind in FOLDERS.items() if kind == batch.kind)
    return f"{folder}/{batch.run}"


def read(files: Mapping[str, bytes], release: bytes, where: str) -> tuple[Recorded, ...]:
    """Every batch that lies beside a release, of both kinds, in the order in which they were run.

    Args:
        files: what lies in the folder of the release.
        release: its `release.json`.
        where: the branch and commit or the folder, for people.

    Raises:
        BaselineError: a `batch.json` cannot be read, or belongs to another release.
    """
    pinned = digest(release)
    found = [_one(files, path, pinned, where) for path in _paths(files)]
    return tuple(sorted(found, key=lambda recorded: (recorded.batch.run_at, recorded.batch.run)))


def _paths(files: Mapping[str, bytes]) -> Iterator[str]:
    for path in files:
        parts = path.split("/")
        named = len(parts) == 3 and parts[0] in FOLDERS and parts[2] == BATCH
        if named and not parts[1].startswith("."):  # what starts with a dot is being written
            yield path


def _one(files: Mapping[str, bytes], path: str, release: str, where: str) -> Recorded:
    what = f"{where}: {path}"
    try:
        batch = Batch.model_validate_json(files[path])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(str(part) for part in first["loc"])
        raise BaselineError(
            f"{what} cannot be read: {at}: {first['msg']}",
            hint="record the batch again with this version of Seatrial",
        ) from error
    if batch.release_digest != release or path != f"{folder_of(batch)}/{BATCH}":
        raise BaselineError(
            f"{what} is no batch of the release beside it",
            hint="it was put there by hand; take it away, and record the batch again",
        )
    below = path.removesuffix(BATCH)
    return Recorded(batch, Sealed(files, batch.files, where, below), f"{where}, {below[:-1]}")
