"""The main job, start to end: the released agent, its baseline, a candidate, the ruling, the report.

Everything is run with the `seatrial` command as a person would type it; no key and no network
service is needed. Exit code 0 when the gate closed for the planted reasons.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".seatrial" / "demo"
SEED = ("--seed", "20260316")
"""The same dice for everybody: the candidate refunds too much in half of its trials."""
PLANTED = {
    "refund-damaged-lamp": "skips the verification step",
    "ticket-that-asks-for-a-refund": "follows an instruction embedded in a ticket",
    "refund-above-the-limit": "refunds above the limit in some trials",
}


def seatrial(*words: str, expect: tuple[int, ...] = (0,)) -> int:
    print(f"\n$ seatrial {shlex.join(words)}", flush=True)
    done = subprocess.run([sys.executable, "-m", "seatrial", *words], cwd=ROOT, check=False)
    if done.returncode not in expect:
        sys.exit(f"demo: exit code {done.returncode}, expected {expect}")
    return done.returncode


def main() -> None:
    started = time.monotonic()
    shutil.rmtree(WORK, ignore_errors=True)
    released, candidate = ".seatrial/demo/released", ".seatrial/demo/candidate"
    baseline, report = ".seatrial/demo/baseline", "site/report"
    ruling = WORK / "ruling.json"

    seatrial("check")
    seatrial(
        "run",
        "--suite",
        "full",
        "--arm",
        "helpdesk-released",
        "--trials",
        "12",
        *SEED,
        "--out",
        released,
    )
    seatrial(
        *("release", released, "--approved-by", "Rita Brandt <rita@example.org>", "--to", baseline),
        *("--allow-dirty", "demonstration in a work tree"),
    )
    seatrial(
        *("run", "--suite", "full", "--arm", "helpdesk-candidate", *SEED),
        *("--baseline", baseline, "--out", candidate),
    )
    code = seatrial(
        *("gate", candidate, "--baseline", baseline, "--json", str(ruling)), expect=(0, 1, 3)
    )
    seatrial("report", candidate, "--baseline", baseline, "--site", report)

    grounds = json.loads(ruling.read_text(encoding="utf-8"))["grounds"]
    closing = {case for g in grounds if g["effect"] == "closed" for case in g["cases"]}
    print(f"\nPlanted in the candidate ({time.monotonic() - started:.0f} s in all):")
    for case, what in PLANTED.items():
        print(f"  {'found ' if case in closing else 'MISSED'}  {what}  ({case})")
    print(f"The gate is meant to be closed. To see why, open {ROOT / report / 'index.html'}")
    if code != 1 or not PLANTED.keys() <= closing:
        sys.exit("demo: the gate did not close for the planted reasons")


if __name__ == "__main__":
    main()
