"""A file of the repository written anew."""

from __future__ import annotations

import os
from pathlib import Path

from seatrial.errors import StorageError


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file as a whole, so that a full disk leaves the old one."""
    target = path.resolve()
    new = target.with_name(f".{target.name}.seatrial-new")
    try:
        new.write_bytes(data)
        os.chmod(new, target.stat().st_mode & 0o7777)
        os.replace(new, target)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
