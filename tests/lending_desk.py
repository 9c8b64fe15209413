"""A small tool server with things that can be lent, for tests of what stands in front of one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio

from seatrial.errors import ToolServerError
from seatrial.tools import Tool
from seatrial.trace import Answer

TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TOOLS = (
    Tool(
        name="look_up",
        description="Who has a thing.",
        input_schema=_object(thing=TEXT),
        output_schema=_object(thing=TEXT, holder=TEXT),
        read_only=True,
        destructive=False,
    ),
    Tool(name="list_all", description="Everything.", input_schema=_object(), read_only=True),
    Tool(name="lend", description="Lend.", input_schema=_object(thing=TEXT, to=TEXT)),
    Tool(name="scrap", description="Scrap.", input_schema=_object(thing=TEXT), destructive=True),
    Tool(name="picture", description="A picture.", input_schema=_object(), read_only=True),
    Tool(
        name="print",
        description="So many letters.",
        input_schema=_object(letters={"type": "integer"}),
        read_only=True,
    ),
    Tool(
        name="count",
        description="How many; what it declares is no object.",
        input_schema=_object(),
        output_schema={"type": "integer"},
        read_only=True,
    ),
    Tool(
        name="queue", description="Wait for a clerk, then lend.", input_schema=_object(thing=TEXT)
    ),
    Tool(name="die", description="The server dies.", input_schema=_object()),
    Tool(name="stumble", description="The server has a bug.", input_schema=_object()),
    Tool(name="babble", description="The server answers what is no JSON.", input_schema=_object()),
)


class LendingDesk:
    """The desk. `clerk` lets those go on who wait in `queue`; `someone_waits` is set for the `expected`th."""

    instructions = "Ask before you scrap anything."

    def __init__(self, name: str = "desk", things: Sequence[str] = ("drill", "saw")) -> None:
        self.name = name
        self.version = 0
        self.holders = dict.fromkeys(things, "desk")
        self.clerk = anyio.Event()
        self.waiting = 0
        self.expected = 1
        self.someone_waits = anyio.Event()
        self.someone_left = anyio.Event()

    def tools(self) -> Sequence[Tool]:
        return TOOLS

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        match tool:
            case "look_up" if arguments["thing"] in self.holders:
                found = {"thing": arguments["thing"], "holder": self.holders[arguments["thing"]]}
                return Answer.of_text(json.dumps(found), structured=found)
            case "look_up":
                return Answer.of_text(f"no {arguments['thing']} here", is_error=True)
            case "list_all":
                return Answer.of_text(", ".join(sorted(self.holders)))
            case "lend":
                return self._lend(arguments["thing"], arguments["to"])
            case "queue":
                self.waiting += 1
                if self.waiting == self.expected:
                    self.someone_waits.set()
                try:
                    await self.clerk.wait()
                finally:
                    self.someone_left.set()
                return self._lend(arguments["thing"], "somebody")
            case "scrap":
                del self.holders[arguments["thing"]]
                self.version += 1
                return Answer.of_text("scrapped")
            case "picture":
                part = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
                return Answer(content=({"type": "text", "text": "a drill"}, part))
            case "print":
                return Answer.of_text("x" * arguments["letters"])
            case "count":
                return Answer.of_text(str(len(self.holders)), structured=len(self.holders))
            case "die":
                raise ToolServerError("connection closed by the lending server at 10.1.2.3")
            case "babble":
                return Answer(content=({"type": "text", "text": float("nan")},))
            case _:
                raise ZeroDivisionError("a slip in the desk's own code")

    def _lend(self, thing: str, to: str) -> Answer:
        if self.holders.get(thing) != "desk":
            return Answer.of_text(f"{thing} is not here", is_error=True)
        self.holders[thing] = to
        self.version += 1
        return Answer.of_text("lent")
