"""What a right agent does in a case: the calls and replies that prove that its checks can be met."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field

from seatrial.documents.base import Part

_CALLED = re.compile(r"calls\.([1-9][0-9]{0,3})(\..+)?")


def called(name: str) -> int | None:
    """The number of the call, from 1, that a placeholder such as `calls.1.refund_id` looks into."""
    found = _CALLED.fullmatch(name)
    return int(found[1]) if found else None


class SolutionCall(Part):
    """One call that a right agent makes."""

    tool: str
    """The tool's name, or `server/tool`."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Its arguments, as they are sent. `{{calls.1.refund_id}}` stands for a part of what an earlier call
    gave, counted from 1 over the whole solution, `{{calls.1}}` for its text; `{{run}}`, `{{today}}` and
    `{{now}}` as anywhere."""


class SolutionTurn(Part):
    """What a right agent does in one turn."""

    calls: tuple[SolutionCall, ...] = ()
    """The calls it makes, in this order."""
    reply: str = ""
    """What it then says; may hold `{{calls.…}}`. Worked out from the checks of replies when left out."""


class Solution(SolutionTurn):
    """What a right agent does in a case; `seatrial check --prove` carries it out."""

    turns: tuple[SolutionTurn, ...] = ()
    """In place of `calls` and `reply`, where the case has `turns`: one for each of them."""
