"""The how-to about models behind an endpoint: each of its arms is one that `seatrial check` takes."""

import re
import textwrap
from pathlib import Path

import pytest
import yaml

from seatrial.documents import Arm, OpenAI

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "run-a-model.md"
BLOCKS = [
    textwrap.dedent(block)
    for block in re.findall(r"^ *```yaml\n(.*?)^ *```", PAGE.read_text("utf-8"), re.DOTALL | re.M)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_an_arm_of_the_page_is_valid(block: str):
    frame = {"kind": "arm", "id": "desk", "agent": "library", "version": "1"}

    arm = Arm.model_validate(frame | yaml.safe_load(block))

    assert isinstance(arm.adapter, OpenAI)
    assert arm.model is not None


def test_the_page_has_an_arm_for_each_kind_of_endpoint():
    assert len(BLOCKS) == 5
