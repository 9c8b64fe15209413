"""What `seatrial check` costs on many cases, beside the C YAML loader alone on the same bytes.

    python benchmarks/bench_check.py [CASES]

Prints CPU seconds of the whole command (a process of its own, start-up included), of `loading` inside
this process, of `yaml.CSafeLoader` on the same bytes, and their ratios. The target is at most 4 s of CPU
for 2,000 cases; and, for 10,000, at most 1.6 times what the C loader needs.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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


def write(root: Path, cases: int) -> None:
    """A repository of so many cases, a hundred to a folder."""
    orders = "\n".join(f"    - {{id: o-{n}, status: open, refunded: 0}}" for n in range(cases))
    for folder in ("fixtures", "suites"):
        (root / folder).mkdir()
    (root / "fixtures" / "shop.yaml").write_text(WORLD.format(orders=orders), encoding="utf-8")
    (root / "suites" / "all.yaml").write_text(SUITE, encoding="utf-8")
    for n in range(cases):
        folder = root / "cases" / f"{n // 100:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n:05d}.yaml").write_text(CASE.format(n=n), encoding="utf-8")


def of_process(*words: str) -> float:
    """CPU seconds of a process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_call(act: Callable[[], object]) -> float:
    """CPU seconds of a call, the least of three."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        act()
        spent.append(time.process_time() - start)
    return min(spent)


def main(cases: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, cases)
        files = loading.read_tree(root)
        size = sum(map(len, files.values()))
        lines = sum(data.count(b"\n") for data in files.values())
        print(f"{cases} cases, {lines} lines, {size / 1e6:.1f} MB")
        loader = of_call(lambda: [yaml.load(d, yaml.CSafeLoader) for d in files.values()])
        inside = of_call(lambda: loading.load(loading.read_tree(root)))
        command = min(
            of_process(sys.executable, "-m", "seatrial", "check", str(root)) for _ in range(3)
        )
    print(f"C YAML loader alone       {loader:6.2f} s")
    print(f"loading.load + read_tree  {inside:6.2f} s   {inside / loader:.2f} x the C loader")
    print(f"seatrial check            {command:6.2f} s   {command / loader:.2f} x the C loader")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
