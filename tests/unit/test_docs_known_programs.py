"""The mappings of known programs on the page about arms, over lines as their makers show them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import bike_shop

from seatrial.arms.shaped import Events, heard
from seatrial.documents import Command
from seatrial.documents.programs import PerTurn
from seatrial.errors import ArmError
from seatrial.trace import Usage

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "arms.md"
BLOCKS = {
    adapter["command"][0]: adapter
    for block in re.findall(r"^```yaml\n(adapter:.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    for adapter in [yaml.safe_load(block)["adapter"]]
    if "per_turn" in adapter
}  # fmt: skip


def says(program: str) -> PerTurn:
    adapter = bike_shop.arm("x", BLOCKS[program]).adapter
    assert isinstance(adapter, Command)
    assert adapter.per_turn
    return adapter.per_turn


def taken(program: str, *events: dict[str, Any]) -> Events:
    rules = says(program).events
    assert rules
    found = Events(rules, who="the agent")
    for event in events:
        found.take(json.dumps(event))
    return found


CLAUDE = {"type": "result", "is_error": False, "subtype": "success", "session_id": "c-1"}
CODEX = (
    {"type": "thread.started", "thread_id": "0199a213"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "Hm."}},
    {
        "type": "item.completed",
        "item": {"id": "item_1", "type": "agent_message", "text": "I look."},
    },
    {"type": "item.completed", "item": {"id": "item_3", "type": "agent_message", "text": "Yep."}},
)


def test_claude_code_is_heard():
    init = {"type": "system", "subtype": "init", "session_id": "c-1", "model": "claude-x-1"}
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Let me see."}]}}
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 300,
        "output_tokens": 9,
    }
    result = {**CLAUDE, "result": "Here it is.", "usage": usage, "total_cost_usd": 0.01}

    events = taken("claude", init, said, result)

    found = events.heard()
    assert events.ended
    assert (found.reply.text, found.session) == ("Here it is.", "c-1")
    assert found.reply.served_model == "claude-x-1"
    assert found.reply.usage == Usage(
        input_tokens=314, cached_input_tokens=300, output_tokens=9, cost=0.01
    )


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"subtype": "error_max_turns"}, "error_max_turns"),
        ({"result": "Credit balance is too low"}, "Credit balance is too low"),
    ],
)
def test_claude_code_that_fails_says_why(told: dict[str, Any], why: str):
    with pytest.raises(ArmError, match=why):
        taken("claude", {**CLAUDE, "is_error": True, **told})


def test_codex_is_heard_and_its_last_message_is_the_reply():
    usage = {"input_tokens": 24763, "cached_input_tokens": 24448, "output_tokens": 122}

    events = taken("codex", *CODEX, {"type": "turn.completed", "usage": usage})

    found = events.heard()
    assert events.ended
    assert (found.reply.text, found.session) == ("Yep.", "0199a213")
    assert found.reply.usage == Usage(**usage)
    with pytest.raises(ArmError, match="stream disconnected"):
        taken("codex", *CODEX, {"type": "turn.failed", "error": {"message": "stream disconnected"}})


def test_gemini_is_heard():
    shape = says("gemini").response
    assert shape

    found = heard({"session_id": "g-1", "response": "Yes.", "stats": {}}, shape, who="the agent")

    assert (found.reply.text, found.session) == ("Yes.", "g-1")
    with pytest.raises(ArmError, match="no quota"):
        heard({"response": "", "error": {"message": "no quota"}}, shape, who="the agent")


@pytest.mark.parametrize("program", BLOCKS)
def test_each_program_goes_on_under_its_session(program: str):
    assert "{session}" in says(program).later
