"""The seal of a run folder: the digest of each of its files when its writer was done with them.

An agent under test runs as the user who tests it, and a run folder is a handful of text files. The
seal says whether they are still what the runner wrote; a run that was killed has none until it is
resumed and ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

SEAL = "seal.json"


class _Seal(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    files: dict[str, str]
    """SHA-256 of each file, by its path."""


def seal_bytes(digests: Mapping[str, str]) -> bytes:
    """The seal of files with these digests, as it is stored."""
    return _Seal(files=dict(sorted(digests.items()))).model_dump_json(indent=1).encode() + b"\n"


def file_digest(path: Path) -> str:
    """SHA-256 of a file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def altered(folder: Path, names: tuple[str, ...]) -> str | None:
    """The first of these files that is not what its run left there; empty when all are, None without a seal."""
    try:
        seal = _Seal.model_validate_json((folder / SEAL).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError):
        return SEAL
    for name in names:
        try:
            if seal.files.get(name) != file_digest(folder / name):
                return name
        except OSError:
            return name
    return ""
