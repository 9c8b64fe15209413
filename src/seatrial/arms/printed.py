"""What an agent prints in our own process: kept for its trial, never on our terminal.

A terminal and a CI log obey what they are sent (escape sequences, workflow commands). While a run with
`python` arms goes on, `sys.stdout` and `sys.stderr` are replaced by a pair that asks who is writing.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

from seatrial.arms.replies import clean

MOST_PRINTED = 4096
"""How much of it is kept, in characters."""


class Printed:
    """What one agent has printed, cut to a bounded length."""

    def __init__(self) -> None:
        self.text = ""

    def take(self, text: str) -> None:
        """Keep the beginning."""
        if len(self.text) < MOST_PRINTED:
            self.text += clean(text[: MOST_PRINTED - len(self.text)])


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


@contextmanager
def diverted() -> Iterator[None]:
    """Replace `sys.stdout` and `sys.stderr` by a pair that tells agents from everybody else."""
    usual = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Switch(stream)) for stream in usual)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = usual
