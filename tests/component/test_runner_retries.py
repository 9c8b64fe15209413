"""Trials that came to nothing without the agent's doing are begun again, and no others."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from tests import bike_shop, shop_trials

from seatrial.records import TrialRecord
from seatrial.trace import Trace
from seatrial.verdicts import Cause, Verdict

Answer = tuple[int, dict[str, Any]]


def test_trial_whose_service_was_busy_begins_again_in_a_fresh_world_with_a_fresh_agent(
    tmp_path: Path,
):
    seen: list[str] = []

    def agent(body: dict[str, Any]) -> Answer:
        seen.append(body["conversation"])
        called = call(body, "rent", bike="b-1", renter=body["text"].split()[2].rstrip("."))
        if len(seen) < 3:
            return 503, {}
        return 200, {"text": "failed" if called["isError"] else "rented"}

    with service(agent) as url:
        record, trace = trial(tmp_path, url)

    assert (record.verdict, record.detail) == (Verdict.PASSED, "")
    assert [reply.text for reply in trace.replies] == ["rented"]
    assert len(set(seen)) == 3
    assert [again.cause for again in record.retried] == [Cause.AGENT_UNREACHABLE] * 2
    assert "status 503" in record.retried[0].detail
    assert len(trace.calls) == 1


def test_trial_is_begun_again_twice_at_most(tmp_path: Path):
    asked: list[int] = []

    def agent(_: dict[str, Any]) -> Answer:
        asked.append(1)
        return 500, {}

    with service(agent) as url:
        record, _ = trial(tmp_path, url)

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.AGENT_UNREACHABLE)
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ((200, {"text": "I did nothing."}), Verdict.FAILED),
        ((404, {}), Verdict.INVALID),
        ((200, {"no": "text"}), Verdict.INVALID),
    ],
)
def test_trial_is_never_begun_again_for_what_the_agent_did(
    tmp_path: Path, answer: Answer, verdict: Verdict
):
    asked: list[int] = []

    def agent(_: dict[str, Any]) -> Answer:
        asked.append(1)
        return answer

    with service(agent) as url:
        record, _ = trial(tmp_path, url)

    assert record.verdict is verdict
    assert (len(asked), record.retried) == (1, ())


def test_something_forbidden_before_a_service_broke_is_not_lost(tmp_path: Path):
    asked: list[int] = []

    def agent(body: dict[str, Any]) -> Answer:
        asked.append(1)
        call(body, "scrap", bike="b-1")
        return 503, {}

    with service(agent) as url:
        record, _ = trial(tmp_path, url)

    assert (record.verdict, record.violations, len(asked)) == (Verdict.INVALID, 1, 1)


def trial(root: Path, url: str) -> tuple[TrialRecord, Trace]:
    arm = bike_shop.arm(adapter={"type": "http", "url": url})
    (one,) = shop_trials.carried_out(root, bike_shop.catalog(bike_shop.case(), arm))
    return one


def call(body: dict[str, Any], tool: str, **arguments: Any) -> Any:
    """Call a tool as a service does that has only what came with its turn."""
    (server,) = body["mcp"]["mcpServers"].values()
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    return httpx.post(server["url"], json=asked, headers=server["headers"]).json()["result"]


@contextmanager
def service(agent: Callable[[dict[str, Any]], Answer]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            status, answer = agent(json.loads(raw))
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/turns"
        finally:
            server.shutdown()
            thread.join(10)
