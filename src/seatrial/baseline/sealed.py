"""Files that must still be what they were when somebody vouched for them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from seatrial.errors import BaselineError


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each file, by path."""
    return {path: digest(data) for path, data in sorted(files.items())}


def digest(data: bytes) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(data).hexdigest()


class Sealed(Mapping[str, bytes]):
    """Files below a folder, each held against its digest when it is read."""

    def __init__(
        self, files: Mapping[str, bytes], sealed: Mapping[str, str], where: str, below: str = ""
    ) -> None:
        """Take the files, the digests by path, and what the paths have before them in `files`."""
        self._files = files
        self._digests = sealed
        self._where = where
        self._below = below
        self._seen: set[str] = set()

    def __getitem__(self, path: str) -> bytes:
        data = self._files[self._below + path]
        if path not in self._seen:
            if self._digests.get(path) != digest(data):
                raise BaselineError(
                    f"{self._where}: {self._below}{path} is not what was released",
                    hint="it was altered afterwards; take an earlier baseline or release again",
                )
            self._seen.add(path)
        return data

    def __contains__(self, path: object) -> bool:
        return path in self._digests

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)
