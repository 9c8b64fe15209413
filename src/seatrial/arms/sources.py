"""The files an arm is built from, as digests: what its fingerprint is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from seatrial.documents import Arm, Recorded, digest
from seatrial.errors import UsageError

RECORDED_FILES = "recorded files"
"""Where a recorded arm's files stand among the digests; no id has a space."""


def source_digests(arm: Arm, root: Path) -> dict[str, str]:
    """Each name under the arm's `sources` and the digest of its files (paths and contents).

    A recorded arm is its recordings, so these are digested too, under a name that no source can have.

    Raises:
        UsageError: a pattern fits no file, a recording is not there, or one leads out of the repository.
    """
    digests = {name: _digest(arm, name, root) for name in sorted(arm.sources)}
    if isinstance(arm.adapter, Recorded):
        digests[RECORDED_FILES] = _digest_of_recordings(arm, arm.adapter.files, root)
    return digests


def _digest(arm: Arm, name: str, root: Path) -> str:
    files: dict[str, str] = {}
    for pattern in arm.sources[name]:
        where = f"`sources.{name}` of arm {arm.id}: {pattern!r}"
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise UsageError(f"{where} leads out of the repository")
        found = [path for path in root.glob(pattern) if path.is_file()]
        if not found:
            raise UsageError(f"{where} fits no file", hint=f"it is looked for below {root}")
        for path in found:
            files[path.relative_to(root).as_posix()] = _content(path, root, where)
    return digest(files)


def _digest_of_recordings(arm: Arm, files: Sequence[str], root: Path) -> str:
    contents: dict[str, str] = {}
    for name in files:
        where = f"`adapter.files` of arm {arm.id}: {name!r}"
        if not (root / name).is_file():
            raise UsageError(f"{where} is no file", hint=f"it is looked for below {root}")
        contents[name] = _content(root / name, root, where)
    return digest(contents)


def _content(path: Path, root: Path, where: str) -> str:
    if not path.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{where} leads out of the repository through a link: {path}")
    return hashlib.sha256(path.read_bytes()).hexdigest()
