"""A tool as it is offered in one trial."""

from __future__ import annotations

from seatrial.gateway import mirrored
from seatrial.state.schemas import Validator, validator
from seatrial.tools import Tool


class Offered:
    """A tool of a trial, with its schemas compiled when they are first needed."""

    __slots__ = ("_answer", "_arguments", "_marked", "shown", "tool")

    def __init__(self, tool: Tool, shown: Tool | None = None) -> None:
        self.tool = tool
        self.shown = shown or tool
        """As the agent is shown it."""
        self._arguments: Validator | None = None
        self._answer: Validator | None = None
        self._marked: tuple[mirrored.Marked, ...] | None = None

    @property
    def marked(self) -> tuple[mirrored.Marked, ...]:
        """Arguments that calls of the second era repeat in headers."""
        if self._marked is None:
            self._marked = mirrored.marked(self.tool.input_schema)
        return self._marked

    @property
    def arguments(self) -> Validator:
        """Whether arguments fit."""
        if self._arguments is None:
            self._arguments = validator(self.tool.input_schema)
        return self._arguments

    @property
    def answer(self) -> Validator:
        """Whether a structured answer fits; everything does where the tool declares nothing."""
        if self._answer is None:
            schema = self.tool.output_schema
            self._answer = validator(True if schema is None else schema)
        return self._answer
