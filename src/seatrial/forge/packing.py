"""A ruling with all that is told of it, as one file: who posts it needs no run, no documents and no checkout.

The file may come from a run that somebody else controls. It is read as data: by its schema, and within bounds.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seatrial.compare import Comparison
from seatrial.errors import UsageError
from seatrial.forge.comments import Told
from seatrial.gate import Ruling

MOST_BYTES = 16_000_000
"""Of such a file. One of five thousand cases has about a third of that."""


class Packed(BaseModel):
    """What `seatrial post pack` writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    ruling: Ruling
    comparison: Comparison
    """What it was made from."""
    concerns: tuple[str, ...] = ()
    """Cases that a reviewer must look at, the worst first."""
    commands: dict[str, str] = Field(default_factory=dict)
    """Case → the command that runs it again."""
    revision: str = ""
    """The commit that was run, shortened, and whether the work tree differed from it."""
    folder: str = ""
    """Where the places of expectations begin within the repository."""

    @classmethod
    def of(cls, told: Told) -> Packed:
        """Everything but the report's address, which only who posts knows."""
        assert told.comparison is not None
        return cls(
            ruling=told.ruling,
            comparison=told.comparison,
            concerns=tuple(case.case for case in told.cases),
            commands=dict(told.commands),
            revision=told.revision,
            folder=told.folder,
        )

    @classmethod
    def read(cls, data: bytes, where: str) -> Packed:
        """What a file says.

        Args:
            data: its content.
            where: what it is called in an error.

        Raises:
            UsageError: it is too large, or nothing that `seatrial post pack` writes.
        """
        if len(data) > MOST_BYTES:
            raise UsageError(f"{where} has more than {MOST_BYTES:,} bytes")
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise UsageError(
                f"{where} is not what `seatrial post pack` writes: {place}: {first['msg']}"
            ) from error

    def told(self, report: str = "", *, trusted: bool = True) -> Told:
        """What is told of it.

        Args:
            report: where the report is served.
            trusted: whether the file was made by a run that nobody but the repository's writers controls;
                otherwise commands are left out, since somebody might type them.
        """
        by_id = {case.case: case for case in self.comparison.cases}
        return Told(
            ruling=self.ruling,
            comparison=self.comparison,
            cases=[by_id[case] for case in dict.fromkeys(self.concerns) if case in by_id],
            commands=self.commands if trusted else {},
            report=report,
            revision=self.revision,
            folder=self.folder,
        )
