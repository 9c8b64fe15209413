"""A tool as an agent sees it: what worlds declare and the gateway lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seatrial.trace import Answer


class BeyondRights(Exception):
    """A call that a tool server answers, and that is beyond the rights of the role it serves."""

    def __init__(self, reason: str, answer: Answer) -> None:
        super().__init__(reason)
        self.reason = reason
        """The rule that it is beyond, for the trace."""
        self.answer = answer
        """What the agent gets: a refusal, or what it would get if there were nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool of a tool server. The schemas belong to the tool: read them, never change them."""

    name: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema (2020-12) of the arguments, always of an object."""
    output_schema: dict[str, Any] | None = None
    """JSON Schema of the structured answer; None when the answer is only text."""
    read_only: bool | None = None
    """It changes nothing; None when the tool says nothing about it."""
    destructive: bool | None = None
    """It deletes or overwrites what cannot be had back; None when the tool says nothing about it."""
    leaves_world: bool | None = None
    """Its arguments reach somebody outside; None when the tool says nothing about it."""
    title: str = ""
    """A short name for people; empty when there is none."""
    entry: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    """The entry of a real server's `tools/list`, handed on as it is."""

    @property
    def annotations(self) -> dict[str, bool]:
        """The hints in MCP's words, only those that are known.

        A tool without hints counts as writing and destructive for an MCP client (the protocol's
        defaults), so a hint that is known is always written out.
        """
        hints = {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "openWorldHint": self.leaves_world,
        }
        return {name: value for name, value in hints.items() if value is not None}

    def as_mcp(self) -> dict[str, Any]:
        """The entry of an MCP `tools/list` result."""
        if self.entry is not None:
            return dict(self.entry)
        entry: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
        }
        if self.title:
            entry["title"] = self.title
        if self.output_schema is not None:
            entry["outputSchema"] = self.output_schema
        if self.annotations:
            entry["annotations"] = self.annotations
        return entry
