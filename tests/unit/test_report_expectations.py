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
        ({"check": "sequence", "calls": ["a", {"tool": "b", "arguments": {"x": 1}}]}, "a → b where x = 1"),
        ({"check": "sequence", "calls": ["a", {"any_of": ["b", "c"]}], "order": "strict"},
         "a → b or c, nothing else"),
        ({"check": "sequence", "calls": ["a", "b"], "order": "any_order"}, "a, b, in any order"),
        ({"check": "any_of", "calls": ["a", {"tool": "b"}]}, "a or b"),
        ({"check": "at_most", "times": 3}, "at most 3 calls"),
        ({"check": "at_least", "times": 1, "tool": "a", "arguments": {"x": {"gt": 1}}},
         "at least 1 call of a where x gt 1"),
        ({"check": "no_write_before", "call": "verify", "attempted": True}, "before verify, attempts count"),
        ({"check": "arguments_valid"}, "every call"),
        ({"check": "arguments_valid", "tool": "a"}, "every call of a"),
        ({"check": "skill_used", "skill": "refunds"}, "refunds"),
        ({"check": "skill_not_used", "skill": "refunds"}, "refunds"),
        ({"check": "object_exists", "type": "note", "key": "n-1", "properties": {"x": 1}, "count": 2,
          "linked": [{"type": "in", "to": "w"}, {"type": "of", "from": "v"}], "created_during_trial": True},
         'note = "n-1" where x = 1, in → w, of ← v, how many: = 2, created by the trial'),
        ({"check": "object_absent", "type": "note"}, "note"),
        ({"check": "claimed_without_change"}, "no claim without a change"),
        ({"check": "claimed_without_change", "says": ["paid", "sent"], "types": ["refund"]},
         'no claim ("paid" or "sent") without a change of refund'),
        ({"check": "asks_back", "ignore": ["log"]},
         "a question at the end of the last reply, and nothing changes, not looked at: log"),
        ({"check": "asks_back", "where": "anywhere"}, "a question in the last reply, and nothing changes"),
        ({"check": "reply_matches", "pattern": "a+"}, 'the last reply: "a+"'),
        ({"check": "reply_number", "value": 3, "tolerance": 0.5, "unit": ["€", "EUR"]},
         "the last reply: = 3 within 0.5 € or EUR"),
        ({"check": "reply_schema", "schema": {"type": "object"}},
         'the last reply: JSON that fits {"type": "object"}'),
        ({"check": "python", "function": "m:f"}, "m:f"),
        ({"check": "python", "function": "m:f", "arguments": {"x": 1}}, 'm:f with {"x": 1}'),
        ({"check": "end_state"}, "nothing changes"),
        ({"check": "end_state", "any_of": [{}, {"deleted": [{"type": "a", "key": "b"}]}], "ignore": ["log"],
          "normalize": {"a.b": {"case": "ignore"}}},
         "one of 2 alternatives, and nothing else, not looked at: log, normalized: a.b"),
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
            "normalize": [],
            "any_of": [],
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


def test_what_a_check_takes_loosely_is_shown_and_every_right_end_state():
    case = Case.model_validate(
        {
            "kind": "case", "id": "a", "title": "A", "group": "task", "agent": "helpdesk", "world": "shop",
            "task": "Do.",
            "checks": [
                {
                    "check": "end_state",
                    "created": [{"type": "refund", "key": {"bind": "new"},
                                 "properties": {"x": {"gt": 1, "bind": "y"}}}],
                    "any_of": [{"linked": [{"type": "of", "from": {"bind": "new"}, "to": "A"}]}, {}],
                    "normalize": {
                        "refund.note": {"case": "ignore", "whitespace": "ignore", "order": "ignore"},
                        "refund.amount": {"tolerance": 0.01},
                        "refund.at": {"time": "minute"},
                    },
                },
            ],
        }
    )  # fmt: skip

    (expected,) = expected_changes(case)

    assert expected["lines"] == ["created refund (new) where x (y) and gt 1"]
    assert expected["any_of"] == [["linked of (new) → A"], []]
    assert expected["normalize"] == [
        "refund.note: case ignored, whitespace ignored, order ignored",
        "refund.amount: within 0.01",
        "refund.at: to the minute",
    ]
