"""The examples of the other kinds in docs/reference/worlds.md, loaded from the page and played."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests import practice

from seatrial.documents.world import World
from seatrial.state.rights import Rights
from seatrial.state.validate import world_problems
from seatrial.worlds import file_problems

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "worlds.md"
SERVERS = Path(__file__).parents[1] / "servers"
KINDS = ("python", "sqlite", "directory", "http", "mcp")


def _blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def _example(kind: str) -> str:
    (block,) = (b for b in _blocks("yaml") if yaml.safe_load(b).get("world") == kind)
    return block


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    (code,) = _blocks("python")
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "lending.py").write_text(code, encoding="utf-8")
    (tmp_path / "servers").mkdir()
    shutil.copy(SERVERS / "notes_mcp.py", tmp_path / "servers" / "notes.py")
    paths = list(sys.path)
    yield tmp_path
    sys.path[:] = paths
    for name in ("worlds", "worlds.lending"):
        sys.modules.pop(name, None)


def world(kind: str) -> World:
    return practice.world(_example(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_has_no_problem(kind: str, root: Path):
    assert world_problems(world(kind)) == []
    assert list(file_problems(world(kind), root)) == []


def test_functions_lend_a_book(root: Path):
    played = practice.play(
        world("python"),
        root,
        ("find_books", {"word": "tide"}),
        ("lend_book", {"book": "b-1", "days": 7}),
        ("lend_book", {"book": "b-2"}),
    )
    loan = played.texts[1]

    assert '"id": "b-1"' in played.texts[0]
    assert played.texts[2] == "!b-2 is lent already."
    assert [(c.what, c.key, c.new) for c in played.changes] == [
        ("changed", "b-1", True),
        ("created", loan, {"book": "b-1", "days": 7, "since": "2026-05-04T11:30:00+00:00"}),
    ]


def test_statements_book_a_crossing(root: Path):
    played = practice.play(
        world("sqlite"),
        root,
        ("list_crossings", {"day": "2026-05-05"}),
        ("book", {"crossing": "x-1", "name": "Ada"}),
        ("book", {"crossing": "x-2", "name": "Ada"}),
    )

    assert len(played.answers[0].structured["rows"]) == 2
    assert played.answers[1].structured == {"number": 1, "at": "2026-05-04 11:30:00"}
    assert played.texts[2] == "!Nothing is free on x-2."
    assert [(c.what, c.type, c.key) for c in played.changes] == [
        ("created", "booking", "1"),
        ("changed", "crossing", "x-1"),
    ]


def test_an_editor_commits_a_rule(root: Path):
    fixture = world("directory")
    played = practice.play(
        fixture,
        root,
        ("git_create_branch", {"name": "more-days"}),
        ("write_file", {"path": "rules/holidays.md", "text": "Everybody has 26 days.\n"}),
        ("write_file", {"path": "debug.log", "text": "x"}),
        ("git_commit", {"message": "One day more"}),
    )
    rights = Rights(fixture, "editor")

    assert [(c.what, c.type, c.key) for c in played.changes if c.type != "commit"] == [
        ("created", "branch", "more-days"),
        ("changed", "file", "rules/holidays.md"),
        ("changed", "head", "HEAD"),
    ]
    assert rights.refusal("write_file", {"path": "README.md", "text": ""}) is not None
    assert rights.refusal("write_file", {"path": "rules/a.md", "text": ""}) is None


def test_a_service_takes_an_order(root: Path):
    with subprocess.Popen(
        [sys.executable, str(SERVERS / "order_service.py")], stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        port = service.stdout.readline().strip()
        try:
            fixture = practice.world(_example("http").replace("8080", port))
            played = practice.play(
                fixture, root, ("get_order", {"id": "A-1"}), ("place_order", {"total": 3})
            )
        finally:
            service.kill()

    assert played.answers[0].structured["state"] == "open"
    assert [(c.what, c.type, c.new["total"]) for c in played.changes] == [("created", "order", 3)]


def test_a_server_keeps_notes(root: Path):
    played = practice.play(
        world("mcp"),
        root,
        ("write_note", {"name": "plan", "text": "A plan."}),
        ("delete_note", {"name": "offer"}),
    )

    assert [(c.what, c.key) for c in played.changes] == [
        ("deleted", "offer.md"),
        ("created", "plan.md"),
    ]
