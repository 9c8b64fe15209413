"""Arms on the pages about arms: each one that is whole is one that `seatrial check` takes."""

import re
from pathlib import Path

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
    if block.startswith("adapter:")
]


@pytest.mark.parametrize("block", BLOCKS)
def test_an_arm_of_the_pages_is_valid(block: str):
    frame = {"kind": "arm", "id": "desk", "agent": "library", "version": "1"}
    text = yaml.safe_dump(frame) + ("" if "\nmodel:" in block else "model: {name: m-1}\n") + block

    assert "desk" in load({"arms/desk.yaml": text.encode()}).arms


def test_the_pages_have_an_arm_of_each_form():
    adapters = [yaml.safe_load(block)["adapter"] for block in BLOCKS]

    assert {a["type"] for a in adapters} >= {"a2a", "http", "mcp", "command", "python", "openai"}
    assert any("begin" in a for a in adapters)
    assert any("events" in a for a in adapters)
