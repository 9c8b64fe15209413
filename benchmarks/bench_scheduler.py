"""What deciding costs that is not running: how it grows from 1,000 to 50,000 trials.

Everything between two trials is measured, and nothing of the trials themselves: the plan is expanded, the rule by which
trials are added is asked after every end, what may start is taken out of the queue, and halted cases are withdrawn.
The figure is the exponent of the growth (least squares on logarithms): 1 is linear.
"""

from __future__ import annotations

import gc
import json
import math
import sys
import time
from collections import deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import bike_shop

from seatrial import plan
from seatrial.adaptive import Pursuit, adding
from seatrial.records import PlannedCase, TrialRecord
from seatrial.runner.queueing import Queue
from seatrial.runner.scheduling import Schedule
from seatrial.stats.evidence import Prior
from seatrial.stats.sequential import Rule
from seatrial.verdicts import Cause, Verdict

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
TURNS = 3
BOUND = 1.15
"""Of the exponent: the caches of a processor make it more than 1 by themselves."""
SHAPES = {"a hundred cases": 0.0, "fifty trials a case": 1.0, "cases and trials alike": 0.5}
"""How the number of cases grows with that of the trials: as its power."""


def main() -> None:
    figures = {}
    for shape, power in SHAPES.items():
        found = []
        for size in SIZES:
            cases = round(100 * (size / 5_000) ** power) if power else 100
            seconds = min(_seconds(cases, size // cases) for _ in range(TURNS))
            found.append((size, seconds))
        exponent = round(_slope(found), 3)
        figures[shape] = exponent
        each = ", ".join(f"{1e6 * seconds / size:.1f}" for size, seconds in found)
        print(f"  {shape}: {each} µs a trial at {', '.join(f'{size:,}' for size in SIZES)}")
        print(f"{'ok  ' if exponent <= BOUND else 'MISS'}  exponent {exponent} (≤ {BOUND})")
    print(json.dumps(figures))
    sys.exit(any(exponent > BOUND for exponent in figures.values()))


def _seconds(cases: int, trials: int) -> float:
    """CPU of a whole schedule in which every twentieth case is halted at once, and every tenth trial fails."""
    documents = [bike_shop.case(f"case-{n}", required=True) for n in range(cases)]
    catalog = bike_shop.catalog(*documents, bike_shop.arm("a"))
    planned = [
        PlannedCase(case=c.id, selected=True, required=True, reasons=("all",), trials=trials)
        for c in documents
    ]
    rule = Rule(cases=cases, alpha=0.05, beta=0.05, drop=0.2, prior=Prior(9.0, 1.0))
    said = adding(rule, {c.id: (20, 20) for c in documents}, baseline="b")
    halted = {f"case-{n}" for n in range(0, cases, 20)}
    gc.collect()
    started = time.process_time()
    first = plan.expand(planned, catalog, list(catalog.arms.values()))
    schedule = Schedule(Queue(32, {"a": 32}), Pursuit(said, first, candidate="a"))
    schedule.plan()
    running = deque(schedule.startable())
    ended = 0
    while running:
        trial = running.popleft()
        schedule.ended(trial, _record(trial, forbidden=trial.case in halted))
        ended += 1
        running.extend(schedule.startable())
    spent = time.process_time() - started
    if ended != schedule.total or ended < cases * trials * 0.9:
        raise SystemExit(f"{ended} trials were run of {schedule.total}")
    return spent


def _record(trial: plan.Trial, *, forbidden: bool) -> TrialRecord:
    """Invalid in most trials of a case, so that none are added and all sizes do the same."""
    return TrialRecord.model_construct(
        case=trial.case,
        arm=trial.arm,
        number=trial.number,
        verdict=Verdict.INVALID if trial.number % 10 else Verdict.FAILED,
        cause=Cause.TIME if trial.number % 10 else None,
        violations=int(forbidden),
        findings=(),
    )


def _slope(found: list[tuple[int, float]]) -> float:
    x = [math.log(size) for size, _ in found]
    y = [math.log(seconds) for _, seconds in found]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum(
        (a - mean_x) ** 2 for a in x
    )


if __name__ == "__main__":
    main()
