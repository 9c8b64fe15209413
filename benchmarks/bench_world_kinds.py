"""What a trial in a large world of another kind costs, against writing its state as JSON once.

10,000 objects: keys of a Python state, rows of a database; and a folder of 1,000 files. The limit (copy and difference
at most 1.5 × one `json.dumps` of the state) holds for `python`, whose state is in memory as that of
`objects` is; what a database and a folder cost beside that is the copying of their files, and only shown.

    python benchmarks/bench_world_kinds.py
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from pydantic import TypeAdapter

from seatrial.documents import Fixture
from seatrial.worlds import staged

OBJECTS = 10_000
FILES = 1_000
TRIALS = 15
MOST_RATIO = 1.5

_READ: TypeAdapter[Any] = TypeAdapter(Fixture)
_HEAD = {"kind": "fixture", "type": "world", "now": "2026-05-04T11:30:00Z"}


def main() -> int:
    """Measure, print, and answer 1 when a limit is missed."""
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(_measured, Path(folder))


async def _measured(root: Path) -> int:
    slow = False
    worlds = (
        ("python", _python(root), "load", [{"id": f"p-{n}"} for n in range(5)], True),
        ("sqlite", _sqlite(), "load", [{"id": f"p-{n}"} for n in range(5)], False),
        (
            "directory",
            _directory(root),
            "write_file",
            [{"path": f"f/{n}.txt", "text": "x"} for n in range(5)],
            False,
        ),
    )
    for kind, document, tool, calls, limited in worlds:
        fixture = _READ.validate_python(_HEAD | {"world": kind, "id": kind} | document)
        async with staged(root) as stage:
            began = time.process_time()
            async with stage.open(fixture, run_token="r", seed=1) as copy:
                state = (await copy.captured()).to_json()
            ready = time.process_time() - began
            dumps = await _median(_once(lambda state=state: json.dumps(state)), 7)

            async def trial(writes: int) -> None:
                async with stage.open(fixture, run_token="r", seed=1) as copy:  # noqa: B023
                    for arguments in calls[:writes]:  # noqa: B023
                        answer = await copy.call(tool, dict(arguments))  # noqa: B023
                        assert not answer.is_error, answer.text
                    assert len(await copy.difference()) == writes

            empty = await _median(lambda: trial(0), TRIALS)
            writing = await _median(lambda: trial(5), TRIALS)
        print(
            f"{kind:<10} json.dumps {dumps * 1e3:5.1f} ms; ready once {ready / dumps:5.1f} ×; "
            f"copy + difference {empty / dumps:6.3f} ×; with 5 writing calls {writing / dumps:6.3f} ×"
        )
        slow = slow or (limited and empty / dumps > MOST_RATIO)
    if slow:
        print(f"over the limit of {MOST_RATIO} × json.dumps")
    return 1 if slow else 0


def _python(root: Path) -> dict[str, Any]:
    (root / "bench_warehouse.py").write_text(
        "def load(state, id: str):\n"
        "    'Load a parcel.'\n"
        "    state['parcel'][id]['status'] = 'loaded'\n",
        encoding="utf-8",
    )
    parcels = {f"p-{n}": _parcel(n) for n in range(OBJECTS)}
    return {"module": "bench_warehouse", "start": {"parcel": parcels}, "tools": {"load": {}}}


def _parcel(n: int) -> dict[str, Any]:
    return {
        "status": "waiting",
        "weight": n % 40 + 0.5,
        "to": {"name": f"Customer {n}", "street": f"{n} Harbour Road", "city": "Northport"},
        "log": [{"at": "2026-05-04T08:00:00Z", "what": "arrived"}],
    }


def _sqlite() -> dict[str, Any]:
    return {
        "start": f"""
            CREATE TABLE parcel (id TEXT PRIMARY KEY, status TEXT, weight REAL, name TEXT, street TEXT);
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {OBJECTS - 1})
            INSERT INTO parcel SELECT 'p-' || i, 'waiting', i % 40 + 0.5, 'Customer ' || i,
              i || ' Harbour Road, Northport' FROM n;
        """,
        "tools": {
            "load": {
                "description": "Load a parcel.",
                "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
                "sql": "UPDATE parcel SET status = 'loaded' WHERE id = :id",
            }
        },
    }


def _directory(root: Path) -> dict[str, Any]:
    (root / "tree" / "f").mkdir(parents=True)
    for n in range(FILES):
        (root / "tree" / "f" / f"{n}.txt").write_text(f"File {n}. " * 30, encoding="utf-8")
    return {"tree": "tree"}


def _once(work: Callable[[], Any]) -> Callable[[], Awaitable[None]]:
    async def once() -> None:
        work()

    return once


async def _median(work: Callable[[], Awaitable[None]], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.process_time()
        await work()
        taken.append(time.process_time() - began)
    return statistics.median(taken)


if __name__ == "__main__":
    sys.exit(main())
