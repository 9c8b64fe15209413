"""`reply_schema`: the reply is JSON that fits a schema."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from seatrial.checks import replies
from seatrial.checks.scope import Found, Scope, failed, passed, skipped
from seatrial.documents.checks import ReplySchema
from seatrial.state.schemas import validator
from seatrial.trace import Replied

_BLOCK = re.compile(
    r"^```[^\S\n]*(?:json)?[^\S\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE | re.IGNORECASE
)


def find(check: ReplySchema, scope: Scope) -> Found:
    """Whether one of the replies asked about is such JSON; skipped when there is none."""
    asked = replies.chosen(check.turn, scope)
    if not asked:
        return skipped(
            f"{replies.missing(check.turn, scope)}, so nothing can be held against the schema"
        )
    wrong: list[tuple[str, Replied]] = []
    for reply in asked:
        problem = _problem(check, reply.text)
        if problem is None:
            return passed(f"the reply of turn {reply.turn} is JSON that fits the schema", reply)
        wrong.append((problem, reply))
    problem, reply = wrong[-1]
    return failed(f"the reply of turn {reply.turn} {problem}", reply)


def _problem(check: ReplySchema, text: str) -> str | None:
    try:
        value = _json(text)
    except (ValueError, RecursionError) as error:
        return f"is no JSON: {error}"
    misfits = validator(check.json_schema).misfits(value, lambda path: path or "the reply's JSON")
    return f"does not fit the schema: {'; '.join(misfits)}" if misfits else None


def _json(text: str) -> Any:
    """The JSON that a reply is, or that the one code block in it holds.

    Raises:
        ValueError: there is none, or more than one.
        RecursionError: it is nested too deep.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError:
        blocks = _BLOCK.findall(text)
        if len(blocks) != 1:
            raise
        return json.loads(blocks[0], parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
