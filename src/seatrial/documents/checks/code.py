"""The open kind of check: a function of the repository."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from seatrial.documents.checks.base import CheckPart
from seatrial.documents.patterns import Patterns, module_files


class PythonCheck(CheckPart):
    """A function of the repository reads the trace and answers."""

    check: Literal["python"]
    function: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
    """`module:function`, imported from the repository's root: `f(trace, **arguments)`."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Handed to it by name."""
    files: Patterns | tuple[()] = ()
    """Further files or globs that it leans on. A change of these or of its module is a change of the check."""

    @property
    def module(self) -> str:
        """The module of the function."""
        return self.function.partition(":")[0]

    @property
    def leans_on(self) -> tuple[str, ...]:
        """Patterns of the files behind it."""
        return (*module_files(self.module), *self.files)
