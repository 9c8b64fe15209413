"""Documents in a folder and at a base, in real repositories: what is selected, and what a digest covers."""

import os
from pathlib import Path

import pytest
import yaml
from tests import bike_shop, recall
from tests.work_trees import WorkTree

from seatrial.errors import InvalidDocuments, RevisionError, UsageError
from seatrial.workspace import Workspace

CASES = (
    bike_shop.case("rent"),
    bike_shop.case("refuse", required=True),
)
SOURCES = {"prompts": ["agent/prompts/*.md"], "rules": "agent/rules.json"}
FILES: dict[str, str | None] = {
    "agent/prompts/über.md": "Be kind.",
    "agent/rules.json": "{}",
    ".gitignore": "*.log\n",
}


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.init(tmp_path / "repo")
    bike_shop.write_tree(tree.root, documents())
    tree.commit(FILES)
    return tree


def documents(*, cases=CASES, **arm):
    return bike_shop.catalog(*cases, bike_shop.arm(sources=SOURCES, **arm))


def reasons(root: Path, base: str | None = "HEAD") -> dict[str, str]:
    workspace = Workspace.find(root)
    selection = workspace.select("all", base=base, recall=recall.everything(workspace))
    mark = {True: "run: ", False: "left out: "}
    return {c.case: mark[c.selected] + "; ".join(c.reasons) for c in selection.cases}


def unchanged(tree: WorkTree, base: str = "HEAD") -> dict[str, str]:
    commit = tree.git("rev-parse", "--short=10", base)
    return {
        "rent": f"left out: carried, not run: nothing it leans on changed since {base} ({commit})",
        "refuse": "run: required",
    }


# --- finding the root ---


def test_root_is_the_nearest_folder_with_documents(tree: WorkTree):
    inside = tree.root / "cases" / "deeper"
    inside.mkdir()

    assert Workspace.find(inside).root == tree.root


def test_folder_without_documents_is_told(tmp_path: Path):
    with pytest.raises(UsageError, match="has cases/ or suites/"):
        Workspace.find(tmp_path)
    assert Workspace.find_or_here(tmp_path).root == tmp_path


# --- selection ---


def test_nothing_changed_leaves_the_required_cases(tree: WorkTree):
    assert reasons(tree.root) == unchanged(tree)


def test_comment_and_order_of_keys_select_nothing(tree: WorkTree):
    path = tree.root / "cases" / "rent.yaml"
    kind, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("# a comment\n" + "".join(rest) + kind, encoding="utf-8")

    assert reasons(tree.root) == unchanged(tree)


def test_uncommitted_committed_and_untracked_changes_all_count(tree: WorkTree):
    base = tree.head()
    bike_shop.write_tree(tree.root, documents(cases=(bike_shop.case("rent", tags=["x"]), CASES[1])))

    assert reasons(tree.root)["rent"] == "run: case changed (tags)"
    tree.commit({})
    assert reasons(tree.root, base)["rent"] == "run: case changed (tags)"
    tree.write({"agent/prompts/new.md": "New."})
    assert reasons(tree.root)["rent"] == "run: arm clerk-1 changed (prompts: agent/prompts/new.md)"


def test_deleted_source_and_deleted_required_case_are_noticed(tree: WorkTree):
    tree.write({"agent/prompts/second.md": "x"})
    tree.commit({})
    bike_shop.write_tree(tree.root, documents(cases=CASES[:1]))
    tree.write({"agent/prompts/über.md": None, "cases/refuse.yaml": None})

    assert reasons(tree.root) == {
        "rent": "run: arm clerk-1 changed (prompts: agent/prompts/über.md)",
        "refuse": "left out: removed: the case was deleted; it was required",
    }


def test_base_is_where_the_branches_parted_and_not_the_tip_of_the_other(tree: WorkTree):
    tree.git("checkout", "-q", "-b", "change")
    tree.commit({"notes": "1"})
    tree.git("checkout", "-q", "main")
    bike_shop.write_tree(tree.root, documents(cases=(bike_shop.case("rent", tags=["x"]), CASES[1])))
    tree.commit({})
    tree.git("checkout", "-q", "change")

    assert reasons(tree.root, "main")["rent"].startswith("left out: ")


def test_clone_of_depth_two_selects_by_the_first_parent(tree: WorkTree, tmp_path: Path):
    tree.commit({"agent/rules.json": "[]"})
    clone = tree.clone(tmp_path / "clone", "--depth", "2")

    assert reasons(clone.root, "HEAD^1")["rent"] == (
        "run: arm clerk-1 changed (rules: agent/rules.json)"
    )


def test_clone_of_depth_one_says_what_to_fetch_and_selects_nothing_in_silence(
    tree: WorkTree, tmp_path: Path
):
    tree.commit({"agent/rules.json": "[]"})
    clone = tree.clone(tmp_path / "clone", "--depth", "1")

    with pytest.raises(RevisionError) as caught:
        reasons(clone.root, "HEAD^1")

    assert caught.value.hint.startswith(f"git fetch --deepen=1 origin {clone.head()}")


def test_documents_of_an_older_language_select_everything(tree: WorkTree):
    tree.write({"cases/rent.yaml": "kind: case\nid: rent\nold_key: 1\n"})
    tree.commit({})
    bike_shop.write_tree(tree.root, documents())

    found = reasons(tree.root)

    assert found["rent"].startswith("run: the documents at HEAD (")
    assert "cannot be read: cases/rent.yaml:" in found["rent"]


def test_base_before_there_were_documents_selects_everything(tmp_path: Path):
    tree = WorkTree.init(tmp_path / "repo")
    base = tree.commit({"readme": "1"})
    bike_shop.write_tree(tree.root, documents())
    tree.commit(FILES)

    assert reasons(tree.root, base)["rent"].startswith("run: suite all is new; new case")


def test_source_that_git_ignores_cannot_be_compared_and_selects(tree: WorkTree):
    tree.write({".gitignore": "agent/rules.json\n"})
    tree.git("rm", "-q", "--cached", "agent/rules.json")
    tree.commit({})
    tree.write({"agent/rules.json": "{}"})

    assert reasons(tree.root)["rent"] == (
        "run: arm clerk-1 may have changed (rules: git does not keep agent/rules.json)"
    )


def test_change_behind_a_link_is_a_change_of_the_source(tree: WorkTree):
    (tree.root / "agent" / "rules.json").unlink()
    (tree.root / "agent" / "rules.json").symlink_to("../shared/rules.json")
    tree.commit({"shared/rules.json": "{}"})
    assert reasons(tree.root) == unchanged(tree)

    tree.write({"shared/rules.json": "[]"})

    assert reasons(tree.root)["rent"] == "run: arm clerk-1 changed (rules: agent/rules.json)"


def test_documents_in_a_folder_of_a_larger_repository_are_compared_by_their_own_paths(
    tmp_path: Path,
):
    tree = WorkTree.init(tmp_path / "repo")
    root = tree.root / "teams" / "bikes"
    bike_shop.write_tree(root, documents())
    tree.commit({f"teams/bikes/{path}": text for path, text in FILES.items()})
    assert Workspace.find(root).root == root
    assert reasons(root) == unchanged(tree)

    tree.write({"agent/rules.json": "not theirs"})
    assert reasons(root) == unchanged(tree)
    assert Workspace.find(root).revision() == (tree.head(), False)

    tree.write({"teams/bikes/agent/rules.json": "[]"})
    assert reasons(root)["rent"] == "run: arm clerk-1 changed (rules: agent/rules.json)"
    assert Workspace.find(root).revision() == (tree.head(), True)


def test_base_outside_of_git_is_an_error_and_no_base_is_not(tmp_path: Path):
    bike_shop.write_tree(tmp_path, documents())
    WorkTree(tmp_path).write(FILES)

    with pytest.raises(RevisionError, match="is not in a git repository"):
        reasons(tmp_path)
    assert reasons(tmp_path, None)["rent"] == "run: no base given"
    assert Workspace.find(tmp_path).revision() == (None, False)


def test_unknown_suite_and_arm_are_answered_with_the_known_ones(tree: WorkTree):
    workspace = Workspace.find(tree.root)

    with pytest.raises(UsageError) as suite:
        workspace.select("al")
    with pytest.raises(UsageError) as arm:
        workspace.select("all", ["clerc-1"])

    assert suite.value.render() == "there is no suite 'al'\n  → did you mean all?"
    assert arm.value.render() == "there is no arm 'clerc-1'\n  → did you mean clerk-1?"


def test_arms_of_other_agents_than_the_cases_are_for_are_no_run_of_nothing(tmp_path: Path):
    bike_shop.write_tree(tmp_path, bike_shop.catalog(*CASES, bike_shop.arm(agent="desk")))

    for arms in ([], ["clerk-1"]):
        with pytest.raises(UsageError) as told:
            Workspace.find(tmp_path).select("all", arms)

        assert told.value.render() == (
            "no arm is of an agent that suite 'all' has cases for\n"
            "  → the cases are for clerk; clerk-1 is of desk"
        )


# --- digests of sources ---


def digests(root: Path) -> dict[str, str]:
    workspace = Workspace.find(root)
    catalog = workspace.catalog()
    return workspace.source_digests(catalog, catalog.arms["clerk-1"])


def test_digest_covers_the_content_and_the_names_of_the_files(tree: WorkTree):
    before = digests(tree.root)
    assert before.keys() == {"prompts", "rules"}

    tree.write({"agent/rules.json": "[]"})
    assert {k for k, v in digests(tree.root).items() if v != before[k]} == {"rules"}
    tree.write({"agent/rules.json": "{}"})
    (tree.root / "agent" / "prompts" / "über.md").rename(tree.root / "agent" / "prompts" / "x.md")
    assert {k for k, v in digests(tree.root).items() if v != before[k]} == {"prompts"}


def test_digest_is_the_same_in_another_clone_and_outside_of_git(tree: WorkTree, tmp_path: Path):
    clone = tree.clone(tmp_path / "clone")
    outside = tmp_path / "outside"
    bike_shop.write_tree(outside, documents())
    WorkTree(outside).write(FILES)

    assert digests(tree.root) == digests(clone.root) == digests(outside)


def test_caches_beside_the_code_are_no_sources(tree: WorkTree):
    bike_shop.write_tree(tree.root, documents(version="2"))
    arm = tree.root / "arms" / "clerk-1.yaml"
    arm.write_text(
        arm.read_text(encoding="utf-8").replace("agent/prompts/*.md", "agent"), encoding="utf-8"
    )
    before = digests(tree.root)

    tree.write({"agent/debug.log": "1"})

    assert digests(tree.root) == before


def test_source_that_fits_no_file_is_a_problem_at_its_line(tree: WorkTree):
    tree.write({"agent/rules.json": None, "agent/prompts/über.md": None})

    with pytest.raises(InvalidDocuments) as caught:
        Workspace.find(tree.root).select("all")

    lines = (tree.root / "arms" / "clerk-1.yaml").read_text(encoding="utf-8").splitlines()
    at = [n for n, line in enumerate(lines, 1) if "prompts:" in line or "rules:" in line]
    assert [(p.path, p.line, p.message) for p in caught.value.problems] == [
        ("arms/clerk-1.yaml", at[0], "source 'prompts': no file fits agent/prompts/*.md"),
        ("arms/clerk-1.yaml", at[1], "source 'rules': no file fits agent/rules.json"),
    ]


def test_prompt_that_is_not_there_is_a_problem_at_its_line(tree: WorkTree):
    path = tree.root / "arms" / "clerk-1.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["adapter"] = {
        "type": "openai",
        "url": "http://127.0.0.1:1/v1",
        "prompt": "agent/none.md",
    }
    document["model"] = {"name": "made-up-1"}
    path.write_text(yaml.safe_dump(document), encoding="utf-8")

    with pytest.raises(InvalidDocuments) as caught:
        Workspace.find(tree.root).select("all")

    line = path.read_text(encoding="utf-8").splitlines().index("  prompt: agent/none.md") + 1
    assert [(p.path, p.line, p.message) for p in caught.value.problems] == [
        ("arms/clerk-1.yaml", line, "there is no such file for the prompt of the arm")
    ]


def test_link_out_of_the_repository_is_not_followed(tree: WorkTree, tmp_path: Path):
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (tree.root / "agent" / "rules.json").unlink()
    (tree.root / "agent" / "rules.json").symlink_to(tmp_path / "secret")

    with pytest.raises(InvalidDocuments, match="1 problem") as caught:
        digests(tree.root)

    assert "leads out of the repository" in caught.value.problems[0].message
