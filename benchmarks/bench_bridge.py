"""What `seatrial gateway connect` costs an agent: until its first answer, and a call.

The address of a trial's tools is bridged to a pipe by the program that config files name, and by the
command. The CPU time counted is the bridge's own. Beside it, as a measure for this machine: a Python
that starts and ends.

    python benchmarks/bench_bridge.py [--starts 10] [--calls 2000]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from seatrial import bridge
from seatrial.documents import ObjectsWorld
from seatrial.gateway import Gateway
from seatrial.worlds import staged

WORLD = ObjectsWorld.model_validate(
    {
        "kind": "fixture",
        "type": "world",
        "id": "desk",
        "now": "2026-04-01T10:00:00Z",
        "types": {"thing": {"properties": {"id": {"type": "string"}}}},
        "objects": {"thing": [{"id": "saw"}]},
        "actions": {
            "look_up": {
                "description": "Who has it.",
                "read_only": True,
                "parameters": {"type": "object", "properties": {}},
                "returns": {"holder": "desk"},
            }
        },
    }
)
COMMAND = (sys.executable, "-m", "seatrial", "gateway", "connect")
TARGETS = {"life": 100.0, "call": 0.5}
"""ms of CPU of the program that config files name: from its start over one answer to its end, and for a call."""


def line(method: str, **params: object) -> bytes:
    """A request."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


HELLO = line("initialize", protocolVersion="2025-11-25", capabilities={})
CALL = line("tools/call", name="look_up", arguments={})


def used() -> float:
    """CPU seconds of the processes that have ended."""
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of_children.ru_utime + of_children.ru_stime


class Bridged:
    """A bridge that has answered the handshake."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        start = time.perf_counter()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)
        self.ask(HELLO)
        self.first_ms = (time.perf_counter() - start) * 1000

    def ask(self, request: bytes) -> None:
        """One request and its answer."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(request)
        self.process.stdin.flush()
        if b'"result"' not in self.process.stdout.readline():
            sys.exit("a request was not answered")

    def end(self) -> float:
        """CPU ms of its whole life."""
        before = used()
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(10)
        return (used() - before) * 1000


def measured(environment: dict[str, str], starts: int, calls: int) -> dict[str, float]:
    """What was found, in ms."""
    bare, firsts, commands, lives = [], [], [], []
    for _ in range(starts):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
        bare.append((time.perf_counter() - start) * 1000)
        bridged = Bridged(bridge.PROGRAM, environment)
        firsts.append(bridged.first_ms)
        lives.append(bridged.end())
        by_command = Bridged(COMMAND, environment)
        commands.append(by_command.first_ms)
        by_command.end()
    bridged = Bridged(bridge.PROGRAM, environment)
    waits = []
    for _ in range(calls):
        start = time.perf_counter()
        bridged.ask(CALL)
        waits.append((time.perf_counter() - start) * 1000)
    life = statistics.median(lives)
    cost = (bridged.end() - life) / calls
    return {
        "bare": statistics.median(bare),
        "first answer": statistics.median(firsts),
        "life": life,
        "by the command": statistics.median(commands),
        "wait": statistics.median(waits),
        "call": cost,
    }


async def served(starts: int, calls: int) -> dict[str, float]:
    """Measure against a gateway in this process."""
    async with (
        Gateway.serving() as gateway,
        staged(Path.cwd(), {}) as stage,
        stage.open(WORLD, run_token="bench", seed=1) as copy,
    ):
        channel = gateway.open([copy])
        environment = {
            **os.environ,
            "SEATRIAL_MCP_URL": channel.url("desk"),
            "SEATRIAL_MCP_TOKEN": channel.token,
        }
        return await anyio.to_thread.run_sync(measured, environment, starts, calls)


def main() -> None:
    """Print what was measured, each beside its target."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--starts", type=int, default=10)
    options.add_argument("--calls", type=int, default=2000)
    given = options.parse_args()
    found = anyio.run(served, given.starts, given.calls)
    print(f"a Python that starts and ends   {found['bare']:7.1f} ms")
    print(f"first answer                    {found['first answer']:7.1f} ms")
    print(f"first answer by the command     {found['by the command']:7.1f} ms")
    print(f"a call, as the agent waits      {found['wait']:7.2f} ms")
    print(f"start, one answer, end: CPU     {found['life']:7.1f} ms  (target {TARGETS['life']:g})")
    print(f"a call, CPU of the bridge       {found['call']:7.2f} ms  (target {TARGETS['call']:g})")


if __name__ == "__main__":
    main()
