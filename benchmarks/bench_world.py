"""What a trial's own copy of a large world costs, against writing its state as JSON once.

Limits: copy, capture and difference of a trial on 10,000 objects take at most 1.5 × one
`json.dumps` of the state; 1,000 trials that are all kept add less than 200 MB. Both hold also for a role
that the world's locks keep from a tenth of the objects and from a property of all of them.

    python benchmarks/bench_world.py
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
import tracemalloc
from typing import Any

from seatrial.documents.world import ObjectsWorld
from seatrial.worlds import ObjectsCopy, open_world

OBJECTS = 10_000
TRIALS = 1_000
WRITES = 20
ROLE = "desk"
MOST_RATIO = 1.5
MOST_MEGABYTES = 200


def warehouse() -> ObjectsWorld:
    """A world of 10,000 parcels of about 300 bytes, each linked to one of 100 vans."""
    parcels = [
        {
            "id": f"p-{n}",
            "status": "waiting",
            "weight": n % 40 + 0.5,
            "to": {"name": f"Customer {n}", "street": f"{n} Harbour Road", "city": "Northport"},
            "log": [{"at": "2026-05-04T08:00:00Z", "what": "arrived"}],
        }
        for n in range(OBJECTS)
    ]
    return ObjectsWorld.model_validate(
        {
            "kind": "fixture",
            "type": "world",
            "id": "warehouse",
            "now": "2026-05-04T11:30:00Z",
            "types": {
                "parcel": {
                    "properties": {
                        "id": {"type": "string"},
                        "status": {"enum": ["waiting", "loaded"]},
                        "weight": {"type": "number"},
                        "to": {"type": "object"},
                        "log": {"type": "array"},
                    }
                },
                "van": {"properties": {"id": {"type": "string"}}},
            },
            "markings": {"customs": "What the customs found"},
            "purposes": {"delivery": "Bring it there"},
            "locks": [
                {"type": "parcel", "where": {"weight": {"gte": 36.5}}, "markings": ["customs"]},
                {"type": "parcel", "properties": ["to"], "purposes": ["delivery"]},
            ],
            "roles": {ROLE: {"allow": ["*"], "purposes": ["delivery"]}},
            "links": {"in": {"from": "parcel", "to": "van"}},
            "objects": {"parcel": parcels, "van": [{"id": f"v-{n}"} for n in range(100)]},
            "linked": [
                {"type": "in", "from": f"p-{n}", "to": f"v-{n % 100}"} for n in range(OBJECTS)
            ],
            "actions": {
                "load": {
                    "description": "Load a parcel.",
                    "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
                    "bind": {"parcel": {"type": "parcel", "key": "{{args.id}}"}},
                    "effects": [
                        {"effect": "set", "object": "parcel", "properties": {"status": "loaded"}},
                        {
                            "effect": "add",
                            "object": "parcel",
                            "property": "log",
                            "value": {"at": "{{now}}", "what": "loaded"},
                        },
                    ],
                    "returns": "{{parcel.status}}",
                }
            },
        }
    )


def main() -> int:
    """Measure, print, and answer 1 when a limit is missed."""
    fixture = warehouse()
    began = time.process_time()
    opened = open_world(fixture, run_token="r", seed=0)
    ready = time.process_time() - began
    state = opened.state()
    dumps = _median(lambda: json.dumps(state), 7)

    def empty_trial() -> Any:
        return open_world(fixture, run_token="r", seed=1).changes()

    def writing_trial() -> Any:
        return _trial(fixture, 1).changes()

    def locked_trial() -> Any:
        return _trial(fixture, 1, ROLE).changes()

    def capture() -> Any:
        return _trial(fixture, 1).state()

    figures = {
        "copy + difference, nothing written": _median(empty_trial, 200) / dumps,
        f"copy + {WRITES} calls + difference": _median(writing_trial, 50) / dumps,
        "the same, for a role behind locks": _median(locked_trial, 50) / dumps,
        "the same, with the whole end state as JSON": _median(capture, 5) / dumps,
    }
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [_trial(fixture, seed, ROLE) for seed in range(TRIALS)]
    differences = [world.changes() for world in kept]
    gc.collect()
    megabytes = (tracemalloc.get_traced_memory()[0] - before) / 1e6
    tracemalloc.stop()

    size = len(json.dumps(state)) / 1e6
    print(f"{OBJECTS} objects and links, {size:.1f} MB of JSON: json.dumps {dumps * 1e3:.0f} ms")
    print(f"made ready once for all trials: {ready / dumps:.2f} × json.dumps")
    for name, ratio in figures.items():
        print(f"{name}: {ratio:.4f} × json.dumps")
    total = sum(map(len, differences))
    print(f"{TRIALS} trials kept, {total} changes: {megabytes:.0f} MB")
    slow = max(figures.values()) > MOST_RATIO
    large = megabytes > MOST_MEGABYTES
    for missed, limit in ((slow, f"{MOST_RATIO} × json.dumps"), (large, f"{MOST_MEGABYTES} MB")):
        if missed:
            print(f"over the limit of {limit}")
    return 1 if slow or large else 0


def _trial(fixture: ObjectsWorld, seed: int, role: str | None = None) -> ObjectsCopy:
    world = open_world(fixture, run_token=f"r-{seed}", seed=seed, role=role)
    for n in range(WRITES):
        # Of forty parcels in a row the last four are locked.
        parcel = (seed * 40 + n) % OBJECTS
        assert not world.act("load", {"id": f"p-{parcel}"}).is_error
    return world


def _median(work: Any, times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return statistics.median(taken)


if __name__ == "__main__":
    sys.exit(main())
