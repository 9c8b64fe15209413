"""The agent in JavaScript on the page about arms does what the tutorial's agent does."""

import re
import shutil
from pathlib import Path

import pytest
from tests.shell import ROOT, seatrial

BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
DOCS = ROOT / "docs"


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_the_agent_in_javascript_passes_the_cases_of_the_tutorial(tmp_path: Path):
    for page in ("tutorial.md", "reference/arms.md"):
        for title, body in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
            path = tmp_path / title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")

    code, output, errors = seatrial(
        tmp_path, "run", "--suite", "library", "--arm", "desk-js", "--trials", "2"
    )

    assert code == 0, errors
    assert re.findall(r"^(\S+) +desk-js +(.*)$", output, re.MULTILINE) == [
        ("lend-a-free-book", "2/2 passed"),
        ("book-is-lent-out", "2/2 passed"),
    ]
