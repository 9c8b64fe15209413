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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from pydantic import ValidationError

from seatrial.errors import Error, StorageError, UsageError
from seatrial.records import TrialRecord
from seatrial.store.run import DOCUMENTS, JOURNAL, MANIFEST, TRACES, Key, Run, record_line
from seatrial.store.sealing import SEAL, Pieces, Seal, digest_of

_SOME_LINES = 1 << 16
"""Bytes of the journal that are read at a time."""
_SEAM = re.compile(
    rb',"trace_at":\[(\d+),(\d+)\]\}\n'
    rb'(\{"format":1,"case":"[a-z0-9._-]+","arm":"[a-z0-9._-]+","number":[1-9]\d*,")?'
)
"""How a line ends that `record_line` wrote, and how the next begins. Nothing that stands within a string can be taken
for the end: a quotation mark in it is written `\\"`."""
_BEFORE_THE_FIRST = b',"trace_at":[0,0]}\n'
_GROUPS = 4
"""What stands between two seams, and the three groups of one."""
_STUB = re.compile(rb'\{"format":1,"case":"([^"]+)","arm":"([^"]+)","number":(\d+),"')

Stub = bytes
"""How the line of a record begins: its case, arm and number. Two trials have the same only if they are the same."""
Seen = Callable[[Sequence[Stub], bytes], None]
"""Told of some hundreds of trials at a time, with the lines of their records."""


def stubs(case: str, arm: str, numbers: Iterable[int]) -> set[Stub]:
    """How the lines of the records of these trials of a case by an arm begin."""
    begun = b'{"format":1,"case":"%b","arm":"%b","number":' % (case.encode(), arm.encode())
    return {b'%b%d,"' % (begun, number) for number in numbers}


def trial_of(begun: Stub) -> Key:
    """The trial that a stub stands for."""
    found = _STUB.fullmatch(begun)
    assert found is not None
    return found[1].decode(), found[2].decode(), int(found[3])


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
        self.end = self._end_of_traces()
        """Bytes of traces."""

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
                pieces = ((self.end, self._digest_of_traces()),)
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
        if start != self.end:
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
        for chunk in self._chunks():
            if self._seal is not None:
                digest.update(chunk)
            found = _moved(chunk, offset) or self._moved_slowly(chunk, offset)
            *ends, end = accumulate(found.lengths, initial=end)
            if found.starts != ends:
                raise self._altered(JOURNAL)
            seen(found.stubs, found.lines)
            self.records += len(found.stubs)
            yield found.lines
        if end != self.end:
            raise self._altered(JOURNAL)
        if self._seal is not None and self._seal.files.get(JOURNAL) != digest.hexdigest():
            raise self._altered(JOURNAL)

    # --- within ---

    def _moved_slowly(self, chunk: bytes, offset: int) -> _Moved:
        """The same of lines that are written otherwise, or are none."""
        trials: list[Key] = []
        places: list[tuple[int, int]] = []
        lines: list[bytes] = []
        for line in chunk.splitlines():
            try:
                record = TrialRecord.model_validate_json(line)
            except ValidationError as error:
                raise self._altered(JOURNAL) from error
            if record.trace_at is None:
                raise self._altered(JOURNAL)
            at, length = record.trace_at
            trials.append((record.case, record.arm, record.number))
            places.append((at, length))
            lines.append(record_line(record.model_copy(update={"trace_at": (at + offset, length)})))
        starts, lengths = [at for at, _ in places], [length for _, length in places]
        begun = [found for case, arm, n in trials for found in stubs(case, arm, (n,))]
        return _Moved(begun, starts, lengths, b"".join(lines))

    def _chunks(self) -> Iterator[bytes]:
        """Whole lines, some hundreds at a time; of a run that was killed those that were written to their end."""
        if self._seal is None:
            yield b"".join(record_line(record) for record in self._whole_records())
            return
        try:
            with (self.folder / JOURNAL).open("rb") as file:
                while some := file.read(_SOME_LINES):
                    yield some + file.readline()
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
        if not self.end:
            return ""
        with (self.folder / TRACES).open("rb") as file:
            return digest_of(file, self.end)

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


@dataclass(frozen=True, slots=True)
class _Moved:
    """Lines of a journal, with the places that their traces have now."""

    stubs: Sequence[Stub]
    starts: list[int]
    """Where the trace of each lay before."""
    lengths: list[int]
    lines: bytes


def _moved(chunk: bytes, offset: int) -> _Moved | None:
    """What lines tell, and the lines with the new places of their traces; None where one is not as we write them.

    All lines are taken apart at once, at the seams between them: a merge reads tens of thousands.
    """
    parts = _SEAM.split(_BEFORE_THE_FIRST + chunk)
    count = len(parts) // _GROUPS - 1
    # The seam behind the last line has no line behind it, and every other end of a line is one of the seams.
    if parts[-1] or parts[-2] is not None or chunk.count(b"\n") != count:
        return None
    begun = parts[3:-_GROUPS:_GROUPS]
    if None in begun:
        return None
    starts = list(map(int, parts[5::_GROUPS]))
    sizes = parts[6::_GROUPS]
    lines = [b',"trace_at":['] * (4 * count)
    lines[0::4] = begun
    lines[1::4] = parts[_GROUPS:-1:_GROUPS]
    lines[3::4] = [b"%d,%b]}\n" % (at + offset, n) for at, n in zip(starts, sizes, strict=True)]
    return _Moved(begun, starts, list(map(int, sizes)), b"".join(lines))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
