"""What a case expects, in a line a reviewer can read beside what was found."""

from __future__ import annotations

import json
from typing import Any, assert_never

from seatrial.documents import Case, Check, Condition, Conditions
from seatrial.documents.checks import (
    EndState,
    ExpectedLink,
    NoViolation,
    ReplyContains,
    ReplyNotContains,
    ToolArguments,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
)
from seatrial.report.escaping import clipped, legible

_LABEL_SHOWN = 500


def check_label(check: Check) -> str:
    """What a check asks for, in words: `refund where amount lte 40`."""
    match check:
        case ToolCalled():
            times = f", times {_condition(check.times)}" if check.times else ""
            attempted = ", attempts count" if check.attempted else ""
            return f"{check.tool}{_where(check.arguments)}{times}{attempted}"
        case ToolNotCalled():
            return f"{check.tool}{_where(check.arguments)}"
        case ToolArguments():
            return f"{check.which} {check.tool}{_where(check.arguments)}"
        case ToolOrder():
            return " → ".join(check.tools)
        case ReplyContains():
            parts = [json.dumps(text, ensure_ascii=False) for text in check.text]
            if check.any_of:
                any_of = " or ".join(json.dumps(t, ensure_ascii=False) for t in check.any_of)
                parts.append(f"one of {any_of}" if len(check.any_of) > 1 else any_of)
            return f"{_turn(check.turn)}: {' and '.join(parts)}"
        case ReplyNotContains():
            texts = " or ".join(json.dumps(text, ensure_ascii=False) for text in check.text)
            return f"{_turn(check.turn)}: {texts}"
        case EndState():
            count = len(_lines(check))
            if not count:
                return "nothing changes" if check.others == "forbidden" else "anything may change"
            rest = "and nothing else" if check.others == "forbidden" else "others allowed"
            return f"{count} expected change{'' if count == 1 else 's'}, {rest}"
        case NoViolation():
            return "no call beyond the role's rights"
        case _:
            assert_never(check)


def expected_changes(case: Case) -> list[dict[str, Any]]:
    """What each `end_state` check of a case asks for: its path, and a line per expected change."""
    return [
        {
            "path": path,
            "others": check.others,
            "ignore": list(check.ignore),
            "lines": [_shown(line) for line in _lines(check)],
        }
        for path, _, check in case.placed_checks()
        if isinstance(check, EndState)
    ]


def _lines(check: EndState) -> list[str]:
    lines = []
    for made in check.created:
        key = f" {_condition(made.key)}" if made.key else ""
        count = f"{made.count} × " if made.count > 1 else ""
        lines.append(f"created {count}{made.type}{key}{_where(made.properties)}")
    lines += [f"changed {c.type} {c.key}: {_conditions(c.properties)}" for c in check.changed]
    lines += [f"deleted {gone.type} {gone.key}" for gone in check.deleted]
    lines += [f"linked {_link(link)}" for link in check.linked]
    lines += [f"unlinked {_link(link)}" for link in check.unlinked]
    return lines


def _link(link: ExpectedLink) -> str:
    return f"{link.type} {link.source} → {link.target}"


def _where(conditions: Conditions) -> str:
    return f" where {_conditions(conditions)}" if conditions else ""


def _conditions(conditions: Conditions) -> str:
    return ", ".join(f"{path} {_condition(c)}" for path, c in conditions.items())


def _condition(condition: Condition) -> str:
    return " and ".join(
        f"{'=' if operator == 'equals' else operator} {_operand(operand)}"
        for operator, operand in condition.operators
    )


def _operand(operand: Any) -> str:
    return json.dumps(operand, ensure_ascii=False, default=str)


def _turn(turn: str | int) -> str:
    return {"last": "the last reply", "any": "any reply"}.get(
        str(turn), f"the reply of turn {turn}"
    )


def _shown(text: str) -> str:
    return legible(clipped(text, _LABEL_SHOWN))
