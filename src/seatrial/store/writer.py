"""A run folder, written: one process at a time, nothing stored is ever touched again.

A trial is stored by appending its trace, then its record. A process that is killed between two
bytes leaves at most the end of one line; `resume` cuts that off. A write that fails (a full disk)
is taken back, so that every line of both files is whole at any time another process can look. When the
writer is done, it seals the folder; a run without a seal has not ended.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from seatrial.documents import Catalog
from seatrial.errors import StorageError, UsageError
from seatrial.records import Manifest, TrialRecord
from seatrial.store import catalogs
from seatrial.store.folders import RUNS, resume_name
from seatrial.store.run import (
    DOCUMENTS,
    JOURNAL,
    MANIFEST,
    TRACES,
    Run,
    manifest_bytes,
    record_line,
    trace_line,
)
from seatrial.store.sealing import SEAL, Pieces, Seal, altered, file_digest
from seatrial.store.shards import Shard, Stub, Traces
from seatrial.trace import Trace

LOCK = "lock"
_SOME = 1 << 20
"""Bytes of another file that are copied at a time."""


class Writer:
    """The one writer of a run folder, until it is closed."""

    def __init__(
        self, folder: Path, manifest: Manifest, lock: int, fixed: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.stored = 0
        """Records in the journal."""
        self._lock = lock
        self._fixed = fixed
        """Digests of the files that are written once."""
        self._journal = _Appended(folder / JOURNAL)
        self._traces = _Appended(folder / TRACES)
        self._failed: StorageError | None = None
        self._somebody_else_wrote = False
        self.leave_open = False
        """Do not seal it: something is missing that others may add."""
        self._only_merged = False

    @classmethod
    def create(cls, folder: Path, manifest: Manifest, catalog: Catalog | bytes) -> Self:
        """Make the folder and write what is known before the first trial.

        Args:
            folder: a new one.
            manifest: what the run says of itself.
            catalog: its documents, or what another run has stored of them.

        Raises:
            UsageError: the folder is in use or holds something already.
            StorageError: it cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise UsageError(
                    f"{folder} is not empty", hint="name a new folder with --out, or leave it out"
                )
            if folder.parent.parts[-2:] == RUNS.parts:
                _keep_out_of_git(folder.parent.parent)
            lock = _locked(folder)
            try:
                if {path.name for path in folder.iterdir()} != {LOCK}:
                    raise UsageError(  # by another runner, since we looked
                        f"{folder} was filled by another runner",
                        hint="name a new folder with --out, or leave it out",
                    )
                stored = catalog if isinstance(catalog, bytes) else catalogs.dump(catalog)
                fixed = {DOCUMENTS: stored, MANIFEST: manifest_bytes(manifest)}
                for name, data in fixed.items():
                    _put(folder / name, data)
                digests = {name: hashlib.sha256(data).hexdigest() for name, data in fixed.items()}
                return cls(folder, manifest, lock, digests)
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise StorageError(
                f"{folder} cannot be written: {error.strerror}",
                hint="free some space or name another place with --out; no trial has run yet",
            ) from error

    @classmethod
    def resume(cls, folder: Path, seen: Callable[[TrialRecord], None]) -> Self:
        """Go on writing a run, handing `seen` each record that is stored, in order.

        Raises:
            UsageError: there is no run, or another process writes it.
            StorageError: what is stored cannot be read on, was altered, or cannot be written.
        """
        run = Run.open(folder)
        try:
            lock = _locked(folder)
        except OSError as error:
            raise StorageError(f"{folder} cannot be written: {error.strerror}") from error
        try:
            if run.sealed:
                (folder / SEAL).unlink()
            fixed = {name: file_digest(folder / name) for name in (DOCUMENTS, MANIFEST)}
            writer = cls(folder, run.manifest, lock, fixed)
            writer._mend(run, seen)
        except BaseException as error:
            os.close(lock)
            if isinstance(error, OSError):
                raise StorageError(f"{folder} cannot be written: {error.strerror}") from error
            raise
        return writer

    def add(self, record: TrialRecord, trace: Trace) -> TrialRecord:
        """Store a trial that has ended; gives the record as it was stored.

        Raises:
            StorageError: it could not be stored. Everything stored before it is intact, and this
                writer takes no more.
        """
        if self._failed:
            raise self._failed
        ends = self._traces.end, self._journal.end
        for file in (self._traces, self._journal):
            if file.touched():
                self._somebody_else_wrote = True
                self._failed = self._altered(file.name)
                raise self._failed
        try:
            line = trace_line(trace)
            record = record.model_copy(update={"trace_at": (ends[0], len(line))})
            self._traces.append(line)
            self._journal.append(record_line(record))
        except OSError as error:
            with contextlib.suppress(OSError):  # `resume` cuts off what cannot be taken back now
                self._traces.cut(ends[0])
                self._journal.cut(ends[1])
            raise self._refuse(error) from error
        self.stored += 1
        return record

    def take_in(
        self, shards: Sequence[Shard], seen: Callable[[Shard, Sequence[Stub], bytes], None]
    ) -> None:
        """Append all trials of other run folders, handing them to `seen` in order, each with its shard.

        Their traces are copied in a thread of its own, since nobody looks at them here.

        Raises:
            StorageError: a folder was altered or cannot be read, or this one cannot be written.
        """
        if self._failed:
            raise self._failed
        at = self._traces.end
        self._only_merged = True
        try:
            with ThreadPoolExecutor(max_workers=1) as beside:
                copied = beside.submit(self._traces.append_traces, shards)
                for shard in shards:
                    for lines in shard.journal(at, partial(seen, shard)):
                        self._journal.append(lines)
                    at += shard.end
                    self.stored += shard.records
                copied.result()
        except OSError as error:
            self._failed = StorageError(
                f"{self.folder} cannot be written: {error.strerror}",
                hint="free some space, then merge again; the shards are as they were",
            )
            raise self._failed from error

    def close(self) -> None:
        """Make sure that everything is on the disk as it was written, seal it, and let go of the folder.

        Raises:
            StorageError: the machine could not keep what it had taken, or somebody else has altered it.
        """
        try:
            self._traces.close()
            self._journal.close()
            if (self._failed is None and not self.leave_open) or self._somebody_else_wrote:
                self._seal()
        except OSError as error:
            raise self._refuse(error) from error
        finally:
            os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except StorageError:
            if error is None:
                raise

    def _refuse(self, error: OSError) -> StorageError:
        self._failed = StorageError(
            f"{self.folder} cannot be written: {error.strerror}. "
            f"{self.stored} {'trial is' if self.stored == 1 else 'trials are'} stored and intact",
            hint=f"free some space, then: seatrial run --resume {resume_name(self.folder)}",
        )
        return self._failed

    def _seal(self) -> None:
        written: dict[str, Pieces] = {name: ((0, digest),) for name, digest in self._fixed.items()}
        written |= {TRACES: self._traces.digests(), JOURNAL: self._journal.digests()}
        # Also of files that are something else by now: then nobody can go on with the run.
        _put(self.folder / SEAL, Seal.of(written).as_bytes())
        if self._only_merged:
            return  # no agent ran while that was written
        if name := altered(self.folder, tuple(written)):
            raise self._altered(name)

    def _altered(self, name: str) -> StorageError:
        return StorageError(
            f"{self.folder / name} was altered while the run went on, and not by the runner: what it says is "
            "no evidence any more",
            hint="an agent under test can do that where it runs as you do; look at it, then run anew",
        )

    def _mend(self, run: Run, seen: Callable[[TrialRecord], None]) -> None:
        """Cut both files after the last record that is whole and has its whole trace."""
        self._journal.finish_last_line(_is_record)
        end = 0
        for record in run.records():
            if record.trace_at is None or sum(record.trace_at) > self._traces.end:
                # Only a machine that lost its power loses a trace and keeps its record.
                self._journal.cut_lines(self.stored)
                break
            end = max(end, sum(record.trace_at))
            self.stored += 1
            seen(record)
        self._traces.cut(end)
        self._traces.take_in()
        self._journal.take_in()


class _Appended:
    """A file that only grows at its end."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        self.end = os.fstat(self._file).st_size
        self._digest = hashlib.sha256()
        self._pieces: list[tuple[int, str]] = []
        self._begun = 0
        """Where the piece begins whose digest is being made."""

    def append(self, data: bytes) -> None:
        self._write(data)
        self._digest.update(data)

    def append_traces(self, shards: Iterable[Shard]) -> None:
        """Append the traces of other run folders, and make sure that they are on the disk."""
        for shard in shards:
            for piece in shard.traces():
                self._append_piece(piece)
        os.fsync(self._file)

    def _append_piece(self, piece: Traces) -> None:
        """Append a part of another file under the digest that it was sealed with."""
        if self.end > self._begun:
            self._pieces.append((self.end - self._begun, self._digest.hexdigest()))
            self._digest = hashlib.sha256()
        left = piece.size
        some = memoryview(bytearray(min(left, _SOME)))
        with piece.path.open("rb", buffering=0) as source:
            source.seek(piece.start)
            while left and (count := source.readinto(some[: min(left, _SOME)])):
                self._write(some[:count])
                left -= count
        if left:
            raise OSError(errno.EIO, f"{piece.path} became shorter")
        self._pieces.append((piece.size, piece.sha))
        self._begun = self.end

    def _write(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while rest:  # a disk that runs full takes a part and refuses the rest
            rest = rest[os.write(self._file, rest) :]
        self.end += len(data)

    def touched(self) -> bool:
        """Whether somebody else has written to it."""
        return os.fstat(self._file).st_size != self.end

    def take_in(self) -> None:
        """Digest what stood there before."""
        self._digest, self._pieces, self._begun = hashlib.sha256(), [], 0
        with self._path.open("rb") as file:
            while part := file.read(1 << 20):
                self._digest.update(part)

    def digests(self) -> Pieces:
        """SHA-256 of all that was written, piece by piece."""
        if self._pieces and self.end == self._begun:
            return tuple(self._pieces)
        return (*self._pieces, (self.end - self._begun, self._digest.hexdigest()))

    def cut(self, end: int) -> None:
        os.ftruncate(self._file, end)
        self.end = end

    def finish_last_line(self, whole: Callable[[bytes], bool]) -> None:
        """Complete a last line that lacks only its line end, and cut off one that lacks more."""
        start = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    if whole(line):
                        self.append(b"\n")
                    else:
                        self.cut(start)
                start += len(line)

    def cut_lines(self, count: int) -> None:
        """Keep the first `count` lines."""
        with self._path.open("rb") as file:
            self.cut(sum(len(file.readline()) for _ in range(count)))

    def close(self) -> None:
        try:
            os.fsync(self._file)
        finally:
            os.close(self._file)


def _is_record(line: bytes) -> bool:
    try:
        TrialRecord.model_validate_json(line)
    except ValidationError:
        return False
    return True


def _locked(folder: Path) -> int:
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.read(lock, 20).decode(errors="replace").strip()
        os.close(lock)
        raise UsageError(
            f"{folder} is being written by another runner (process {owner or 'unknown'})",
            hint="wait for it, or start a run of its own",
        ) from error
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _put(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _keep_out_of_git(folder: Path) -> None:
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
