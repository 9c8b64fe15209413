"""In GitHub Actions the runner carries out lines that are printed: only those that Seatrial means are left to it.

Whatever else a command prints quotes agents, documents, git and servers. The runner takes a line for a command that
begins with `::`, blanks aside, and one that has `##[` anywhere:
https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable
from typing import TextIO, cast

import click

_ENDS = re.compile(r"([\n\r])")


class _Guarded:
    """A stream through which nothing is told to the runner.

    It has no `buffer`, so that nobody writes behind it.
    """

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner
        self._first = ""
        """The first two characters of the line that are no blanks, as far as it is written."""
        self._last = ""
        """Its last two characters."""

    def write(self, text: str) -> int:
        for piece in _ENDS.split(text):
            self.inner.write(piece if piece in {"", "\n", "\r"} else self._harmless(piece))
            if piece in {"\n", "\r"}:
                self._first = self._last = ""
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def _harmless(self, piece: str) -> str:
        """A part of a line, after what is written of it."""
        begins = (self._first + piece).lstrip()
        if begins.startswith("::") and self._first != "::":
            piece = f" {piece}" if self._first else piece.replace("::", "| ::", 1)
        self._first = begins[:2]
        before, whole = self._last, self._last + piece
        self._last = whole[-2:]
        return whole.replace("##[", "## [")[len(before) :]


def guard() -> None:
    """From here on, print nothing that GitHub's runner takes for a command but what `steer` says.

    Elsewhere, and where the output goes into a file, nothing changes.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, _Guarded) and not _is_file(stream):
            setattr(sys, name, _Guarded(stream))


def steer(commands: str, *, err: bool = False) -> None:
    """Print lines that `escaping.workflow_command` made, for the runner to carry out.

    Args:
        commands: the lines.
        err: to standard error, which the runner reads as well, where somebody else reads standard output.
    """
    out = sys.stderr if err else sys.stdout
    stream = cast(object, out)
    click.echo(commands, file=stream.inner if isinstance(stream, _Guarded) else out)


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # nothing of the system's
        return False
