"""Files that documents name: followed along links, and never out of the repository; read only where they are files."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path


def within(path: Path, home: Path) -> Path:
    """Where a path leads when links are followed.

    Raises:
        OSError: to nothing.
        ValueError: out of `home`.
    """
    real = _followed(path, strict=True)
    real.relative_to(home)
    return real


def leads_out(path: Path, home: Path) -> bool:
    """Whether links lead from a path, which need not exist, out of `home`.

    Raises:
        OSError: they lead in a circle.
    """
    return not _followed(path, strict=False).is_relative_to(home)


def _followed(path: Path, *, strict: bool) -> Path:
    try:
        return path.resolve(strict=strict)
    except RuntimeError as error:  # how Python before 3.13 tells a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """A file to be read; a pipe or a device is not waited for.

    Raises:
        OSError: it cannot be read, or is no file.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        yield file


def hashed(path: Path) -> tuple[str, int]:
    """A digest of what a file holds, and its mode.

    Raises:
        OSError: it cannot be read, or is no file.
    """
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), os.fstat(file.fileno()).st_mode
