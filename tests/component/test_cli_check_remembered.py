"""`seatrial check` and `seatrial list` say the same whether they recall it or find it out."""

import dataclasses
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests import harbour
from tests.shell import seatrial
from tests.unit.test_loading_fuzz import mutations

from seatrial import loading
from seatrial.cli.checking import Checked, checked

BUILT = harbour.ARM + "sources:\n  rules: [rules.md]\n"


def _said(found: Checked) -> Checked:
    return dataclasses.replace(found, catalog=None)


@given(mutations())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_errors_and_warnings_are_the_same_recalled(files: dict[str, bytes]):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as environment:
        root = Path(folder) / "root"
        root.mkdir()
        environment.setenv("SEATRIAL_CACHE", "off")
        alone = checked(root, loading.Tree(files.items()), 365, anew=False)
        environment.setenv("SEATRIAL_CACHE", f"{folder}/cache")
        first = checked(root, loading.Tree(files.items()), 365, anew=False)
        again = checked(root, loading.Tree(files.items()), 365, anew=False)

    assert again.catalog is None
    assert _said(first) == again == _said(alone)


@pytest.fixture
def cached(tmp_path: Path) -> dict[str, str]:
    return {"SEATRIAL_CACHE": str(tmp_path / "cache")}


def _kept(cached: dict[str, str]) -> list[Path]:
    return sorted(Path(cached["SEATRIAL_CACHE"]).iterdir())


def test_a_second_check_recalls_and_a_change_is_found(tmp_path: Path, cached: dict[str, str]):
    root = harbour.write(tmp_path / "root")
    first = seatrial(root, "check", environment=cached)
    (file,) = _kept(cached)
    assert seatrial(root, "check", environment=cached) == first
    assert _kept(cached) == [file]

    case = root / "cases" / "take.yaml"
    case.write_text(case.read_text().replace("title:", "titel:"))
    code, out, _ = seatrial(root, "check", environment=cached)
    assert (code, "unknown key `titel`" in out) == (2, True)
    assert seatrial(root, "check", environment=cached) == (code, out, "")


def test_files_that_documents_name_are_looked_at_each_time(tmp_path: Path, cached: dict[str, str]):
    root = harbour.write(tmp_path / "root", {"arms/released.yaml": BUILT, "rules.md": "Be kind.\n"})
    right = seatrial(root, "check", environment=cached)
    assert right[0] == 0
    assert seatrial(root, "check", environment=cached) == right

    (root / "rules.md").unlink()
    code, out, _ = seatrial(root, "check", environment=cached)
    assert code == 2
    assert "arms/released.yaml:" in out
    assert "no file fits rules.md" in out
    assert seatrial(root, "check", environment={"SEATRIAL_CACHE": "off"})[1] == out


def test_what_may_look_real_belongs_to_what_is_recalled(tmp_path: Path, cached: dict[str, str]):
    case = harbour.CASE.replace("title:", "# lena@somewhere.co.uk\ntitle:", 1)
    root = harbour.write(tmp_path / "root", {"cases/take.yaml": case})
    assert "real" in seatrial(root, "check", environment=cached)[1]

    (root / "real-data.yaml").write_text("- {value: lena@somewhere.co.uk, reason: Invented}\n")
    assert "lena" not in seatrial(root, "check", environment=cached)[1]


def test_each_format_and_part_is_told_from_what_is_recalled(tmp_path: Path, cached: dict[str, str]):
    root = harbour.write(tmp_path / "root")
    off = {"SEATRIAL_CACHE": "off"}
    for words in (("--format", "json"), ("--format", "sarif"), ("cases",), ("--strict",)):
        alone = seatrial(root, "check", *words, environment=off)
        assert seatrial(root, "check", *words, environment=cached) == alone
        assert seatrial(root, "check", *words, environment=cached) == alone


def test_what_is_wrong_with_the_tree_itself_is_never_kept(tmp_path: Path, cached: dict[str, str]):
    root = harbour.write(tmp_path / "root")
    (root / "cases" / "away.yaml").symlink_to("/etc/hostname")
    assert seatrial(root, "check", environment=cached)[0] == 2

    assert not Path(cached["SEATRIAL_CACHE"]).exists()


def test_an_entry_of_another_shape_is_found_out_anew(tmp_path: Path, cached: dict[str, str]):
    from seatrial.remembered import Remembered

    root = harbour.write(tmp_path / "root")
    right = seatrial(root, "check", environment=cached)
    (file,) = _kept(cached)
    empty: dict[str, Any] = {"problems": [], "warnings": [], "sizes": None, "leaning": []}
    values: list[Any] = [
        [], {}, empty | {"sizes": {"cases": "1"}}, empty | {"problems": [["a"] * 9]},
        empty | {"leaning": [["a", {}, {}, {"kind": "arm"}]]},
    ]  # fmt: skip
    for value in values:
        Remembered(file.parent).keep(file.stem, value)
        assert seatrial(root, "check", environment=cached) == right


def test_what_is_listed_is_the_same_recalled(tmp_path: Path, cached: dict[str, str]):
    root = harbour.write(tmp_path / "root")
    off = {"SEATRIAL_CACHE": "off"}
    for words in (
        ("cases",), ("cases", "--format", "json"), ("suites",), ("arms",), ("fixtures",), ("cases", "--required"),
        ("cases", "--agent", "nobody"),
    ):  # fmt: skip
        alone = seatrial(root, "list", *words, environment=off)
        assert alone[0] == 0
        assert seatrial(root, "list", *words, environment=cached) == alone
        assert seatrial(root, "list", *words, environment=cached) == alone
    assert len(_kept(cached)) == 1

    suite = json.loads(seatrial(root, "list", "suites", "--format", "json")[1])[0]["id"]
    alone = seatrial(root, "list", "cases", "-s", suite, environment=off)
    assert seatrial(root, "list", "cases", "-s", suite, environment=cached) == alone


def test_a_file_beside_the_folders_that_leads_out_of_the_repository_is_not_read(tmp_path: Path):
    root = harbour.write(tmp_path / "root")
    (root / "real-data.yaml").symlink_to("/etc/hostname")
    code, out, _ = seatrial(root, "check")

    assert code == 2
    assert out.startswith("real-data.yaml:1:1: a link that leads out of the repository")


def test_functions_that_arms_name_are_looked_for_each_time(tmp_path: Path, cached: dict[str, str]):
    arm = harbour.ARM.split("adapter:")[0] + 'adapter: {type: python, target: "crew:reply"}\n'
    root = harbour.write(
        tmp_path / "root", {"arms/released.yaml": arm, "crew.py": "def reply(): ...\n"}
    )
    right = seatrial(root, "check", environment=cached)
    assert (right[0], "crew" in right[1]) == (0, False)
    assert seatrial(root, "check", environment=cached) == right

    (root / "crew.py").write_text("def answer(): ...\n")
    code, out, _ = seatrial(root, "check", environment=cached)
    assert (code, "crew.py has no `reply`" in out) == (0, True)
    assert seatrial(root, "check", environment={"SEATRIAL_CACHE": "off"}) == (0, out, "")
