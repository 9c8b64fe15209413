"""Whether a fixture may mock a tool like that, worked out once for all trials that share both."""

from __future__ import annotations

from collections import OrderedDict

from seatrial.documents import Answers
from seatrial.state.mocking import misfits, stale, why_not_mocked
from seatrial.tools import Tool

_MOST_CHECKED = 1024
_CHECKED: OrderedDict[tuple[int, str, int], tuple[Answers, Tool, tuple[str, ...]]] = OrderedDict()
"""Fixtures and tools that were held against each other, with what came of it: trials share both."""


def problems_of(fixture: Answers, name: str, tool: Tool) -> tuple[str, ...]:
    """Why a tool may not be mocked by a fixture, or not with these answers; empty when it may."""
    key = (id(fixture), name, id(tool))
    known = _CHECKED.get(key)
    if known is not None and known[0] is fixture and known[1] is tool:
        return known[2]
    mocked = fixture.tools[name]
    why = why_not_mocked(mocked, tool.read_only)
    found = [] if why is None else [why]
    if (outdated := stale(mocked, tool.input_schema, tool.output_schema)) is not None:
        found.append(outdated)
    if tool.output_schema is not None:
        found += [
            f"{path} does not fit its output schema: {sentence}"
            for path, sentence in misfits(mocked, tool.output_schema)
        ]
    problems = tuple(found)
    _CHECKED[key] = (fixture, tool, problems)
    while len(_CHECKED) > _MOST_CHECKED:
        _CHECKED.popitem(last=False)
    return problems
