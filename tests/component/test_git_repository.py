"""What a repository says, asked of real ones."""

import os
import re
import shlex
from pathlib import Path

import pytest
from tests.work_trees import ANN, BEA, WorkTree, git

from seatrial.errors import RevisionError
from seatrial.git import Person, Repository
from seatrial.git.command import environment


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def opened(tree: WorkTree) -> Repository:
    repository = Repository.find(tree.root)
    assert repository is not None
    return repository


# --- finding one ---


def test_folder_outside_of_git_has_no_repository(tmp_path: Path):
    assert Repository.find(tmp_path) is None


def test_repository_is_found_from_a_folder_within(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    (tree.root / "cases" / "task").mkdir(parents=True)

    assert Repository.find(tree.root / "cases" / "task") == Repository(tree.root)


def test_linked_work_tree_is_a_repository_of_its_own_root(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    first = tree.commit({"a.yaml": "1"})
    tree.commit({"a.yaml": "2"})
    tree.git("worktree", "add", "-q", "--detach", str(tmp_path / "other"), first)

    other = opened(WorkTree(tmp_path / "other"))

    assert other.root == tmp_path / "other"
    assert other.head() == first
    assert other.resolve("main") == tree.head()


def test_repository_named_by_a_hooks_environment_is_not_the_one_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked = WorkTree.init(tmp_path / "asked")
    head = asked.commit({"a": "1"})
    stranger = WorkTree.init(tmp_path / "stranger")
    stranger.commit({"b": "1"})
    monkeypatch.setenv("GIT_DIR", str(stranger.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(stranger.root / ".git" / "index"))

    repository = opened(asked)

    assert repository.root == asked.root
    assert repository.head() == head
    assert repository.known_paths() == {"a"}


def test_missing_git_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tree = WorkTree.init(tmp_path / "repo")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RevisionError, match="`git` is not installed"):
        Repository.find(tree.root)


def test_repository_that_git_will_not_open_is_an_error_and_not_taken_for_none(tmp_path: Path):
    (tmp_path / ".git").write_text("gitdir: nowhere\n", encoding="utf-8")

    with pytest.raises(RevisionError, match="not a git repository"):
        Repository.find(tmp_path)


def test_environment_keeps_how_to_reach_a_remote_and_drops_where_the_repository_is(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_WORK_TREE", "/elsewhere")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "evil")

    names = environment()

    assert {"GIT_SSH_COMMAND", "GIT_CONFIG_KEY_0", "PATH"} <= names.keys()
    assert names.keys().isdisjoint({"GIT_WORK_TREE", "GIT_EXTERNAL_DIFF"})
    assert names["GIT_TERMINAL_PROMPT"] == "0"


# --- revisions ---


def test_branch_tag_ancestor_and_short_name_are_the_commits_they_stand_for(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    first = tree.commit({"a": "1"})
    tree.git("tag", "-a", "v1", "-m", "first")
    second = tree.commit({"a": "2"})
    repository = opened(tree)

    assert [repository.resolve(r) for r in ("v1", "main~1", "HEAD^", first[:10])] == [first] * 4
    assert repository.resolve("main") == repository.head() == second


def test_detached_head_is_a_commit_like_any_other(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    first = tree.commit({"a": "1"})
    tree.commit({"a": "2"})
    tree.git("checkout", "-q", "--detach", first)

    assert opened(tree).head() == first


def test_repository_without_a_commit_has_no_head(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.write({"a": "1"})
    repository = opened(tree)

    assert repository.head() is None
    assert repository.dirty_paths() == {"a"}
    with pytest.raises(RevisionError, match="no commit yet"):
        repository.resolve("HEAD")


@pytest.mark.parametrize("revision", ["", "--help", "-x", "main\n", "a\0b", "\x1b[31m"])
def test_text_that_cannot_be_a_revision_never_reaches_git(tmp_path: Path, revision: str):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"a": "1"})

    with pytest.raises(RevisionError) as caught:
        opened(tree).resolve(revision)

    assert caught.value.message == f"{revision!r} is no revision"


def test_misspelt_branch_is_answered_with_the_nearest_names(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"a": "1"})

    with pytest.raises(RevisionError) as caught:
        opened(tree).resolve("mian")

    assert caught.value.render() == (
        "there is no branch, tag or commit 'mian' in this clone\n  → did you mean main?"
    )


def test_branch_that_only_the_remote_has_is_named(tmp_path: Path):
    origin = WorkTree.init(tmp_path / "origin")
    origin.commit({"a": "1"})
    origin.git("branch", "stable")
    clone = origin.clone(tmp_path / "clone")

    with pytest.raises(RevisionError) as caught:
        opened(clone).resolve("stable")

    assert caught.value.hint == "there is origin/stable; name that"


def test_command_in_the_hint_fetches_the_branch(tmp_path: Path):
    origin = WorkTree.init(tmp_path / "origin")
    tip = origin.commit({"a": "1"})
    origin.git("branch", "release;touch$IFS-x")
    clone = origin.clone(tmp_path / "clone", "--single-branch")

    with pytest.raises(RevisionError) as caught:
        opened(clone).resolve("release;touch$IFS-x")
    carry_out(caught.value, clone)

    assert opened(clone).resolve("origin/release;touch$IFS-x") == tip
    assert not (clone.root / "-x").exists()


def test_commit_that_is_not_in_the_clone_can_be_fetched_as_the_hint_says(tmp_path: Path):
    origin = WorkTree.init(tmp_path / "origin")
    first = origin.commit({"a": "1"})
    origin.commit({"a": "2"})
    clone = origin.clone(tmp_path / "clone", "--depth", "1")

    with pytest.raises(RevisionError, match="is not in this clone") as caught:
        opened(clone).resolve(first)
    carry_out(caught.value, clone)

    assert opened(clone).resolve(first) == first


def test_ancestor_beyond_a_shallow_clone_can_be_fetched_as_the_hint_says(tmp_path: Path):
    origin, merge = pull_request(tmp_path / "origin")
    clone = check_out_merge(origin, merge, tmp_path / "clone", depth=1)

    with pytest.raises(RevisionError, match="beyond the history") as caught:
        opened(clone).resolve("HEAD^1")
    carry_out(caught.value, clone)

    assert opened(clone).resolve("HEAD^1") == origin.git("rev-parse", "main")


# --- merge base ---


def test_merge_base_is_where_two_branches_parted(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    parted = tree.commit({"a": "1"})
    tree.git("checkout", "-q", "-b", "change")
    tree.commit({"a": "2"})
    tree.git("checkout", "-q", "main")
    tree.commit({"b": "1"})
    repository = opened(tree)

    assert repository.merge_base("main", "change") == parted
    assert repository.merge_base(parted, "main") == parted


def test_first_parent_of_a_merge_is_the_base_in_a_clone_of_depth_two(tmp_path: Path):
    origin, merge = pull_request(tmp_path / "origin")
    clone = check_out_merge(origin, merge, tmp_path / "clone", depth=2)
    repository = opened(clone)

    assert repository.is_shallow
    assert repository.merge_base("HEAD^1", "HEAD") == origin.git("rev-parse", "main")
    assert repository.changed_paths("HEAD^1") == {"cases/changed.yaml", "cases/new.yaml"}


def test_shallow_clone_without_a_merge_base_says_what_to_fetch_and_never_nothing_changed(
    tmp_path: Path,
):
    origin, _ = pull_request(tmp_path / "origin")
    clone = origin.clone(tmp_path / "clone", "--depth", "1", "--no-single-branch")
    clone.git("checkout", "-q", "--detach", "origin/change")

    with pytest.raises(RevisionError, match="shallow") as caught:
        opened(clone).merge_base("origin/main", "HEAD")
    carry_out(caught.value, clone)

    assert opened(clone).merge_base("origin/main", "HEAD") == origin.git(
        "merge-base", "main", "change"
    )


def test_unrelated_histories_have_no_merge_base(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"a": "1"})
    tree.git("checkout", "-q", "--orphan", "other")
    tree.commit({"b": "1"})

    with pytest.raises(RevisionError, match="no commit in common"):
        opened(tree).merge_base("main", "other")


# --- what changed ---


def test_changes_are_told_with_umlauts_deletions_and_both_names_of_a_rename(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"cases/über.yaml": "1", "cases/old name.yaml": "same", "gone": "1", "kept": "1"})
    tree.git("mv", "cases/old name.yaml", "cases/new name.yaml")
    tree.commit({"cases/über.yaml": "2", "gone": None})

    assert opened(tree).changed_paths("HEAD^", "HEAD") == {
        "cases/über.yaml",
        "cases/old name.yaml",
        "cases/new name.yaml",
        "gone",
    }


def test_more_files_than_a_forge_lists_are_all_told_in_a_clone_of_depth_two(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"cases/required.yaml": "1", "kept": "1"})
    many = {f"docs/seite-{number}-ü.md": "1" for number in range(3001)}
    tree.commit({**many, "cases/required.yaml": None})

    clone = tree.clone(tmp_path / "clone", "--depth", "2")

    assert opened(clone).changed_paths("HEAD^1", "HEAD") == {*many, "cases/required.yaml"}


def test_work_tree_counts_with_its_untracked_but_not_with_its_ignored_files(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit(
        {"committed": "1", "edited": "1", "staged": "1", "gone": "1", ".gitignore": "*.log"}
    )
    base = tree.head()
    tree.commit({"committed": "2"})
    tree.write({"staged": "2"})
    tree.git("add", "staged")
    tree.write({"edited": "2", "gone": None, "new/ß": "1", "x.log": "1"})
    repository = opened(tree)

    assert repository.changed_paths(base) == {"committed", "edited", "staged", "gone", "new/ß"}
    assert repository.dirty_paths() == {"edited", "staged", "gone", "new/ß"}
    assert repository.is_dirty(["new"])
    assert not repository.is_dirty(["committed", "absent"])


def test_looking_at_the_state_writes_nothing(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"a": "1"})
    os.utime(tree.root / "a", (1, 1))
    index = (tree.root / ".git" / "index").read_bytes()
    repository = opened(tree)

    assert not repository.is_dirty()
    assert repository.changed_paths("HEAD") == frozenset()
    assert (tree.root / ".git" / "index").read_bytes() == index


def test_path_with_the_signs_of_a_pattern_is_only_itself(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"cases/*.yaml": "star", "cases/a.yaml": "a", ":(top)x": "magic"})
    repository = opened(tree)

    assert repository.read_tree("HEAD", ["cases/*.yaml"]) == {"cases/*.yaml": b"star"}
    assert repository.read_file("HEAD", ":(top)x") == b"magic"


# --- files at a revision ---


def test_tree_is_read_as_it_was_binary_and_empty_files_included(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.write({"cases/ü.yaml": "früher\r\n", "cases/empty.yaml": "", "other/x": "1"})
    (tree.root / "cases" / "raw").write_bytes(b"\0\n\xff")
    (tree.root / "cases" / "link.yaml").symlink_to("ü.yaml")
    first = tree.commit({})
    tree.commit({"cases/ü.yaml": None})
    repository = opened(tree)

    assert repository.read_tree(first, ["cases", "suites"]) == {
        "cases/empty.yaml": b"",
        "cases/raw": b"\0\n\xff",
        "cases/ü.yaml": "früher\r\n".encode(),
    }
    assert repository.read_tree(first, wanted=lambda path: path == "other/x") == {"other/x": b"1"}
    assert repository.read_tree("HEAD", ["nothing"]) == {}


def test_file_at_a_revision_is_none_where_there_is_none(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"cases/a.yaml": "1"})
    repository = opened(tree)

    assert repository.read_file("HEAD", "cases/a.yaml") == b"1"
    assert repository.read_file("HEAD", "cases/b.yaml") is None
    assert repository.read_file("HEAD", "cases") is None


# --- people ---


def test_people_are_authors_committers_and_co_authors_under_all_their_names(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({".mailmap": "Ann Proper <ann@example.com> <ann@example.org>\n"})
    tree.become(BEA)
    tree.git(
        *("commit", "-q", "--allow-empty", "--author", f"{ANN[0]} <{ANN[1]}>"),
        *("-m", "Change\n\nCo-Authored-By: Cy <cy@example.org>\n\nlast words"),
    )

    assert opened(tree).people("HEAD") == {
        Person(*ANN),
        Person("Ann Proper", "ann@example.com"),
        Person(*BEA),
        Person("Cy", "cy@example.org"),
    }


def test_people_of_a_range_are_those_who_touched_the_paths(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    base = tree.commit({"prompts/a": "1"})
    tree.become(BEA)
    tree.commit({"prompts/a": "2"})
    tree.become(("Cy", "cy@example.org"))
    tree.commit({"docs": "1"})
    repository = opened(tree)

    assert repository.people("HEAD", since=base, prefixes=["prompts"]) == {Person(*BEA)}
    assert {p.name for p in repository.people("HEAD", since=base)} == {BEA[0], "Cy"}


def test_signature_settings_do_not_get_into_what_is_read(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    sha = tree.commit({"a": "1"}, "First\n\nmore")
    tree.git("config", "log.showSignature", "true")

    assert opened(tree).log("HEAD") == ((sha, "First"),)


def pull_request(root: Path) -> tuple[WorkTree, str]:
    """A repository whose branches parted some commits ago, and a merge of `change` into `main`."""
    tree = WorkTree.init(root)
    tree.commit({"cases/changed.yaml": "1", "cases/same.yaml": "1"})
    tree.git("checkout", "-q", "-b", "change")
    tree.commit({"cases/changed.yaml": "2"})
    tree.commit({"cases/new.yaml": "1"})
    tree.git("checkout", "-q", "main")
    for n in range(3):
        tree.commit({"docs.md": str(n)})
    tree.git("checkout", "-q", "--detach")
    tree.git("merge", "-q", "--no-ff", "-m", "Merge", "change")
    merge = tree.head()
    tree.git("update-ref", "refs/pull/1/merge", merge)
    tree.git("checkout", "-q", "main")
    return tree, merge


def check_out_merge(origin: WorkTree, merge: str, to: Path, *, depth: int) -> WorkTree:
    """What actions/checkout makes of a pull request."""
    clone = WorkTree.init(to)
    clone.git("remote", "add", "origin", f"file://{origin.root}")
    refspec = f"+{merge}:refs/remotes/pull/1/merge"
    clone.git("fetch", "-q", "--no-tags", f"--depth={depth}", "origin", refspec)
    clone.git("checkout", "-q", "--detach", "refs/remotes/pull/1/merge")
    return clone


def carry_out(error: RevisionError, tree: WorkTree) -> None:
    """Type the command of the hint."""
    found = re.search(r"git fetch ((?:'[^']*'|[^;,('])+)", error.hint)
    assert found, error.hint
    git("fetch", "-q", *shlex.split(found[1]), cwd=tree.root)
