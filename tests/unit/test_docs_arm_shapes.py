"""Arms on the pages about arms: each one that is whole is one that `seatrial check` takes."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from seatrial.loading import load

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = [
    block
    for page in ("how-to/connect-your-agent.md", "reference/arms.md")
    for block in re.findall(
        r"^```yaml\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    if not block.startswith("kind:")
]


@pytest.mark.parametrize("block", BLOCKS)
def test_an_arm_of_the_pages_is_valid(block: str):
    frame: dict[str, Any] = {"kind": "arm", "id": "desk", "agent": "library", "version": "1"}
    written = yaml.safe_load(block)
    frame |= {"model": {"name": "m-1"}} if "model" not in written else {}
    frame |= {"adapter": {"type": "command", "command": ["x"]}} if "adapter" not in written else {}
    text = yaml.safe_dump(frame) + block

    assert "desk" in load({"arms/desk.yaml": text.encode()}).arms


def test_the_pages_have_an_arm_of_each_form():
    adapters = [yaml.safe_load(block).get("adapter", {"type": ""}) for block in BLOCKS]

    assert {a["type"] for a in adapters} >= {"a2a", "http", "mcp", "command", "python", "openai"}
    assert any("begin" in a for a in adapters)
    assert any("events" in a for a in adapters)
