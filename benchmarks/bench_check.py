"""What `seatrial check` and `seatrial list` cost on many cases, beside the C YAML loader alone on the same bytes.

Paired rounds: in each, the same files are loaded by `yaml.CSafeLoader` in this process and nothing is kept, then
`seatrial check` runs cold (nothing remembered) and warm, and `seatrial list cases` warm, each as a process of its own
with its start. Told are medians of CPU seconds and of the ratios within a round, once for a case a file and once for
twenty. Targets: check cold at most 1.6 × the C loader, warm at most 0.3 ×; list warm under 1 s.

    python benchmarks/bench_check.py [--cases 10000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from seatrial import loading

WORLD = """\
kind: fixture
type: world
id: shop
now: 2026-03-16T09:00:00Z
types:
  order:
    properties: {{id: {{type: string}}, status: {{type: string}}, refunded: {{type: number}}}}
objects:
  order:
{orders}
roles:
  clerk: {{allow: ["*"]}}
actions:
  get_order:
    description: Read one order.
    read_only: true
    parameters:
      type: object
      properties: {{order_id: {{type: string}}}}
      required: [order_id]
      additionalProperties: false
  refund_order:
    description: Pay an order back.
    parameters:
      type: object
      properties: {{order_id: {{type: string}}, amount: {{type: number}}}}
      required: [order_id, amount]
      additionalProperties: false
  delete_order:
    description: Delete an order for good.
    destructive: true
    parameters:
      type: object
      properties: {{order_id: {{type: string}}}}
      required: [order_id]
      additionalProperties: false
"""

SUITE = """\
kind: suite
id: all
cases:
  - tags: [refund]
"""

ARM = """\
kind: arm
id: released
agent: help-desk
version: "1"
deployed: [production]
adapter: {type: python, target: "agent:reply"}
sources:
  prompt: [prompts/*.md]
"""

CASE = """\
# yaml-language-server: $schema=../../site/schema/case.json
kind: case
id: refund-within-limit-{n:05d}
title: Refunds an order within the limit, number {n}
group: task
required: false
agent: help-desk
world: shop
role: clerk
task: >-
  My order o-{n} arrived broken. I would like to have my money back, and my word is {{{{run}}}}.
  It was 40 euros, and the parcel was open when it came.
tags: [refund, money, smoke]
owner: desk-team
priority: 3
requirements: [REQ-{n}, REQ-7]
provenance:
  source: hand
  author: Ada Example
  date: 2026-03-01
reviewed: 2026-03-02
limits:
  turn_seconds: 30
  calls: 12
checks:
  - check: tool_called
    tool: get_order
    arguments:
      order_id: o-{n}
    because: the order is looked at before anything is done
  - check: tool_not_called
    tool: delete_order
  - check: end_state
    changed:
      - type: order
        key: o-{n}
        properties:
          status: refunded
          refunded: {{between: [0, 40]}}
  - check: reply_contains
    any_of: [refund, money back]
    severity: warning
"""


def write(root: Path, cases: int, per_file: int) -> None:
    """A repository of so many cases, a hundred files to a folder, one arm and its prompts."""
    orders = "\n".join(f"    - {{id: o-{n}, status: open, refunded: 0}}" for n in range(cases))
    others = {
        "fixtures/shop.yaml": WORLD.format(orders=orders),
        "suites/all.yaml": SUITE,
        "arms/released.yaml": ARM,
        "prompts/system.md": "You help with orders.\n",
        "agent.py": "def reply(turn): ...\n",
    }
    for path, text in others.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for number, first in enumerate(range(0, cases, per_file)):
        folder = root / "cases" / f"{number // 100:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        texts = (CASE.format(n=n) for n in range(first, min(first + per_file, cases)))
        (folder / f"{first:05d}.yaml").write_text("---\n".join(texts), encoding="utf-8")
    git = ("git", "-c", "user.name=Ada Example", "-c", "user.email=ada@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "All cases")):
        subprocess.run([*git, *words], cwd=root, check=True)


def of_process(home: Path, *words: str) -> float:
    """CPU seconds of a command, user and system, with the compiled code and what it remembers under `home`."""
    environment = os.environ | {
        "PYTHONPYCACHEPREFIX": str(home / "compiled"),
        "SEATRIAL_CACHE": str(home / "remembered"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
    command = [sys.executable, "-m", "seatrial", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_loader(files: dict[str, bytes]) -> float:
    """CPU seconds of the C YAML loader alone."""
    start = time.process_time()
    for data in files.values():
        for _ in yaml.load_all(data, yaml.CSafeLoader):
            pass
    return time.process_time() - start


def measure(cases: int, per_file: int, rounds: int) -> None:
    """Paired rounds on one tree."""
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "root", Path(folder) / "home"
        root.mkdir()
        write(root, cases, per_file)
        files = loading.read_tree(root)
        size = sum(map(len, files.values()))
        lines = sum(data.count(b"\n") for data in files.values())
        print(f"{cases:,} cases in {len(files):,} files, {lines:,} lines, {size / 1e6:.1f} MB")
        of_process(home, "check", str(root))  # compiles what is compiled once
        spent: dict[str, list[float]] = {"loader": [], "cold": [], "warm": [], "list": []}
        for _ in range(rounds):
            shutil.rmtree(home / "remembered", ignore_errors=True)
            spent["loader"].append(of_loader(files))
            spent["cold"].append(of_process(home, "check", str(root)))
            spent["warm"].append(of_process(home, "check", str(root)))
            of_process(home, "list", "cases", "--root", str(root))
            spent["list"].append(of_process(home, "list", "cases", "--root", str(root)))
    loader = spent["loader"]
    print(f"  C YAML loader alone    {statistics.median(loader):6.2f} s")
    for name, what, most in (
        ("cold", "seatrial check, cold", "at most 1.6 ×"),
        ("warm", "seatrial check, warm", "at most 0.3 ×"),
        ("list", "seatrial list, warm", "under 1 s"),
    ):
        ratio = statistics.median(own / base for own, base in zip(spent[name], loader, strict=True))
        print(f"  {what:22} {statistics.median(spent[name]):6.2f} s   {ratio:.2f} ×   ({most})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for per_file in (1, 20):
        measure(given.cases, per_file, given.rounds)


if __name__ == "__main__":
    main()
