"""What a case expects, in a line."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from seatrial.documents import Case, Check
from seatrial.report.expectations import check_label, expected_changes

CHECK: TypeAdapter[Check] = TypeAdapter(Check)


@pytest.mark.parametrize(
    ("check", "label"),
    [
        ({"check": "tool_called", "tool": "pay"}, "pay"),
        (
            {"check": "tool_called", "tool": "pay", "arguments": {"amount": {"lte": 35}, "to": "A"},
             "times": 1, "attempted": True},
            'pay where amount lte 35, to = "A", times = 1, attempts count',
        ),
        ({"check": "tool_not_called", "tool": "pay"}, "pay"),
        (
            {"check": "tool_arguments", "tool": "pay", "which": "last", "arguments": {"note": {"absent": True}}},
            "last pay where note absent true",
        ),
        ({"check": "tool_order", "tools": ["ask", "pay"]}, "ask → pay"),
        ({"check": "reply_contains", "text": ["a", "b"]}, 'the last reply: "a" and "b"'),
        ({"check": "reply_contains", "any_of": ["a", "b"], "turn": 2}, 'the reply of turn 2: one of "a" or "b"'),
        ({"check": "reply_not_contains", "text": "a"}, 'any reply: "a"'),
        ({"check": "no_violation"}, "no call beyond the role's rights"),
        ({"check": "end_state"}, "nothing changes"),
        (
            {"check": "end_state", "deleted": [{"type": "order", "key": "A"}], "others": "allowed"},
            "1 expected change, others allowed",
        ),
    ],
)  # fmt: skip
def test_check_is_told_in_a_line(check: dict[str, Any], label: str):
    assert check_label(CHECK.validate_python(check)) == label


def test_every_expected_change_of_the_world_has_a_line():
    case = Case.model_validate(
        {
            "kind": "case", "id": "a", "title": "A", "group": "task", "agent": "helpdesk", "world": "shop",
            "task": "Do.",
            "checks": [
                {"check": "no_violation"},
                {
                    "check": "end_state",
                    "created": [{"type": "refund", "count": 2}, {"type": "note", "key": {"starts_with": "n-"}}],
                    "changed": [{"type": "order", "key": "A", "properties": {"total": {"between": [1, 2]}}}],
                    "deleted": [{"type": "cart", "key": "C"}],
                    "linked": [{"type": "of", "from": "R", "to": "A"}],
                    "unlinked": [{"type": "in", "from": "A", "to": "C"}],
                    "ignore": ["order.seen"],
                },
            ],
        }
    )  # fmt: skip

    assert expected_changes(case) == [
        {
            "path": "checks[1]",
            "others": "forbidden",
            "ignore": ["order.seen"],
            "lines": [
                "created 2 × refund",
                'created note starts_with "n-"',
                "changed order A: total between [1, 2]",
                "deleted cart C",
                "linked of R → A",
                "unlinked in A → C",
            ],
        }
    ]
