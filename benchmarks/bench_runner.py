"""What the runner itself costs: CPU per trial, how well it fills its slots, and how its memory grows.

`python benchmarks/bench_runner.py [cpu|slots|memory …]`; each part runs in a process of its own. The
bounds are those of the project; a part that misses its bound ends with exit code 1.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import bike_shop

from seatrial import plan, runner, store
from seatrial.records import Manifest, PlannedCase

CASES = 8
HERE = Path(__file__).resolve().parent
BOUNDS = {
    "cpu_ms_in_process": 3.0,
    "cpu_ms_over_http": 8.0,
    "slots_ratio": 1.05,
    "memory_growth_mb": 20.0,
}


def cpu_ms_in_process() -> float:
    """CPU per trial of a do-nothing agent that calls one tool without a network."""
    return _cpu_ms("idle_agents:calls_once", 1000)


def cpu_ms_over_http() -> float:
    """The same with the call as an MCP request over HTTP; what the agent's own client uses is taken off."""
    return _cpu_ms("idle_agents:calls_once_over_http", 1000)


def slots_ratio() -> float:
    """640 trials of an agent that takes 0.5 s, 32 side by side, as a multiple of the ideal 10 s."""
    _run("idle_agents:takes_half_a_second", 32)  # imports and the like
    started = time.perf_counter()
    _run("idle_agents:takes_half_a_second", 640)
    return (time.perf_counter() - started) / 10.0


def memory_growth_mb() -> float:
    """Peak memory of 10,000 trials beyond that of 1,000, each in a process of its own."""
    small, large = (_peak_mb(trials) for trials in (1_000, 10_000))
    print(f"  peak {small:.1f} MB with 1,000 trials, {large:.1f} MB with 10,000")
    return large - small


def _cpu_ms(target: str, trials: int) -> float:
    _run(target, 40)
    best = float("inf")
    for _ in range(3):
        agent_before = _agent_seconds()
        before = time.process_time()
        _run(target, trials)
        spent = time.process_time() - before - (_agent_seconds() - agent_before)
        best = min(best, 1000 * spent / trials)
    return best


def _agent_seconds() -> float:
    module = sys.modules.get("idle_agents")
    return float(module.SPENT[0]) if module else 0.0


def _peak_mb(trials: int) -> float:
    done = subprocess.run(
        [sys.executable, __file__, "--peak", str(trials)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def _run(target: str, trials: int) -> None:
    """`trials` trials over eight cases, stored in a folder that is removed again."""
    cases = [bike_shop.case(f"case-{n}") for n in range(CASES)]
    arm = bike_shop.arm("a", {"type": "python", "target": target})
    catalog = bike_shop.catalog(*cases, arm)
    planned = tuple(
        PlannedCase(case=c.id, selected=True, reasons=("all",), trials=trials // CASES)
        for c in cases
    )
    manifest = Manifest(
        run=store.new_run_id(), suite="all", arms=("a",), trials=trials, seed=1,
        created_at="2026-04-01T10:00:00Z", seatrial="0", plan=planned,
    )  # fmt: skip
    equipment = runner.equip([arm], HERE)
    with tempfile.TemporaryDirectory() as folder:
        with store.Writer.create(Path(folder, "run"), manifest, catalog) as writer:
            outcome = anyio.run(_carry_out, writer, catalog, planned, equipment)
        records = store.Run.open(Path(folder, "run")).records()
        passed = sum(record.verdict == "passed" for record in records)
    if not outcome.stored == passed == trials:
        raise SystemExit(f"{outcome.stored} of {trials} trials were stored, {passed} passed")


async def _carry_out(writer: Any, catalog: Any, planned: Any, equipment: Any) -> runner.Outcome:
    trials = plan.expand(planned, catalog, list(catalog.arms.values()))
    return await runner.run(writer, catalog, runner.fixed(trials), equipment=equipment)


PARTS = {
    "cpu": (cpu_ms_in_process, cpu_ms_over_http),
    "slots": (slots_ratio,),
    "memory": (memory_growth_mb,),
}


def main() -> None:
    if sys.argv[1:2] == ["--peak"]:
        _run("idle_agents:calls_once", int(sys.argv[2]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    figures = {}
    for part in sys.argv[1:] or PARTS:
        for measure in PARTS[part]:
            figures[measure.__name__] = figure = round(measure(), 3)
            bound = BOUNDS[measure.__name__]
            print(
                f"{'ok  ' if figure <= bound else 'MISS'}  {measure.__name__} {figure} (≤ {bound})"
            )
    print(json.dumps(figures))
    sys.exit(any(figures[name] > BOUNDS[name] for name in figures))


if __name__ == "__main__":
    main()
