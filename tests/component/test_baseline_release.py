"""Releasing runs: what is refused, where it lands, and what is read back."""

import json
import multiprocessing
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop
from tests.work_trees import ANN, BEA, WorkTree, git

from seatrial import baseline
from seatrial.errors import BaselineError, RevisionError, UsageError
from seatrial.git import Person, Repository
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.store import RUNS, Run, Writer
from seatrial.trace import Replied, Trace
from seatrial.verdicts import Cause, Verdict

APPROVER = "Rita Releaser <rita@example.org>"
CASES = (bike_shop.case("rent"), bike_shop.case("refuse", required=True))


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({"cases/rent.yaml": "1", ".gitignore": ".seatrial/\n"})
    return tree


def recorded(
    tree: WorkTree,
    name: str = "run-1",
    *,
    suite: str = "all",
    arms: Iterable[str] = ("clerk-1",),
    trials: int = 2,
    without: Iterable[tuple[str, int]] = (),
    invalid: Iterable[str] = (),
    plan: tuple[PlannedCase, ...] | None = None,
    **manifest: Any,
) -> Run:
    """A run of the bike shop in which every trial passed, but for what is asked."""
    documents = bike_shop.catalog(
        *CASES, *(bike_shop.arm(id) for id in arms), bike_shop.suite(CASES, id=suite)
    )
    planned = plan or tuple(
        PlannedCase(case=c.id, selected=True, reasons=("no base given",), trials=trials)
        for c in CASES
    )
    about: dict[str, Any] = {
        "run": name,
        "suite": suite,
        "arms": tuple(arms),
        "trials": trials,
        "seed": 1,
        "created_at": "2026-04-01T10:00:00+00:00",
        "seatrial": "0.1.0",
        "revision": tree.head(),
        "plan": planned,
        **manifest,
    }
    folder = tree.root / RUNS / name
    with Writer.create(folder, Manifest(**about), documents) as writer:
        for arm in arms:
            for case in (c for c in planned if c.selected):
                for number in range(1, case.trials + 1):
                    if (case.case, number) in without:
                        continue
                    broken = case.case in invalid
                    writer.add(
                        TrialRecord(
                            case=case.case,
                            arm=arm,
                            number=number,
                            verdict=Verdict.INVALID if broken else Verdict.PASSED,
                            cause=Cause.TIME if broken else None,
                        ),
                        Trace(
                            case=case.case,
                            arm=arm,
                            number=number,
                            events=(Replied(turn=1, text=f"{name} {number}"),),
                        ),
                    )
    return Run.open(folder)


def released(tree: WorkTree, run: Run, **options: Any) -> baseline.Released:
    """Released in APPROVER's name; these runs hold nothing that could be compared, so the gate is set aside."""
    approver = baseline.Approver(name=options.pop("approved_by", APPROVER))
    options = {
        "approver": approver,
        "repository": Repository.find(tree.root),
        "override": "a test",
        **options,
    }
    return baseline.release(run, options.pop("arm", None), **options)


def resolved(tree: WorkTree, spec: str | None = None, suite: str = "all") -> baseline.Baseline:
    return baseline.resolve(
        spec, suite, "clerk", root=tree.root, repository=Repository.find(tree.root)
    )


# --- where it lands ---


def test_released_run_is_read_back_from_the_branch(tree: WorkTree):
    run = recorded(tree)

    made = released(tree, run, message="First one")

    found = resolved(tree)
    assert (
        made.where
        == found.info.where
        == f"seatrial-baselines at {tree.git('rev-parse', '--short=12', 'seatrial-baselines')}"
    )
    assert found.info.model_dump() == {
        "run": "run-1",
        "suite": "all",
        "arm": "clerk-1",
        "version": "1.0",
        "revision": tree.head(),
        "where": made.where,
        "approved_by": APPROVER,
        "released_at": made.release.released_at,
        "override": "",
        "reason": "the newest release of clerk in suite all",
    }
    records = list(found.run.records("clerk-1"))
    assert [(r.case, r.number) for r in records] == [
        ("rent", 1), ("rent", 2), ("refuse", 1), ("refuse", 2),
    ]  # fmt: skip
    assert found.run.trace(records[-1]).replies[0].text == "run-1 2"


def test_release_says_in_the_branch_what_it_is_and_who_approved_it(tree: WorkTree):
    released(tree, recorded(tree), message="First one")

    shown = json.loads(tree.git("show", "seatrial-baselines:suites/all/clerk/release.json"))
    assert {key: shown[key] for key in ("run", "approved_by", "cases", "trials", "message")} == {
        "run": "run-1",
        "approved_by": APPROVER,
        "cases": 2,
        "trials": 4,
        "message": "First one",
    }
    assert tree.git("ls-tree", "-r", "--name-only", "seatrial-baselines").splitlines() == [
        "README.md",
        "suites/all/clerk/documents.json",
        "suites/all/clerk/journal.jsonl",
        "suites/all/clerk/release.json",
        "suites/all/clerk/run.json",
        "suites/all/clerk/traces/refuse.jsonl",
        "suites/all/clerk/traces/rent.jsonl",
    ]
    assert tree.git("log", "-1", "--format=%an|%B", "seatrial-baselines") == (
        f"{ANN[0]}|Release clerk 1.0 for suite all\n\nFirst one\n\nRun: run-1\nArm: clerk-1\n"
        f"Revision: {tree.head()}\nApproved-by: {APPROVER}"
    )


def test_work_tree_index_and_branch_stay_as_they_are(tree: WorkTree):
    run = recorded(tree)
    tree.write({"cases/rent.yaml": "edited", "staged": "1"})
    tree.git("add", "staged")
    before = (tree.git("status", "--porcelain"), tree.head(), tree.git("branch", "--show-current"))

    released(tree, run)

    after = (tree.git("status", "--porcelain"), tree.head(), tree.git("branch", "--show-current"))
    assert after == before


def test_next_release_replaces_the_files_and_the_earlier_one_stays_in_the_history(tree: WorkTree):
    released(tree, recorded(tree, "run-1"))
    first = tree.git("rev-parse", "seatrial-baselines")
    released(tree, recorded(tree, "other", suite="smoke"))
    released(tree, recorded(tree, "run-2", trials=1))

    assert resolved(tree).info.run == "run-2"
    assert resolved(tree, suite="smoke").info.run == "other"
    assert resolved(tree, first).info.run == "run-1"
    repository = Repository.find(tree.root)
    assert [r.run for _, r in baseline.history(repository)] == ["run-2", "other", "run-1"]
    assert [r.run for _, r in baseline.history(repository, suite="all")] == ["run-2", "run-1"]
    in_force = baseline.released(None, repository=repository)
    assert [r.run for r, _ in in_force] == ["run-2", "other"]


def test_plain_folder_holds_several_suites_and_is_replaced_whole(tree: WorkTree, tmp_path: Path):
    folder = tmp_path / "baselines"
    released(tree, recorded(tree, "run-1"), to=folder)
    released(tree, recorded(tree, "other", suite="smoke"), to=folder)
    stale = folder / "suites" / "all" / "clerk" / "traces" / "stale.jsonl"
    stale.write_text("", encoding="utf-8")

    made = released(tree, recorded(tree, "run-2"), to=folder)

    assert made.where == str(folder / "suites" / "all" / "clerk")
    assert not stale.exists()
    assert resolved(tree, str(folder)).info.run == "run-2"
    assert resolved(tree, made.where).info.run == "run-2"
    assert resolved(tree, str(folder), suite="smoke").info.run == "other"
    assert [r.run for r, _ in baseline.released(str(folder), repository=None)] == ["run-2", "other"]
    assert Repository(tree.root).ref("refs/heads/seatrial-baselines") is None


def test_folder_of_a_run_is_a_baseline_that_nobody_released(tree: WorkTree):
    run = recorded(tree)

    for spec in (run.where, "run-1"):
        found = resolved(tree, spec)
        assert found.release is None
        assert (found.info.arm, found.info.run) == ("clerk-1", "run-1")
        assert found.info.reason == "named by --baseline; nobody has released it"


def test_one_of_two_arms_is_released_alone(tree: WorkTree):
    run = recorded(tree, arms=("clerk-1", "clerk-2"))

    with pytest.raises(UsageError, match="has 2 arms"):
        released(tree, run)
    released(tree, run, arm="clerk-2")

    found = resolved(tree)
    assert found.run.manifest.arms == ("clerk-2",)
    assert {r.arm for r in found.run.records()} == {"clerk-2"}
    with pytest.raises(BaselineError, match="has 2 arms of the agent clerk"):
        resolved(tree, "run-1")


# --- what is refused ---


def refusals(tree: WorkTree, run: Run, **options: Any) -> list[str]:
    with pytest.raises(UsageError) as caught:
        released(tree, run, **options)
    assert Repository(tree.root).ref("refs/heads/seatrial-baselines") is None
    return caught.value.message.splitlines()[1:]


def test_run_with_missing_trials_is_refused_with_the_command_that_completes_it(tree: WorkTree):
    run = recorded(tree, without=[("rent", 2), ("refuse", 1)])

    assert refusals(tree, run) == [
        "  - 2 of 4 planned trials have no record (rent #2, refuse #1); "
        "go on with: seatrial run --resume run-1"
    ]


def test_run_of_a_part_of_the_suite_is_refused(tree: WorkTree):
    plan = (
        PlannedCase(case="rent", selected=False, reasons=("nothing it leans on changed",)),
        PlannedCase(case="refuse", selected=True, reasons=("required",), trials=2),
    )

    assert refusals(tree, recorded(tree, plan=plan)) == [
        "  - 1 of 2 cases were left out of the run (rent); "
        "run the whole suite: seatrial run --suite all --arm clerk-1"
    ]


def test_run_without_a_valid_trial_of_some_case_is_refused(tree: WorkTree):
    (line,) = refusals(tree, recorded(tree, invalid=["rent"]))

    assert line.startswith("  - no trial of rent is valid")


def test_dirty_run_needs_a_reason_which_is_kept(tree: WorkTree):
    run = recorded(tree, dirty=True)

    (line,) = refusals(tree, run)
    assert "--allow-dirty REASON" in line
    released(tree, run, allow_dirty="generated prompt")

    assert resolved(tree).info.reason.endswith("; not of a commit: generated prompt")


def test_run_outside_of_git_needs_a_reason_and_a_folder(tmp_path: Path, tree: WorkTree):
    run = recorded(tree, revision=None)

    with pytest.raises(UsageError, match="made outside of git or before the first commit"):
        released(tree, run, repository=None, to=tmp_path / "to")
    with pytest.raises(BaselineError, match="no branch to release to"):
        released(tree, run, repository=None, allow_dirty="no git here")
    made = released(tree, run, repository=None, allow_dirty="no git here", to=tmp_path / "to")

    assert made.release.dirty == "no git here"


def test_run_of_a_commit_that_is_not_here_is_refused_with_what_to_fetch(tree: WorkTree):
    tree.git("remote", "add", "origin", "https://example.org/repo.git")

    (line,) = refusals(tree, recorded(tree, revision="a" * 40))

    assert line == (
        f"  - the run was made from a commit that is not here: the commit {'a' * 40} is not in this "
        f"clone; git fetch origin {'a' * 40}"
    )


@pytest.mark.parametrize(
    "approver",
    ["Ann Author", "ann  AUTHOR", "ANN@example.org", "Ann Author <a@example.com>", "ann"],
)
def test_author_cannot_approve_the_release_of_his_own_commit(tree: WorkTree, approver: str):
    (line,) = refusals(tree, recorded(tree), approved_by=approver)

    assert line == (
        f"  - {approver} is Ann Author <ann@example.org>, who wrote or committed "
        f"{tree.head()[:10]}; somebody else must approve it"
    )


def test_co_author_and_committer_cannot_approve_either(tree: WorkTree):
    tree.become(BEA)
    tree.git(
        *("commit", "-q", "--allow-empty", "--author", f"{ANN[0]} <{ANN[1]}>"),
        *("-m", "Change\n\nCo-authored-by: Cy <cy@example.org>"),
    )
    run = recorded(tree)

    for approver in (*ANN, *BEA, "cy@example.org"):
        assert len(refusals(tree, run, approved_by=approver)) == 1


def test_all_refusals_are_named_at_once(tree: WorkTree):
    run = recorded(tree, dirty=True, without=[("rent", 1)])

    assert len(refusals(tree, run, approved_by="Ann Author")) == 3


@pytest.mark.parametrize(
    ("approver", "same"),
    [
        ("Anna Author", False),
        ("ann@example.com", False),
        ("annalogin", True),
        ("Ann Author <other@example.com>", True),
        ("Other <12+AnnaLogin@users.noreply.example.com>", True),
        ("Other <annalogin@users.noreply.example.com>", True),
        ("annalogin@users.noreply.example.com.", True),
        ("Ann\u200b Author <other@example.com>", True),
        ("Other <12+other@users.noreply.example.com>", False),
    ],
)
def test_person_is_known_by_name_address_or_login(approver: str, same: bool):
    person = Person("Ann Author", "12+annalogin@users.noreply.example.com")

    assert baseline.same_person(approver, person) is same


@pytest.mark.parametrize(
    ("approver", "same"),
    [
        ("Other <ann+review@example.org>", True),
        ("Other <ANN+a+b@example.org.>", True),
        ("ann@example.org", True),
        ("Other <annie+work@example.org>", False),
        ("Other <ann+review@example.com>", False),
    ],
)
def test_mailbox_is_the_same_whatever_is_written_behind_a_plus(approver: str, same: bool):
    person = Person("Ann Author", "ann+work@example.org")

    assert baseline.same_person(approver, person) is same


def test_release_without_an_identity_to_commit_with_changes_nothing(tree: WorkTree):
    run = recorded(tree)
    tree.git("config", "--unset", "user.name")

    with pytest.raises(RevisionError, match="in whose name"):
        released(tree, run)

    assert Repository(tree.root).ref("refs/heads/seatrial-baselines") is None


def test_branch_that_is_checked_out_is_not_moved_under_somebodys_feet(
    tree: WorkTree, tmp_path: Path
):
    released(tree, recorded(tree, "run-1"))
    tree.git("worktree", "add", "-q", str(tmp_path / "look"), "seatrial-baselines")

    with pytest.raises(BaselineError, match="is checked out at"):
        released(tree, recorded(tree, "run-2"))

    assert git("status", "--porcelain", cwd=tmp_path / "look") == ""


# --- which one is found ---


def test_no_baseline_says_what_to_type(tree: WorkTree):
    with pytest.raises(BaselineError) as caught:
        resolved(tree)

    assert caught.value.render() == (
        "nothing is released here: there is no branch seatrial-baselines\n"
        "  → release a run: seatrial release RUN --approved-by 'NAME <MAIL>'"
    )


def test_baseline_of_another_suite_is_named_but_not_taken(tree: WorkTree):
    released(tree, recorded(tree, suite="smoke"))

    with pytest.raises(BaselineError) as caught:
        resolved(tree)

    assert (
        "no baseline of clerk in suite all; it holds clerk in suite smoke" in caught.value.message
    )


def test_folder_that_a_change_names_like_a_revision_is_no_baseline(
    tree: WorkTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tree.root)
    run = recorded(tree)
    released(tree, run)
    commit = tree.git("rev-parse", "seatrial-baselines")
    released(tree, run, to=tmp_path / "forged")
    asked = (commit, "seatrial-baselines")
    for name in asked:
        shutil.copytree(tmp_path / "forged", tree.root / name)

    for name in asked:
        with pytest.raises(BaselineError, match="is a folder and a revision"):
            resolved(tree, name)
        assert resolved(tree, str(tree.root / name)).folder is not None
        shutil.rmtree(tree.root / name)
        assert resolved(tree, name).folder is None


def test_ref_that_does_not_exist_is_told_apart_from_a_folder(tree: WorkTree):
    with pytest.raises(BaselineError, match="'nowhere' is neither a folder nor a revision"):
        resolved(tree, "nowhere")
    with pytest.raises(BaselineError, match="no folder 'nowhere'"):
        baseline.resolve("nowhere", "all", "clerk", root=tree.root, repository=None)
    with pytest.raises(BaselineError, match="outside of a git repository"):
        baseline.resolve(None, "all", "clerk", root=tree.root, repository=None)


def test_file_that_was_altered_after_the_release_is_noticed(tree: WorkTree, tmp_path: Path):
    released(tree, recorded(tree), to=tmp_path / "to")
    journal = tmp_path / "to" / "suites" / "all" / "clerk" / "journal.jsonl"
    journal.write_text(
        journal.read_text(encoding="utf-8").replace("passed", "failed", 1), encoding="utf-8"
    )

    found = resolved(tree, str(tmp_path / "to"))

    with pytest.raises(BaselineError, match=r"journal\.jsonl is not what was released"):
        list(found.run.records())


@pytest.mark.parametrize("content", ["", "{", '{"format": 9}'])
def test_release_that_cannot_be_read_is_an_error(tree: WorkTree, tmp_path: Path, content: str):
    released(tree, recorded(tree), to=tmp_path / "to")
    (tmp_path / "to" / "suites" / "all" / "clerk" / "release.json").write_text(
        content, encoding="utf-8"
    )

    with pytest.raises(BaselineError, match="cannot be read"):
        resolved(tree, str(tmp_path / "to"))


def test_commit_the_change_does_not_descend_from_is_told(tree: WorkTree):
    tree.git("checkout", "-q", "-b", "release-line")
    tree.commit({"x": "1"})
    released(tree, recorded(tree))
    tree.git("checkout", "-q", "main")

    assert resolved(tree).info.reason.endswith(
        "it was made from a commit that this change does not descend from"
    )


def test_fetched_branch_serves_until_there_is_a_local_one_and_whenever_it_is_ahead(
    tree: WorkTree, tmp_path: Path
):
    released(tree, recorded(tree, "run-1"))
    clone = tree.clone(tmp_path / "clone")
    assert resolved(clone).info.where.startswith("origin/seatrial-baselines at ")

    clone.git("branch", "seatrial-baselines", "origin/seatrial-baselines")
    released(tree, recorded(tree, "run-2"))
    clone.git("fetch", "-q")
    assert resolved(clone).info.run == "run-2"

    clone.become(BEA)
    released(clone, recorded(clone, "run-3"))
    assert resolved(clone).info.run == "run-3"
    assert [r.run for _, r in baseline.history(Repository.find(clone.root))] == [
        "run-3", "run-2", "run-1",
    ]  # fmt: skip


def test_branches_that_went_apart_are_an_error_and_not_a_choice(tree: WorkTree, tmp_path: Path):
    released(tree, recorded(tree, "run-1"))
    clone = tree.clone(tmp_path / "clone")
    clone.become(BEA)
    released(clone, recorded(clone, "run-2"))
    released(tree, recorded(tree, "run-3"))
    clone.git("fetch", "-q")

    with pytest.raises(BaselineError, match="have gone apart"):
        resolved(clone)


def test_missing_branch_in_a_clone_can_be_fetched_as_the_hint_says(tree: WorkTree, tmp_path: Path):
    released(tree, recorded(tree))
    clone = tree.clone(tmp_path / "clone", "--single-branch", "--depth", "1")

    with pytest.raises(BaselineError) as caught:
        resolved(clone)
    clone.git(*caught.value.hint.partition(",")[0].split()[1:])

    assert resolved(clone).info.run == "run-1"


# --- several at once ---


def test_of_eight_releases_at_once_none_is_lost(tree: WorkTree):
    for n in range(8):
        recorded(tree, f"run-{n}", suite=f"suite-{n}")
    processes = _processes()

    with processes.Pool(8) as pool:
        pool.map(_release, [(tree.root, f"run-{n}") for n in range(8)])

    repository = Repository(tree.root)
    in_force = baseline.released(None, repository=repository)
    assert sorted(r.run for r, _ in in_force) == [f"run-{n}" for n in range(8)]
    assert len(list(baseline.history(repository))) == 8


def test_releases_pushed_from_several_clones_at_once_end_up_in_one_history(
    tree: WorkTree, tmp_path: Path
):
    git("clone", "-q", "--bare", str(tree.root), str(tmp_path / "server"), cwd=tmp_path)
    clones = []
    for n in range(4):
        git("clone", "-q", f"file://{tmp_path}/server", f"clone-{n}", cwd=tmp_path)
        clones.append(WorkTree(tmp_path / f"clone-{n}"))
        clones[-1].become(BEA)
        recorded(clones[-1], f"run-{n}", suite=f"suite-{n}")
    processes = _processes()

    with processes.Pool(4) as pool:
        pool.map(_release, [(c.root, f"run-{n}", "origin") for n, c in enumerate(clones)])

    log = git("log", "--format=%s", "seatrial-baselines", cwd=tmp_path / "server").splitlines()
    assert sorted(log) == [f"Release clerk 1.0 for suite suite-{n}" for n in range(4)]
    for clone in clones:
        clone.git("fetch", "-q")
        assert len(baseline.released(None, repository=Repository(clone.root))) == 4


def _processes() -> multiprocessing.context.ForkServerContext:
    """Fresh processes that need not import everything each for itself."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["seatrial.baseline", "scipy.optimize", "scipy.stats"])
    return context


def _release(task: tuple[Path, str] | tuple[Path, str, str]) -> None:
    root, name, *remote = task
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    baseline.release(
        Run.open(root / RUNS / name),
        None,
        approver=baseline.Approver(name=APPROVER),
        repository=Repository.find(root),
        push_to=remote[0] if remote else None,
    )
