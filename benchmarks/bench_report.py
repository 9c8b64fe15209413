"""What building the report costs for many cases, beside what MkDocs alone takes for its few pages.

Two stored runs of the same invented cases are compared by Seatrial itself; in a share of the cases the
candidate leaves out a step and fails.

    python benchmarks/bench_report.py [--cases 5000] [--trials 4] [--changed 0.05]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from seatrial import report
from seatrial.compare import Side, compare
from seatrial.documents import Arm, Case, Catalog, Policy, Suite
from seatrial.gate import rule
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.store import Run, Writer
from seatrial.trace import Answer, Called, Change, Event, Replied, Said, Trace
from seatrial.verdicts import Finding, Status, Verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--changed", type=float, default=0.05)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for cases, changed in ((2, 0.5), (given.cases, 0.0), (given.cases, given.changed)):
            measure(Path(folder) / f"{cases}-{changed}", cases, given.trials, changed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")


def measure(folder: Path, cases: int, trials: int, changed: float) -> None:
    catalog = _catalog(cases)
    runs = {
        arm: _stored(folder / arm, catalog, arm, trials, changed if arm == "candidate" else 0.0)
        for arm in ("released", "candidate")
    }
    sides = {
        arm: Side.of(run.manifest, run.catalog, arm, run.records(arm)) for arm, run in runs.items()
    }
    comparison = compare(sides["released"], sides["candidate"], Policy())
    evidence = report.Evidence(
        comparison=comparison,
        ruling=rule(comparison),
        candidate=runs["candidate"],
        baseline=runs["released"],
    )
    began = time.perf_counter()
    built = report.build(evidence, folder / "site")
    site = time.perf_counter() - began
    began = time.perf_counter()
    sizes = len(report.junit(evidence)), len(report.summary(evidence).encode())
    others = time.perf_counter() - began
    files = [path.stat().st_size for path in (folder / "site").rglob("*") if path.is_file()]
    print(
        f"{cases:>5} cases, {built.paged:>5} with a page: site {site:.2f} s, {len(files)} files, "
        f"{sum(files) / 1e6:.1f} MB; JUnit and summary {others:.2f} s, "
        f"{sizes[0] / 1e6:.1f} and {sizes[1] / 1e6:.2f} MB"
    )


def _catalog(count: int) -> Catalog:
    cases = [
        Case.model_validate(
            {
                "kind": "case", "id": f"case-{number:05}", "group": "task", "agent": "helpdesk",
                "title": f"Order {number} is looked up, then closed", "required": number % 10 == 0,
                "world": "shop", "task": f"Close order {number}.",
                "checks": [{"check": "tool_order", "tools": ["find_order", "close_order"]}],
            }
        )
        for number in range(count)
    ]  # fmt: skip
    arms = [
        Arm.model_validate(
            {"kind": "arm", "id": name, "agent": "helpdesk", "version": "1",
             "adapter": {"type": "python", "target": "agent:reply"}}
        )
        for name in ("released", "candidate")
    ]  # fmt: skip
    suite = Suite.model_validate({"kind": "suite", "id": "full", "cases": [{"group": "task"}]})
    return Catalog(
        cases={c.id: c for c in cases}, arms={a.id: a for a in arms}, suites={suite.id: suite}
    )


def _stored(folder: Path, catalog: Catalog, arm: str, trials: int, changed: float) -> Run:
    plan = tuple(
        PlannedCase(case=c, selected=True, reasons=("arm changed",), trials=trials)
        for c in catalog.cases
    )
    manifest = Manifest(
        run=arm, suite="full", arms=(arm,), trials=trials, seed=1, created_at="", seatrial="0",
        plan=plan, fingerprints={f"{c}@{arm}": {"case": "0"} for c in catalog.cases},
    )  # fmt: skip
    failing = int(changed * len(catalog.cases))
    with Writer.create(folder, manifest, catalog) as writer:
        for place, case in enumerate(catalog.cases):
            for number in range(1, trials + 1):
                writer.add(*_trial(case, arm, number, fails=place < failing))
    return Run.open(folder)


def _trial(case: str, arm: str, number: int, *, fails: bool) -> tuple[TrialRecord, Trace]:
    tools = ["close_order"] if fails else ["find_order", "close_order"]
    trace = Trace(
        case=case,
        arm=arm,
        number=number,
        events=tuple(_events(tools, number)),
        changes=(Change(what="changed", type="order", key=case, property="status", old="open", new="closed"),),
    )  # fmt: skip
    finding = Finding(
        check="tool_order", path="checks[0]", place=f"cases/{case}.yaml:9:3", turn=1, call=1,
        status=Status.FAILED if fails else Status.PASSED,
        reason="find_order was never called" if fails else "called in order",
    )  # fmt: skip
    record = TrialRecord(
        case=case, arm=arm, number=number, calls=len(tools), findings=(finding,), duration_ms=900.0,
        verdict=Verdict.FAILED if fails else Verdict.PASSED,
    )  # fmt: skip
    return record, trace


def _events(tools: list[str], number: int) -> Iterator[Event]:
    yield Said(turn=1, text="Close the order that I told you about yesterday.")
    for place, tool in enumerate(tools, 1):
        yield Called(
            turn=1, number=place, server="shop", tool=tool, answered_by="world",
            arguments={"order": "A-1001", "note": "as asked " * 10},
            answer=Answer.of_text("{'id': 'A-1001', 'status': 'closed'} " * 10),
        )  # fmt: skip
    yield Replied(turn=1, text=f"Done, for the {number}th time. " * 10)


if __name__ == "__main__":
    main()
