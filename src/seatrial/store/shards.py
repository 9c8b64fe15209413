"""The run folder of a shard, read so that it can be put behind others: its records by their ends, no trace at all.

A line of the journal is written by `record_line` alone, which begins with what a trial is known by and ends with where
its trace lies. Of a sealed folder nothing else has to be read to put it behind others: that the lines are still those
which were written, the seal tells. What the seal says of the traces is taken over into the seal of the whole, against
which everybody holds them who reads the run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from seatrial.errors import Error, StorageError, UsageError
from seatrial.records import TrialRecord
from seatrial.store.run import DOCUMENTS, JOURNAL, MANIFEST, TRACES, Run, record_line
from seatrial.store.sealing import SEAL, Pieces, Seal, digest_of

_SOME_LINES = 1 << 18
"""Bytes of the journal that are read at a time."""
_LINE = re.compile(
    rb'(\{"format":1,"case":"([a-z0-9._-]+)","arm":"([a-z0-9._-]+)","number":([1-9]\d*),".*),'
    rb'"trace_at":\[(\d+),(\d+)\]\}\n'
)
"""A line as `record_line` writes it. Nothing that stands within a string can be taken for its end: a quotation mark in
it is written `\\"`."""

Stub = tuple[bytes, bytes, int]
"""Case, arm and number of a record, the ids as they stand in its line."""
Seen = Callable[[Sequence[Stub], Sequence[bytes]], None]
"""Told of some hundreds of trials at a time, with the lines of their records."""


@dataclass(frozen=True, slots=True)
class Traces:
    """A piece of a trace file, and the digest that its runner sealed it with."""

    path: Path
    start: int
    size: int
    sha: str


class Shard:
    """One of the folders that a run is merged from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = Run.open(folder)
        self.records = 0
        """How many there are, once `journal` was read."""
        try:
            self._seal = Seal.read(folder)
            for name in (MANIFEST, DOCUMENTS):
                if self._seal is not None and not self._seal.holds(folder / name):
                    raise self._altered(name)
        except ValidationError as error:
            raise self._altered(SEAL) from error
        except OSError as error:
            raise self._unreadable(error) from error
        if self._seal is None:
            self._refuse_a_runner()
        self._end = self._end_of_traces()

    @property
    def ended(self) -> bool:
        """Its runner was done with it."""
        return self._seal is not None

    def documents(self) -> bytes:
        """Its documents, as they are stored."""
        try:
            return (self.folder / DOCUMENTS).read_bytes()
        except OSError as error:
            raise self._unreadable(error) from error

    def traces(self) -> Iterator[Traces]:
        """Its traces, piece by piece as they were sealed; of a run that was killed in one piece, sealed now."""
        pieces: Pieces | None
        try:
            if self._seal is None:
                pieces = ((self._end, self._digest_of_traces()),)
            else:
                pieces = self._seal.of_file(self.folder / TRACES)
        except OSError as error:
            raise self._unreadable(error) from error
        if pieces is None:
            raise self._altered(SEAL)
        start = 0
        for size, sha in pieces:
            if size:
                yield Traces(self.folder / TRACES, start, size, sha)
            start += size
        if start != self._end:
            raise self._altered(TRACES)

    def journal(self, offset: int, seen: Seen) -> Iterator[bytes]:
        """Its records, in pieces of whole lines.

        Args:
            offset: where its traces begin in the file that they were put into.
            seen: told of them, in order.

        Raises:
            StorageError: they are not what the runner left.
        """
        digest, end = hashlib.sha256(), 0
        for chunk in self._lines():
            if self._seal is not None:
                for line in chunk:
                    digest.update(line)
            stubs: list[Stub] = []
            lines: list[bytes] = []
            for line in chunk:
                stub, at, length, moved = self._moved(line, offset)
                if at != end:
                    raise self._altered(JOURNAL)
                end += length
                stubs.append(stub)
                lines.append(moved)
            seen(stubs, lines)
            self.records += len(lines)
            yield b"".join(lines)
        if end != self._end:
            raise self._altered(JOURNAL)
        if self._seal is not None and self._seal.files.get(JOURNAL) != digest.hexdigest():
            raise self._altered(JOURNAL)

    # --- within ---

    def _moved(self, line: bytes, offset: int) -> tuple[Stub, int, int, bytes]:
        """What a line tells, and the line with the new place of its trace."""
        found = _LINE.fullmatch(line)
        if found is None:
            return self._moved_slowly(line, offset)
        kept, case, arm, number, start, size = found.groups()
        at, length = int(start), int(size)
        moved = b'%b,"trace_at":[%d,%d]}\n' % (kept, at + offset, length)
        return (case, arm, int(number)), at, length, moved

    def _moved_slowly(self, line: bytes, offset: int) -> tuple[Stub, int, int, bytes]:
        try:
            record = TrialRecord.model_validate_json(line)
        except ValidationError as error:
            raise self._altered(JOURNAL) from error
        if record.trace_at is None:
            raise self._altered(JOURNAL)
        at, length = record.trace_at
        stub = record.case.encode(), record.arm.encode(), record.number
        moved = record.model_copy(update={"trace_at": (at + offset, length)})
        return stub, at, length, record_line(moved)

    def _lines(self) -> Iterator[list[bytes]]:
        """Whole lines, some hundreds at a time; of a run that was killed those that were written to their end."""
        if self._seal is None:
            yield [record_line(record) for record in self._whole_records()]
            return
        try:
            with (self.folder / JOURNAL).open("rb") as file:
                while lines := file.readlines(_SOME_LINES):
                    yield lines
        except OSError as error:
            raise self._unreadable(error) from error

    def _whole_records(self) -> Iterator[TrialRecord]:
        """Of a run that was killed: the records that have their whole trace."""
        size = _size(self.folder / TRACES)
        for record in self.run.records():
            if record.trace_at is None or sum(record.trace_at) > size:
                return
            self.run.trace(record)
            yield record

    def _end_of_traces(self) -> int:
        if self._seal is not None:
            return _size(self.folder / TRACES)
        ends = (sum(record.trace_at) for record in self._whole_records() if record.trace_at)
        return max(ends, default=0)

    def _digest_of_traces(self) -> str:
        if not self._end:
            return ""
        with (self.folder / TRACES).open("rb") as file:
            return digest_of(file, self._end)

    def _refuse_a_runner(self) -> None:
        try:
            lock = os.open(self.folder / "lock", os.O_RDONLY)
        except OSError:  # what was brought from another machine need not have it
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"{self.folder} is being written by its runner", hint="wait for it"
            ) from error
        finally:
            os.close(lock)

    def _altered(self, name: str) -> Error:
        return StorageError(
            f"{self.folder}: {name} is not what the run left there; it was altered afterwards",
            hint="the other shards are untouched; run this one anew",
        )

    def _unreadable(self, error: OSError) -> Error:
        return StorageError(f"{self.folder} cannot be read: {error.strerror}")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
