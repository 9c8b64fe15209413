"""Where recorded runs of real agents lie, which are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def folder(name: str) -> Path:
    """The folder `data/<name>`; skips the test where it is not there."""
    root = Path(__file__).parents[2]
    shared = Path(os.environ.get("SEATRIAL_SHARED") or root.parent / "shared")
    found = shared / "data" / name
    if not found.is_dir():
        pytest.skip(f"no recorded runs at {found} (SEATRIAL_SHARED names the folder above `data`)")
    return found
