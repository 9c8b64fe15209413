"""The seal of a run folder: the digest of each of its files when its writer was done with them.

An agent under test runs as the user who tests it, and a run folder is a handful of text files. The
seal says whether they are still what the runner wrote; a run that was killed has none until it is
resumed and ends. A file that was put together from others may be sealed piece by piece, by the digests that these had.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

SEAL = "seal.json"


Pieces = tuple[tuple[int, str], ...]
"""Of each piece of a file, in order: its length in bytes and its SHA-256."""


class Seal(BaseModel):
    """What a writer left."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    files: dict[str, str]
    """SHA-256 of each file, by its path."""
    pieces: dict[str, Pieces] = Field(default_factory=dict)
    """The same of files that are sealed piece by piece."""

    @classmethod
    def of(cls, digests: Mapping[str, Pieces]) -> Seal:
        """The seal of files with these digests; a file of one piece is sealed as a whole."""
        ordered = dict(sorted(digests.items()))
        return cls(
            files={name: found[0][1] for name, found in ordered.items() if len(found) == 1},
            pieces={name: found for name, found in ordered.items() if len(found) != 1},
        )

    @classmethod
    def read(cls, folder: Path) -> Seal | None:
        """The seal of a folder; None where there is none.

        Raises:
            OSError, pydantic.ValidationError: it cannot be read.
        """
        try:
            return cls.model_validate_json((folder / SEAL).read_bytes())
        except FileNotFoundError:
            return None

    def as_bytes(self) -> bytes:
        """As it is stored."""
        written = self.model_dump_json(indent=1, exclude=None if self.pieces else {"pieces"})
        return written.encode() + b"\n"

    def of_file(self, path: Path) -> Pieces | None:
        """Length and SHA-256 of each piece of a file, as they were sealed; None where nothing was.

        Raises:
            OSError: it cannot be read.
        """
        if path.name in self.pieces:
            return self.pieces[path.name]
        whole = self.files.get(path.name)
        return None if whole is None else ((path.stat().st_size, whole),)

    def holds(self, path: Path) -> bool:
        """Whether a file is what was sealed under its name.

        Raises:
            OSError: it cannot be read.
        """
        pieces = self.pieces.get(path.name)
        if pieces is None:
            return self.files.get(path.name) == file_digest(path)
        with path.open("rb") as file:
            return all(digest_of(file, size) == sha for size, sha in pieces) and not file.read(1)


def digest_of(file: BinaryIO, size: int) -> str:
    """SHA-256 of the next `size` bytes of a file."""
    digest = hashlib.sha256()
    while size and (part := file.read(min(size, 1 << 20))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def altered(folder: Path, names: tuple[str, ...]) -> str | None:
    """The first of these files that is not what its run left there; empty when all are, None without a seal."""
    try:
        seal = Seal.read(folder)
    except (OSError, ValidationError):
        return SEAL
    if seal is None:
        return None
    for name in names:
        try:
            if not seal.holds(folder / name):
                return name
        except OSError:
            return name
    return ""
