"""The open kind of check: a function of the repository."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from seatrial.documents.checks.base import CheckPart


class PythonCheck(CheckPart):
    """A function of the repository reads the trace and answers."""

    check: Literal["python"]
    function: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
    """`module:function`, imported from the repository's root: `f(trace, **arguments)`."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Handed to it by name."""
