"""The `seatrial` command, run as a person types it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def seatrial(
    folder: Path, *words: str, environment: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a command in a folder: exit code, standard output, standard error."""
    own = {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNDEFAULTENCODING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "seatrial", *words],
        cwd=folder,
        env=os.environ | own | (environment or {}),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()
