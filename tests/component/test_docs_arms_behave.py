"""Arms on the pages about arms do what the pages say: spoken to as they stand, by what answers in their form."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from tests import bike_shop
from tests.turn_services import TurnService, talk, turn_service

from seatrial import arms
from seatrial.errors import ArmError
from seatrial.trace import Answer, Usage

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = [
    yaml.safe_load(block)
    for page in ("how-to/connect-your-agent.md", "reference/arms.md")
    for block in re.findall(
        r"^```yaml\n(adapter:.*?)^```$", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
]
SSE = "text/event-stream"


def shown(part: str) -> dict[str, Any]:
    """The one arm of the pages in which this stands."""
    (found,) = [block for block in BLOCKS if part in json.dumps(block["adapter"])]
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def heard_by(it: TurnService, arm: dict[str, Any], *texts: str) -> list[arms.Reply]:
    adapter = {key: value for key, value in arm["adapter"].items() if key not in ("type", "url")}
    here = it.url.removesuffix("/turn")
    path = re.sub(r"^http://[^/]*", "", arm["adapter"]["url"])
    if "begin" in adapter:
        begun = re.sub(r"^http://[^/]*", here, adapter["begin"]["url"])
        adapter["begin"] = {**adapter["begin"], "url": begun}
    it.url = here
    return talk(it, *texts, settings=arm.get("settings"), path=path, **adapter)


def test_a_service_with_an_api_of_its_own_is_spoken_to_as_the_page_says():
    arm = shown("conversation_id")
    arm["adapter"]["request"]["tools"]["url"] = "{{mcp.url.bike-shop}}"  # of the trial here
    usage = {"input": 7, "output": 2}

    with turn_service(
        lambda _: (200, {"answer": "Yes.", "conversation_id": "c-1", "usage": usage})
    ) as it:
        first, _ = heard_by(it, arm, "Hello.", "And now?")

    tools = {"url": "http://127.0.0.1:1/c/x/bike-shop/mcp", "token": "t0ken"}
    options = {"temperature": 0.2}
    assert first == arms.Reply("Yes.", Usage(input_tokens=7, output_tokens=2))
    assert it.received == [
        {"input": "Hello.", "options": options, "tools": tools},
        {"input": "And now?", "conversation_id": "c-1", "options": options, "tools": tools},
    ]


def test_a_service_that_keeps_nothing_and_streams_is_heard_as_the_page_says():
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    events = [
        {"choices": [{"delta": {"role": "assistant", "content": None}}], "model": "m-1"},
        {"choices": [{"delta": {"content": "Ye"}}]},
        {"choices": [{"delta": {"content": "s."}}]},
        {"choices": [], "usage": usage},
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"

    with turn_service(lambda _: (200, stream.encode(), SSE)) as it:
        replies = heard_by(it, shown("choices[0]"), "a", "b")

    assert replies == [arms.Reply("Yes.", Usage(input_tokens=7, output_tokens=2), "m-1")] * 2
    assert it.received[1] == {
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "b"},
        ],
        "stream": True,
        "mcp": {"mcpServers": {"bike-shop": {"url": "…"}}},
    }


def test_a_conversation_that_has_to_be_begun_is_begun_as_the_page_says():
    def answer(body: Any) -> Any:
        if "user" in body:
            return 200, {"thread": {"id": "th 1"}}
        output = [{"type": "thought", "text": "Hm."}, {"type": "message", "text": "Yes."}]
        usage = {"prompt": 7, "completion": 2}
        return 200, {"output": output, "model": "m-1", "usage": usage, "error": None}

    with turn_service(answer) as it:
        replies = heard_by(it, shown("begin"), "Hello.", "Bye.")

    assert replies == [arms.Reply("Yes.", Usage(input_tokens=7, output_tokens=2), "m-1")] * 2
    assert it.asked == ["POST /threads", *["POST /threads/th%201/messages"] * 2]
    assert it.received == [
        {"user": "t1", "style": "short"},
        {"message": {"role": "user", "content": "Hello."}, "seed": 11},
        {"message": {"role": "user", "content": "Bye."}, "seed": 11},
    ]
    assert it.headers[-1]["X-Tools"] == "http://127.0.0.1:1/c/x"
    assert it.headers[-1]["X-Tools-Token"] == "t0ken"


@pytest.mark.parametrize("whole", [True, False])
def test_events_come_to_a_reply_as_the_page_says(whole: bool):
    done = {"type": "done", "tokens": 2, "model": "m-1", **({"reply": "Yes."} if whole else {})}
    events = [
        ("message", {"type": "started", "thread": "c-1"}),
        ("delta", {"delta": {"text": "Ye"}}),
        ("delta", {"delta": {"text": "s"}}),
        ("message", done),
    ]
    stream = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)

    with turn_service(lambda _: (200, f"{stream}data: [DONE]\n\n".encode(), SSE)) as it:
        if not whole:
            with pytest.raises(ArmError, match=r"nothing under `\$.reply`"):
                heard_by(it, shown("$.delta.text"), "Hello.")
            return
        first, _ = heard_by(it, shown("$.delta.text"), "Hello.", "Bye.")

    assert first == arms.Reply("Yes.", Usage(output_tokens=2), "m-1")
    assert it.received == [{"input": "Hello."}, {"input": "Bye.", "thread": "c-1"}]


def test_a_program_per_turn_is_started_as_the_page_says(tmp_path: Path):
    program = tmp_path / "desk-cli"
    program.write_text(
        '#!/bin/sh\nprintf \'{"reply": "%s", "conversation": "c-1", "model": "m-1"}\' "$*"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    adapter = shown("desk-cli")["adapter"]
    adapter["env"] = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    adapter["command"] = [
        word if word != "desk-cli" else str(program) for word in adapter["command"]
    ]
    later = adapter["per_turn"]["later"]
    adapter["per_turn"]["later"] = [str(program), *later[1:]]

    first, second = anyio.run(_talking, adapter, "-v?", "Bye.")

    assert re.fullmatch(r"ask --mcp-config \S+/mcp\.json -- -v\?", first.text)
    assert re.fullmatch(r"ask --mcp-config \S+/mcp\.json --resume c-1 -- Bye\.", second.text)
    assert second.served_model == "m-1"


async def _talking(adapter: dict[str, Any], *texts: str) -> list[arms.Reply]:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        raise AssertionError("a program calls over the network")

    seat = arms.Seat(
        run="r1", trial="t1-of-the-pages", root=DOCS.parent, now="2026-04-01T10:00:00Z", seed=11, settings={},
        url="http://127.0.0.1:1/c/x", urls={}, token="t0ken", config={"mcpServers": {}}, call=call,
        environ=dict(os.environ),
    )  # fmt: skip
    arm = bike_shop.arm("x", adapter)
    with anyio.fail_after(60):
        async with arms.connections() as shared, arms.open(arm, seat, shared) as conversation:
            return [await conversation.reply(n, t) for n, t in enumerate(texts, 1)]
