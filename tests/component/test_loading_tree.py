"""Document files of a work tree: which are read, and what is said about the others."""

import os
from pathlib import Path

import pytest
from tests import harbour

from seatrial import loading
from seatrial.errors import InvalidDocuments
from seatrial.loading import bounds


def told(root: Path) -> list[str]:
    return [problem.render() for problem in loading.read_tree(root).problems]


def test_yaml_files_under_the_four_folders_are_read(tmp_path: Path):
    harbour.write(tmp_path, {"cases/deep/er/a.yml": "a: 1\n", "cases/notes.md": "x", "b.yaml": "x"})

    tree = loading.read_tree(tmp_path)

    assert list(tree) == sorted([*harbour.FILES, "cases/deep/er/a.yml"])
    assert tree["cases/deep/er/a.yml"] == b"a: 1\n"
    assert tree.problems == ()


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        ("cases/a.yaml", True),
        ("arms/x/y.yml", True),
        ("cases/a.yaml.bak", False),
        ("a.yaml", False),
        ("site/cases/a.yaml", False),
        ("cases.yaml", False),
        ("cases/yaml", False),
    ],
)
def test_the_same_files_count_at_a_revision(path: str, holds: bool):
    assert loading.is_document(path) is holds


def test_no_folder_is_no_document(tmp_path: Path):
    assert loading.read_tree(tmp_path) == {}


def test_a_link_inside_the_repository_is_followed(tmp_path: Path):
    harbour.write(tmp_path)
    (tmp_path / "shared.yaml").write_text(harbour.ARM, encoding="utf-8")
    (tmp_path / "arms" / "linked.yaml").symlink_to("../shared.yaml")

    assert loading.read_tree(tmp_path)["arms/linked.yaml"] == harbour.ARM.encode()


def test_a_repository_that_is_itself_reached_by_a_link_is_read(tmp_path: Path):
    harbour.write(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "arms" / "linked.yaml").symlink_to("released.yaml")

    assert loading.read_tree(tmp_path / "link").problems == ()


@pytest.mark.parametrize("target", ["../../secret.yaml", "/etc/hostname"])
def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path, target: str):
    (tmp_path / "secret.yaml").write_text("password: sesame\n", encoding="utf-8")
    root = harbour.write(tmp_path / "repository")
    (root / "cases" / "a.yaml").symlink_to(target)

    assert "cases/a.yaml" not in loading.read_tree(root)
    assert told(root) == [
        "cases/a.yaml:1:1: a link that leads out of the repository is not followed. "
        "Put the file itself here"
    ]


def test_a_folder_beside_the_repository_with_its_name_at_the_start_is_outside(tmp_path: Path):
    (tmp_path / "repository-2").mkdir()
    (tmp_path / "repository-2" / "a.yaml").write_text("a: 1\n", encoding="utf-8")
    root = harbour.write(tmp_path / "repository")
    (root / "cases" / "a.yaml").symlink_to("../../repository-2/a.yaml")

    assert len(told(root)) == 1


def test_links_to_folders_are_not_followed_and_cannot_go_in_circles(tmp_path: Path):
    root = harbour.write(tmp_path)
    (root / "cases" / "all").symlink_to("..")
    (root / "suites" / "all.yaml").unlink()
    (root / "suites").rmdir()
    (root / "suites").symlink_to("arms")

    assert told(root) == [
        "cases/all:1:1: a link to a folder is not followed. Put the files themselves here",
        "suites:1:1: a link to a folder is not followed. Put the files themselves here",
    ]


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path):
    root = harbour.write(tmp_path)
    (root / "cases" / "gone.yaml").symlink_to("nothing.yaml")
    (root / "cases" / "round.yaml").symlink_to("round.yaml")

    assert [line.split(":")[0] for line in told(root)] == ["cases/gone.yaml", "cases/round.yaml"]


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    root = harbour.write(tmp_path)
    os.mkfifo(root / "cases" / "pipe.yaml")

    assert told(root) == ["cases/pipe.yaml:1:1: not a file. Remove it"]


def test_a_large_file_is_refused_without_being_read(tmp_path: Path):
    root = harbour.write(tmp_path)
    with open(root / "cases" / "large.yaml", "wb") as file:
        file.truncate(50 * bounds.MAX_BYTES)

    assert told(root) == [
        "cases/large.yaml:1:1: the file has 250.0 MB; at most 5 MB are read. Split it"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path):
    root = harbour.write(tmp_path)
    (root / "cases" / "take.yaml").chmod(0)

    assert told(root) == ["cases/take.yaml:1:1: cannot be read: Permission denied"]


def test_a_name_that_is_no_text_is_read_and_printed_safely(tmp_path: Path):
    root = harbour.write(tmp_path)
    (root / os.fsdecode(b"cases/\xff\x1b[2J.yaml")).write_text("a: [", encoding="utf-8")

    with pytest.raises(InvalidDocuments) as caught:
        loading.load(loading.read_tree(root))

    assert caught.value.render().startswith("cases/\\udcff\\x1b[2J.yaml:2:1: expected a value here")


def test_what_is_not_read_is_told_together_with_what_is_wrong(tmp_path: Path):
    root = harbour.write(tmp_path, {"cases/take.yaml": harbour.CASE.replace("title:", "titel:")})
    os.mkfifo(root / "arms" / "pipe.yaml")

    with pytest.raises(InvalidDocuments) as caught:
        loading.load(loading.read_tree(root))

    assert [(p.path, p.code) for p in caught.value.problems] == [
        ("arms/pipe.yaml", "not-a-file"), ("cases/take.yaml", "unknown-key"),
    ]  # fmt: skip
