"""The documents of a small invented bike rental, for tests that need a whole catalog."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from seatrial.documents import Arm, Case, Catalog, ObjectsWorld, Source, Suite

WORLD = ObjectsWorld.model_validate(
    {
        "kind": "fixture",
        "type": "world",
        "id": "bike-shop",
        "now": "2026-04-01T10:00:00Z",
        "types": {
            "bike": {
                "properties": {
                    "id": {"type": "string"},
                    "status": {"enum": ["free", "rented"]},
                    "renter": {"type": ["string", "null"]},
                }
            }
        },
        "objects": {
            "bike": [
                {"id": "b-1", "status": "free", "renter": None},
                {"id": "b-2", "status": "rented", "renter": "Ada"},
            ]
        },
        "roles": {"clerk": {"allow": ["get_bike", "rent"]}},
        "actions": {
            "get_bike": {
                "description": "Look a bike up.",
                "parameters": {
                    "type": "object",
                    "properties": {"bike": {"type": "string"}},
                    "required": ["bike"],
                },
                "read_only": True,
                "bind": {"bike": {"type": "bike", "key": "{{args.bike}}", "error": "no such bike"}},
                "returns": "{{bike}}",
            },
            "rent": {
                "description": "Rent a bike out.",
                "parameters": {
                    "type": "object",
                    "properties": {"bike": {"type": "string"}, "renter": {"type": "string"}},
                    "required": ["bike", "renter"],
                },
                "bind": {"bike": {"type": "bike", "key": "{{args.bike}}", "error": "no such bike"}},
                "preconditions": [
                    {"of": "bike", "where": {"status": "free"}, "error": "that bike is rented out"}
                ],
                "effects": [
                    {
                        "effect": "set",
                        "object": "bike",
                        "properties": {"status": "rented", "renter": "{{args.renter}}"},
                    }
                ],
                "returns": "rented",
            },
            "scrap": {
                "description": "Scrap a bike for good.",
                "parameters": {
                    "type": "object",
                    "properties": {"bike": {"type": "string"}},
                    "required": ["bike"],
                },
                "destructive": True,
                "bind": {"bike": {"type": "bike", "key": "{{args.bike}}", "error": "no such bike"}},
                "effects": [{"effect": "delete", "object": "bike"}],
            },
        },
    }
)
"""Two bikes; a clerk may look them up and rent them out, not scrap them."""


def case(id: str = "rent-a-bike", **changes: Any) -> Case:
    """A case that asks for bike b-1 to be rented to {{run}}; keys given replace its own."""
    raw: dict[str, Any] = {
        "kind": "case",
        "id": id,
        "title": "A free bike is rented out",
        "group": "task",
        "agent": "clerk",
        "world": "bike-shop",
        "role": "clerk",
        "task": "I am {{run}}. I would like bike b-1.",
        "checks": [
            {
                "check": "end_state",
                "changed": [
                    {
                        "type": "bike",
                        "key": "b-1",
                        "properties": {"status": "rented", "renter": "{{run}}"},
                    }
                ],
            }
        ],
    }
    if "turns" in changes:
        del raw["task"]
    return Case.model_validate({**raw, **changes})


def arm(id: str = "clerk-1", adapter: dict[str, Any] | None = None, **changes: Any) -> Arm:
    """An arm of the clerk; without an adapter, one that nobody can start."""
    return Arm.model_validate(
        {
            "kind": "arm",
            "id": id,
            "agent": "clerk",
            "version": "1.0",
            "adapter": adapter or {"type": "python", "target": "nowhere:clerk"},
            **changes,
        }
    )


def suite(cases: Iterable[Case], **changes: Any) -> Suite:
    """A suite of these cases, two trials each."""
    return Suite.model_validate(
        {
            "kind": "suite",
            "id": "all",
            "cases": [case.id for case in cases],
            "trials": 2,
            **changes,
        }
    )


def catalog(*documents: Case | Arm | Suite) -> Catalog:
    """A catalog of these documents and the bike shop; with a suite of all cases where none is given."""
    cases = {d.id: d for d in documents if isinstance(d, Case)}
    suites = {d.id: d for d in documents if isinstance(d, Suite)}
    arms = {d.id: d for d in documents if isinstance(d, Arm)}
    if not suites and cases:
        suites = {"all": suite(cases.values())}
    return Catalog(
        cases,
        suites,
        arms,
        {WORLD.id: WORLD},
        {
            ("case", id): Source(f"cases/{id}.yaml", {"": (1, 1), "checks[0]": (9, 5)})
            for id in cases
        },
    )


def write_tree(root: Path, written: Catalog) -> None:
    """The documents of a catalog as YAML files below `root`, where the loader looks for them."""
    folders = {
        "cases": written.cases,
        "suites": written.suites,
        "arms": written.arms,
        "fixtures": written.fixtures,
    }
    for folder, documents in folders.items():
        for id, document in documents.items():
            path = root / folder / f"{id}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            raw = document.model_dump(mode="json", by_alias=True, exclude_unset=True)
            path.write_text(yaml.safe_dump(raw, sort_keys=False), encoding="utf-8")
