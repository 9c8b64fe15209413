"""Answers that a JSON Schema constrains, in place of tool calls, for models that are weak at these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.chat import Wish
from seatrial.tools import Tool

TOLD = """\
You act through tools. Answer with one JSON object and nothing else: either
{"tool": "<name>", "arguments": {…}} to call a tool, whose result you are then given, or
{"reply": "<text>"} to say something to the person, which ends your turn.

The tools:
"""
MISTAKE = (
    "That was no answer that can be read ({}). Answer with one JSON object: "
    '{{"tool": "<name>", "arguments": {{…}}}} or {{"reply": "<text>"}}.'
)


@dataclass(frozen=True, slots=True)
class Answered:
    """What one answer of a model means: a reply, a call, or a mistake that it is told."""

    reply: str | None = None
    wish: Wish | None = None
    mistake: str = ""


class Constrained:
    """How a model is told of its tools, what its answers are constrained to, and how they are read."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        entries = [
            {"tool": t.name, "description": t.description, "arguments": t.input_schema}
            for t in tools
        ]
        self.told = TOLD + "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        """For the system prompt."""
        calls = [
            _object({"tool": {"const": tool.name}, "arguments": tool.input_schema})
            for tool in tools
        ]
        schema = {"anyOf": [*calls, _object({"reply": {"type": "string"}})]}
        self.response_format: dict[str, Any] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema},
        }

    def read(self, text: str) -> Answered:
        """What the model means; endpoints that do not heed the schema may send anything."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            return Answered(mistake=MISTAKE.format(f"no JSON: {str(error)[:100]}"))
        if not isinstance(value, dict):
            return Answered(mistake=MISTAKE.format("no JSON object"))
        if isinstance(value.get("tool"), str):
            arguments = value.get("arguments", {})
            return Answered(wish=Wish(value["tool"], json.dumps(arguments, ensure_ascii=False)))
        if isinstance(value.get("reply"), str):
            return Answered(reply=value["reply"])
        return Answered(mistake=MISTAKE.format("neither `tool` nor `reply`"))

    def result(self, wish: Wish, content: str) -> str:
        """What the model is told of a call."""
        return f"Result of {wish.tool}: {content}"


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
