"""What was found out about the very same bytes before, in a folder of the user's own that may be deleted at any time.

It never changes a result: a key stands for everything that a result hangs on, Seatrial's own code and the installed
libraries among it. And it is never read where somebody else could have written it: not from a folder inside of the
repository that is looked at (a change could bring it along), and not from one that others may write into.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

WHERE = "SEATRIAL_CACHE"
"""A variable of the environment: the folder, or `off`. Left out: `seatrial` in the user's folder of caches."""
MOST_BYTES = 64_000_000
"""Of all that is kept; the oldest goes first."""
MOST_OF_ONE = 16_000_000
"""Bytes of one result; a larger one is not kept."""
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Remembered:
    """Results by their key, a file each."""

    folder: Path

    def recall(self, key: str) -> Any | None:
        """The JSON value that was kept under a key; None where there is none that can be trusted."""
        file = self.folder / f"{key}{_SUFFIX}"
        try:
            if not _is_own(os.lstat(self.folder), stat.S_ISDIR):
                return None
            opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(opened, "rb") as content:
                status = os.fstat(opened)
                if not _is_own(status, stat.S_ISREG) or status.st_size > MOST_OF_ONE + 100:
                    return None
                digest, _, text = content.read().partition(b"\n")
            if digest != _digest(text):
                return None
            value = json.loads(text)
            os.utime(file)  # what is asked for is not the oldest
        except (OSError, ValueError, RecursionError):
            return None  # there is none, or somebody has spoilt it: it is found out anew
        return value

    def keep(self, key: str, value: Any) -> None:
        """Keep a JSON value, if that can be done: where it cannot, it is found out anew the next time."""
        text = json.dumps(value, separators=(",", ":")).encode("ascii")
        if len(text) > MOST_OF_ONE:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(os.lstat(self.folder), stat.S_ISDIR):
                return
            opened, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
            try:
                with open(opened, "wb") as file:
                    file.write(_digest(text) + b"\n" + text)
                os.replace(name, self.folder / f"{key}{_SUFFIX}")
            except OSError:
                os.unlink(name)
                raise
            self._forget_oldest()
        except OSError:
            return

    def _forget_oldest(self) -> None:
        found = []
        for entry in os.scandir(self.folder):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # another process was first
            if stat.S_ISREG(status.st_mode):
                found.append((status.st_mtime_ns, status.st_size, entry.path))
        kept = 0
        for _, size, path in sorted(found, reverse=True):
            kept += size
            if kept > MOST_BYTES:
                Path(path).unlink(missing_ok=True)


def remembered(root: Path) -> Remembered | None:
    """What is remembered of folders such as this one; None where nothing may be.

    Args:
        root: the folder that is looked at. Nothing inside of it, or of the repository around it, is trusted.
    """
    named = os.environ.get(WHERE, "")
    if named == "off" or not hasattr(os, "geteuid"):
        return None
    try:
        folder = (Path(named) if named else user_cache_path("seatrial", appauthor=False)).resolve()
        home = root.resolve()
    except (OSError, RuntimeError):
        return None  # a link in a circle, or a user without a home
    around = next((f for f in (home, *home.parents) if (f / ".git").exists()), home)
    return None if folder.is_relative_to(around) else Remembered(folder)


def key(what: str, files: Iterable[tuple[str, bytes]], *more: str) -> str:
    """A key for a result that hangs on the names and contents of files, and on these words.

    Args:
        what: the kind of result.
        files: name and content of each, in an order of their own.
        more: whatever else it hangs on.
    """
    sum = hashlib.sha256(_this_seatrial())
    for word in (what, *more):
        sum.update(b"%d:%b" % (len(word), word.encode("utf-8", "surrogateescape")))
    for name, content in files:
        path = name.encode("utf-8", "surrogateescape")
        sum.update(b"\n%d:%d:%b" % (len(path), len(content), path))
        sum.update(content)
    return sum.hexdigest()


@cache
def _this_seatrial() -> bytes:
    """What stands for this code, its libraries and its interpreter."""
    sum = hashlib.sha256(sys.version.encode())
    for line in (*_sources(), *_installed()):
        sum.update(line.encode("utf-8", "surrogateescape") + b"\n")
    return sum.digest()


def _sources() -> Iterator[str]:
    """Each file of this package: changed code finds things out anew, also where no version says so."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder, folders, files in os.walk(here):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            status = os.stat(f"{folder}/{name}")
            yield f"{folder[len(here) :]}/{name} {status.st_size} {status.st_mtime_ns}"


def _installed() -> Iterator[str]:
    """Each installed distribution with its version, by the names of the folders that say so."""
    for place in sys.path:
        if os.path.isdir(place):
            yield from sorted(
                n for n in os.listdir(place) if n.endswith((".dist-info", ".egg-info"))
            )


def _is_own(status: os.stat_result, is_kind: Any) -> bool:
    mine = status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE
    return mine and bool(is_kind(status.st_mode))


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
