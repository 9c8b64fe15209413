"""What is drawn at random in a trial: from its seed, the same whenever the trial is repeated."""

from __future__ import annotations

import uuid
from hashlib import blake2b


class Chance:
    """Draws of one trial. Each has a name; the same seed and name give the same draw, whatever was drawn before.

    So the order in which calls of different tools come in does not change what any of them meets.
    """

    __slots__ = ("_key",)

    def __init__(self, seed: int) -> None:
        self._key = b"%d" % seed

    def _bytes(self, name: str) -> bytes:
        return blake2b(name.encode(), digest_size=16, key=self._key[:64]).digest()

    def share(self, name: str) -> float:
        """A number from 0 to below 1."""
        return int.from_bytes(self._bytes(name)[:6]) / 2**48

    def uuid(self, name: str) -> str:
        """A UUID (version 4 in form)."""
        return str(uuid.UUID(bytes=self._bytes(name), version=4))
