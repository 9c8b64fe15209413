"""Baselines in a plain folder: whole or not at all, one writer at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from seatrial.errors import BaselineError, StorageError


class Files(Mapping[str, bytes]):
    """The files below a folder; each is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, path: str) -> bytes:
        try:
            return (self._folder / path).read_bytes()
        except (FileNotFoundError, IsADirectoryError) as error:
            raise KeyError(path) from error
        except OSError as error:
            raise BaselineError(
                f"{self._folder / path} cannot be read: {error.strerror}"
            ) from error

    def __contains__(self, path: object) -> bool:
        return (self._folder / str(path)).is_file()

    def __iter__(self) -> Iterator[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file())
        return iter(sorted(path.relative_to(self._folder).as_posix() for path in files))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def write(
    folder: Path,
    below: str,
    files: Mapping[str, bytes],
    *,
    check: Callable[[], None] = lambda: None,
) -> Path:
    """Make `files` all there is under `folder/below`; until the last moment what was there stays.

    `check` raises where it must not be written; nobody else writes meanwhile.

    Raises:
        StorageError: it cannot be written; what was there is still there.
    """
    target = folder / below
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _one_at_a_time(folder):
            check()
            target.parent.mkdir(parents=True, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
            try:
                fresh.chmod(0o755)
                for path, data in files.items():
                    (fresh / path).parent.mkdir(parents=True, exist_ok=True)
                    (fresh / path).write_bytes(data)
                _exchange(fresh, target)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise StorageError(
            f"{target} cannot be written: {error.strerror}",
            hint="free some space or name another folder with --to; the run is untouched",
        ) from error
    return target


def _exchange(fresh: Path, target: Path) -> None:
    """Put `fresh` in the place of `target`, and what was there in the place of `fresh`."""
    if not target.exists():
        fresh.rename(target)
        return
    aside = fresh.with_name(fresh.name + ".old")
    target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
