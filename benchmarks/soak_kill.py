"""Kill a run at 50 random instants (`kill -9`), and go on each time: nothing is lost, nothing is run twice.

`python benchmarks/soak_kill.py [KILLS [SEED]]`. The arms are a process per trial and a function. The instants lie
anywhere within the time that a run takes by itself, from its first import to its seal; a run that comes to its end is
looked at whole, and another one is begun. It ends with exit code 1 where anything is missing, doubled, or left behind.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import bike_shop

from seatrial import store

AGENTS = Path(__file__).resolve().parents[1] / "tests" / "agents"
TRIALS, CASES = 30, "abcd"
"""Trials of each case by each arm; the cases."""
BEGIN = ("run", "--suite", "all", "--trials", str(TRIALS), "--at-once", "4", "--out", "r")
GO_ON = ("run", "--resume", "r")


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20260401
    with tempfile.TemporaryDirectory() as name:
        _soak(Path(name), kills, random.Random(seed))


def _soak(root: Path, kills: int, chance: random.Random) -> None:
    _repository(root)
    journal = root / "r" / "journal.jsonl"
    started = time.monotonic()
    with _start(root, *BEGIN) as run:
        _demand(run.wait(300) == 0, "the run could not be carried out")
    life = time.monotonic() - started
    _check(root, b"")
    shutil.rmtree(root / "r")
    words: tuple[str, ...] = BEGIN
    before, killed, ended, early = b"", 0, 0, 0
    while killed < kills:
        with _start(root, *words) as run:
            # The instant itself is the point: anywhere between the first import and the end.
            try:
                run.wait(chance.uniform(0, life))
            except subprocess.TimeoutExpired:
                run.kill()
                run.wait(60)
                killed += 1
            else:
                ended += 1
        if not (root / "r" / "run.json").is_file():
            early += 1  # before the plan was written: nothing is lost by beginning anew
            shutil.rmtree(root / "r", ignore_errors=True)
            continue
        after = journal.read_bytes() if journal.is_file() else b""
        _demand(after.startswith(before), "a record that was stored has changed or is gone")
        before = after[: after.rfind(b"\n") + 1]
        words = GO_ON
        if before.count(b"\n") == TRIALS * len(CASES) * 2:
            _check(root, before)
            shutil.rmtree(root / "r")
            words = [
                "run",
                "--suite",
                "all",
                "--trials",
                str(TRIALS),
                "--at-once",
                "4",
                "--out",
                "r",
            ]
            before = b""
    if before:
        with _start(root, *GO_ON) as run:
            _demand(run.wait(300) == 0, "the run could not be ended")
        _check(root, before)
    print(
        f"ok    killed at {killed} instants ({early} of them before the plan was written), {ended} runners came to "
        "their end: every trial once, every trace whole, nothing left behind"
    )


def _check(root: Path, before: bytes) -> None:
    """A whole run: each trial once with its trace, sealed, and no process or folder of it is left."""
    if not store.Run.open(root / "r").sealed:
        with _start(root, *GO_ON) as run:
            _demand(run.wait(300) == 0, "the run could not be ended")
    run_after = store.Run.open(root / "r")
    found = Counter((r.case, r.arm, r.number) for r in run_after.records())
    wanted = Counter(
        (case, arm, n)
        for case in CASES
        for arm in ("program", "rents")
        for n in range(1, TRIALS + 1)
    )
    _demand(found == wanted, "not every trial is there just once")
    _demand((root / "r" / "journal.jsonl").read_bytes().startswith(before), "records have changed")
    _demand(run_after.sealed, "the run is not sealed")
    for record in run_after.records():
        _demand(run_after.trace(record).number == record.number, "a trace is not its record's")
    left = list(Path(tempfile.gettempdir()).glob(f"seatrial-{run_after.manifest.run}-*"))
    _demand(not left, f"left behind: {left}")


def _demand(right: bool, what: str) -> None:
    if not right:
        raise SystemExit(f"MISS  {what}")


def _repository(root: Path) -> None:
    program = {"type": "command", "command": ["{python}", "clerk.py"]}
    arms = [
        bike_shop.arm("program", program, settings={"seconds": 0.0}),
        bike_shop.arm("rents", {"type": "python", "target": "shop_agents:rents"}),
    ]
    bike_shop.write_tree(root, bike_shop.catalog(*map(bike_shop.case, CASES), *arms))
    for agent in ("clerk.py", "shop_agents.py"):
        shutil.copy(AGENTS / agent, root)


def _start(root: Path, *words: str) -> subprocess.Popen[bytes]:
    source = str(Path(store.__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-m", "seatrial", *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"  {time.monotonic() - started:.0f} s")
