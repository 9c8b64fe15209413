"""Answers that promise what a lock may hide."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clinic import GIVEN, WORLD, clinic

from seatrial.state.validate import world_problems

PATIENT = {"patient": {"type": "patient", "key": "{{args.id}}"}}
OPEN = {"type": "object", "properties": {}}


def problems(returns: Any, output: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    action = {
        "description": "Look.",
        "parameters": GIVEN,
        "bind": PATIENT,
        "returns": returns,
        "output": output,
    }
    world = {key: more.pop(key) for key in ("hidden", "roles", "locks") if key in more}
    return world_problems(clinic(actions={**WORLD["actions"], "look": action | more}, **world))


def test_a_required_property_that_a_lock_hides_is_a_problem():
    assert problems(
        {"name": "{{patient.name}}", "what": "{{patient.diagnosis}}"},
        {"type": "object", "required": ["name", "what"]},
    ) == [
        (
            "actions.look.output.required[1]",
            "'what' may be missing: patient.diagnosis is hidden from role 'desk' (locks[1]); "
            "take it out of `required`",
        )
    ]


@pytest.mark.parametrize("hidden", ["absent", "refused"])
@pytest.mark.parametrize(
    ("returns", "output", "path"),
    [
        ("{{patient}}", {"type": "object", "required": ["diagnosis"]}, ".required[0]"),
        (
            {"card": "{{patient}}"},
            {
                "type": "object",
                "required": ["card"],
                "properties": {"card": {"required": ["id", "diagnosis"]}},
            },
            ".properties.card.required[1]",
        ),
        (
            {"all": "{{patients}}"},
            {"type": "object", "properties": {"all": {"items": {"required": ["insurance"]}}}},
            ".properties.all.items.required[0]",
        ),
    ],
)
def test_a_whole_object_or_list_leaves_it_out_in_every_world(returns, output, path, hidden):
    found = problems(returns, output, hidden=hidden, find={"patients": {"type": "patient"}})
    assert [where for where, _ in found] == [f"actions.look.output{path}"]


@pytest.mark.parametrize(
    ("returns", "output", "more"),
    [
        ("{{patient}}", {"type": "object", "required": ["id", "name"]}, {}),
        ({"what": "{{patient.diagnosis}}"}, OPEN, {}),
        # Needing it is refused there, and a refusal fits any schema.
        (
            {"what": "{{patient.diagnosis}}"},
            {"type": "object", "required": ["what"]},
            {"hidden": "refused"},
        ),
        # Whoever may call it sees it.
        (
            {"what": "{{patient.diagnosis}}"},
            {"type": "object", "required": ["what"]},
            {
                "roles": {
                    "desk": {"allow": ["search"]},
                    "doctor": {"allow": ["*"], "clearances": ["clinical", "vip"]},
                }
            },
        ),
        # Only under the purpose that opens it may it be called.
        (
            {"number": "{{patient.insurance}}"},
            {"type": "object", "required": ["number"]},
            {
                "roles": {
                    "desk": {
                        "allow": ["search"],
                        "purposes": ["billing"],
                        "allow_for": {"billing": ["look"]},
                    }
                }
            },
        ),
        ("{{patient}}", {"type": "object", "required": ["diagnosis"]}, {"locks": []}),
    ],
)
def test_what_everybody_sees_who_may_ask_is_no_problem(returns, output, more):
    assert problems(returns, output, **more) == []


def test_a_schema_that_is_none_is_told_once():
    found = problems("{{patient}}", {"type": "object", "required": 3})
    assert [where for where, _ in found] == ["actions.look.output"]
