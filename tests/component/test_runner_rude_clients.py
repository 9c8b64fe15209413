"""Agents that hang up, cancel, and borrow from other trials: what the record says, and what is left running."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from tests import bike_shop, mcp_wire
from tests.lending_desk import LendingDesk
from tests.mcp_wire import call, post
from tests.shop_trials import carried_out

from seatrial.documents import Answers, Catalog
from seatrial.gateway import Gateway
from seatrial.records import TrialRecord
from seatrial.trace import Called, Noted, Trace
from seatrial.verdicts import Verdict

AGENTS = Path(__file__).parents[1] / "agents"
SLOW = Answers.model_validate(
    {
        "kind": "fixture",
        "type": "answers",
        "id": "slow",
        "tools": {"get_bike": {"rules": [{"answer": {"id": "b-1"}, "delay_ms": 100_000}]}},
    }
)
REPLIES = """read turn; printf '{"type": "reply", "text": "No."}\\n'; read end"""


def slow_shop(*functions: str) -> Catalog:
    """A case in which looking up takes for ever, and arms that are functions of `rude_clients`."""
    arms = [bike_shop.arm(f, {"type": "python", "target": f"rude_clients:{f}"}) for f in functions]
    catalog = bike_shop.catalog(bike_shop.case(answers="slow"), *arms)
    return replace(catalog, fixtures={**catalog.fixtures, "slow": SLOW})


def notes_of(trace: Trace) -> list[str]:
    return [event.text for event in trace.events if isinstance(event, Noted)]


def by_arm(ended: list[tuple[TrialRecord, Trace]]) -> dict[str, tuple[TrialRecord, Trace]]:
    return {record.arm: (record, trace) for record, trace in ended}


def test_a_call_that_is_abandoned_or_taken_back_is_in_the_record_and_harms_no_sibling(
    tmp_path: Path,
):
    os.symlink(AGENTS / "rude_clients.py", tmp_path / "rude_clients.py")

    ended = by_arm(carried_out(tmp_path, slow_shop("hangs_up", "cancels", "rents_over_http")))

    for arm, why in (
        ("hangs_up", "the client closed the connection"),
        ("cancels", "the client cancelled it"),
    ):
        record, trace = ended[arm]
        assert (record.verdict, record.cause) == (Verdict.FAILED, None), record.detail
        (event,) = (e for e in trace.events if isinstance(e, Called))
        assert event.answer.is_error
        assert event.answer.text == f"Not answered: {why}."
        assert not event.changed
        assert trace.changes == ()
    assert "the client cancelled it" in ended["cancels"][1].replies[0].text
    assert ended["rents_over_http"][0].verdict is Verdict.PASSED


def test_token_and_session_of_another_trial_are_refused_and_both_records_say_so(tmp_path: Path):
    os.symlink(AGENTS / "rude_clients.py", tmp_path / "rude_clients.py")

    ended = carried_out(tmp_path, slow_shop("borrows"), trials=2)

    by_reply = {trace.replies[0].text: trace for _, trace in ended}
    assert set(by_reply) == {"I waited.", "401 404"}
    assert notes_of(by_reply["I waited."]) == [
        "A request came with the token of another trial; it was refused.",
        "A request came with the session of another trial; it was refused.",
    ]
    assert notes_of(by_reply["401 404"]) == [
        "Its token was used at another trial's address; it was refused there.",
        "Its session was used by another trial; it was refused there.",
    ]
    assert [trace.changes for _, trace in ended] == [(), ()]


def test_a_thousand_calls_under_way_at_once_are_all_answered_and_a_sibling_is_served_meanwhile():
    count = 1000

    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        desk = LendingDesk(things=[f"t{n}" for n in range(count)])
        desk.expected = count
        channel, sibling = gateway.open([desk]), gateway.open([LendingDesk()])
        answered: list[int] = []
        address = urlsplit(channel.url("desk"))

        async def lend(number: int) -> None:
            body = json.dumps(call("queue", thing=f"t{number}", id=number)).encode()
            head = f"POST {address.path} HTTP/1.1\r\nhost: {address.netloc}\r\n"
            head += f"authorization: Bearer {channel.token}\r\ncontent-type: application/json\r\n"
            head += f"connection: close\r\ncontent-length: {len(body)}\r\n\r\n"
            async with await anyio.connect_tcp("127.0.0.1", address.port or 0) as stream:
                await stream.send(head.encode() + body)
                received = b"".join([part async for part in stream])
            answer = json.loads(received.partition(b"\r\n\r\n")[2])
            assert not answer["result"]["isError"]
            answered.append(answer["id"])

        async with anyio.create_task_group() as tasks:
            for number in range(count):
                tasks.start_soon(lend, number)
            await desk.someone_waits.wait()
            found = await post(client, sibling, call("look_up", thing="saw"))
            assert found.json()["result"]["structuredContent"]["holder"] == "desk"
            assert (answered, channel.events) == ([], ())
            desk.clerk.set()
        assert sorted(answered) == list(range(count))
        calls = [event for event in channel.events if isinstance(event, Called)]
        assert [event.number for event in calls] == list(range(1, count + 1))

    with room_for_descriptors(3 * count):
        mcp_wire.run(check)


@contextmanager
def room_for_descriptors(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < count:
        pytest.skip(f"this machine gives a process {hard} descriptors, and {count} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_five_hundred_trials_leave_no_process_no_descriptor_no_task_and_no_memory(tmp_path: Path):
    over_http = {"type": "python", "target": "rude_clients:rents_over_http"}
    arms = [
        bike_shop.arm("over-http", over_http, limits={"at_once": 64}),
        bike_shop.arm(
            "process",
            {"type": "command", "command": ["sh", "-c", REPLIES]},
            limits={"at_once": 64, "turn_seconds": 100.0},
        ),
    ]

    def run(name: str, many: int, few: int) -> list[TrialRecord]:
        root = tmp_path / name
        root.mkdir()
        os.symlink(AGENTS / "rude_clients.py", root / "rude_clients.py")
        cases = [bike_shop.case(f"c-{n}", trials=few) for n in range(2)]
        ended = carried_out(
            root, bike_shop.catalog(*cases, arms[1]), trials=few, at_once=64
        ) + carried_out(
            root, bike_shop.catalog(*cases, arms[0]), trials=many, at_once=64, folder=".others"
        )
        return [record for record, _ in ended]

    run("warm-up", 40, 10)
    before = _left()
    records = run("measured", 220, 30)
    after = _left()

    assert len(records) == 500
    verdicts = {(record.arm, record.verdict) for record in records}
    assert verdicts == {("over-http", Verdict.PASSED), ("process", Verdict.FAILED)}
    assert after["processes"] == before["processes"]
    assert after["descriptors"] == before["descriptors"]
    assert after["pages"] <= before["pages"] * 1.1


def _left() -> dict[str, int]:
    """What this process holds: its children, descriptors, and pages of memory."""
    gc.collect()
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()  # and with the loop its tasks are gone
    own = str(os.getpid())
    children = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                told = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            children += told[1].decode() == own
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return {
        "processes": children,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "pages": int(pages),
    }
