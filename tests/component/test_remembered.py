"""Results of before: recalled as they were kept, or not at all."""

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from seatrial import remembered
from seatrial.remembered import MOST_OF_ONE, Remembered, key

NAME = "0" * 64
VALUE = {"a": [1, None, "ü\udcff"], "b": {"c": True}}


@pytest.fixture
def memory(tmp_path: Path) -> Remembered:
    return Remembered(tmp_path / "caches" / "seatrial")


def test_what_is_kept_is_recalled(memory: Remembered):
    memory.keep(NAME, VALUE)

    assert memory.recall(NAME) == VALUE
    assert memory.recall("1" * 64) is None


def test_only_its_owner_can_look_into_it(memory: Remembered):
    memory.keep(NAME, VALUE)

    assert memory.folder.stat().st_mode & 0o777 == 0o700
    assert [file.stat().st_mode & 0o777 for file in memory.folder.iterdir()] == [0o600]


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def _flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)


def _unsigned(file: Path) -> None:
    file.write_bytes(b'\n{"problems": []}')


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _large(file: Path) -> None:
    os.truncate(file, MOST_OF_ONE + 1000)


def _link(file: Path) -> None:
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _of_all(file: Path) -> None:
    file.chmod(0o666)


def _folder_of_all(file: Path) -> None:
    file.parent.chmod(0o777)


def _gone(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()


def _nested(file: Path) -> None:
    text = b"[" * 100_000
    file.write_bytes(remembered._digest(text) + b"\n" + text)


@pytest.mark.parametrize(
    "spoil",
    [
        _cut, _flipped, _unsigned, _empty, _large, _link, _pipe, _folder, _of_all, _folder_of_all, _gone, _nested,
    ],
)  # fmt: skip
def test_what_somebody_has_spoilt_is_not_recalled(
    memory: Remembered, spoil: Callable[[Path], None]
):
    memory.keep(NAME, VALUE)
    spoil(memory.folder / f"{NAME}.json")

    assert memory.recall(NAME) is None


def test_nothing_is_kept_where_others_may_write(memory: Remembered):
    memory.folder.mkdir(parents=True)
    memory.folder.chmod(0o777)
    memory.keep(NAME, VALUE)

    assert not list(memory.folder.iterdir())


def test_nothing_is_recalled_from_a_folder_that_a_link_leads_to(memory: Remembered, tmp_path: Path):
    memory.keep(NAME, VALUE)
    (tmp_path / "link").symlink_to(memory.folder)

    assert Remembered(tmp_path / "link").recall(NAME) is None


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path):
    (tmp_path / "file").write_text("")
    memory = Remembered(tmp_path / "file")
    memory.keep(NAME, VALUE)

    assert memory.recall(NAME) is None


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_behind(memory: Remembered):
    (memory.folder / f"{NAME}.json").mkdir(parents=True)
    memory.folder.chmod(0o700)
    memory.keep(NAME, VALUE)

    assert [entry.name for entry in memory.folder.iterdir()] == [f"{NAME}.json"]


def test_what_is_large_is_not_kept(memory: Remembered, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remembered, "MOST_OF_ONE", 100)
    memory.keep(NAME, "x" * 100)

    assert not memory.folder.exists()


def test_the_oldest_goes_when_there_is_too_much(
    memory: Remembered, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(remembered, "MOST_BYTES", 4000)
    for number in range(3):
        memory.keep(f"{number}", "x" * 1000)
        os.utime(memory.folder / f"{number}.json", (number, number))
    assert memory.recall("0")  # and is not the oldest any more
    memory.keep("3", "x" * 1000)

    assert sorted(file.stem for file in memory.folder.iterdir()) == ["0", "2", "3"]


def _keep_often(folder: Path, mark: str) -> None:
    for _ in range(50):
        Remembered(folder).keep(NAME, mark * 10_000)


def test_writers_at_the_same_time_do_not_mix(memory: Remembered):
    writers = [
        multiprocessing.get_context("fork").Process(target=_keep_often, args=(memory.folder, mark))
        for mark in "ab"
    ]
    for writer in writers:
        writer.start()
    found = {memory.recall(NAME) for _ in range(200)}
    for writer in writers:
        writer.join(60)

    assert found <= {None, "a" * 10_000, "b" * 10_000}
    assert memory.recall(NAME) in {"a" * 10_000, "b" * 10_000}
    assert [file.name for file in memory.folder.iterdir()] == [f"{NAME}.json"]


def test_nothing_inside_of_the_repository_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "repository" / "product"
    root.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()

    def where(folder: Path) -> Remembered | None:
        monkeypatch.setenv("SEATRIAL_CACHE", str(folder))
        return remembered.remembered(root)

    assert where(root / "cache") is None
    assert where(tmp_path / "repository" / ".cache") is None
    (tmp_path / "link").symlink_to(root)
    assert where(tmp_path / "link" / "cache") is None
    assert where(tmp_path / "cache") == Remembered(tmp_path / "cache")


def test_it_lies_in_the_users_folder_of_caches_and_can_be_turned_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "root").mkdir()
    monkeypatch.delenv("SEATRIAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert remembered.remembered(tmp_path / "root") == Remembered(tmp_path / "caches" / "seatrial")

    monkeypatch.setenv("SEATRIAL_CACHE", "off")
    assert remembered.remembered(tmp_path / "root") is None


def test_a_key_stands_for_names_contents_and_words():
    keys = {
        key("check", []),
        key("list", []),
        key("check", [("a", b"b")]),
        key("check", [("ab", b"")]),
        key("check", [("a", b"b"), ("c", b"")]),
        key("check", [("a", b"b\n1:0:c")]),
        key("check", [], "2026-03-16"),
        key("check", [], "2026-03-1", "6"),
        key("check", [("\udcff", b"")]),
    }

    assert len(keys) == 9
    assert key("check", [("a", b"b")]) in keys


@pytest.mark.parametrize("what", ["_sources", "_installed"])
def test_other_code_and_other_libraries_find_everything_out_anew(
    what: str, monkeypatch: pytest.MonkeyPatch
):
    before = key("check", [])
    assert len(list(getattr(remembered, what)())) > 10
    monkeypatch.setattr(remembered, what, lambda: iter(["changed"]))
    remembered._this_seatrial.cache_clear()
    try:
        assert key("check", []) != before
    finally:
        monkeypatch.undo()
        remembered._this_seatrial.cache_clear()
