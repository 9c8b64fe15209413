"""`seatrial merge` against a plain concatenation of the same files: 10,000 trials over 8 shards.

A trace is about 12 KB, as conversations recorded in public benchmarks are (11 to 17 KB). For comparison the ratio with
traces of 1 KB, of an agent that says nothing, is shown too.
The ratio is taken in one run, each side the best of several turns; the ratio of their medians stands beside it. Both
sides leave their files on the disk (fsync); what the machine's page cache holds is the same for both. The bound is that
of the project.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import anyio
from tests import bike_shop

from seatrial import comparability, plan, runner, sharding, store
from seatrial.cli.dividing import sharded
from seatrial.cli.merging import merged
from seatrial.records import Manifest, PlannedCase, Sharding, TrialRecord
from seatrial.trace import Replied, Trace

TRIALS, CASES, SHARDS, TURNS = 10_000, 100, 8, 7
SAID = 11_000
"""Letters of the agent's reply, so that a trace is as long as a real conversation's."""
BOUND = 2.0
HERE = Path(__file__).resolve().parent


def main() -> None:
    short, _ = _ratio(0)
    ratio, figures = _ratio(SAID)
    ok = ratio <= BOUND
    print(f"{'ok  ' if ok else 'MISS'}  {figures} (≤ {BOUND})")
    print(json.dumps({"merge_ratio": ratio, "merge_ratio_short_traces": short}))
    sys.exit(not ok)


def _ratio(said: int) -> tuple[float, str]:
    """Merge to concatenation, and the figures behind it."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        shards = _shards(root, said)
        size = sum(path.stat().st_size for folder in shards for path in folder.iterdir())
        plain, whole = [], []
        for turn in range(TURNS):
            started = time.perf_counter()
            _concatenate(shards, root / "plain")
            plain.append(time.perf_counter() - started)
            shutil.rmtree(root / "plain")
            started = time.perf_counter()
            found = merged(shards, root / f"whole-{turn}")
            whole.append(time.perf_counter() - started)
            if not (found.whole and found.trials == TRIALS):
                raise SystemExit(f"{found.trials} of {TRIALS} trials were merged")
            if turn == 0 and not store.Run.open(root / "whole-0").sealed:
                raise SystemExit("the merged run is not sealed")
            shutil.rmtree(root / f"whole-{turn}")
    ratio = round(min(whole) / min(plain), 3)
    figures = (
        f"{TRIALS} trials over {SHARDS} shards, {size / 1e6:.1f} MB: merge {min(whole):.3f} s, "
        f"concatenation {min(plain):.3f} s, ratio {ratio} "
        f"(of medians {statistics.median(whole) / statistics.median(plain):.2f})"
    )
    print(f"  {figures}")
    return ratio, figures


def _concatenate(shards: list[Path], out: Path) -> None:
    """The same files one behind the other, and the others once, as a careful person would do it."""
    out.mkdir()
    for name in ("traces.jsonl", "journal.jsonl"):
        with (out / name).open("wb") as file:
            for folder in shards:
                with (folder / name).open("rb") as part:
                    shutil.copyfileobj(part, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())
    for name in ("run.json", "documents.json"):
        with (out / name).open("wb") as file:
            file.write((shards[0] / name).read_bytes())
            file.flush()
            os.fsync(file.fileno())


def _shards(root: Path, said: int) -> list[Path]:
    """Shards with trials as an agent with a call leaves them; one of each case is run, the others are like it."""
    cases = [bike_shop.case(f"case-{n}") for n in range(CASES)]
    arm = bike_shop.arm("a", {"type": "python", "target": "idle_agents:calls_once"})
    catalog = bike_shop.catalog(*cases, arm)
    each = TRIALS // CASES
    planned = tuple(
        PlannedCase(case=c.id, selected=True, reasons=("all",), trials=each) for c in cases
    )
    manifest = Manifest(
        run="whole", suite="all", arms=("a",), trials=each, seed=1,
        created_at="2026-04-01T10:00:00Z", seatrial="0", plan=planned,
        fingerprints=comparability.fingerprints(catalog, [arm], {}).by_case,
    )  # fmt: skip
    samples = _samples(root / "sample", catalog, manifest, said)
    loads = sharding.loads(planned, catalog, ["a"], SHARDS)
    folders = []
    for number in range(1, SHARDS + 1):
        divided = Sharding(shard=number, cases=tuple(load.cases for load in loads))
        own = sharded(manifest.model_copy(update={"run": f"s{number}"}), divided, seeded=True)
        folder = root / f"shard-{number}"
        with store.Writer.create(folder, own, catalog) as writer:
            for n in range(1, each + 1):
                for case in loads[number - 1].cases:
                    record, trace = samples[case]
                    update = {"number": n}
                    writer.add(record.model_copy(update=update), trace.model_copy(update=update))
        folders.append(folder)
    return folders


def _samples(
    folder: Path, catalog: bike_shop.Catalog, manifest: Manifest, said: int
) -> dict[str, tuple[TrialRecord, Trace]]:
    once = tuple(entry.model_copy(update={"trials": 1}) for entry in manifest.plan)
    trials = plan.expand(once, catalog, list(catalog.arms.values()))
    equipment = runner.equip(catalog.arms.values(), HERE)

    async def carry_out() -> None:
        with store.Writer.create(folder, manifest, catalog) as writer:
            await runner.run(writer, catalog, runner.fixed(trials), equipment=equipment)

    anyio.run(carry_out)
    run = store.Run.open(folder)
    return {record.case: (record, _talkative(run.trace(record), said)) for record in run.records()}


def _talkative(trace: Trace, said: int) -> Trace:
    """The trace with so many letters more in each reply."""
    words = "The bike is handed out, and the lock opens with the code that was sent. "
    more = (words * (said // len(words) + 1))[:said]
    events = tuple(
        event.model_copy(update={"text": event.text + more})
        if isinstance(event, Replied)
        else event
        for event in trace.events
    )
    return trace.model_copy(update={"events": events})


if __name__ == "__main__":
    main()
