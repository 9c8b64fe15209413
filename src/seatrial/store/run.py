"""A stored run, read: the manifest at once, everything else when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from seatrial.documents import Catalog
from seatrial.errors import BaselineError, Error, StorageError, UsageError
from seatrial.records import Manifest, TrialRecord
from seatrial.store import catalogs, sealing
from seatrial.trace import Trace

MANIFEST = "run.json"
DOCUMENTS = "documents.json"
JOURNAL = "journal.jsonl"
TRACES = "traces.jsonl"
WRITTEN = (MANIFEST, DOCUMENTS, JOURNAL, TRACES)
"""The files of a run folder, all of which its seal names."""

Key = tuple[str, str, int]
"""Case, arm and number: what a trial is known by."""

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_Model = TypeVar("_Model", bound=BaseModel)


class _Files(Protocol):
    """Files of a run, wherever they lie. A path that is not there is a KeyError."""

    where: str

    def has(self, path: str) -> bool: ...
    def read(self, path: str) -> bytes: ...
    def part(self, path: str, start: int, length: int) -> bytes: ...
    def lines(self, path: str) -> Iterator[bytes]: ...
    def altered(self) -> str | None: ...
    def damaged(self, message: str) -> Error: ...


class Run:
    """A run folder, or the same files from anywhere else (a baseline on a git ref)."""

    def __init__(self, files: _Files) -> None:
        self._files = files
        self.where = files.where
        """The folder, or what the files were taken from."""
        self.manifest = self._parse(Manifest, self._read(MANIFEST), MANIFEST)

    @classmethod
    def open(cls, folder: Path) -> Run:
        """The run in this folder; it may still be running.

        Raises:
            UsageError: the folder holds no run.
            StorageError: what it holds cannot be read.
        """
        if not (folder / MANIFEST).is_file():
            raise UsageError(f"{folder} holds no run", hint="seatrial run --help")
        return cls(_Folder(folder))

    @classmethod
    def of_files(cls, files: Mapping[str, bytes], *, where: str) -> Run:
        """The run that these files make up; a file is taken from the mapping when it is needed.

        Raises:
            BaselineError: a file is missing or cannot be read.
        """
        return cls(_Mapped(files, where))

    @cached_property
    def catalog(self) -> Catalog:
        """The documents of the run, as they were when it started."""
        try:
            return catalogs.load(self._read(DOCUMENTS))
        except ValidationError as error:
            raise self._damaged(DOCUMENTS, error) from error

    @cached_property
    def sealed(self) -> bool:
        """The run was ended by its writer, and its files are what that one left; False while it is going on.

        Raises:
            StorageError: a file was altered after the run had ended.
        """
        name = self._files.altered()
        if name:
            raise self._files.damaged(
                f"{self.where}: {name} is not what the run left there; it was altered afterwards"
            )
        return name is not None

    def demand_end(self) -> None:
        """Make sure that the run has ended and is as its writer left it, before something is made of it.

        Raises:
            UsageError: it is going on, or was killed.
            StorageError: it was altered afterwards.
        """
        if not self.sealed:
            raise UsageError(
                f"{self.where} has not ended", hint=f"seatrial run --resume {self.where}"
            )

    def records(self, arm: str | None = None) -> Iterator[TrialRecord]:
        """The records in the order in which trials ended, read from disk as they are taken.

        A last line that was not written to its end is not a record yet and is left out.
        """
        if not self._files.has(JOURNAL):
            return
        seen = set()
        for number, line in enumerate(self._files.lines(JOURNAL), 1):
            try:
                record = TrialRecord.model_validate_json(line)
            except ValidationError as error:
                if not line.endswith(b"\n"):
                    return
                raise self._damaged(f"line {number} of {JOURNAL}", error) from error
            key = (record.case, record.arm, record.number)
            if key in seen:
                raise self._files.damaged(
                    f"{self.where}: line {number} of {JOURNAL} records trial {record.number} of "
                    f"{record.case} by {record.arm} a second time"
                )
            seen.add(key)
            if arm is None or record.arm == arm:
                yield record

    def trace(self, record: TrialRecord) -> Trace:
        """The trace of a record of this run, read from disk."""
        what = f"the trace of trial {record.number} of {record.case} by {record.arm}"
        if record.trace_at is None:
            raise self._files.damaged(f"{self.where}: {what} was not stored")
        path = self._trace_file(record.case)
        try:
            line = self._files.part(path, *record.trace_at)
        except KeyError as error:
            raise self._files.damaged(f"{self.where}: {path} is missing") from error
        trace = self._parse(Trace, line, what)
        if (trace.case, trace.arm, trace.number) != (record.case, record.arm, record.number):
            raise self._files.damaged(f"{self.where}: {what} is that of another trial")
        return trace

    def export(
        self, arm: str, wanted: Callable[[TrialRecord], bool] = lambda _: True
    ) -> dict[str, bytes]:
        """The files of a baseline: this run's trials of one arm, ordered by case and number.

        Args:
            arm: whose trials.
            wanted: which of them.

        Raises:
            UsageError: the run has no such arm.
        """
        if arm not in self.manifest.arms:
            raise UsageError(
                f"run {self.manifest.run} has no arm {arm!r}",
                hint=f"its arms are {', '.join(self.manifest.arms)}",
            )
        catalog = self.catalog
        order = {case: place for place, case in enumerate(catalog.cases)}
        records = sorted(
            filter(wanted, self.records(arm)),
            key=lambda r: (order.get(r.case, len(order)), r.case, r.number),
        )
        traces: dict[str, bytearray] = {}
        journal = bytearray()
        for record in records:
            if record.trace_at is not None:
                at = traces.setdefault(f"traces/{record.case}.jsonl", bytearray())
                line = self._files.part(self._trace_file(record.case), *record.trace_at)
                record = record.model_copy(update={"trace_at": (len(at), len(line))})
                at += line
            journal += record_line(record)
        manifest = self.manifest.model_copy(
            update={
                "arms": (arm,),
                "rerun": None,
                "fingerprints": {
                    key: value
                    for key, value in self.manifest.fingerprints.items()
                    if key.endswith(f"@{arm}")
                },
            }
        )
        kept = Catalog(
            catalog.cases,
            catalog.suites,
            {arm: catalog.arms[arm]},
            catalog.fixtures,
            {k: s for k, s in catalog.sources.items() if k[0] != "arm" or k[1] == arm},
            {of: own for of, own in catalog.own_fixtures.items() if of == arm},
        )
        return {
            MANIFEST: manifest_bytes(manifest),
            DOCUMENTS: catalogs.dump(kept),
            JOURNAL: bytes(journal),
            **{path: bytes(data) for path, data in traces.items()},
        }

    def _trace_file(self, case: str) -> str:
        if self._files.has(TRACES):
            return TRACES
        if not _ID.fullmatch(case):  # a baseline comes from elsewhere: its ids are no paths
            raise self._files.damaged(f"{self.where}: {case!r} is no id of a case")
        return f"traces/{case}.jsonl"

    def _read(self, path: str) -> bytes:
        try:
            return self._files.read(path)
        except KeyError as error:
            raise self._files.damaged(f"{self.where}: {path} is missing") from error

    def _parse(self, model: type[_Model], data: bytes, what: str) -> _Model:
        try:
            return model.model_validate_json(data)
        except ValidationError as error:
            raise self._damaged(what, error) from error

    def _damaged(self, what: str, error: ValidationError) -> Error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["loc"][-1:] == ("format",):
            return self._files.damaged(f"{self.where}: {what} was written by another Seatrial")
        at = ".".join(str(part) for part in first["loc"])
        return self._files.damaged(
            f"{self.where}: {what} cannot be read: {at + ': ' if at else ''}{first['msg']}"
        )


def record_line(record: TrialRecord) -> bytes:
    """A record as a line of the journal."""
    return record.model_dump_json(exclude_none=True).encode() + b"\n"


def trace_line(trace: Trace) -> bytes:
    """A trace as a line of a trace file."""
    return trace.model_dump_json().encode() + b"\n"


def manifest_bytes(manifest: Manifest) -> bytes:
    """A manifest as `run.json`."""
    return manifest.model_dump_json(indent=1).encode() + b"\n"


class _Folder:
    def __init__(self, folder: Path) -> None:
        self.where = str(folder)
        self._folder = folder

    def has(self, path: str) -> bool:
        return (self._folder / path).is_file()

    def read(self, path: str) -> bytes:
        try:
            return (self._folder / path).read_bytes()
        except FileNotFoundError as error:
            raise KeyError(path) from error

    def part(self, path: str, start: int, length: int) -> bytes:
        try:
            with (self._folder / path).open("rb") as file:
                file.seek(start)
                return file.read(length)
        except FileNotFoundError as error:
            raise KeyError(path) from error

    def lines(self, path: str) -> Iterator[bytes]:
        with (self._folder / path).open("rb") as file:
            yield from file

    def altered(self) -> str | None:
        return sealing.altered(self._folder, WRITTEN)

    def damaged(self, message: str) -> Error:
        return StorageError(message, hint="the other runs are untouched; run this one anew")


class _Mapped:
    def __init__(self, files: Mapping[str, bytes], where: str) -> None:
        self.where = where
        self._files = files

    def has(self, path: str) -> bool:
        return path in self._files

    def read(self, path: str) -> bytes:
        return self._files[path]

    def part(self, path: str, start: int, length: int) -> bytes:
        return self._files[path][start : start + length]

    def lines(self, path: str) -> Iterator[bytes]:
        yield from self._files[path].splitlines(keepends=True)

    def altered(self) -> str | None:
        return ""  # whoever gives the files holds each against what was released

    def damaged(self, message: str) -> Error:
        return BaselineError(message, hint="record the baseline again with `seatrial release`")
