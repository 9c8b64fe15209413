"""Worlds that are made of files: what selects cases, what is compared, what is refused."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests import recall
from tests.work_trees import WorkTree

from seatrial.errors import InvalidDocuments
from seatrial.workspace import Workspace

WORLD = """
kind: fixture
type: world
world: sqlite
id: shop
now: 2026-05-04T11:30:00Z
script: fixtures/data/shop.sql
tools:
  count: {description: How many there are., read_only: true, sql: SELECT count(*) FROM item}
"""
FILES: dict[str, str | None] = {
    "fixtures/shop.yaml": WORLD,
    "fixtures/data/shop.sql": "CREATE TABLE item (id TEXT PRIMARY KEY);",
    "arms/clerk.yaml": (
        "kind: arm\nid: clerk-1\nagent: clerk\nversion: '1'\n"
        "adapter: {type: http, url: 'http://127.0.0.1:1/'}\n"
    ),
    "cases/ask.yaml": (
        "kind: case\nid: ask\ntitle: Asks.\ngroup: task\nagent: clerk\nworld: shop\ntask: How many?\n"
        "checks: [{check: end_state}]\n"
    ),
    "suites/all.yaml": "kind: suite\nid: all\ncases: [ask]\n",
}


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit(FILES)
    return tree


def reason(tree: WorkTree) -> str:
    workspace = Workspace.find(tree.root)
    (case,) = workspace.select("all", base="HEAD", recall=recall.everything(workspace)).cases
    return case.reasons[0]


def fingerprint(tree: WorkTree) -> dict[str, str]:
    workspace = Workspace.find(tree.root)
    (components,) = workspace.fingerprints(workspace.catalog()).whole().values()
    return components


def differing(tree: WorkTree, files: dict[str, str | None]) -> set[str]:
    before = fingerprint(tree)
    tree.write(files)
    after = fingerprint(tree)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def problems(tree: WorkTree, **_: Any) -> list[str]:
    with pytest.raises(InvalidDocuments) as caught:
        Workspace.find(tree.root).select("all")
    return [problem.render() for problem in caught.value.problems]


def test_a_change_of_a_file_behind_a_world_selects_its_cases(tree: WorkTree):
    assert reason(tree).startswith("carried, not run: nothing it leans on changed")
    tree.write({"fixtures/data/shop.sql": "CREATE TABLE item (id INTEGER PRIMARY KEY);"})

    assert reason(tree) == "fixture shop changed (fixtures/data/shop.sql)"


def test_a_file_that_git_does_not_keep_selects_too(tree: WorkTree):
    tree.write({".gitignore": "*.sql\n"})
    tree.git("rm", "-q", "--cached", "fixtures/data/shop.sql")
    tree.commit({})

    assert reason(tree) == (
        "fixture shop may have changed (git does not keep fixtures/data/shop.sql)"
    )


def test_the_content_of_files_is_part_of_the_world(tree: WorkTree):
    assert differing(tree, {"fixtures/data/other.sql": ""}) == set()
    assert differing(
        tree, {"fixtures/data/shop.sql": "CREATE TABLE item (id TEXT PRIMARY KEY); -- new"}
    ) == {"world"}


def test_what_agents_are_shown_of_sql_tools_belongs_to_the_arm_and_their_sql_to_the_world(
    tree: WorkTree,
):
    told = WORLD.replace("How many there are.", "Count the items.")
    assert differing(tree, {"fixtures/shop.yaml": told}) == {"tool:count"}
    assert differing(tree, {"fixtures/shop.yaml": told.replace("count(*)", "0")}) == {"world"}


def test_a_file_that_is_missing_is_told_with_its_place(tree: WorkTree):
    tree.write({"fixtures/data/shop.sql": None})

    assert problems(tree) == [
        "fixtures/shop.yaml:7:9: `script`: there is no fixtures/data/shop.sql"
    ]


def test_a_link_that_leads_out_of_the_repository_is_not_followed(tree: WorkTree, tmp_path: Path):
    (tmp_path / "secret.sql").write_text("CREATE TABLE item (id TEXT PRIMARY KEY);")
    tree.write({"fixtures/data/shop.sql": None})
    (tree.root / "fixtures/data/shop.sql").symlink_to(tmp_path / "secret.sql")

    assert problems(tree) == [
        "fixtures/shop.yaml:7:9: `script`: fixtures/data/shop.sql is a link that leads out of the "
        "repository"
    ]


@pytest.mark.parametrize("path", ["/etc/passwd", "../shop.sql", "a/../../shop.sql", "~/shop.sql"])
def test_a_path_that_leads_out_of_the_repository_is_refused(tree: WorkTree, path: str):
    tree.write({"fixtures/shop.yaml": WORLD.replace("fixtures/data/shop.sql", path)})

    assert problems(tree)[0].startswith(
        f"fixtures/shop.yaml:7:9: `script`: '{path}' is no path inside the repository"
    )


def test_what_sqlite_says_about_a_statement_is_told_at_the_statement(tree: WorkTree):
    tree.write({"fixtures/shop.yaml": WORLD.replace("FROM item", "FROM items")})

    assert problems(tree) == [
        "fixtures/shop.yaml:9:67: `tools.count.sql`: SQLite does not take it: no such table: items"
    ]
