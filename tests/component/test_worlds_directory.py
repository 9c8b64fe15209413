"""A world of kind `directory`: real folders and repositories, copied for each trial and compared file by file."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests import practice
from tests.work_trees import WorkTree

from seatrial.documents.world import DirectoryWorld
from seatrial.errors import WorldError
from seatrial.state import apply, difference, state_from_json
from seatrial.state.validate import world_problems
from seatrial.trace import Change
from seatrial.worlds import WorldCopy, file_problems

NOTES = """
kind: fixture
type: world
world: directory
id: notes
now: 2026-05-04T11:30:00Z
start:
  README.md: |
    # Notes
  drafts/offer.md: An offer.
  drafts/old/plan.md: A plan.
"""
FROM_TREE = NOTES.partition("start:")[0] + "tree: fixtures/notes\n"


def notes(**changes: Any):
    return practice.world(NOTES, **changes)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "fixtures" / "notes"
    (folder / "drafts").mkdir(parents=True)
    (folder / "README.md").write_text("# Notes\n")
    (folder / "drafts" / "offer.md").write_text("An offer.")
    (folder / "logo.png").write_bytes(b"\x89PNG\x00\x01")
    (folder / "run.sh").write_text("true\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "latest").symlink_to("drafts/offer.md")
    return tmp_path


# --- tools ---


def test_files_are_listed_and_read(tmp_path: Path):
    played = practice.play(
        notes(),
        tmp_path,
        ("list_files", {}),
        ("list_files", {"folder": "drafts/old"}),
        ("read_file", {"path": "drafts/offer.md"}),
        ("read_file", {"path": "drafts"}),
        ("read_file", {"path": "nothing.md"}),
    )

    assert played.answers[0].structured == {
        "files": ["README.md", "drafts/offer.md", "drafts/old/plan.md"]
    }
    assert played.answers[1].structured == {"files": ["drafts/old/plan.md"]}
    assert played.texts[2:] == [
        "An offer.",
        "!read_file: drafts is a folder.",
        "!read_file: there is no file nothing.md.",
    ]
    assert (played.changes, played.versions) == ((), [0] * 5)


def test_files_are_compared_by_path_and_content(tmp_path: Path):
    played = practice.play(
        notes(),
        tmp_path,
        ("write_file", {"path": "README.md", "text": "# Mine\n"}),
        ("write_file", {"path": "new/a.md", "text": "New: é\r\n"}),
        ("delete_file", {"path": "drafts/offer.md"}),
        ("move_file", {"source": "drafts/old", "destination": "archive/2025"}),
    )

    assert played.texts == ["done"] * 4
    assert played.versions == [1, 2, 3, 4]
    assert played.changes == (
        Change(
            what="changed",
            type="file",
            key="README.md",
            property="text",
            old="# Notes\n",
            new="# Mine\n",
        ),
        Change(what="created", type="file", key="archive/2025/plan.md", new={"text": "A plan."}),
        Change(what="deleted", type="file", key="drafts/offer.md", old={"text": "An offer."}),
        Change(what="deleted", type="file", key="drafts/old/plan.md", old={"text": "A plan."}),
        Change(what="created", type="file", key="new/a.md", new={"text": "New: é\r\n"}),
    )


def test_writing_what_is_there_already_is_no_change(tmp_path: Path):
    played = practice.play(
        notes(), tmp_path, ("write_file", {"path": "README.md", "text": "# Notes\n"})
    )

    assert (played.changes, played.versions) == ((), [0])


def test_a_write_of_the_same_length_right_after_the_copy_is_seen(tmp_path: Path):
    """Times of files have a coarse grain; what was written within it must show all the same."""
    for _ in range(20):
        played = practice.play(
            notes(), tmp_path, ("write_file", {"path": "README.md", "text": "# Nodes\n"})
        )
        assert [c.new for c in played.changes] == ["# Nodes\n"]


def test_binary_files_links_and_the_right_to_run_are_part_of_the_state(root: Path):
    fixture = practice.world(FROM_TREE)
    played = practice.play(
        fixture,
        root,
        ("read_file", {"path": "logo.png"}),
        ("read_file", {"path": "latest"}),
        ("delete_file", {"path": "latest"}),
        ("move_file", {"source": "logo.png", "destination": "drafts/logo.png"}),
    )
    start = played.start.to_json()

    assert start["file"]["run.sh"] == {"text": "true\n", "executable": True}
    assert start["link"] == {"latest": {"target": "drafts/offer.md"}}
    assert start["file"]["logo.png"]["bytes"] == 6
    assert len(start["file"]["logo.png"]["sha256"]) == 64
    assert played.texts == [
        "!read_file: logo.png is a binary file of 6 bytes.",
        "An offer.",
        "done",
        "done",
    ]
    assert [(c.what, c.type, c.key) for c in played.changes] == [
        ("created", "file", "drafts/logo.png"),
        ("deleted", "file", "logo.png"),
        ("deleted", "link", "latest"),
    ]


def test_folders_count_only_where_the_fixture_says_so(tmp_path: Path):
    calls = [("write_file", {"path": "a/b/c.md", "text": ""})]

    assert [c.key for c in practice.play(notes(), tmp_path, *calls).changes] == ["a/b/c.md"]
    assert [
        (c.type, c.key) for c in practice.play(notes(folders=True), tmp_path, *calls).changes
    ] == [("file", "a/b/c.md"), ("folder", "a"), ("folder", "a/b")]


def test_what_is_left_out_is_never_seen(tmp_path: Path):
    played = practice.play(
        notes(leave_out=["drafts", "*.log"]),
        tmp_path,
        ("delete_file", {"path": "drafts/offer.md"}),
        ("write_file", {"path": "x.log", "text": ""}),
        ("write_file", {"path": "x.txt", "text": ""}),
    )

    assert [c.key for c in played.changes] == ["x.txt"]


def test_a_file_has_a_size_that_it_may_get(tmp_path: Path):
    played = practice.play(
        notes(largest_file=10), tmp_path, ("write_file", {"path": "a", "text": "é" * 6})
    )

    assert played.texts == ["!write_file: a file may have 10 bytes, and this would be 12."]
    assert played.changes == ()


# --- confined ---


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "drafts/../../secret.txt",
        "/etc/passwd",
        "./README.md",
        "drafts//offer.md",
        "",
        ".",
        "..",
        "README.md/",
        "a\\b",
        "nul\0.txt",
        ".git/config",
        "drafts/.GIT/hooks/post-commit",
        "x" * 2000,
        "half\ud800",
        "README.md/below",
        "x" * 300,
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "delete_file", "move_file"])
def test_no_path_leads_out_of_the_copy_or_into_git(tmp_path: Path, tool: str, path: str):
    (tmp_path / "secret.txt").write_text("secret")
    arguments = {
        "write_file": {"path": path, "text": "x"},
        "move_file": {"source": "README.md", "destination": path},
    }
    played = practice.play(notes(git=True), tmp_path, (tool, arguments.get(tool, {"path": path})))

    assert played.answers[0].is_error
    assert "secret" not in played.answers[0].text.replace("secret.txt", "")
    assert played.changes == ()
    assert (tmp_path / "secret.txt").read_text() == "secret"


def test_a_link_in_the_tree_that_leads_out_of_it_is_refused(root: Path):
    (root / "secret.txt").write_text("secret")
    fixture = practice.world(FROM_TREE)
    for target in ("../../secret.txt", str(root / "secret.txt"), "/etc"):
        link = root / "fixtures" / "notes" / "drafts" / "way-out"
        link.symlink_to(target)

        assert dict(file_problems(fixture, root)) == {
            "tree": "the link drafts/way-out in fixtures/notes leads out of the folder"
        }
        with pytest.raises(WorldError, match="the link drafts/way-out leads out of the folder"):
            practice.play(fixture, root)
        link.unlink()


def test_a_link_that_a_commit_brings_in_is_not_followed_out_of_the_copy(tmp_path: Path):
    (tmp_path / "secret.txt").write_text("secret")
    tree = WorkTree.init(tmp_path / "origin")
    tree.commit({"README.md": "x"})
    tree.git("switch", "-q", "-c", "side")
    (tree.root / "way-out").symlink_to(tmp_path)
    (tree.root / "inside").symlink_to("README.md")
    tree.commit({})
    tree.git("switch", "-q", "main")
    tree.git("bundle", "create", "-q", str(tmp_path / "notes.bundle"), "--all")
    fixture = practice.world(NOTES.partition("start:")[0] + "bundle: notes.bundle\n")
    played = practice.play(
        fixture,
        tmp_path,
        ("git_switch", {"branch": "side"}),
        ("read_file", {"path": "way-out/secret.txt"}),
        ("write_file", {"path": "way-out/new.txt", "text": "x"}),
        ("move_file", {"source": "README.md", "destination": "way-out/README.md"}),
        ("read_file", {"path": "inside"}),
    )

    assert played.texts == [
        "done",
        "!read_file: 'way-out/secret.txt' leads out of the folder.",
        "!write_file: 'way-out/new.txt' leads out of the folder.",
        "!move_file: 'way-out/README.md' leads out of the folder.",
        "x",
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.bundle", "origin", "secret.txt"]


# --- repositories ---


def test_commits_and_branches_are_compared_too(tmp_path: Path):
    played = practice.play(
        notes(git=True),
        tmp_path,
        ("git_create_branch", {"name": "fix/typo"}),
        ("write_file", {"path": "README.md", "text": "# Note\n"}),
        ("git_status", {}),
        ("git_commit", {"message": "Correct a word\n\nIt was wrong."}),
        ("git_log", {"limit": 1}),
        ("git_switch", {"branch": "main"}),
    )
    again = practice.play(
        notes(git=True),
        tmp_path,
        ("git_create_branch", {"name": "fix/typo"}),
        ("write_file", {"path": "README.md", "text": "# Note\n"}),
        ("git_commit", {"message": "Correct a word\n\nIt was wrong."}),
    )
    [start] = played.start.to_json()["commit"]
    new = played.answers[3].structured["commit"]

    assert played.answers[2].structured == {
        "branch": "fix/typo",
        "branches": ["fix/typo", "main"],
        "changed": {"README.md": "changed"},
    }
    assert played.answers[4].structured["commits"] == [
        {
            "commit": new,
            "author": "Agent <agent@example.org>",
            "date": "2026-05-04T11:30:00Z",
            "message": "Correct a word\n\nIt was wrong.",
        }
    ]
    assert played.changes == (
        Change(what="created", type="branch", key="fix/typo", new={"commit": new}),
        Change(
            what="created",
            type="commit",
            key=new,
            new={
                "message": "Correct a word\n\nIt was wrong.",
                "author": "Agent <agent@example.org>",
                "parents": [start],
                "files": {"README.md": "changed"},
            },
        ),
    )
    assert played.versions == [1, 2, 2, 3, 3, 4]
    assert again.answers[2].structured["commit"] == new, "the same in every trial"


def test_checking_out_the_branch_that_is_checked_out_is_no_change(tmp_path: Path):
    played = practice.play(
        notes(git=True),
        tmp_path,
        ("git_switch", {"branch": "main"}),
        ("write_file", {"path": "a", "text": "1"}),
        ("git_switch", {"branch": "main"}),
    )

    assert played.versions == [0, 1, 1]


def test_what_git_will_not_do_is_told_to_the_agent(tmp_path: Path):
    played = practice.play(
        notes(git=True),
        tmp_path,
        ("git_commit", {"message": "Nothing"}),
        ("git_switch", {"branch": "nowhere"}),
        ("git_switch", {"branch": "--detach"}),
        ("git_create_branch", {"name": "main"}),
        ("git_create_branch", {"name": "--force"}),
        ("git_create_branch", {"name": "a..b"}),
        ("git_log", {"branch": "--all"}),
        ("git_create_branch", {"name": "half\ud800"}),
        ("git_create_branch", {"name": "main/x"}),
        ("write_file", {"path": ".gitattributes", "text": "* working-tree-encoding=nonsense"}),
        ("git_commit", {"message": "\0"}),
        ("git_commit", {"message": "Nonsense"}),
        ("delete_file", {"path": ".gitattributes"}),
    )

    texts = [text.partition(" fatal: ")[0] for text in played.texts]  # then git's own words

    assert texts == [
        "!git_commit: there is nothing to commit.",
        "!git_switch: there is no branch 'nowhere'.",
        "!git_switch: there is no branch '--detach'.",
        "!git_create_branch: there is a branch main already.",
        "!git_create_branch: '--force' is no name for a branch.",
        "!git_create_branch: 'a..b' is no name for a branch.",
        "!git_log: there is no branch '--all'.",
        "!git_create_branch: the name has characters that git cannot write.",
        "!git_create_branch: git refuses:",
        "done",
        "!git_commit: a commit needs a message.",
        "!git_commit: git refuses:",
        "done",
    ]
    assert played.changes == ()


def test_a_bundle_brings_its_history(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "origin")
    tree.commit({"a.md": "1"}, "First")
    tree.git("tag", "-a", "v1", "-m", "One")
    tree.git("switch", "-q", "-c", "side")
    tree.commit({"a.md": None, "b.md": "2"}, "Second")
    tree.git("switch", "-q", "main")
    tree.git("bundle", "create", "-q", str(tmp_path / "notes.bundle"), "--all")
    fixture = practice.world(NOTES.partition("start:")[0] + "bundle: notes.bundle\n")
    start = practice.play(fixture, tmp_path).start.to_json()
    first, second = tree.git("rev-parse", "main"), tree.git("rev-parse", "side")

    assert start == {
        "branch": {"main": {"commit": first}, "side": {"commit": second}},
        "commit": {
            first: {
                "message": "First",
                "author": "Ann Author <ann@example.org>",
                "parents": [],
                "files": {"a.md": "added"},
            },
            second: {
                "message": "Second",
                "author": "Ann Author <ann@example.org>",
                "parents": [first],
                "files": {"a.md": "deleted", "b.md": "added"},
            },
        },
        "file": {"a.md": {"text": "1"}},
        "head": {"HEAD": {"branch": "main"}},
        "tag": {"v1": {"commit": first}},
    }


def test_a_repository_that_the_tree_holds_is_compared_and_its_hooks_never_run(root: Path):
    tree = WorkTree.init(root / "fixtures" / "notes")
    tree.commit({"a.md": "1"}, "First")
    hook = tree.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {root / 'hooked'}\n")
    hook.chmod(0o755)
    played = practice.play(
        practice.world(FROM_TREE, git=True),
        root,
        ("write_file", {"path": "a.md", "text": "2"}),
        ("git_commit", {"message": "Second"}),
    )

    assert [(c.what, c.type) for c in played.changes] == [
        ("changed", "branch"),
        ("created", "commit"),
        ("changed", "file"),
    ]
    assert not (root / "hooked").exists()


def test_what_agents_commit_in_a_copy_of_another_repositorys_work_tree_stays_in_the_copy(
    root: Path,
):
    original = WorkTree.init(root / "original")
    original.commit({"a.md": "1"}, "First")
    notes = root / "fixtures" / "notes"
    original.git("worktree", "add", "-q", "-b", "elsewhere", str(root / "further"))
    for pointed in (notes, notes / "drafts"):
        (pointed / ".git").write_bytes((root / "further" / ".git").read_bytes())
    before = original.git("for-each-ref")

    played = practice.play(
        practice.world(FROM_TREE, git=True),
        root,
        ("write_file", {"path": "a.md", "text": "2"}),
        ("git_commit", {"message": "Second"}),
        ("git_create_branch", {"name": "third"}),
    )

    assert [(c.what, c.type) for c in played.changes] == [
        ("changed", "branch"),
        ("created", "branch"),
        ("created", "commit"),
        ("created", "file"),
        ("changed", "head"),
    ]
    assert original.git("for-each-ref") == before
    assert (notes / ".git").is_file()


def test_a_repository_with_its_files_or_its_history_elsewhere_is_refused(root: Path):
    tree = WorkTree.init(root / "fixtures" / "notes" / "inner")
    tree.commit({"a.md": "1"}, "First")
    other = WorkTree.init(root / "other")
    other.commit({"a.md": "1"}, "First")
    world = practice.world(FROM_TREE, git=True)

    tree.git("config", "core.worktree", str(other.root))
    with pytest.raises(WorldError, match="the repository inner has its files elsewhere"):
        practice.play(world, root)
    tree.git("config", "--unset", "core.worktree")
    (tree.root / ".git" / "commondir").write_text(f"{other.root / '.git'}\n")
    with pytest.raises(WorldError, match="the repository inner has its history elsewhere"):
        practice.play(world, root)


def test_messages_cannot_pretend_to_be_other_commits(tmp_path: Path):
    forged = "\x01" + "0" * 40 + "\nx"
    played = practice.play(
        notes(git=True),
        tmp_path,
        ("write_file", {"path": "a", "text": "1"}),
        ("git_commit", {"message": forged}),
    )
    commits = [c.new for c in played.changes if c.type == "commit"]

    assert [c["message"] for c in commits] == [forged]


# --- laws ---

NAMES = st.sampled_from(
    ["README.md", "drafts/offer.md", "drafts", "a", "a/b", "drafts/old/plan.md"]
)
CALLS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write_file"),
            st.fixed_dictionaries({"path": NAMES, "text": st.sampled_from(["", "1", "# Notes\n"])}),
        ),
        st.tuples(st.just("delete_file"), st.fixed_dictionaries({"path": NAMES})),
        st.tuples(
            st.just("move_file"), st.fixed_dictionaries({"source": NAMES, "destination": NAMES})
        ),
    ),
    max_size=5,
)


@given(CALLS)
@settings(max_examples=60)
def test_carrying_out_the_difference_on_the_start_gives_the_end(calls):
    played = practice.play(notes(folders=True), Path("nowhere"), *calls)
    raw = state_from_json(played.end.to_json())

    assert difference(played.start, played.start) == ()
    assert apply(played.changes, played.start) == raw
    assert difference(played.start, raw) == played.changes
    assert practice.play(notes(folders=True), Path("nowhere")).start == played.start


def test_what_is_kept_of_untouched_files_is_what_a_fresh_look_finds(root: Path):
    async def use(copy: Any) -> tuple[Any, Any]:
        await copy.call("write_file", {"path": "README.md", "text": "2"})
        reader = copy._copied.reader
        return await copy.captured(), reader._read(copy.folder, None, {})

    kept, fresh = practice.opened(practice.world(FROM_TREE), root, use)

    assert kept == fresh


def test_the_folder_of_the_repository_is_never_written_and_no_copy_is_left(root: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    before = {p: p.stat().st_mtime_ns for p in (root / "fixtures").rglob("*")}
    practice.play(
        practice.world(FROM_TREE, git=True),
        root,
        ("write_file", {"path": "README.md", "text": "2"}),
        ("git_commit", {"message": "Two"}),
    )

    assert {p: p.stat().st_mtime_ns for p in (root / "fixtures").rglob("*")} == before
    assert os.listdir(root) == ["fixtures"]


# --- what is wrong with it ---


def test_tools_of_git_need_a_repository(tmp_path: Path):
    assert world_problems(notes(tools=["read_file", "git_log"])) == [
        ("tools[1]", "git_log works on a git repository: write `git: true`, or name a `bundle`")
    ]
    assert world_problems(notes(tools=["read_file", "git_log"], git=True)) == []


def test_a_source_of_another_sort_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    head = NOTES.partition("start:")[0]

    assert dict(file_problems(practice.world(head + "tree: file\n"), tmp_path)) == {
        "tree": "file is no folder"
    }
    assert dict(file_problems(practice.world(head + "bundle: folder\n"), tmp_path)) == {
        "bundle": "folder is a folder"
    }
    with pytest.raises(WorldError, match="file is no git bundle that can be used"):
        practice.play(practice.world(head + "bundle: file\n"), tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tree": "x"}, "write one of `tree`"),
        ({"start": {"../x": "1"}}, "no path of a file inside the folder"),
        ({"start": {"a/": "1"}}, "no path of a file inside the folder"),
        ({"leave_out": ["../x"]}, "no path inside the repository"),
        ({"tools": ["rm"]}, "tools"),
    ],
)
def test_documents_that_cannot_be_meant_are_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        notes(**changes)


def test_its_tools_and_types_are_known_before_it_is_started():
    fixture = notes(git=True, tools=["read_file", "write_file"])
    assert isinstance(fixture, DirectoryWorld)

    assert {name: tool.read_only for name, tool in fixture.declared_tools().items()} == {
        "read_file": True,
        "write_file": False,
    }
    assert sorted(fixture.declared_types()) == ["branch", "commit", "file", "head", "link", "tag"]


def test_a_world_of_this_kind_is_a_tool_server(tmp_path: Path):
    async def use(copy: WorldCopy) -> Any:
        return copy.name, [t.as_mcp() for t in copy.tools()]

    name, tools = practice.opened(notes(), tmp_path, use)

    assert name == "notes"
    assert [t["name"] for t in tools] == [
        "list_files", "read_file", "write_file", "delete_file", "move_file",
    ]  # fmt: skip
    assert tools[2]["annotations"] == {"readOnlyHint": False, "destructiveHint": True}
