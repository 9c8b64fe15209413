"""`seatrial plan`, `release` and `baseline`, typed in a sample repository; output and exit code whole."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop
from tests.work_trees import WorkTree

from seatrial.cli import main
from seatrial.documents import Catalog
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.store import RUNS, Writer
from seatrial.trace import Trace
from seatrial.verdicts import Verdict
from seatrial.workspace import Workspace

CASES = (bike_shop.case("rent"), bike_shop.case("refuse", required=True, trials=3))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkTree:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    tree = WorkTree.init(tmp_path / "repo")
    bike_shop.write_tree(tree.root, documents())
    tree.commit({"rules/rules.json": "{}", ".gitignore": ".seatrial/\n"})
    monkeypatch.chdir(tree.root)
    return tree


def documents(version: str = "1.0") -> Catalog:
    arms = [
        bike_shop.arm(id, sources={"rules": "rules"}, version=version)
        for id in ("clerk-1", "clerk-2")
    ]
    return bike_shop.catalog(*CASES, *arms)


NOT_KNOWN = "nothing is released here: there is no branch seatrial-baselines"
NONE_ADDED = f"\nNo trials are added on suspicion: {NOT_KNOWN}.\n"


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, words)


# --- plan ---


def test_plan_without_a_base_selects_everything_and_counts_the_trials(tree: WorkTree):
    result = seatrial("plan", "--suite", "all")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "Suite all by clerk-1, clerk-2\n"
        "\n"
        "Selected: 2 cases, 10 trials\n"
        "  rent    ×2  no base given\n"
        "  refuse  ×3  required; no base given\n"
    )


def test_plan_with_a_base_says_why_each_case_is_selected_left_out_or_removed(tree: WorkTree):
    released(tree)
    base = tree.head()
    cases = (bike_shop.case("rent"), bike_shop.case("return", tags=["new"]))
    bike_shop.write_tree(tree.root, bike_shop.catalog(*cases))
    tree.commit({"cases/refuse.yaml": None})

    result = seatrial("plan", "--suite", "all", "--arm", "clerk-1", "--base", "HEAD^")

    since = f"HEAD^ ({base[:10]})"
    assert result.stdout.partition("\nA good change takes ")[0] == (
        f"Suite all by clerk-1, compared with {since}\n"
        "\n"
        "Selected: 1 case, 2 trials\n"
        "  return  ×2  new case\n"
        "\n"
        "Left out: 1 case\n"
        f"  rent  carried, not run: nothing it leans on changed since {since}\n"
        "\n"
        "Removed: 1 case\n"
        "  refuse  removed: the case was deleted; it was required\n"
    )


def test_plan_without_a_baseline_carries_nothing(tree: WorkTree):
    result = seatrial("plan", "--suite", "all", "--arm", "clerk-1", "--base", "HEAD")

    why = (
        "nothing can stand for it: nothing is released here: there is no branch seatrial-baselines"
    )
    assert f"  rent    ×2  {why}\n" in result.stdout
    assert "Left out" not in result.stdout


def test_plan_says_when_nothing_is_selected(tree: WorkTree):
    released(tree)
    bike_shop.write_tree(tree.root, bike_shop.catalog(CASES[0]))
    tree.commit({"cases/refuse.yaml": None})

    result = seatrial("plan", "--suite", "all", "--base", "HEAD")

    assert result.exit_code == 0
    assert "\nNo case is selected.\n" in result.stdout


def test_plan_as_json_says_the_same(tree: WorkTree):
    tree.write({"rules/rules.json": "[]"})

    result = seatrial("plan", "-s", "all", "-a", "clerk-1", "--base", "main", "--format", "json")

    reason = "arm clerk-1 changed (rules: rules/rules.json)"
    assert json.loads(result.stdout) == {
        "suite": "all",
        "arms": ["clerk-1"],
        "revision": tree.head(),
        "dirty": True,
        "base": tree.head(),
        "trials": 5,
        "good_change": {"trials": None, "live": None, "cost": None, "unknown": NOT_KNOWN},
        "cases": [
            {
                "case": "rent",
                "selected": True,
                "removed": False,
                "required": False,
                "trials": 2,
                "arms": [],
                "expected_ms": 0.0,
                "carried": False,
                "weak": None,
                "by_hand": False,
                "quarantine": None,
                "reasons": [reason],
            },
            {
                "case": "refuse",
                "selected": True,
                "removed": False,
                "required": True,
                "trials": 3,
                "arms": [],
                "expected_ms": 0.0,
                "carried": False,
                "weak": None,
                "by_hand": False,
                "quarantine": None,
                "reasons": ["required", reason],
            },
        ],
    }


def test_number_of_trials_that_nobody_means_is_refused_before_anything_is_planned(tree: WorkTree):
    result = seatrial("plan", "-s", "all", "--trials", "9" * 20)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "is not in the range 1<=x<=10000" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--suite", "al"], "Error: there is no suite 'al'\n  → did you mean all?\n"),
        (
            ["--suite", "all", "--base", "v1"],
            "Error: there is no branch, tag or commit 'v1' in this clone\n"
            "  → `git branch --all` and `git tag` list what there is\n",
        ),
        (
            ["--suite", "all", "--base", "--help"],
            "Error: '--help' is no revision\n  → name a branch, a tag or a commit\n",
        ),
    ],
)
def test_plan_of_what_does_not_exist_is_a_usage_error(
    tree: WorkTree, words: list[str], message: str
):
    result = seatrial("plan", *words)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)


def test_plan_outside_of_a_repository_names_the_option_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")

    result = seatrial("plan", "--suite", "all")

    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: neither {tmp_path}/empty nor a folder above it has cases/ or suites/\n"
        "  → go to the folder that holds them, or name it with --root; `seatrial init` begins one\n"
    )


def test_name_of_a_file_cannot_steer_the_terminal(tree: WorkTree):
    tree.write({"rules/\x1b[2J.json": "1"})

    result = seatrial("plan", "--suite", "all", "--arm", "clerk-1", "--base", "HEAD")

    assert "\x1b" not in result.stdout
    assert "rules/\\x1b[2J.json" in result.stdout


# --- release, baseline ---


def released(tree: WorkTree) -> None:
    """A release of the documents as they lie there."""
    prints = Workspace.find(tree.root).fingerprints(documents())
    recorded(tree, "run-0", fingerprints=prints.by_case, toolsets=prints.toolsets)
    assert seatrial("release", "run-0", "--approved-by", "Rita <rita@example.org>").exit_code == 0


def recorded(
    tree: WorkTree, name: str, violations: int = 0, version: str = "1.0", **about: object
) -> None:
    planned = tuple(
        PlannedCase(case=c.id, selected=True, reasons=("no base given",), trials=1) for c in CASES
    )
    manifest = Manifest.model_validate(
        {
            "run": name,
            "suite": "all",
            "arms": ("clerk-1",),
            "trials": 1,
            "seed": 1,
            "created_at": "2026-04-01T10:00:00+00:00",
            "seatrial": "0.1.0",
            "revision": tree.head(),
            "plan": planned,
            **about,
        }
    )
    with Writer.create(tree.root / RUNS / name, manifest, documents(version)) as writer:
        for case in CASES:
            writer.add(
                TrialRecord(
                    case=case.id, arm="clerk-1", number=1, verdict=Verdict.PASSED,
                    violations=violations if case is CASES[0] else 0,
                ),
                Trace(case=case.id, arm="clerk-1", number=1),
            )  # fmt: skip


def test_whoever_releases_a_forbidden_action_is_told(tree: WorkTree):
    recorded(tree, "run-1", violations=2)

    refused = seatrial("release", "latest", "--approved-by", "Rita <rita@example.org>")
    result = seatrial(
        *("release", "latest", "--approved-by", "Rita <rita@example.org>", "--override", "known and in work")
    )  # fmt: skip
    log = seatrial("baseline", "log")

    assert refused.exit_code == 2
    assert (
        f"its gate is closed: forbidden action in {CASES[0].id} (1 of 1 trials)" in refused.stderr
    )
    assert "\nReleased all the same: known and in work\n" in result.stdout
    assert "\n  override     known and in work\n" in log.stdout
    assert result.exit_code == 0
    assert result.stderr == (
        f"Warning: it does something forbidden: {CASES[0].id} (1 of 1 trials)\n"
        "  → a change that does the same is not excused: its gate closes\n"
    )


def test_version_of_an_arm_cannot_steer_the_terminal_that_it_is_released_on(tree: WorkTree):
    recorded(tree, "run-1", version="1\x1b[2J\x1b]0;owned\x07\u202e")

    for words in (
        ("release", "latest", "--approved-by", "Rita\x1b[31m <rita@example.org>"),
        ("baseline", "show"),
        ("gate", "latest"),
    ):
        result = CliRunner().invoke(main, words)
        assert "1\\x1b[2J\\x1b]0;owned\\x07\\u202e" in result.stdout
        assert not set("\x1b\x07\u202e") & set(result.output)


def test_release_tells_what_was_released_where_and_how_to_share_it(tree: WorkTree):
    recorded(tree, "run-1")
    tree.git("remote", "add", "origin", "https://example.org/repo.git")

    result = seatrial("release", "latest", "--approved-by", "Rita <rita@example.org>")

    tip = tree.git("rev-parse", "--short=12", "seatrial-baselines")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "Released clerk 1.0 (clerk-1) for suite all: 2 cases, 2 trials, 2 passed, 0 invalid\n"
        "Approved by Rita <rita@example.org>\n"
        f"Baseline: seatrial-baselines at {tip}\n"
        "To share it: git push origin seatrial-baselines\n"
    )


def test_refused_release_names_every_reason_and_changes_nothing(tree: WorkTree):
    recorded(tree, "run-1", dirty=True)
    tree.write({"notes.txt": "to do"})

    result = seatrial("release", "run-1", "--approved-by", "ann@example.org")

    commit = tree.head()[:10]
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "Error: run run-1 cannot be released:\n"
        f"  - the work tree was not what {commit} says when it ran (now differ: notes.txt); commit and "
        "run again, or say why it may be released all the same: --allow-dirty REASON\n"
        f"  - ann@example.org is Ann Author <ann@example.org>, who wrote or committed {commit}; "
        "somebody else must approve it\n"
    )
    assert tree.git("branch", "--list", "seatrial-baselines") == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "--approved-by", "R"], "no run 'nowhere'"),
        (["run-1", "--approved-by", "R", "--arm", "x"], "has no arm 'x'"),
        (["run-1", "--approved-by", " "], "somebody must approve"),
        (["run-1"], "somebody must approve"),
        (["run-1", "--approved-by", "R", "--push"], "no remote to push to"),
        (["run-1", "--approved-by", "R", "--push", "--to", "x"], "give one of them"),
    ],
)
def test_release_of_what_does_not_exist_is_a_usage_error(
    tree: WorkTree, words: list[str], message: str
):
    recorded(tree, "run-1")

    result = seatrial("release", *words)

    assert result.exit_code == 2
    assert message in result.stderr


def test_show_lists_the_baselines_in_force_and_log_the_earlier_ones_too(tree: WorkTree):
    for name in ("run-1", "run-2"):
        recorded(tree, name)
        seatrial(
            "release",
            name,
            "--approved-by",
            "Rita <rita@example.org>",
            "--message",
            f"Note on {name}",
            *(["--override", "nothing to compare"] if name == "run-2" else []),
        )

    shown = seatrial("baseline", "show", "--format", "json")
    log = seatrial("baseline", "log", "--format", "json")
    text = seatrial("baseline", "log", "--limit", "1")

    assert [entry["run"] for entry in json.loads(shown.stdout)] == ["run-2"]
    assert [entry["run"] for entry in json.loads(log.stdout)] == ["run-2", "run-1"]
    entry = json.loads(log.stdout)[0]
    assert text.stdout == (
        "clerk 1.0 (clerk-1), suite all\n"
        "  run          run-2\n"
        f"  commit       {tree.head()}\n"
        f"  approved by  Rita <rita@example.org>, {entry['released_at']}\n"
        "  approval     typed by Ann Author <ann@example.org>\n"
        f"  gate         {entry['gate_said']}\n"
        "  override     nothing to compare\n"
        "  trials       2 over 2 cases, 2 passed, 0 invalid\n"
        "  message      Note on run-2\n"
        f"  where        {tree.git('rev-parse', 'seatrial-baselines')}\n"
    )


def test_baselines_that_do_not_exist_are_told_with_what_to_type(tree: WorkTree):
    shown = seatrial("baseline", "show")
    log = seatrial("baseline", "log")

    for result in (shown, log):
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            "Error: nothing is released here: there is no branch seatrial-baselines\n"
            "  → release a run: seatrial release RUN --approved-by 'NAME <MAIL>'\n"
        )


def test_folder_of_baselines_can_be_shown(tree: WorkTree, tmp_path: Path):
    recorded(tree, "run-1")
    seatrial(
        "release", "run-1", "--approved-by", "Rita <rita@example.org>", "--to", str(tmp_path / "to")
    )

    shown = seatrial("baseline", "show", "--baseline", str(tmp_path / "to"), "--suite", "all")
    other = seatrial("baseline", "show", "--baseline", str(tmp_path / "to"), "--suite", "smoke")

    assert shown.stdout.startswith("clerk 1.0 (clerk-1), suite all\n  run          run-1\n")
    assert other.exit_code == 2
    assert "nothing is released for suite 'smoke'" in other.stderr


@pytest.mark.parametrize("command", [("plan",), ("run", "--trials", "1")])
def test_required_case_whose_agent_has_no_arm_is_never_left_out_in_silence(
    tree: WorkTree, command: tuple[str, ...]
):
    lost = bike_shop.case("typo", agent="clerc", required=True)
    bike_shop.write_tree(tree.root, bike_shop.catalog(*CASES, lost))

    result = seatrial(*command, "-s", "all", "-a", "clerk-1")

    assert result.exit_code == 2
    assert "no arm is of the agent of these required cases: typo (agent clerc)" in result.stderr
