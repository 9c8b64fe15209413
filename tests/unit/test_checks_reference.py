"""The reference page of the checks: every kind is on it, and every example on it is valid."""

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml
from pydantic import TypeAdapter

from seatrial.documents import OPERATORS, Check

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "checks.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
KINDS = {
    get_args(kind.model_fields["check"].annotation)[0] for kind in get_args(get_args(Check)[0])
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_list_of_valid_checks(example):
    TypeAdapter(list[Check]).validate_python(yaml.safe_load(example))


def test_every_kind_has_a_heading_and_an_example():
    headings = set(
        re.findall(r"`(\w+)`", " ".join(re.findall(r"^## .*$", PAGE, flags=re.MULTILINE)))
    )
    shown = {check["check"] for example in EXAMPLES for check in yaml.safe_load(example)}

    assert headings == shown == KINDS


def test_every_operator_is_explained():
    table = PAGE.partition("## Conditions")[2]

    assert [op for op in OPERATORS if f"`{op}`" not in table] == []
