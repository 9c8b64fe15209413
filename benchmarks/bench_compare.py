"""What comparison and ruling cost beside reading: 10,000 cases, two arms, ten trials each, from run folders.

The whole, reading included, is to take at most 3 × the time of reading and parsing the records.

    python benchmarks/bench_compare.py [--cases 10000] [--trials 10] [--required 0.1]
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path

from seatrial.baseline import Baseline, hold
from seatrial.compare import BaselineInfo
from seatrial.documents import Arm, Case, Catalog, Suite
from seatrial.gate import rule
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.store import Run, Writer
from seatrial.trace import Trace
from seatrial.verdicts import Finding, Status, Verdict

MOST = 3.0
TAGS = ("money", "slow", "legacy", "control")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--required", type=float, default=0.1)
    given = parser.parse_args()
    catalog = _catalog(given.cases, given.required)
    chance = random.Random(20260101)
    rates = {case: chance.choice((1.0, 1.0, 1.0, 0.97, 0.9, 0.6)) for case in catalog.cases}
    with tempfile.TemporaryDirectory() as folder:
        for arm in ("released", "candidate"):
            _store(Path(folder) / arm, catalog, arm, rates, given.trials, chance)
        _measure(Path(folder), 20, given.trials)  # loads what is loaded once
        _measure(Path(folder), given.cases, given.trials)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _measure(folder: Path, cases: int, trials: int) -> None:
    began = time.process_time()
    records = sum(1 for arm in ("released", "candidate") for _ in Run.open(folder / arm).records())
    reading = time.process_time() - began

    began = time.process_time()
    released, candidate = Run.open(folder / "released"), Run.open(folder / "candidate")
    info = BaselineInfo(run="released", suite="full", arm="released", where=released.where)
    held = hold(candidate, "candidate", Baseline(released, info, None))
    ruling = rule(held.comparison)
    whole = time.process_time() - began
    if cases > 20:
        print(
            f"{cases:,} cases × 2 arms × {trials} trials ({records:,} records): reading and parsing {reading:.2f} s, "
            f"comparison and ruling with reading {whole:.2f} s: {whole / reading:.2f} × (at most {MOST:g})"
        )
        print(f"{ruling.headline}")


def _catalog(count: int, required: float) -> Catalog:
    cases = [
        Case.model_validate(
            {
                "kind": "case", "id": f"case-{n:05}", "group": "task", "agent": "helpdesk",
                "title": f"Order {n} is looked up", "required": n < required * count,
                "tags": [TAGS[n % len(TAGS)]], "world": "shop", "task": f"Close order {n}.",
                "checks": [{"check": "tool_called", "tool": "find_order"}],
            }
        )
        for n in range(count)
    ]  # fmt: skip
    arms = [
        Arm.model_validate(
            {"kind": "arm", "id": name, "agent": "helpdesk", "version": "1",
             "adapter": {"type": "python", "target": "agent:reply"}}
        )
        for name in ("released", "candidate")
    ]  # fmt: skip
    suite = Suite.model_validate({"kind": "suite", "id": "full", "cases": [{"group": "task"}]})
    return Catalog({c.id: c for c in cases}, {suite.id: suite}, {a.id: a for a in arms})


def _store(
    folder: Path,
    catalog: Catalog,
    arm: str,
    rates: dict[str, float],
    trials: int,
    chance: random.Random,
) -> None:
    manifest = Manifest(
        run=arm, suite="full", arms=(arm,), trials=trials, seed=1, created_at="", seatrial="0",
        plan=tuple(
            PlannedCase(case=c.id, selected=True, reasons=("arm changed",), required=c.required, trials=trials)
            for c in catalog.cases.values()
        ),
        fingerprints={f"{c}@{arm}": {"case": "0", "checks": "0", "adapter": arm} for c in catalog.cases},
    )  # fmt: skip
    with Writer.create(folder, manifest, catalog) as writer:
        for case, rate in rates.items():
            for number in range(1, trials + 1):
                passed = chance.random() < rate
                finding = Finding(
                    check="tool_called", path="checks[0]", place=f"cases/{case}.yaml:9:3", turn=1, call=1,
                    status=Status.PASSED if passed else Status.FAILED,
                    reason="find_order was called" if passed else "find_order was never called",
                )  # fmt: skip
                record = TrialRecord(
                    case=case, arm=arm, number=number, calls=2, findings=(finding,), duration_ms=900.0,
                    verdict=Verdict.PASSED if passed else Verdict.FAILED,
                    tools_used=("shop/close_order", "shop/find_order"), started_at="2026-01-01T00:00:00+00:00",
                )  # fmt: skip
                writer.add(record, Trace(case=case, arm=arm, number=number))


if __name__ == "__main__":
    main()
