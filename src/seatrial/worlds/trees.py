"""A folder as objects: its files, links and folders, and the git repositories in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seatrial.documents.patterns import matches
from seatrial.documents.world.directory import LONGEST_TEXT
from seatrial.errors import WorldError
from seatrial.state import Draft, State, state_from_json
from seatrial.trace import Json
from seatrial.worlds import histories
from seatrial.worlds.told import without_folder

_PUT_AWAY = 1_000_000_000
"""When all files of a copy were last written, in seconds since 1970: long before any trial."""

Signature = tuple[int, ...]
Properties = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Start:
    """A folder that trials copy, as it was read once."""

    folder: Path
    state: State
    signatures: Mapping[str, Signature]
    """Path → what a file looks like from outside as long as nobody writes to it."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How a folder is read as a state."""

    leave_out: tuple[str, ...] = ()
    """Patterns of what is no part of it."""
    folders: bool = False
    """Whether folders are objects."""
    repositories: bool = False
    """Whether git repositories are read as such; otherwise they are not looked at."""

    def start(self, folder: Path) -> Start:
        """Read a folder of which copies will be made.

        Raises:
            WorldError: it cannot be read.
        """
        for path, entry in self._entries(folder):
            if stat.S_ISREG(entry.st_mode):
                os.utime(folder / path, (_PUT_AWAY, _PUT_AWAY))
        state = self._read(folder, None, {})
        signatures = {path: _signature(entry) for path, entry in self._entries(folder)}
        return Start(folder, state, signatures)

    def copy(self, start: Start, folder: Path) -> Copy:
        """Copy the folder to a new path.

        Raises:
            WorldError: it cannot be copied.
        """
        try:
            shutil.copytree(start.folder, folder, symlinks=True)
        except (OSError, shutil.Error) as error:
            why = without_folder(error, folder.parent)
            raise WorldError(f"the folder cannot be copied: {why}") from error
        untouched = {
            path: signature
            for path, entry in self._entries(folder)
            if _written_at(signature := _signature(entry))
            == _written_at(start.signatures.get(path))
        }
        return Copy(self, start.state, folder, untouched)

    def now(self, copy: Copy) -> State:
        """The state of a copied folder; files that nobody wrote to are not read again.

        Raises:
            WorldError: it cannot be read.
        """
        return self._read(copy.folder, copy.start, copy.untouched)

    def _read(self, folder: Path, start: State | None, untouched: Mapping[str, Signature]) -> State:
        found: dict[str, dict[str, Properties | None]] = {"file": {}, "link": {}, "folder": {}}
        try:
            for path, entry in self._entries(folder):
                kind = _kind(entry)
                if untouched.get(path) == _signature(entry):
                    found[kind][path] = None
                else:
                    found[kind][path] = _properties(folder / path, entry)
            histories_now = histories.read(folder, start) if self.repositories else {}
        except OSError as error:
            why = without_folder(error, folder)
            raise WorldError(f"the folder cannot be read: {why}") from error
        everything: dict[str, dict[str, Properties | None]] = {
            **{kind: keyed for kind, keyed in found.items() if kind != "folder" or self.folders},
            **histories_now,
        }
        if start is None:
            return state_from_json(
                {
                    type: {key: properties or {} for key, properties in keyed.items()}
                    for type, keyed in everything.items()
                }
            )
        draft = Draft(start)
        for type in {*everything, *start.types()}:
            keyed = everything.get(type, {})
            for key, properties in keyed.items():
                if properties is not None:
                    draft.put(type, key, properties)
            for key in [key for key, _ in start.objects(type) if key not in keyed]:
                draft.delete(type, key)
        return draft.state()

    def _entries(self, folder: Path) -> Iterator[tuple[str, os.stat_result]]:
        """Every file, link and folder below a folder that is part of the state, links not followed."""
        waiting = [""]
        while waiting:
            above = waiting.pop()
            with os.scandir(folder / above) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    path = f"{above}/{entry.name}" if above else entry.name
                    if entry.name == ".git" or self._left_out(path):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    yield path, entry.stat(follow_symlinks=False)

    def _left_out(self, path: str) -> bool:
        return any(matches(pattern, path) for pattern in self.leave_out)


@dataclass(slots=True)
class Copy:
    """One trial's copy of a folder."""

    reader: Reader
    start: State
    folder: Path
    untouched: Mapping[str, Signature] = field(default_factory=dict)


def _kind(entry: os.stat_result) -> str:
    if stat.S_ISLNK(entry.st_mode):
        return "link"
    return "folder" if stat.S_ISDIR(entry.st_mode) else "file"


def _signature(entry: os.stat_result) -> Signature:
    # A file that is written within the same tick of the clock in which it was copied still shows: its
    # time of writing is then no longer the one that all copied files have.
    return (entry.st_mtime_ns, entry.st_ctime_ns, entry.st_ino, entry.st_size, entry.st_mode)


def _written_at(signature: Signature | None) -> int | None:
    return None if signature is None else signature[0]


def _properties(path: Path, entry: os.stat_result) -> Properties:
    if stat.S_ISLNK(entry.st_mode):
        return {"target": printable(os.readlink(path))}
    if stat.S_ISDIR(entry.st_mode):
        return {}
    if not stat.S_ISREG(entry.st_mode):
        return {"special": stat.filemode(entry.st_mode)[0]}
    content = path.read_bytes()
    found: Properties = {}
    text = _text(content)
    if text is not None:
        found["text"] = text
    else:
        found |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    if entry.st_mode & 0o100:
        found["executable"] = True
    return found


def _text(content: bytes) -> str | None:
    if len(content) > LONGEST_TEXT or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def printable(name: str) -> str:
    """The name of a file as text; bytes of it that are no text are written out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
