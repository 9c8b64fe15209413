"""Tools for the files of a folder, confined to it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from seatrial.trace import Json
from seatrial.worlds.told import Told

MOST_LISTED = 2_000
"""Files that one listing tells."""
_LONGEST_PATH = 1_000
_LONGEST_NAME = 200
"""Both in bytes; less than what the usual file systems take."""


class Files:
    """The files below a folder, as an agent works on them. Each method says whether anything changed."""

    def __init__(self, top: Path, *, largest_file: int) -> None:
        self._top = top.resolve()
        self._largest = largest_file

    def list(self, folder: str = "") -> Json:
        """Paths of all files below a folder, sorted."""
        start = self._inside(folder) if folder not in ("", ".", "./") else self._top
        if not start.is_dir():
            raise Told(f"{folder} is a file" if start.exists() else f"there is no folder {folder}")
        found = []
        for here, folders, files in os.walk(start):
            folders[:] = sorted(name for name in folders if name.lower() != ".git")
            inside = Path(here).relative_to(self._top).as_posix()
            found += [name if inside == "." else f"{inside}/{name}" for name in files]
        listed = sorted(found)
        if len(listed) > MOST_LISTED:
            return {"files": listed[:MOST_LISTED], "left_out": len(listed) - MOST_LISTED}
        return {"files": listed}

    def read(self, path: str) -> str:
        """The text of a file."""
        content = self._file(path).read_bytes()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise Told(f"{path} is a binary file of {len(content)} bytes") from None
        if "\0" in text:
            raise Told(f"{path} is a binary file of {len(content)} bytes")
        return text

    def write(self, path: str, text: str) -> bool:
        """Give a file this text; folders on the way to it are made."""
        target = self._inside(path)
        try:
            content = text.encode("utf-8")
        except UnicodeEncodeError:
            raise Told("the text has characters that no file can hold") from None
        if len(content) > self._largest:
            raise Told(f"a file may have {self._largest} bytes, and this would be {len(content)}")
        if target.is_dir():
            raise Told(f"{path} is a folder")
        if target.is_file() and target.read_bytes() == content:
            return False
        self._make_way(target, path)
        target.write_bytes(content)
        return True

    def delete(self, path: str) -> None:
        """Remove a file."""
        entry = self._entry(path)
        if not entry.is_symlink():
            self._file(path)
        entry.unlink()

    def move(self, source: str, destination: str) -> None:
        """Give a file or a folder a new path."""
        old, new = self._entry(source), self._entry(destination)
        if not os.path.lexists(old):
            raise Told(f"there is no {source}")
        if os.path.lexists(new):
            raise Told(f"there is a {destination} already")
        if new.is_relative_to(old):
            raise Told(f"{source} cannot be moved into itself")
        self._make_way(new, destination)
        shutil.move(old, new)

    def _file(self, path: str) -> Path:
        target = self._inside(path)
        if target.is_dir():
            raise Told(f"{path} is a folder")
        if not target.is_file():
            raise Told(f"there is no file {path}")
        return target

    def _entry(self, path: str) -> Path:
        """Where a path stands, when links on the way are followed and the last name is not."""
        self._inside(path)
        above, _, name = path.rpartition("/")
        return (self._inside(above) if above else self._top) / name

    def _inside(self, path: str) -> Path:
        """Where a path leads; it never leads out of the folder, nor into what git keeps for itself."""
        parts = path.split("/")
        if (
            not path
            or len(path.encode("utf-8", "replace")) > _LONGEST_PATH
            or any(len(part.encode("utf-8", "replace")) > _LONGEST_NAME for part in parts)
            or "\0" in path
            or "\\" in path
            or any(part in ("", ".", "..") for part in parts)
        ):
            raise Told(
                f"{path[:80]!r} is no path here: write it from the top of the folder, such as "
                "`notes/today.md`, without `..`"
            )
        try:
            real = (self._top / path).resolve()
        except (OSError, RuntimeError, ValueError):  # a link in a circle; half a character
            raise Told(f"there is no {path[:80]!r}") from None
        if not real.is_relative_to(self._top) or real == self._top:
            raise Told(f"{path[:80]!r} leads out of the folder")
        inside = real.relative_to(self._top).parts
        if any(part.lower() == ".git" for part in (*parts, *inside)):
            raise Told(f"{path[:80]!r} belongs to git itself")
        return real

    def _make_way(self, target: Path, path: str) -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise Told(f"a part of {path} is a file, so nothing can be below it") from None
