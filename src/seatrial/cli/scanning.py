"""Files that are about to leave the machine, searched for secrets: known values, and what looks like one."""

from __future__ import annotations

import gzip
import html
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from seatrial.errors import StorageError
from seatrial.escaping import embedded_json
from seatrial.loading.lifelike import MAY_BE_SECRET
from seatrial.redaction import SHORTEST, forms

_PIECE = 1 << 22
_LONGEST = 1 << 16
"""What is longer than that can be missed where two pieces meet."""
_MOST_UNPACKED = 256_000_000
"""Bytes of one archive: of more, nobody can say what is in it."""
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Hit:
    """Why a file may not leave."""

    path: Path
    line: int
    """From 1; 0 where it is about the whole file."""
    what: str
    """In words, without the secret."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


class Scanner:
    """Knows what it looks for."""

    def __init__(self, secrets: Mapping[str, str], may_stay: Callable[[str], bool]) -> None:
        """Say what is secret.

        Args:
            secrets: name → value. None of them may stay, whatever `may_stay` says.
            may_stay: whether something that looks like a secret is none.
        """
        self._may_stay = may_stay
        self._names: dict[bytes, str] = {}
        for name, value in secrets.items():
            if len(value) >= SHORTEST:
                for form in _all_forms(value):
                    self._names.setdefault(form, name)
        known = sorted(self._names, key=lambda form: (-len(form), form))
        self._known = re.compile(b"|".join(map(re.escape, known))) if known else None

    def hits(self, path: Path) -> Iterator[Hit]:
        """What is found in a file, or in all files below a folder.

        Raises:
            StorageError: a file cannot be read.
        """
        try:
            yield from self._below(path)
        except OSError as error:
            raise StorageError(
                f"{error.filename or path} cannot be read: {error.strerror}"
            ) from error

    def _below(self, path: Path) -> Iterator[Hit]:
        mode = path.lstat().st_mode
        # What uploads follows links: behind one may be any file of this machine.
        if stat.S_ISLNK(mode):
            yield Hit(path, 0, "a link, which may lead anywhere")
        elif stat.S_ISDIR(mode):
            yield from self._named(path)
            for entry in sorted(os.listdir(path)):
                yield from self._below(path / entry)
        elif stat.S_ISREG(mode):
            yield from self._named(path)
            with path.open("rb") as file:
                yield from self._file(path, file)
        else:
            yield Hit(path, 0, "neither a file nor a folder")

    def _named(self, path: Path) -> Iterator[Hit]:
        if self._known and (found := self._known.search(os.fsencode(path.name))):
            # The name is not to be repeated either.
            yield Hit(path.parent, 0, f"the name of a file holds {self._names[found.group()]}")

    def _file(self, path: Path, file: IO[bytes]) -> Iterator[Hit]:
        head = file.read(4)
        file.seek(0)
        yield from self._pieces(path, file)
        if not head.startswith((_GZIP, _ZIP)):
            return
        file.seek(0)
        try:
            if head.startswith(_GZIP):
                with gzip.open(file) as inner:
                    yield from self._unpacked(path, inner)
            else:
                with zipfile.ZipFile(file) as archive:
                    for member in archive.infolist():
                        with archive.open(member) as inner:
                            yield from self._unpacked(path, inner)
        except (
            EOFError,
            zlib.error,
            zipfile.BadZipFile,
            RuntimeError,
            NotImplementedError,
            OSError,
        ):
            yield Hit(path, 0, "an archive that cannot be looked into")

    def _unpacked(self, path: Path, inner: IO[bytes] | gzip.GzipFile) -> Iterator[Hit]:
        data = inner.read(_MOST_UNPACKED + 1)
        if len(data) > _MOST_UNPACKED:
            yield Hit(path, 0, f"an archive with more than {_MOST_UNPACKED:,} bytes in it")
        elif data.startswith((_GZIP, _ZIP)):
            yield Hit(path, 0, "an archive within an archive")
        else:
            yield from (
                Hit(path, 0, f"within the archive: {hit.what}")
                for hit in self._pieces(path, io.BytesIO(data))
            )

    def _pieces(self, path: Path, file: IO[bytes]) -> Iterator[Hit]:
        before, line, seen = b"", 1, set[Hit]()
        while piece := file.read(_PIECE):
            data = before + piece
            for start, what in self._in(data):
                hit = Hit(path, line + data.count(b"\n", 0, start), what)
                if hit not in seen:
                    seen.add(hit)
                    yield hit
            cut = max(0, len(data) - _LONGEST)
            line += data.count(b"\n", 0, cut)
            before = data[cut:]

    def _in(self, data: bytes) -> Iterator[tuple[int, str]]:
        if self._known is not None:
            for found in self._known.finditer(data):
                yield found.start(), f"the value of {self._names[found.group()]}"
        if MAY_BE_SECRET.search(data) is not None:
            from seatrial.stand_ins.finding import secrets_in

            # Latin-1: a character a byte, so that places are the same. All forms are ASCII.
            for start, value in secrets_in(data.decode("latin-1")):
                # Words are no secret: `bearer authentication`, `user:password@`.
                if any(letter.isdigit() for letter in value) and not self._may_stay(value):
                    yield start, f"`{value[:4]}…` looks like a secret"


def _all_forms(value: str) -> Iterator[bytes]:
    """In traces and documents, in JSON within a script, and in HTML."""
    inside = embedded_json(value)[1:-1]
    texts = (
        *forms(value),
        inside,
        inside.replace("\\", "\\\\").replace("'", "\\u0027"),
        html.escape(value),
        html.escape(value, quote=False),
    )
    for text in texts:
        yield text.encode("utf-8", "surrogatepass")
