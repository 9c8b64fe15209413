"""Programs that arms start are looked for on this machine, and nothing is started for it."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests import bike_shop

from seatrial.cli import main

ARGUMENTS = {"text": "{{text}}"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    for name, mode in (("clerk.sh", 0o755), ("plain.py", 0o644)):
        (tmp_path / "agents" / name).write_text("exit 7\n", encoding="utf-8")
        (tmp_path / "agents" / name).chmod(mode)
    return tmp_path


def warned(root: Path, **adapter: Any) -> list[str]:
    arm = bike_shop.arm(adapter=adapter)
    bike_shop.write_tree(root, bike_shop.catalog(bike_shop.case(), arm))
    told = CliRunner().invoke(main, ["check", str(root)])
    assert told.exit_code == 0, told.output
    lines = [line.partition(" warning: ")[2] for line in told.output.splitlines()]
    return [said for said in lines if said]


@pytest.mark.parametrize(
    "command",
    [
        ["agents/clerk.sh", "no-script", "no/such/file"],
        ["sh", "agents/clerk.sh", "other.py"],
        ["/bin/sh", "-c", "missing.py"],
        ["{python}", "agents/plain.py"],
        ["{python}", "-m", "agents.plain"],
    ],
)
def test_program_that_is_there_is_no_matter(root: Path, command: list[str]):
    assert warned(root, type="command", command=command) == []
    assert warned(root, type="mcp", command=command, tool="ask", arguments=ARGUMENTS) == []


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["no-such-cli", "x"], "there is no program `no-such-cli` on the PATH of this machine"),
        (["agents/clark.sh"], "there is no program agents/clark.sh; it is looked for from the"),
        (["agents/plain.py"], "agents/plain.py may not be executed: `chmod +x agents/plain.py`"),
        (["{python}", "agents/plane.py"], "there is no file agents/plane.py; it is looked for"),
        (["a/" * 9000], "there is no program a/a/a/"),
        (["a\0/b"], "there is no program a"),
    ],
)
def test_program_that_no_run_could_start_is_told(root: Path, command: list[str], says: str):
    for adapter in (
        {"type": "command"},
        {"type": "mcp", "tool": "ask", "arguments": ARGUMENTS},
    ):
        for _ in range(2):  # the second time what the documents alone show is recalled
            (said,) = warned(root, command=command, **adapter)
            assert said.startswith(says)


def test_program_of_later_turns_is_looked_for_by_the_path_of_the_arm(root: Path):
    later = {"later": ["clerk.sh", "{text}"], "stdin": "nothing"}
    of_arm: dict[str, Any] = {"type": "command", "command": ["/bin/echo", "{text}"]}

    (said,) = warned(root, **of_arm, per_turn=later)

    assert said.startswith("there is no program `clerk.sh`")
    assert warned(root, **of_arm, per_turn=later, env={"PATH": str(root / "agents")}) == []


def test_service_has_no_program(root: Path):
    address = "http://127.0.0.1:9/mcp"

    assert warned(root, type="mcp", url=address, tool="ask", arguments=ARGUMENTS) == []
