"""The operator vocabulary at work: does a value fulfil a condition, and how to say so."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seatrial.documents.conditions import Condition
from seatrial.state import schemas
from seatrial.state.schemas import Unjudged, validator
from seatrial.state.values import MISSING, Missing, look_up, same, shown
from seatrial.trace import Json

LONGEST_SEARCHED = schemas.LONGEST_SEARCHED
"""`matches` is not fulfilled by a longer text: a pattern may need time in the square of its length."""

AS_WRITTEN = ("matches", "schema")
"""Operators whose operands hold no placeholders: a pattern or a schema that an argument could get
into would be the agent's to choose."""

Operators = Sequence[tuple[str, Any]]
"""Operators, each with its operand; an operand that is MISSING is never fulfilled."""


def fulfils(condition: Condition | Operators, value: Json | Missing) -> bool:
    """Whether a value fulfils all operators of a condition.

    A value of another type than the operator needs does not fulfil it; that is never an error.
    """
    return all(_holds(name, operand, value) for name, operand in _operators(condition))


def judged(condition: Condition | Operators, value: Json | Missing) -> bool:
    """Whether a value fulfils a condition, where nobody may take "that cannot be told" for "no".

    An agent must not get past what is forbidden by an argument that is too long to be searched.

    Raises:
        Unjudged: the answer hangs on a text that is too long, or on a value that is nested too deep.
    """
    unjudged: Unjudged | None = None
    for name, operand in _operators(condition):
        try:
            if not _judged(name, operand, value):
                return False
        except Unjudged as error:
            unjudged = error
    if unjudged is not None:
        raise unjudged
    return True


def _judged(name: str, operand: Any, value: Json | Missing) -> bool:
    if name == "matches" and isinstance(operand, str) and isinstance(value, str):
        schemas.refuse_long(value)
    if name == "schema" and isinstance(operand, dict | bool) and value is not MISSING:
        return validator(operand).judges(value)
    return _holds(name, operand, value)


def explain(condition: Condition | Operators, value: Json | Missing, path: str = "") -> str:
    """The operators that do not hold, and what there is: `expected amount lte 50, found 75`.

    Without a path the subject is left out. Where everything holds, all operators are named.
    """
    operators = _operators(condition)
    failing = [(n, o) for n, o in operators if not _holds(n, o, value)] or list(operators)
    words = " and ".join(_words(name, operand) for name, operand in failing)
    subject = f"{path} " if path else ""
    text = f"expected {subject}{words}, found {shown(value)}"
    if isinstance(value, str) and len(value) > LONGEST_SEARCHED:
        text += f"; `matches` looks at no more than {LONGEST_SEARCHED} characters"
    return text


def all_fulfilled(
    conditions: Mapping[str, Condition] | Mapping[str, Operators], mapping: Json | Missing
) -> list[str]:
    """What is missed, one explanation for each condition that does not hold; empty: all hold.

    `conditions` maps paths (see `look_up`) to conditions over `mapping`.
    """
    return [
        explain(condition, value, path)
        for path, condition in conditions.items()
        for value in [look_up(mapping, path)]
        if not fulfils(condition, value)
    ]


def told(condition: Condition | Operators) -> str:
    """The operators as a case writes them: `gte 1 and lte 50`."""
    return " and ".join(_words(name, operand) for name, operand in _operators(condition))


def _operators(condition: Condition | Operators) -> Operators:
    return condition.operators if isinstance(condition, Condition) else condition


def _holds(operator: str, operand: Any, value: Json | Missing) -> bool:
    if operand is MISSING:
        return False
    match operator:
        case "present":
            return (value is not MISSING) is operand
        case "absent":
            return (value is MISSING) is operand
        case "not_equals":
            return not same(operand, value)
        case "not_contains":
            return not _contains(operand, value)
        case "equals":
            return same(operand, value)
        case "contains":
            return _contains(operand, value)
        case "starts_with":
            return isinstance(value, str) and isinstance(operand, str) and value.startswith(operand)
        case "one_of":
            return (
                value is not MISSING
                and isinstance(operand, list | tuple)
                and any(same(item, value) for item in operand)
            )
        case "gt" | "gte" | "lt" | "lte":
            return _ordered(operator, value, operand)
        case "between":
            return (
                isinstance(operand, list | tuple)
                and len(operand) == 2
                and _ordered("gte", value, operand[0])
                and _ordered("lte", value, operand[1])
            )
        case "matches":
            return (
                isinstance(value, str)
                and isinstance(operand, str)
                and len(value) <= LONGEST_SEARCHED
                and re.search(operand, value) is not None
            )
        case "schema":
            return (
                value is not MISSING
                and isinstance(operand, dict | bool)
                and validator(operand).fits(value)
            )
        case _:
            raise ValueError(f"no operator {operator!r}")


def _contains(operand: Json, value: Json | Missing) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    if isinstance(value, list | tuple):
        return any(same(operand, item) for item in value)
    return isinstance(value, dict) and isinstance(operand, str) and operand in value


def _ordered(operator: str, value: Json | Missing, bound: Json) -> bool:
    """Numbers with numbers, texts with texts; NaN stands in no order to anything."""
    comparable = (isinstance(value, str) and isinstance(bound, str)) or (
        _is_real(value) and _is_real(bound)
    )
    if not comparable:
        return False
    match operator:
        case "gt":
            return bool(value > bound)
        case "gte":
            return bool(value >= bound)
        case "lt":
            return bool(value < bound)
        case _:
            return bool(value <= bound)


def _is_real(value: Json | Missing) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and not (isinstance(value, float) and math.isnan(value))
    )


def _words(operator: str, operand: Any) -> str:
    match operator:
        case "present" | "absent":
            return operator if operand else f"not {operator}"
        case "between" if isinstance(operand, list | tuple) and len(operand) == 2:
            return f"between {shown(operand[0])} and {shown(operand[1])}"
        case _:
            return f"{operator} {shown(operand)}"


def unfillable(condition: Condition) -> Iterator[str]:
    """The operators of a condition whose operands are taken as they are written."""
    return (name for name, _ in condition.operators if name in AS_WRITTEN)
