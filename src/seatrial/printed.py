"""What functions of the repository print in our own process: kept for their trial, never on our terminal.

A terminal and a CI log obey what they are sent (escape sequences, workflow commands). While a run with
such functions goes on, `sys.stdout` and `sys.stderr` are replaced by a pair that asks who is writing.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

MOST_PRINTED = 4096
"""How much of it is kept, in characters."""


class Printed:
    """What one agent or world has printed, cut to a bounded length."""

    def __init__(self) -> None:
        self.text = ""

    def take(self, text: str) -> None:
        """Keep the beginning."""
        if len(self.text) < MOST_PRINTED:
            self.text += _clean(text[: MOST_PRINTED - len(self.text)])


_listener: contextvars.ContextVar[Printed | None] = contextvars.ContextVar("printed", default=None)


@contextmanager
def listening(printed: Printed) -> Iterator[None]:
    """What is printed inside, also by threads started with this context, goes to `printed`."""
    token = _listener.set(printed)
    try:
        yield
    finally:
        _listener.reset(token)


class _Switch:
    """A text stream like the usual one, whose writes go to whoever listens."""

    def __init__(self, usual: TextIO) -> None:
        self._usual = usual

    def write(self, text: str) -> int:
        printed = _listener.get()
        if printed is None:
            return self._usual.write(text)
        printed.take(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if _listener.get() is None:
            self._usual.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._usual, name)


_diverting = 0
_usual: tuple[TextIO, TextIO] | None = None


@contextmanager
def diverted() -> Iterator[None]:
    """Replace `sys.stdout` and `sys.stderr` by a pair that tells such functions from everybody else.

    Several may ask for it at the same time; what was there before comes back with the end of the last.
    """
    global _diverting, _usual
    if not _diverting:
        _usual = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (cast(TextIO, _Switch(stream)) for stream in _usual)
    _diverting += 1
    try:
        yield
    finally:
        _diverting -= 1
        if not _diverting and _usual is not None:
            sys.stdout, sys.stderr = _usual


def _clean(text: str) -> str:
    """The text with half characters, which cannot be written as UTF-8, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
