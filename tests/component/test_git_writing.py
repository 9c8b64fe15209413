"""Commits by plumbing: nothing but the ref moves, and it moves only from where it was."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import git as gitpython
import pytest
from tests.work_trees import ANN, WorkTree, git

from seatrial.errors import RevisionError
from seatrial.git import RefMoved, Repository, fetch, push, write_commit, write_tree_commit

REF = "refs/heads/records"


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"a.yaml": "1"})
    return tree


def everything_but_the_objects(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git/objects" not in str(path)
    }


def test_first_commit_has_no_parent_and_another_program_reads_it_as_written(tree: WorkTree):
    files = {"suites/smoke/run.json": b"{}\n", "ü/\u202e": b"\0\xff"}

    sha = write_tree_commit(Repository(tree.root), REF, files, "Release 1\n\nReviewed: ß\n", None)

    with gitpython.Repo(tree.root) as other:
        commit = other.commit(sha)
        assert other.heads["records"].commit == commit
        assert commit.parents == ()
        assert commit.message == "Release 1\n\nReviewed: ß\n"
        assert (commit.author.name, commit.author.email) == ANN
        blobs = [entry for entry in commit.tree.traverse() if isinstance(entry, gitpython.Blob)]
        assert {str(b.path): b.data_stream.read() for b in blobs} == files


def test_next_commit_keeps_what_is_not_named_and_takes_out_what_is_none(tree: WorkTree):
    repository = Repository(tree.root)
    first = write_tree_commit(repository, REF, {"a": b"1", "b": b"1", "d/c": b"1"}, "1", None)

    second = write_tree_commit(repository, REF, {"a": b"2", "b": None}, "2", first)

    assert repository.read_tree(REF) == {"a": b"2", "d/c": b"1"}
    assert repository.resolve(f"{second}^") == first


def test_work_tree_index_and_head_stay_as_they_are(tree: WorkTree):
    tree.write({"a.yaml": "edited", "staged.yaml": "1", "untracked.yaml": "1"})
    tree.git("add", "staged.yaml")
    before = everything_but_the_objects(tree.root)

    write_tree_commit(Repository(tree.root), REF, {"a.yaml": b"else"}, "Release", None)

    after = everything_but_the_objects(tree.root)
    assert {p: c for p, c in after.items() if "/records" not in p} == before


def test_hooks_of_the_repository_do_not_run(tree: WorkTree):
    for name in ("reference-transaction", "post-update", "pre-push"):
        hook = tree.root / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{tree.root}/{name}-ran'\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)

    write_tree_commit(Repository(tree.root), REF, {"a": b"1"}, "Release", None)

    assert list(tree.root.glob("*-ran")) == []


def test_ref_that_moved_is_left_where_it_is(tree: WorkTree):
    repository = Repository(tree.root)
    first = write_tree_commit(repository, REF, {"a": b"1"}, "1", None)
    second = write_tree_commit(repository, REF, {"a": b"2"}, "2", first)

    with pytest.raises(RefMoved):
        write_tree_commit(repository, REF, {"a": b"3"}, "3", first)
    with pytest.raises(RefMoved):
        write_tree_commit(repository, REF, {"a": b"3"}, "3", None)

    assert repository.ref(REF) == second


def test_of_two_writers_who_read_the_same_state_exactly_one_wins(tree: WorkTree):
    repository = Repository(tree.root)
    old = write_tree_commit(repository, REF, {"a": b"0"}, "0", None)
    together = threading.Barrier(4)

    def write(n: int) -> bool:
        together.wait(30)
        try:
            write_tree_commit(repository, REF, {"a": b"%d" % n}, str(n), old)
        except RefMoved:
            return False
        return True

    with ThreadPoolExecutor(4) as writers:
        won = list(writers.map(write, range(1, 5)))

    assert won.count(True) == 1
    assert repository.read_file(REF, "a") == b"%d" % (won.index(True) + 1)


@pytest.mark.parametrize("path", ["../out", "/abs", ".git/config", "a/../b", "a//b", ""])
def test_path_that_leads_elsewhere_is_refused(tree: WorkTree, path: str):
    with pytest.raises(ValueError, match="no path in a tree"):
        write_tree_commit(Repository(tree.root), REF, {path: b"1"}, "Release", None)

    assert Repository(tree.root).ref(REF) is None


def test_commit_without_an_identity_says_how_to_give_one(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "nobody", who=None)

    with pytest.raises(RevisionError) as caught:
        write_tree_commit(Repository(tree.root), REF, {"a": b"1"}, "Release", None)

    assert caught.value.render() == (
        "git does not know in whose name to commit\n"
        '  → git config user.name "Your Name" && git config user.email you@example.org'
    )


def test_linked_work_tree_and_detached_head_can_be_written_from(tree: WorkTree, tmp_path: Path):
    tree.git("worktree", "add", "-q", "--detach", str(tmp_path / "other"))

    sha = write_tree_commit(Repository(tmp_path / "other"), REF, {"a": b"1"}, "Release", None)

    assert Repository(tree.root).ref(REF) == sha


def test_branch_that_is_checked_out_is_told_with_its_folder(tree: WorkTree, tmp_path: Path):
    repository = Repository(tree.root)
    write_tree_commit(repository, REF, {"a": b"1"}, "Release", None)
    assert repository.checked_out_at(REF) is None

    tree.git("worktree", "add", "-q", str(tmp_path / "other"), "records")

    assert repository.checked_out_at(REF) == str(tmp_path / "other")


def test_push_moves_the_remote_only_from_where_it_was(tree: WorkTree, tmp_path: Path):
    git("init", "-q", "--bare", str(tmp_path / "remote"), cwd=tmp_path)
    tree.git("remote", "add", "origin", f"file://{tmp_path}/remote")
    repository = Repository(tree.root)
    first = write_commit(repository, {"a": b"1"}, "1", parent=None)
    mine = write_commit(repository, {"a": b"2"}, "2", parent=first)
    theirs = write_commit(repository, {"a": b"3"}, "3", parent=first)

    push(repository, first, REF, "origin", None)
    push(repository, theirs, REF, "origin", first)
    for expected in (first, None):
        with pytest.raises(RefMoved):
            push(repository, mine, REF, "origin", expected)

    assert fetch(repository, "origin", REF, "refs/remotes/origin/records") == theirs
    assert fetch(repository, "origin", "refs/heads/absent", "refs/remotes/origin/absent") is None


def test_remote_that_cannot_be_reached_is_an_error_in_gits_own_words(tree: WorkTree):
    tree.git("remote", "add", "origin", "ext::sh -c 'touch ran'")
    repository = Repository(tree.root)
    commit = write_commit(repository, {"a": b"1"}, "1", parent=None)

    with pytest.raises(RevisionError, match="not allowed"):
        push(repository, commit, REF, "origin", None)
    with pytest.raises(RevisionError, match="`git fetch` failed"):
        fetch(repository, "origin", REF, "refs/remotes/origin/records")

    assert not (tree.root / "ran").exists()
