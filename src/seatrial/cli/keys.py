"""The key that stand-ins are drawn with: of one repository, and never in it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from seatrial.errors import UsageError

KEY = "SEATRIAL_STAND_INS_KEY"
KEY_FILE = Path(".seatrial") / "stand-ins.key"
SHORTEST_KEY = 16


def key_of(root: Path) -> bytes:
    """What stand-ins are drawn with: from the environment, or made once and kept out of git."""
    if (given := os.environ.get(KEY)) is not None:
        if len(given) < SHORTEST_KEY:
            raise UsageError(
                f"{KEY} has {len(given)} characters, and whoever guesses it can try values out",
                hint=f"at least {SHORTEST_KEY}, for example of `openssl rand -hex 32`",
            )
        return given.encode()
    path = root / KEY_FILE
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        ignore = path.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
    key = path.read_text(encoding="utf-8").strip()
    if len(key) < SHORTEST_KEY:
        raise UsageError(f"{KEY_FILE} holds no key", hint="remove it, and a new one is made")
    return key.encode()
