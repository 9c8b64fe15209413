"""The files behind checks that are functions: a change of them is a change of the checks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests import bike_shop, recall
from tests.shell import seatrial
from tests.work_trees import WorkTree

from seatrial.errors import ExitCode, InvalidDocuments
from seatrial.workspace import Workspace

BY_FUNCTION = {"check": "python", "function": "judges.rent:fair", "files": "judges/prices/*.json"}
FILES: dict[str, str | None] = {
    "judges/__init__.py": "",
    "judges/rent.py": "def fair(trace):\n    return 'passed', 'fair'\n",
    "judges/prices/a.json": "{}",
    "judges/other.py": "",
}


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.init(tmp_path / "repo")
    cases = (bike_shop.case("judged", checks=[BY_FUNCTION]), bike_shop.case("plain"))
    bike_shop.write_tree(tree.root, bike_shop.catalog(*cases, bike_shop.arm()))
    tree.commit(FILES)
    return tree


def prints(tree: WorkTree) -> dict[str, dict[str, str]]:
    workspace = Workspace.find(tree.root)
    return workspace.conditions(workspace.catalog())


def selected(tree: WorkTree) -> dict[str, tuple[str, ...]]:
    workspace = Workspace.find(tree.root)
    selection = workspace.select("all", base="HEAD", recall=recall.everything(workspace))
    return {case.case: case.reasons for case in selection.cases if case.selected}


@pytest.mark.parametrize("file", ["judges/rent.py", "judges/__init__.py", "judges/prices/a.json"])
def test_a_change_of_a_file_behind_a_check_is_a_change_of_the_checks_and_of_nothing_else(
    tree, file
):
    before = prints(tree)
    assert selected(tree) == {}

    (tree.root / file).write_text("# changed\n", encoding="utf-8")

    after = prints(tree)
    assert after["plain"] == before["plain"]
    assert {n for n in after["judged"] if after["judged"][n] != before["judged"][n]} == {"checks"}
    assert selected(tree) == {"judged": (f"checks of the case changed ({file})",)}


def test_another_file_beside_it_changes_nothing(tree):
    before = prints(tree)

    (tree.root / "judges" / "other.py").write_text("# changed\n", encoding="utf-8")

    assert prints(tree) == before
    assert selected(tree) == {}


def test_a_check_without_a_file_is_told_at_its_place(tree):
    tree.git("rm", "-rq", "judges")

    with pytest.raises(InvalidDocuments) as failed:
        Workspace.find(tree.root).select("all", base="HEAD")

    assert [problem.render() for problem in failed.value.problems] == [
        "cases/judged.yaml:11:13: `checks[0].function`: there is no judges/rent.py",
        "cases/judged.yaml:13:5: `checks[0].files[0]`: there is no judges/prices/*.json",
    ]


def test_check_tells_it_before_anything_is_run(tree):
    tree.git("rm", "-rq", "judges")

    code, out, _ = seatrial(tree.root, "check")

    assert code == ExitCode.USAGE
    assert "cases/judged.yaml:11:13: `checks[0].function`: there is no judges/rent.py" in out
