"""Files that are about to leave the machine, searched for secrets: known values, and what looks like one."""

from __future__ import annotations

import base64
import bz2
import gzip
import html
import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from seatrial.errors import StorageError
from seatrial.escaping import embedded_json, page_text, prose
from seatrial.loading.lifelike import MAY_BE_SECRET
from seatrial.redaction import SHORTEST, forms

_PIECE = 1 << 22
_LONGEST = 1 << 16
"""What is longer than that can be missed where two pieces meet."""
_MOST_UNPACKED = 256_000_000
"""Bytes of one archive: of more, nobody can say what is in it."""
_GZIP, _ZIP, _BZIP2, _XZ = b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ"
_PACKED = (_GZIP, _ZIP, _BZIP2, _XZ)
_ZIP_END = b"PK\x05\x06"
_OPAQUE = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd")
"""7z, RAR, Zstandard: nothing here opens them."""
_SHORTEST_APART = 10
"""Shorter values are met by chance where blanks do not count."""
_DEFLATED = re.compile(rb"(?:H4sI|eJ)[A-Za-z0-9+/_-]{20,}")
"""How base64 of gzip and of zlib begins."""
_MOST_INFLATED = 1_000_000
_CLOSED = "an archive that cannot be looked into"


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


_Packed = gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile


def _opened(head: bytes, file: IO[bytes]) -> _Packed:
    if head.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file)
    return bz2.BZ2File(file) if head.startswith(_BZIP2) else lzma.LZMAFile(file)


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
        self._known = _any(self._names)
        # What is broken into lines or set apart is met again once all that sets apart is taken away.
        self._joined: dict[bytes, str] = {}
        for form, name in self._names.items():
            if len(without := _closed_up(form)) >= _SHORTEST_APART:
                self._joined.setdefault(without, name)
        self._known_joined = _any(self._joined)

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
        head = file.read(6)
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - _LONGEST))
        zipped = head.startswith(_ZIP) or _ZIP_END in file.read()
        file.seek(0)
        yield from self._pieces(path, file)
        if head.startswith(_OPAQUE):
            yield Hit(path, 0, _CLOSED)
        if not zipped and not head.startswith(_PACKED):
            return
        file.seek(0)
        try:
            if zipped:
                yield from self._zipped(path, file)
            else:
                with _opened(head, file) as inner:
                    yield from self._unpacked(path, inner)
        except (
            EOFError,
            zlib.error,
            lzma.LZMAError,
            zipfile.BadZipFile,
            RuntimeError,
            NotImplementedError,
            OSError,
        ):
            if head.startswith(_PACKED):  # what only ends like one may be anything
                yield Hit(path, 0, _CLOSED)

    def _zipped(self, path: Path, file: IO[bytes]) -> Iterator[Hit]:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if self._known and (found := self._known.search(os.fsencode(member.filename))):
                    yield Hit(path, 0, f"a name within it holds {self._names[found.group()]}")
                with archive.open(member) as inner:
                    yield from self._unpacked(path, inner)

    def _unpacked(self, path: Path, inner: IO[bytes] | _Packed) -> Iterator[Hit]:
        data = inner.read(_MOST_UNPACKED + 1)
        if len(data) > _MOST_UNPACKED:
            yield Hit(path, 0, f"an archive with more than {_MOST_UNPACKED:,} bytes in it")
        elif data.startswith((*_PACKED, *_OPAQUE)):
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
        met = set()
        if self._known is not None:
            for found in self._known.finditer(data):
                met.add(self._names[found.group()])
                yield found.start(), f"the value of {self._names[found.group()]}"
        if self._known_joined is not None:
            closed = _closed_up(data)
            for name in {
                self._joined[f.group()] for f in self._known_joined.finditer(closed)
            } - met:
                yield len(data) - 1, f"the value of {name}, written apart, up to here"
            for found in _DEFLATED.finditer(closed):
                inner = self._known.search(_inflated(found.group())) if self._known else None
                if inner is not None and (name := self._names[inner.group()]) not in met:
                    yield len(data) - 1, f"the value of {name}, packed, up to here"
        if MAY_BE_SECRET.search(data) is not None:
            from seatrial.stand_ins.finding import secrets_in

            # Latin-1: a character a byte, so that places are the same. All forms are ASCII.
            for start, value in secrets_in(data.decode("latin-1")):
                # Words are no secret: `bearer authentication`, `user:password@`.
                if any(letter.isdigit() for letter in value) and not self._may_stay(value):
                    yield start, f"`{value[:4]}…` looks like a secret"


def _any(forms: Iterable[bytes]) -> re.Pattern[bytes] | None:
    """One of them, the longest that fits."""
    known = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(b"|".join(map(re.escape, known))) if known else None


def _closed_up(data: bytes) -> bytes:
    r"""Without what stands between the parts of something that is broken into lines or set apart.

    Line ends and blanks, also as JSON writes them; the zeros of UTF-16; colons between bytes; `\x` before them.
    """
    for written in (b"\\n", b"\\r", b"\\x", b"\xe2\x80\x8b"):
        data = data.replace(written, b"")
    return data.translate(None, b"\0\t\n\r :")


def _all_forms(value: str) -> Iterator[bytes]:
    """In traces and documents, in JSON within a script, in HTML, in pages and comments."""
    inside = embedded_json(value)[1:-1]
    texts = (
        *forms(value),
        inside,
        inside.replace("\\", "\\\\").replace("'", "\\u0027"),
        html.escape(value),
        html.escape(value, quote=False),
        page_text(value),
        prose(value),
        *(
            "".join(form.format(ord(c)) for c in value)
            for form in ("&#{};", "&#x{:x};", "&#x{:X};")
        ),
    )
    for text in texts:
        yield text.encode("utf-8", "surrogatepass")
    yield value.encode("utf-16-le", "surrogatepass")
    yield value.encode("utf-16-be", "surrogatepass")


def _inflated(written: bytes) -> bytes:
    """What a text in base64 is of that gzip or zlib made: as much as is looked into; nothing, where it is no such."""
    standard = written.translate(bytes.maketrans(b"-_", b"+/"))
    try:
        packed = base64.b64decode(standard[: len(standard) // 4 * 4])
        return zlib.decompressobj(wbits=47).decompress(packed, _MOST_INFLATED)
    except (ValueError, zlib.error):
        return b""
