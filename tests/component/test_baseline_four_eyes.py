"""Who may release what, which release a change is held against, and what can be verified afterwards: by real git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests import bike_shop
from tests.servers import github_api
from tests.shell import ROOT
from tests.work_trees import ANN, BEA, WorkTree, git

from seatrial import baseline
from seatrial.cli import main
from seatrial.documents import Arm, Case, Catalog, Suite
from seatrial.errors import BaselineError, NothingReleased, UsageError
from seatrial.git import Person, Repository
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.store import RUNS, Run, Writer
from seatrial.trace import Trace
from seatrial.verdicts import Gate, Verdict

RITA = "Rita Releaser <rita@example.org>"
CY = ("Cy Clerk", "cy@example.org")
RENT = bike_shop.case("rent", required=True)
REFUSE = bike_shop.case("refuse")
TRIALS = 12


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit(
        {"agent/prompt.md": "Rent bikes out.", ".gitignore": ".seatrial/\n", "README.md": ""}
    )
    return tree


def documents(*cases: Case, **changes: Any) -> Catalog:
    cases = cases or (RENT, REFUSE)
    arm: Arm = bike_shop.arm(sources={"prompts": "agent"})
    suite: Suite = bike_shop.suite(cases, trials=TRIALS, **changes)
    return bike_shop.catalog(*cases, arm, suite)


def recorded(
    tree: WorkTree,
    name: str,
    catalog: Catalog | None = None,
    *,
    fails: Mapping[str, int] | None = None,
    **about: Any,
) -> Run:
    """A run of the whole suite; of each case so many trials fail."""
    catalog = catalog or documents()
    cases = catalog.suite_cases(catalog.suites["all"])
    manifest = {
        "run": name,
        "suite": "all",
        "arms": ("clerk-1",),
        "trials": TRIALS,
        "seed": 1,
        "created_at": "2026-04-01T10:00:00+00:00",
        "seatrial": "0.1.0",
        "revision": tree.head(),
        "plan": tuple(
            PlannedCase(case=c.id, selected=True, reasons=("no base given",), trials=TRIALS, required=c.required)
            for c in cases
        ),
        "fingerprints": {f"{c.id}@clerk-1": {"case": c.id, "harness": "1"} for c in cases},
        **about,
    }  # fmt: skip
    folder = tree.root / RUNS / name
    with Writer.create(folder, Manifest.model_validate(manifest), catalog) as writer:
        for case in cases:
            for number in range(1, TRIALS + 1):
                failed = number <= (fails or {}).get(case.id, 0)
                verdict = Verdict.FAILED if failed else Verdict.PASSED
                writer.add(
                    TrialRecord(case=case.id, arm="clerk-1", number=number, verdict=verdict),
                    Trace(case=case.id, arm="clerk-1", number=number),
                )
    return Run.open(folder)


def released(tree: WorkTree, run: Run, by: str = RITA, **options: Any) -> baseline.Released:
    approver = options.pop("approver", baseline.Approver(name=by))
    repository = Repository.find(tree.root)
    return baseline.release(run, None, approver=approver, repository=repository, **options)


def refused(tree: WorkTree, run: Run, by: str = RITA, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        released(tree, run, by, **options)
    return caught.value.message


def taken(tree: WorkTree, since: str | None = None) -> baseline.Baseline:
    return baseline.resolve(
        None, "all", "clerk", root=tree.root, repository=Repository.find(tree.root), since=since
    )


def as_somebody(
    tree: WorkTree, who: tuple[str, str], files: Mapping[str, str], message: str = "Change"
) -> str:
    tree.become(who)
    commit = tree.commit(dict(files), message)
    tree.become(ANN)
    return commit


# --- who may approve ---


def test_whoever_touched_the_sources_since_the_release_cannot_approve_the_next(tree: WorkTree):
    released(tree, recorded(tree, "one"))
    as_somebody(
        tree,
        BEA,
        {"agent/prompt.md": "Rent bikes out, please."},
        "x\n\nCo-authored-by: Cy <cy@example.org>",
    )
    as_somebody(tree, ("Dan", "dan@example.org"), {"README.md": "elsewhere"})
    tree.commit({"notes.txt": ""})
    run = recorded(tree, "two")

    for author in (f"{BEA[0]} <{BEA[1]}>", "cy@example.org"):
        assert "which touches what is released" in refused(tree, run, author)
    made = released(tree, run, "dan@example.org")

    assert (made.release.gate, made.release.override) == (Gate.OPEN, "")
    assert "Bea Builder <bea@example.org>" in made.release.hands
    assert not [hand for hand in made.release.hands if "Dan" in hand]


def test_people_of_commits_that_are_released_already_may_approve_the_next(tree: WorkTree):
    as_somebody(tree, BEA, {"agent/prompt.md": "Rent."})
    run = recorded(tree, "one")
    assert "which touches what is released" in refused(
        tree, recorded(tree, "zero", revision=tree.commit({})), BEA[1]
    )
    released(tree, run)
    tree.commit({"agent/prompt.md": "Rent bikes."})

    assert released(tree, recorded(tree, "two"), BEA[1]).release.approved_by == BEA[1]


def test_name_without_an_address_is_nobody_who_can_be_told_from_an_author(tree: WorkTree):
    assert "nobody can tell whether Rita is one of the authors" in refused(
        tree, recorded(tree, "one"), "Rita"
    )


def test_shallow_clone_does_not_know_who_wrote_what_is_released(tree: WorkTree, tmp_path: Path):
    tree.commit({"agent/prompt.md": "Rent."})
    for depth in ("1", "2"):
        clone = tree.clone(tmp_path / f"clone-{depth}", "--depth", depth)
        clone.become(ANN)
        assert "this clone is shallow" in refused(clone, recorded(clone, "one"))
        clone.git("fetch", "-q", "--unshallow")
        released(clone, recorded(clone, "two"))


def test_whoever_loosened_what_it_is_judged_by_cannot_approve_that(tree: WorkTree):
    released(tree, recorded(tree, "one"))
    as_somebody(tree, CY, {"cases/rent.yaml": "less"})
    run = recorded(tree, "two", documents(bike_shop.case("rent"), REFUSE))

    assert "cy@example.org" in refused(tree, run, CY[1])
    made = released(tree, run)

    assert [change.kind for change in made.release.policy_changes] == ["required_flag_removed"]


def test_forge_that_says_so_or_does_not_know_refuses_the_approver(tree: WorkTree):
    run = recorded(tree, "one")

    def approver(**known: Any) -> baseline.Approver:
        return baseline.Approver(name="Rita", how="environment", **known)

    assert "as the forge tells" in refused(tree, run, approver=approver(logins=frozenset({"rita"})))
    assert "nobody knows" in refused(tree, run, approver=approver(strangers=("nobody knows",)))
    made = released(tree, run, approver=approver(logins=frozenset({"ann"})))
    assert (made.release.approval, made.release.hands) == (
        "environment",
        ("Ann Author <ann@example.org>", "ann"),
    )


# --- what the gate must say ---


def test_run_whose_gate_is_not_open_needs_a_reason_that_is_shown_for_ever(tree: WorkTree):
    released(tree, recorded(tree, "one"))
    tree.commit({"agent/prompt.md": "Rent nothing."})
    run = recorded(tree, "two", fails={"rent": 10})

    assert "its gate is closed: 1 required case regressed: rent" in refused(tree, run)
    made = released(tree, run, override="the shop is closed in winter")
    tree.commit({"agent/prompt.md": "Rent bikes out."})
    released(tree, recorded(tree, "three"))

    assert (made.release.gate, made.release.override) == (
        Gate.CLOSED,
        "the shop is closed in winter",
    )
    first = taken(tree, made.release.revision)
    assert first.info.override == "the shop is closed in winter"
    said = "though its gate was not open: the shop is closed in winter"
    gate = CliRunner().invoke(
        main, ["gate", "three", "--root", str(tree.root), "--baseline", "seatrial-baselines^"]
    )
    assert said in gate.stdout
    log = CliRunner().invoke(main, ["baseline", "log", "--root", str(tree.root)])
    assert "  override     the shop is closed in winter\n" in log.stdout


def test_run_of_another_commit_than_the_one_that_is_released_is_refused(tree: WorkTree):
    run = recorded(tree, "one")
    head = tree.commit({})

    assert "not from " + head[:10] in refused(tree, run, commit=head)
    released(tree, run, commit=run.manifest.revision)


def test_required_case_that_is_deleted_is_let_go_by_the_release(tree: WorkTree):
    released(tree, recorded(tree, "one", documents(RENT, bike_shop.case("gone", required=True))))
    as_somebody(tree, BEA, {"cases/gone.yaml": "deleted"})
    tree.git("rm", "-q", "cases/gone.yaml")
    tree.commit({})

    made = released(tree, recorded(tree, "two", documents(RENT)))

    assert [change.kind for change in made.release.policy_changes] == ["case_removed"]
    assert made.release.gate is Gate.OPEN


def test_release_that_cannot_be_read_is_followed_only_with_a_reason(tree: WorkTree, tmp_path: Path):
    to = tmp_path / "to"
    released(tree, recorded(tree, "one"), to=to)
    (to / "suites/all/clerk/release.json").write_text("{", encoding="utf-8")
    run = recorded(tree, "two")

    assert "what is released cannot be read" in refused(tree, run, to=to)
    assert (
        released(tree, run, to=to, override="it was damaged").release.override == "it was damaged"
    )


def test_two_releases_at_once_are_each_held_against_what_came_before(tree: WorkTree):
    released(tree, recorded(tree, "zero"))
    for name in ("one", "two"):
        recorded(tree, name)

    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(lambda name: released(tree, Run.open(tree.root / RUNS / name)), ["one", "two"])
        )

    repository = Repository(tree.root)
    history = [release for _, release in baseline.history(repository)]
    assert {history[0].run, history[1].run} == {"one", "two"}
    assert len({release.previous for release in history}) == 3
    assert [one.wrong for one in baseline.verify(repository, folder="")] == [(), (), ()]


# --- which one a change is held against ---


def test_change_is_held_against_the_newest_release_that_it_descends_from(tree: WorkTree):
    released(tree, recorded(tree, "one"))
    tree.git("branch", "change")
    tree.commit({"agent/prompt.md": "Rent bikes."})
    released(tree, recorded(tree, "two"))
    base = tree.git("rev-parse", "change")

    older, newer = taken(tree, base), taken(tree)
    tip = tree.git("rev-parse", "seatrial-baselines")
    for at, since, run in ((tip, base, "one"), (tip, None, "two"), (f"{tip}^", None, "one")):
        spec = f"seatrial-baselines@{at}"
        found = baseline.resolve(
            spec, "all", "clerk", root=tree.root, repository=Repository(tree.root), since=since
        )
        assert (found.info.run, found.newest) == (run, False)
    with pytest.raises(NothingReleased, match="no baseline of other"):
        baseline.resolve(spec, "all", "other", root=tree.root, repository=Repository(tree.root))
    with pytest.raises(BaselineError, match="the branch seatrial-baselines at 'nothing'"):
        baseline.resolve(
            "seatrial-baselines@nothing", "all", "clerk", root=tree.root, repository=Repository(tree.root)
        )  # fmt: skip

    assert (older.info.run, newer.info.run) == ("one", "two")
    assert "the release of run two is newer: it was made from a commit" in older.info.reason
    assert newer.info.reason == "the newest release of clerk in suite all"


@pytest.mark.parametrize("how", ["squash", "rebase"])
def test_release_of_a_branch_is_not_lost_when_the_branch_is_merged(
    tree: WorkTree, how: str, tmp_path: Path
):
    released(tree, recorded(tree, "one"))
    base = tree.head()
    tree.git("switch", "-qc", "change")
    tree.commit({"agent/prompt.md": "Rent."})
    tree.commit({"agent/prompt.md": "Rent bikes.", "agent/rules.md": "none"})
    released(tree, recorded(tree, "two"))
    tree.git("switch", "-q", "main")
    if how == "squash":
        tree.git("merge", "-q", "--squash", "change")
        tree.commit({}, "Squashed")
    else:
        tree.git("cherry-pick", "-x", "main..change")
    tree.git("branch", "-qD", "change")
    fresh = tree.clone(tmp_path / "clone")  # which never had the branch
    fresh.become(ANN)
    tree.commit({"agent/prompt.md": "Rent bikes out."})

    for place in (tree, fresh):
        assert (taken(place).info.run, taken(place).info.reason) == (
            "two",
            "the newest release of clerk in suite all",
        )
    # Of a commit that is gone nobody can say what came after it: everything since the release before counts.
    assert released(fresh, recorded(fresh, "three")).release.since == base


def test_release_that_nothing_descends_from_is_taken_with_a_warning(tree: WorkTree):
    tree.git("switch", "-qc", "elsewhere")
    tree.commit({"agent/prompt.md": "Rent."})
    released(tree, recorded(tree, "one"))
    tree.git("switch", "-q", "main")

    found = taken(tree)

    assert found.info.run == "one"
    assert found.info.reason.endswith("a commit that this change does not descend from")


@pytest.mark.parametrize("depth", ["1", "2"])
def test_shallow_clone_takes_the_newest_release_and_says_what_it_does_not_know(
    tree: WorkTree, tmp_path: Path, depth: str
):
    released(tree, recorded(tree, "one"))
    tree.commit({"agent/prompt.md": "Rent."})
    tree.commit({"agent/prompt.md": "Rent!"})
    clone = tree.clone(tmp_path / "clone", "--depth", depth, "--no-single-branch")

    found = taken(clone)

    assert found.info.run == "one"
    assert found.info.reason.endswith("; the commit it was made from is not in this clone")


# --- what can be verified and compared afterwards ---


def verified(tree: WorkTree, *words: str) -> tuple[int, list[dict[str, Any]]]:
    words = ("baseline", "verify", "--root", str(tree.root), "--format", "json", *words)
    result = CliRunner().invoke(main, words)
    return result.exit_code, json.loads(result.stdout)


def test_everything_that_was_released_is_verified_again(tree: WorkTree, tmp_path: Path):
    released(tree, recorded(tree, "one"))
    tree.commit({"agent/prompt.md": "Rent."})
    released(tree, recorded(tree, "two"))
    released(tree, recorded(tree, "three"), to=tmp_path / "to")

    code, found = verified(tree)

    assert (code, [one["run"] for one in found]) == (0, ["two", "one"])
    assert not any(one["wrong"] or one["unknown"] for one in found)
    assert verified(tree, "--baseline", str(tmp_path / "to"))[0] == 0
    text = CliRunner().invoke(main, ["baseline", "verify", "--root", str(tree.root)]).stdout
    assert text.startswith("verified: clerk 1.0, suite all, run two (seatrial-baselines at ")


def test_what_was_altered_on_the_branch_is_told(tree: WorkTree, tmp_path: Path):
    released(tree, recorded(tree, "one"))
    branch = WorkTree(tmp_path / "branch")
    tree.git("worktree", "add", "-q", str(branch.root), "seatrial-baselines")
    below = "suites/all/clerk"
    release = json.loads((branch.root / below / "release.json").read_text(encoding="utf-8"))
    journal = (branch.root / below / "journal.jsonl").read_text(encoding="utf-8")

    def told(files: dict[str, str | None], **changed: Any) -> str:
        branch.git("reset", "-q", "--hard", "seatrial-baselines~0")
        branch.commit({f"{below}/release.json": json.dumps({**release, **changed}), **files})
        code, found = verified(tree)
        branch.git("reset", "-q", "--hard", "HEAD^")
        assert code == 1
        return "; ".join(found[0]["wrong"])

    assert "journal.jsonl is not what was released" in told(
        {f"{below}/journal.jsonl": journal.replace("passed", "failed", 1)}
    )
    assert "journal.jsonl is missing" in told({f"{below}/journal.jsonl": None})
    assert "does not follow the release of run one" in told({}, previous="0" * 64)
    assert "is Ann Author <ann@example.org>, who had a hand in it" in told(
        {}, approved_by="ann@example.org", previous=_digest(branch, below)
    )
    assert "among those who had a hand" in told(
        {}, approved_by="rita", hands=["rita"], previous=_digest(branch, below)
    )
    assert "holds other files" in told({}, tree="0" * 40, previous=_digest(branch, below))
    assert "it has 24 trials, not 3" in told({}, trials=3)


def _digest(branch: WorkTree, below: str) -> str:
    import hashlib

    return hashlib.sha256((branch.root / below / "release.json").read_bytes()).hexdigest()


def test_what_a_clone_cannot_know_is_not_verified(tree: WorkTree, tmp_path: Path):
    released(tree, recorded(tree, "one"))
    tree.commit({"agent/prompt.md": "Rent."})
    tree.commit({})
    clone = tree.clone(tmp_path / "clone", "--depth", "1", "--no-single-branch")

    code, found = verified(clone)

    assert code == 3
    assert "is not in this clone" in found[0]["unknown"][0]


def test_two_releases_are_compared_case_by_case(tree: WorkTree):
    released(tree, recorded(tree, "one"))
    tree.commit({"agent/prompt.md": "Rent."})
    cases = (RENT, REFUSE, bike_shop.case("new"))
    prints = {
        f"{c.id}@clerk-1": {"case": c.id, "harness": "1", "source:prompts": "2"} for c in cases
    }
    released(
        tree,
        recorded(tree, "two", documents(*cases), fails={"refuse": 2}, fingerprints=prints),
        override="a test",
    )

    result = CliRunner().invoke(main, ["baseline", "diff", "--root", str(tree.root)])
    data = CliRunner().invoke(
        main, ["baseline", "diff", "--root", str(tree.root), "--format", "json"]
    )
    only = CliRunner().invoke(main, ["baseline", "diff", "a", "b", "c", "--root", str(tree.root)])

    assert result.exit_code == 0, result.output
    assert "old: clerk-1 1.0, run one (" in result.stdout
    assert "  refuse    12/12 → 10/12    source:prompts\n" in result.stdout
    assert "  new           - → 12/12    not there before\n" in result.stdout
    (pair,) = json.loads(data.stdout)
    assert [case["case"] for case in pair["cases"]] == ["rent", "refuse", "new"]
    assert only.exit_code == 2


def test_first_release_is_compared_with_nothing(tree: WorkTree):
    released(tree, recorded(tree, "one"))

    result = CliRunner().invoke(main, ["baseline", "diff", "--root", str(tree.root)])
    other = CliRunner().invoke(main, ["baseline", "diff", "--suite", "x", "--root", str(tree.root)])

    assert (result.exit_code, "is the first release of clerk" in result.stderr) == (2, True)
    assert (other.exit_code, "nothing is released that fits" in other.stderr) == (2, True)


# --- in a job with a protected environment ---


def test_job_is_approved_by_whom_the_forge_names_and_never_by_an_author(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch
):
    recorded(tree, "one")
    head = tree.head()

    with github_api.serving() as hub:
        known = {
            f"/commits/{head}": {
                "sha": head,
                "author": {"login": "ann"},
                "committer": {"login": "ann"},
                "commit": {"author": {"email": ANN[1]}, "committer": {"email": ANN[1]}},
            },
            f"/commits/{head}/pulls": [],
            "/activity": [{"before": "0" * 40, "after": head, "actor": {"login": "bea"}}],
        }
        hub.known |= known
        for name, value in {
            "GITHUB_API_URL": hub.url,
            "GITHUB_TOKEN": github_api.TOKEN,
            "GITHUB_REPOSITORY": github_api.REPOSITORY,
            "GITHUB_RUN_ID": "42",
            "GITHUB_REF_NAME": "main",
            "GITHUB_SHA": head,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)

        def asked(*logins: str) -> Any:
            hub.known["/actions/runs/42/approvals"] = [
                {"state": "approved", "environments": [{"name": "agent-release"}], "user": {"login": login}}
                for login in logins
            ]  # fmt: skip
            words = ("release", "one", "--approved-in", "agent-release", "--commit", "HEAD")
            return CliRunner().invoke(main, [*words, "--root", str(tree.root)])

        for author in ("ann", "Bea"):
            refusal = asked(author)
            assert refusal.exit_code == 2
            assert f"{author} wrote, committed, proposed or pushed" in refusal.stderr or (
                f"{author} is Ann Author" in refusal.stderr
            )
        hub.known["/activity"] = []
        assert "does not say who pushed" in asked("rita").stderr
        hub.known |= known
        made = asked("rita", "bea")

    assert made.exit_code == 0, made.output
    (release,) = json.loads(
        CliRunner()
        .invoke(main, ["baseline", "show", "--root", str(tree.root), "--format", "json"])
        .stdout
    )
    assert (release["approved_by"], release["approval"]) == ("rita", "environment")
    assert release["hands"] == ["Ann Author <ann@example.org>", "ann", "bea"]
    log = CliRunner().invoke(main, ["baseline", "log", "--root", str(tree.root)]).stdout
    assert "  approval     told by the forge: its protected environment\n" in log
    assert verified(tree)[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "somebody must approve a release"),
        (
            ("--approved-by", "a@example.org", "--approved-in", "x"),
            "somebody must approve a release",
        ),
        (("--approved-in", "x"), "is for a job of GitHub Actions"),
    ],
)
def test_release_needs_exactly_one_way_to_be_approved(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
):
    monkeypatch.delenv("GITHUB_RUN_ID", raising=False)
    recorded(tree, "one")

    result = CliRunner().invoke(main, ["release", "one", *words, "--root", str(tree.root)])

    assert (result.exit_code, said in result.stderr) == (2, True)


def test_mailmap_says_who_an_address_is(tree: WorkTree):
    tree.commit({".mailmap": "Ann <1+ann@users.noreply.github.com> <ann@example.org>\n"})
    repository = Repository(tree.root)

    assert repository.canonical(Person(*ANN)) == Person("Ann", "1+ann@users.noreply.github.com")
    assert repository.canonical(Person(*BEA)) == Person(*BEA)


def test_action_pushes_the_release_and_says_what_was_refused(tree: WorkTree, tmp_path: Path):
    """The step of action/release/action.yml, as GitHub runs it; its clone has no identity and no credentials."""
    git("clone", "-q", "--bare", str(tree.root), str(tmp_path / "server"), cwd=tmp_path)
    git("clone", "-q", f"file://{tmp_path}/server", "clone", cwd=tmp_path)
    clone = WorkTree(tmp_path / "clone")
    recorded(clone, "one")
    head = clone.head()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nshift 3\nexec "{sys.executable}" -m seatrial "$@"\n', "utf-8")
    python.chmod(0o755)
    action = yaml.safe_load((ROOT / "action/release/action.yml").read_text(encoding="utf-8"))
    given = {
        "run": str(RUNS / "one"),
        "arm": "clerk-1",
        "environment": "agent-release",
        "message": "Spring",
        "override": "",
        "token": github_api.TOKEN,
        "push-token": "ghs_for_pushes",
        "root": ".",
    }  # fmt: skip
    step = action["runs"]["steps"][-1]
    inputs = {
        key: given[value[len("${{ inputs.") : -len(" }}")]] for key, value in step["env"].items()
    }

    def run(url: str) -> tuple[int, str, str]:
        (tmp_path / "summary").write_text("", "utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(ROOT / "src"),
            "GITHUB_ACTION_PATH": str(ROOT / "action/release"),
            "GITHUB_API_URL": url,
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_REF_NAME": "main",
            "GITHUB_REPOSITORY": github_api.REPOSITORY,
            "GITHUB_RUN_ID": "42",
            "GITHUB_SHA": head,
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "RUNNER_TEMP": str(tmp_path),
            "SEATRIAL_PYTHON": str(python),
            **inputs,
        }
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]],
            cwd=clone.root, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr, (tmp_path / "summary").read_text("utf-8")

    with github_api.serving() as hub:
        hub.known |= {
            f"/commits/{head}": {
                "sha": head,
                "author": {"login": "ann"},
                "committer": {"login": "ann"},
                "commit": {"author": {"email": ANN[1]}, "committer": {"email": ANN[1]}},
            },
            f"/commits/{head}/pulls": [],
            "/activity": [{"before": "0" * 40, "after": head, "actor": {"login": "ann"}}],
            "/actions/runs/42/approvals": [],
        }
        refusal = run(hub.url)
        hub.known["/actions/runs/42/approvals"] = [
            {
                "state": "approved",
                "environments": [{"name": "agent-release"}],
                "user": {"login": "rita"},
            }
        ]
        made = run(hub.url)

    assert refusal[0] == 4, refusal[1]
    assert "nobody approved run 42 for the environment 'agent-release'" in refusal[2]
    assert "::error::Seatrial: not released" in refusal[1]
    assert made[0] == 0, made[1]
    assert "### Seatrial: released" in made[2]
    assert "Approved by rita" in made[2]
    log = git("log", "-1", "--format=%an%n%B", "seatrial-baselines", cwd=tmp_path / "server")
    assert log.startswith("github-actions[bot]\nRelease clerk 1.0 for suite all\n\nSpring\n")
    assert "Approval: of the protected environment" in log
