"""What a tool of a world gives, in the shape of an MCP tool result."""

from __future__ import annotations

import json

from seatrial.errors import WorldError
from seatrial.state.schemas import Validator
from seatrial.state.values import MISSING, Missing, as_text, thaw, unkeepable
from seatrial.trace import Answer, Json


def tool_answer(
    value: Json | Missing, output: Validator | None, *, world: str, tool: str
) -> Answer:
    """An object as structured content and as JSON text, text as text, anything else as JSON text.

    Args:
        value: what the tool gives.
        output: what the tool declares of it; None when it declares nothing.
        world: its id, for an error.
        tool: what the document calls the tool, for an error.

    Raises:
        WorldError: the value does not fit what is declared.
    """
    why = "" if value is MISSING else unkeepable(value)
    if why:
        raise WorldError(f"world {world!r}: the answer of {tool} is no JSON: {why}")
    structured = thaw(value) if isinstance(value, dict) else None
    if output is not None:
        misfits = output.misfits(structured, lambda path: f"`{path or tool}`")
        if misfits:
            raise WorldError(
                f"world {world!r}: the answer of {tool} does not fit its `output`: "
                + "; ".join(misfits),
                hint=f"make what {tool} gives and its `output` agree",
            )
    if value is MISSING or isinstance(value, str):
        return Answer.of_text(as_text(value))
    return Answer.of_text(json.dumps(value, ensure_ascii=False), structured=structured)
