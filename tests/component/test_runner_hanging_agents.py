"""An agent that never answers, whatever it is spoken to in, costs its turn's time and nothing more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop, shop_trials
from tests.turn_services import turn_service

from seatrial.verdicts import Cause, Verdict

AGENT = Path(__file__).parents[1] / "agents" / "tool_agent.py"
EVENTS = [{"add": "$.text"}, {"data": "[DONE]", "end": True}]


@contextmanager
def pinging() -> Iterator[dict[str, Any]]:
    """A stream that says something now and then, and never ends."""
    over = threading.Event()

    def ping(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        try:
            handler.wfile.write(head + b'data: {"text": "Hel"}\n\n')
            while not over.wait(0.05):
                handler.wfile.write(b": ping\n\n")
        except OSError:
            return  # it has been left

    with turn_service(ping, raw=True) as it:
        yield {"type": "http", "url": it.url, "events": EVENTS}
        over.set()


@contextmanager
def hanging() -> Iterator[dict[str, Any]]:
    """A tool that never comes to a result."""
    command = ["{python}", str(AGENT), "hang"]
    arguments = {"text": "{{text}}"}
    yield {"type": "mcp", "command": command, "tool": "ask", "arguments": arguments}


@pytest.mark.parametrize("agent", [pinging, hanging])
def test_a_turn_that_never_ends_is_invalid_for_its_time(tmp_path: Path, agent: Any):
    case = bike_shop.case(limits={"turn_seconds": 0.5})
    with agent() as adapter:
        catalog = bike_shop.catalog(case, bike_shop.arm("x", adapter))
        ((record, trace),) = shop_trials.carried_out(tmp_path, catalog)

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.TIME)
    assert "no reply within 0.5 s (turn 1)" in record.detail
    assert trace.replies == ()
    assert record.retried == ()
