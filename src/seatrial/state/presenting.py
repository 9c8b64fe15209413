"""Tools under the descriptions that an arm pins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seatrial.documents import ShownTool
from seatrial.state.schemas import did_you_mean
from seatrial.tools import Tool


def presented(tool: Tool, shown: ShownTool) -> Tool:
    """The tool as an arm's agent is shown it; what it does and takes is the same.

    Raises:
        ValueError: an argument is described that the tool does not have.
    """
    description = tool.description if shown.description is None else shown.description
    entry = tool.entry
    if entry is not None and shown.description is not None:
        entry = {**entry, "description": description}
    if not shown.parameters:
        return replace(tool, description=description, entry=entry)
    properties: dict[str, Any] = dict(tool.input_schema.get("properties", {}))
    for name, text in shown.parameters.items():
        if name not in properties:
            guess = did_you_mean(name, properties)
            raise ValueError(f"{tool.name} has no argument {name!r}{guess}")
        schema = properties[name]
        properties[name] = {**(schema if isinstance(schema, dict) else {}), "description": text}
    schema = {**tool.input_schema, "properties": properties}
    if entry is not None:
        entry = {**entry, "inputSchema": schema}
    return replace(tool, description=description, input_schema=schema, entry=entry)
