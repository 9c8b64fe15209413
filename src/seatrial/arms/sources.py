"""The files an arm is built from, as digests: what its fingerprint is made of."""

from __future__ import annotations

import hashlib
from pathlib import Path

from seatrial.documents import Arm, digest
from seatrial.errors import UsageError


def source_digests(arm: Arm, root: Path) -> dict[str, str]:
    """Each name under the arm's `sources` and the digest of its files (paths and contents).

    Raises:
        UsageError: a pattern fits no file, or leads out of the repository.
    """
    return {name: _digest(arm, name, root) for name in sorted(arm.sources)}


def _digest(arm: Arm, name: str, root: Path) -> str:
    inside = root.resolve()
    files: dict[str, str] = {}
    for pattern in arm.sources[name]:
        where = f"`sources.{name}` of arm {arm.id}: {pattern!r}"
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise UsageError(f"{where} leads out of the repository")
        found = [path for path in root.glob(pattern) if path.is_file()]
        if not found:
            raise UsageError(f"{where} fits no file", hint=f"it is looked for below {root}")
        for path in found:
            if not path.resolve().is_relative_to(inside):
                raise UsageError(f"{where} leads out of the repository through a link: {path}")
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            files[path.relative_to(root).as_posix()] = content
    return digest(files)
