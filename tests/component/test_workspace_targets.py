"""Functions that arms name are looked for in the files of the repository, and nothing is imported for it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import bike_shop

from seatrial.cli import main

CLERK = """\
raise SystemExit("nobody may import this")
import json, os.path as paths
from elsewhere import helper as helps

LIMIT: int = 3
first, (second, *others) = range(3), [1, 2]

class Clerk:
    def inside(self): ...

if LIMIT:
    async def answer(text, seat): ...
else:
    for each in ():
        with open("x") as kept:
            pass
try:
    import quick
except ImportError:
    quick = fast = None
"""


def warned(root: Path, key: str, function: str) -> list[str]:
    arm = bike_shop.arm(adapter={"type": "python", key: function})
    bike_shop.write_tree(root, bike_shop.catalog(bike_shop.case(), arm))
    told = CliRunner().invoke(main, ["check", str(root)])
    assert told.exit_code == 0, told.output
    marked = " warning: "
    lines = [line.split(marked) for line in told.output.splitlines() if marked in line]
    return [said for _, said in lines if "function" not in said or "`" in said]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "clerk.py").write_text(CLERK, encoding="utf-8")
    (tmp_path / "agents" / "any.py").write_text("from elsewhere import *\n", encoding="utf-8")
    (tmp_path / "agents" / "broken.py").write_text("x = 1\ndef answer(:\n", encoding="utf-8")
    (tmp_path / "lazy").mkdir()
    (tmp_path / "lazy" / "__init__.py").write_text("def __getattr__(n): ...\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "function",
    [
        *(f"agents.clerk:{name}" for name in (
            "answer", "Clerk", "LIMIT", "json", "paths", "helps", "first", "others", "each",
            "kept", "quick", "fast",
        )),
        "agents.any:whatever",
        "lazy:whatever",
        "json.tool:whatever",  # installed: only an import could tell
    ],
)  # fmt: skip
def test_function_that_may_be_there_is_no_matter(root: Path, function: str):
    assert warned(root, "target", function) == []


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("agents.clerk:awnser", "agents/clerk.py has no `awnser`; did you mean `answer`?"),
        ("agents.clerk:inside", "agents/clerk.py has no `inside`"),
        ("agents.clark:answer", "there is no module `agents.clark`; did you mean `agents.clerk`?"),
        ("agent.clerk:answer", "there is no module `agent.clerk`. A module is imported from the"),
        ("agents:answer", "module `agents` is a folder without code, so that it has no `answer`"),
        ("agents.broken:answer", "agents/broken.py is no Python, line 2"),
    ],
)
def test_function_that_no_run_would_find_is_told_at_its_line(root: Path, function: str, says: str):
    for key in ("target", "build"):
        (said,) = warned(root, key, function)
        assert said.startswith(says)


def test_warning_stands_at_the_line_of_the_function(root: Path):
    warned(root, "target", "agents.clerk:awnser")

    (file,) = (root / "arms").glob("*.yaml")
    line = next(
        n for n, text in enumerate(file.read_text("utf-8").splitlines(), 1) if "awnser" in text
    )
    told = CliRunner().invoke(main, ["check", str(root), "--format", "github"])
    assert f"line={line}," in told.output
