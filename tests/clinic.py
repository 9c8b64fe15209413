"""A practice world with markings, clearances, purposes and locks, for tests."""

from __future__ import annotations

from typing import Any

from seatrial.documents.world import ObjectsWorld

TEXT = {"type": "string"}
GIVEN = {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}

WORLD: dict[str, Any] = {
    "kind": "fixture",
    "type": "world",
    "id": "clinic",
    "now": "2026-05-04T11:30:00Z",
    "markings": {"clinical": "What was found", "vip": "Known persons"},
    "purposes": {"billing": "Invoices", "treatment": "Care"},
    "types": {
        "patient": {
            "properties": {
                "id": TEXT,
                "name": TEXT,
                "famous": {"type": "boolean"},
                "diagnosis": TEXT,
                "insurance": TEXT,
                "balance": {"type": "number"},
            },
        },
        "visit": {"properties": {"id": TEXT, "patient": TEXT, "note": TEXT}, "new_ids": ["v-9"]},
    },
    "links": {"of": {"from": "visit", "to": "patient"}},
    "objects": {
        "patient": [
            {
                "id": "p-1",
                "name": "Ada Blank",
                "famous": False,
                "diagnosis": "hay fever, mild",
                "insurance": "IN-4471-0090",
                "balance": 80,
            },
            {
                "id": "p-2",
                "name": "Bo Known",
                "famous": True,
                "diagnosis": "broken left wrist",
                "insurance": "IN-5512-0777",
                "balance": 250,
            },
        ],
        "visit": [
            {"id": "v-1", "patient": "p-1", "note": "came early"},
            {"id": "v-2", "patient": "p-2", "note": "came by the back door"},
        ],
    },
    "linked": [
        {"type": "of", "from": "v-1", "to": "p-1"},
        {"type": "of", "from": "v-2", "to": "p-2"},
    ],
    "locks": [
        {"type": "patient", "where": {"famous": True}, "markings": ["vip"]},
        {"type": "patient", "properties": ["diagnosis"], "markings": ["clinical"]},
        {"type": "patient", "properties": ["insurance"], "purposes": ["billing"]},
        {"type": "visit", "keys": ["v-2"], "markings": ["vip"]},
    ],
    "roles": {
        "desk": {
            "allow": ["*"],
            "purposes": ["billing", "treatment"],
            "where": {"waive": {"patient.balance": {"lte": 100}}},
        },
        "doctor": {"allow": ["*"], "clearances": ["clinical", "vip"], "purposes": ["treatment"]},
    },
    "actions": {
        "get_patient": {
            "description": "Read one.",
            "parameters": GIVEN,
            "read_only": True,
            "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
            "returns": "{{patient}}",
        },
        "search": {
            "description": "Find some.",
            "read_only": True,
            "parameters": {
                "type": "object",
                "properties": {"id": TEXT, "diagnosis": TEXT, "not_diagnosis": TEXT, "name": TEXT},
            },
            "find": {
                "patients": {
                    "type": "patient",
                    "where": {
                        "id": {"equals": "{{args.id}}"},
                        "name": {"contains": "{{args.name}}"},
                        "diagnosis": {
                            "contains": "{{args.diagnosis}}",
                            "not_contains": "{{args.not_diagnosis}}",
                        },
                    },
                }
            },
            "returns": {"patients": "{{patients}}", "count": "{{patients.count}}"},
        },
        "diagnosis_of": {
            "description": "Read one property.",
            "parameters": GIVEN,
            "read_only": True,
            "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
            "returns": "{{patient.diagnosis}}",
        },
        "card": {
            "description": "Name and what is charged.",
            "parameters": GIVEN,
            "read_only": True,
            "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
            "returns": {"name": "{{patient.name}}", "insurance": "{{patient.insurance}}"},
        },
        "read_any": {
            "description": "Read a property by name.",
            "parameters": {
                "type": "object",
                "properties": {"id": TEXT, "property": TEXT},
                "required": ["id", "property"],
            },
            "read_only": True,
            "returns": {"value": "{{objects.patient[args.id][args.property]}}"},
        },
        "patient_of_visit": {
            "description": "Follow a reference.",
            "parameters": GIVEN,
            "read_only": True,
            "bind": {
                "visit": {"type": "visit", "key": "{{args.id}}"},
                "patient": {"type": "patient", "key": "{{visit.patient}}"},
            },
            "returns": "{{patient.name}}",
        },
        "visits_of": {
            "description": "Follow links.",
            "parameters": GIVEN,
            "read_only": True,
            "find": {"visits": {"type": "visit", "linked_to": "{{args.id}}", "link": "of"}},
            "returns": {"visits": "{{visits}}"},
        },
        "is_diagnosis": {
            "description": "Compare.",
            "parameters": {
                "type": "object",
                "properties": {"id": TEXT, "guess": TEXT},
                "required": ["id", "guess"],
            },
            "read_only": True,
            "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
            "preconditions": [
                {"where": {"patient.diagnosis": "{{args.guess}}"}, "error": "It is another."}
            ],
            "returns": "yes",
        },
        "rename": {
            "description": "Change the name.",
            "parameters": {
                "type": "object",
                "properties": {"id": TEXT, "name": TEXT},
                "required": ["id", "name"],
            },
            "effects": [
                {
                    "effect": "set",
                    "object": "objects.patient[args.id]",
                    "properties": {"name": "{{args.name}}"},
                }
            ],
        },
        "diagnose": {
            "description": "Write a diagnosis.",
            "parameters": {
                "type": "object",
                "properties": {"id": TEXT, "text": TEXT},
                "required": ["id", "text"],
            },
            "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
            "effects": [
                {
                    "effect": "set",
                    "object": "patient",
                    "properties": {"diagnosis": "{{args.text}}"},
                }
            ],
        },
        "admit": {
            "description": "Write down a new patient.",
            "parameters": {
                "type": "object",
                "properties": {"id": TEXT, "diagnosis": TEXT, "famous": {"type": "boolean"}},
                "required": ["id"],
            },
            "effects": [
                {
                    "effect": "create",
                    "type": "patient",
                    "properties": {
                        "id": "{{args.id}}",
                        "diagnosis": "{{args.diagnosis}}",
                        "famous": "{{args.famous}}",
                    },
                }
            ],
        },
        "remove": {
            "description": "Delete a patient.",
            "parameters": GIVEN,
            "effects": [{"effect": "delete", "object": "objects.patient[args.id]"}],
        },
        "tie": {
            "description": "Link a visit.",
            "parameters": {
                "type": "object",
                "properties": {"visit": TEXT, "patient": TEXT},
                "required": ["visit", "patient"],
            },
            "effects": [
                {
                    "effect": "link",
                    "type": "of",
                    "from": "{{args.visit}}",
                    "to": "{{args.patient}}",
                }
            ],
        },
        "waive": {
            "description": "Charge nothing.",
            "parameters": GIVEN,
            "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
            "preconditions": [
                {"where": {"patient.balance": {"gt": 0}}, "error": "Nothing is owed."}
            ],
            "effects": [{"effect": "set", "object": "patient", "properties": {"balance": 0}}],
            "returns": "waived",
        },
        "copy": {
            "description": "Write what is hidden to where it is seen.",
            "parameters": {
                "type": "object",
                "properties": {"id": TEXT, "guess": TEXT},
                "required": ["id"],
            },
            "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
            "compute": {"text": "as {{patient.diagnosis}} as that"},
            "effects": [
                {
                    "effect": "set",
                    "object": "patient",
                    "when": {"patient.insurance": {"starts_with": "{{args.guess}}"}},
                    "properties": {"name": "{{text}}"},
                },
                {
                    "effect": "set",
                    "object": "patient",
                    "properties": {"name": "{{patient.diagnosis}}"},
                },
            ],
            "returns": "{{patient}}",
        },
        "total": {
            "description": "Sum up, with a look at each.",
            "read_only": True,
            "find": {"patients": {"type": "patient", "where": {"balance": {"present": True}}}},
            "returns": {
                "sum": {"$sum": "{{patients.*.balance}}"},
                "found": {
                    "$find": "patients",
                    "$where": {"diagnosis": {"contains": "hay"}},
                    "$get": "id",
                },
                "of": {"$each": "patients", "$value": "{{each.diagnosis}} {{each.name}}"},
            },
        },
        "mail": {
            "description": "Write to somebody.",
            "parameters": {
                "type": "object",
                "properties": {"to": TEXT, "text": TEXT},
                "required": ["to", "text"],
            },
            "read_only": True,
            "leaves_world": True,
            "returns": "sent",
        },
    },
}


def clinic(**changes: Any) -> ObjectsWorld:
    """The clinic, with other values for some of its keys."""
    return ObjectsWorld.model_validate(WORLD | changes)
