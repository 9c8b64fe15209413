"""The `seatrial` command, run as a person types it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.warm import Warm, is_cold

ROOT = Path(__file__).parents[1]
_WARM = Warm(ROOT / "src")


def seatrial(
    folder: Path, *words: str, environment: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a command in a folder: exit code, standard output, standard error."""
    own = {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNDEFAULTENCODING": "1"}
    given = os.environ | own | (environment or {})
    if not is_cold(environment or {}):
        code, out, err = _WARM.run(folder, words, given, timeout=60)
        return code, out.decode(), err.decode()
    done = subprocess.run(
        [sys.executable, "-m", "seatrial", *words],
        cwd=folder,
        env=given,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def warm(
    folder: Path, words: tuple[str, ...], environment: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """Run a command with this environment and nothing beside it: exit code, standard output, standard error."""
    return _WARM.run(folder, words, environment, timeout=60)
