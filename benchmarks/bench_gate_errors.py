"""How often the gate is wrong: three invented populations of 100 required cases, and the shipped example.

Every simulated change is run by the sequential rule, compared and ruled on by the product's own code; only
the trials are drawn at random.

    python benchmarks/bench_gate_errors.py                 a short run
    python benchmarks/bench_gate_errors.py --full --write  the figures of docs/reference/error-rates.md (20 minutes)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seatrial.documents import Policy
from seatrial.selftest import BAD, TITLES, Change, Subject, error_rates, invented
from seatrial.stats.intervals import clopper_pearson
from seatrial.stats.simulation import Population

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "error-rates.md"
CASES = 100
SEED = 20260101
CHUNK = 250
"""Changes simulated by one call, so that cores can share the work; each has a seed of its own."""


@dataclass(frozen=True)
class Cell:
    """One row of the tables."""

    population: Population
    baseline: int
    """Stored trials of each case."""
    change: Change
    times: int


def cells(full: bool) -> list[Cell]:
    if not full:
        return [Cell("mixed", 20, change, 100) for change in ("same", "one_halved", "one_dead")]
    found = [Cell("mixed", 20, "same", 10_000)]
    found += [Cell(p, 20, "same", 2_000) for p in ("clean", "flaky")]
    found += [Cell("mixed", n, "same", 2_000) for n in (5, 10, 40)]
    found += [Cell("mixed", 20, "one_halved", 2_000)]
    found += [Cell(p, 20, "one_halved", 500) for p in ("clean", "flaky")]
    found += [Cell("mixed", n, "one_halved", 500) for n in (5, 10, 40)]
    found += [
        Cell(p, 20, change, 500)
        for p in ("clean", "mixed", "flaky")
        for change in ("drifted", *BAD)
        if change != "one_halved"
    ]
    return found


def simulate(cell: Cell, seed: tuple[int, ...]) -> dict[str, Any]:
    subjects = [Subject(f"case-{n}", True, cell.baseline, cell.baseline, 4) for n in range(CASES)]
    return error_rates(
        subjects,
        invented(cell.population, CASES, cell.baseline),
        cell.change,
        Policy(),
        cell.times,
        np.random.default_rng(seed),
        drawn=cell.population,
    ).model_dump()


def run(full: bool, jobs: int) -> Iterator[tuple[Cell, dict[str, Any]]]:
    with ProcessPoolExecutor(jobs) as pool:
        waiting = []
        for row, cell in enumerate(cells(full)):
            sizes = [min(CHUNK, cell.times - at) for at in range(0, cell.times, CHUNK)]
            parts = [
                pool.submit(simulate, Cell(cell.population, cell.baseline, cell.change, size), (SEED, row, n))
                for n, size in enumerate(sizes)
            ]  # fmt: skip
            waiting.append((cell, parts))
        for cell, parts in waiting:
            yield cell, added([part.result() for part in parts])


def added(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum of several simulations of the same kind."""
    times = sum(p["times"] for p in parts)
    return {
        "times": times,
        **{k: sum(p[k]["times"] for p in parts) for k in ("closed", "undecided", "opened")},
        **{k: sum(p[k] * p["times"] for p in parts) / times for k in ("trials", "live")},
    }


def example(times: int) -> dict[str, Any]:
    """The shipped suite: the released help-desk agent is really run 20 times a case, then the gate is tried."""
    with tempfile.TemporaryDirectory() as folder:
        seatrial = [sys.executable, "-m", "seatrial"]
        of = ["--suite", "full"]
        released = ["--arm", "helpdesk-released", "--trials", "20", "--out", f"{folder}/released"]
        subprocess.run(
            [*seatrial, "run", *of, *released], cwd=ROOT, check=True, capture_output=True
        )
        told = subprocess.run(
            [*seatrial, "selftest", *of, "--baseline", f"{folder}/released", "--times", str(times), "--format", "json"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    found: dict[str, Any] = json.loads(told)
    return found


HEAD = "| what changed | changes | closed | undecided | open | trials | of these live |\n|---|---|---|---|---|---|---|"


def line(title: str, row: dict[str, Any]) -> str:
    shares = (_share(row[k], row["times"]) for k in ("closed", "undecided", "opened"))
    return f"| {title} | {row['times']:,} | {' | '.join(shares)} | {row['trials']:.0f} | {row['live']:.1f} |"


def _share(times: int, of: int) -> str:
    low, high = clopper_pearson(times, of)
    return f"{100 * times / of:.2f} % [{100 * low:.2f}, {100 * high:.2f}]"


def mixed_with_20(rows: list[tuple[Cell, dict[str, Any]]], change: Change) -> dict[str, Any]:
    """The row of the population and the baseline for which goals are set."""
    return next(r for c, r in rows if (c.population, c.baseline, c.change) == ("mixed", 20, change))


def goals(rows: list[tuple[Cell, dict[str, Any]]]) -> str:
    """What is asked of the gate, and whether one and the same rule meets all of it."""
    same, halved, dead = (
        mixed_with_20(rows, change) for change in ("same", "one_halved", "one_dead")
    )

    def met(holds: bool, beyond_chance: bool) -> str:
        return ("yes" if beyond_chance else "yes, though not beyond chance") if holds else "**no**"

    highest = clopper_pearson(same["closed"], same["times"])[1]
    found, lowest = (
        halved["closed"] / halved["times"],
        clopper_pearson(halved["closed"], halved["times"])[0],
    )
    table = [
        ("wrong reds where nothing changed: at most 0.5 %", _share(same["closed"], same["times"]), same,
         met(same["closed"] / same["times"] <= 0.005, highest <= 0.005)),
        ("trials where nothing changed: at most 540 on average", f"{same['trials']:.0f}", same,
         met(same["trials"] <= 540, True)),
        ("one required case 1.0 → 0.5: at least 93 % closed", _share(halved["closed"], halved["times"]), halved,
         met(found >= 0.93, lowest >= 0.93)),
        ("one required case 1.0 → 0: all closed", _share(dead["closed"], dead["times"]), dead,
         met(dead["closed"] == dead["times"], True)),
    ]  # fmt: skip
    lines = [
        f"| {goal} | {found} | {row['times']:,} | {told} |" for goal, found, row, told in table
    ]
    head = "| goal | measured | changes | met |\n|---|---|---|---|"
    return "\n".join([f"## The goals, together\n\n{GOALS}\n\n{head}", *lines, ""])


GOALS = """One rule, one set of numbers: 100 required cases of the mixed population, 20 stored trials of each."""


def page(rows: list[tuple[Cell, dict[str, Any]]], shipped: dict[str, Any]) -> str:
    mixed = mixed_with_20(rows, "same")
    rows = sorted(rows, key=lambda r: list(TITLES).index(r[0].change))
    parts = [INTRODUCTION, goals(rows), "## 100 required cases, 20 stored trials of each\n"]
    for population in ("clean", "mixed", "flaky"):
        parts.append(f"### {population}\n\n{HEAD}")
        parts += [
            line(TITLES[c.change], r)
            for c, r in rows
            if c.population == population and c.baseline == 20
        ]
        parts.append("")
    parts.append(
        f"## Smaller and larger baselines, mixed\n\n{HEAD.replace('what changed', 'stored trials, what changed')}"
    )
    parts += [line(f"{c.baseline}: {TITLES[c.change]}", r) for c, r in rows if c.baseline != 20]
    parts.append(
        f"\n## The shipped example\n\nSuite `full`: {shipped['cases']} cases, {shipped['required']} of them required, "
        "20 stored trials of each by the released help-desk agent, drawn from what they leave possible "
        f"(`seatrial selftest --suite full`).\n\n{HEAD}"
    )
    for row in shipped["rates"]:
        if row["drawn"] == "foretold":
            counts = {k: row[k]["times"] for k in ("closed", "undecided", "opened")}
            parts.append(line(TITLES[row["change"]], {**row, **counts}))
    worst = max(r["closed"] / r["times"] for c, r in rows if c.change == "same")
    parts.append(
        f"\nHighest share of wrong reds where nothing changed, over all populations: {100 * worst:.2f} %; of the mixed "
        f"population with 20 stored trials {_share(mixed['closed'], mixed['times'])} at {mixed['trials']:.0f} trials.\n"
    )
    return "\n".join(parts)


INTRODUCTION = """# Error rates of the gate

<!-- Written by benchmarks/bench_gate_errors.py --full --write. -->

How often the gate is wrong, measured on agents whose true pass rates are known. Only the trials are drawn at random;
they are run by the sequential rule, compared and ruled on by the same code as those of a run, with the default
policy (α = 0.01, β = 0.10, drop 0.5, margin 0.05) in profile `pr`.

- **closed** where nothing changed, or where the world changed under both arms, is a wrong red; where something broke,
  everything else is a miss.
- **undecided** is neither: something is missing that could have been shown.
- **trials** are those of the candidate, 4 of each case to begin with, and the live trials of the released arm that are
  run beside it. The stored trials were recorded once, at the release, and are not counted.
- In brackets: Clopper and Pearson's 95 % interval.

The populations are invented: `clean` has 80 % of cases that always pass, the rest pass at 0.98; in `mixed` half always
pass, the others pass at rates drawn from Beta(38, 1), Beta(18, 2) and Beta(6, 3) (mean 0.945); `flaky` has 20 % that
always pass (mean 0.83). Trials fall independently of each other, which an outage of a provider breaks. The case that
breaks is one that passes as often as any. Four passes of four have chance 1/16 at a rate of one half, so that no rule
that clears a case after 4 trials can find more than 93.75 % of cases that halve. `seatrial selftest` measures the same
for your suite.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all populations, many changes")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    rows = []
    for cell, row in run(given.full, given.jobs):
        rows.append((cell, row))
        print(f"{cell.population} {cell.baseline}: {line(TITLES[cell.change], row)}", flush=True)
    if given.write:
        PAGE.write_text(page(rows, example(2_000)), encoding="utf-8")
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
