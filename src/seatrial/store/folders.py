"""Where runs lie, how they are named, and how one is found again."""

from __future__ import annotations

import datetime as dt
import re
import secrets
from pathlib import Path

from seatrial.errors import UsageError

_HEAD = 400
"""Bytes of a manifest in which its id stands."""
_ID = re.compile(rb'"run":\s*"([\w.-]+)"')

RUNS = Path(".seatrial") / "runs"
"""Where runs are kept, below the repository's root."""


def new_run_id() -> str:
    """An id that sorts by time (UTC, milliseconds) and is like no other."""
    now = dt.datetime.now(dt.UTC)
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}-{secrets.token_hex(3)}"


def runs(root: Path) -> tuple[Path, ...]:
    """The run folders below `root`, oldest first."""
    found = [manifest.parent for manifest in (root / RUNS).glob("*/run.json")]
    return tuple(sorted(found, key=lambda folder: (_id_in(folder), folder.name)))


def _id_in(folder: Path) -> str:
    """The id that a run says it has, which sorts by time; whoever named its folder need not have used that."""
    with (folder / "run.json").open("rb") as file:
        said = _ID.search(file.read(_HEAD))
    return said[1].decode() if said else folder.name


def find(root: Path, name: str) -> Path:
    """The folder of a run: its path, its id, or `latest`.

    Raises:
        UsageError: there is no such run; the hint names the newest ones.
    """
    stored = runs(root)
    if name == "latest" and stored:
        return stored[-1]
    for folder in (root / RUNS / name, Path(name)):
        if (folder / "run.json").is_file():
            return folder
    if Path(name).is_dir():
        raise UsageError(
            f"{name} is a folder, but no run: it holds no run.json",
            hint="name the folder that `seatrial run` printed",
        )
    if not stored:
        raise UsageError(
            f"no run {name!r}: there are no runs in {root / RUNS}",
            hint="seatrial run --suite ID --arm ID",
        )
    newest = ", ".join(folder.name for folder in reversed(stored[-5:]))
    raise UsageError(f"no run {name!r}", hint=f"the newest are {newest}")


def resume_name(folder: Path) -> str:
    """What to write after `--resume` for this folder: the id where that is enough, else the path."""
    return folder.name if folder.parent.parts[-2:] == RUNS.parts else str(folder)
