"""`seatrial monitor` on stored runs of a real repository: what it tells, and its exit codes."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop
from tests.stored_runs import CASES, stored
from tests.work_trees import WorkTree

from seatrial import baseline
from seatrial.cli import main
from seatrial.git import Repository
from seatrial.store import RUNS, Run

GOOD = dict.fromkeys(CASES, "p" * 20)
STEADY = dict.fromkeys(CASES, "pppp")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkTree:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    tree = WorkTree.init(tmp_path / "repo")
    tree.commit({".gitignore": ".seatrial/\n"}, "Begin")
    monkeypatch.chdir(tree.root)
    return tree


def night(tree: WorkTree, number: int, **marks: str) -> str:
    """A run on night `number` from the commit that is checked out."""
    name = f"night-{number:02}"
    at = f"2026-05-{number + 1:02}T02:00:00+00:00" if number < 31 else "2026-06-01T02:00:00+00:00"
    stored(RUNS / name, {**STEADY, **marks}, created_at=at, revision=tree.head())
    return name


def released(tree: WorkTree) -> None:
    stored("released", GOOD, "clerk-1", revision=tree.head())


def keep(tree: WorkTree, *names: str) -> None:
    """Keep runs beside the release in the folder `releases`."""
    repository = Repository.find(tree.root)
    for name in names:
        found = baseline.resolve("releases", "all", "clerk", root=tree.root, repository=repository)
        baseline.add(Run.open(RUNS / name), None, found, kind="watch", repository=repository)


def monitor(*words: str) -> Result:
    return CliRunner().invoke(main, ["monitor", "--baseline", "released", *words])


def test_decline_is_told_with_its_runs_and_the_commits_between_them(tree: WorkTree):
    released(tree)
    good = [night(tree, n) for n in range(14)]
    tree.commit({"prompt.txt": "shorter"}, "Shorten the prompt")
    tree.commit({"rules.txt": "fewer"}, "Take a rule away \x1b[2J")
    bad = [night(tree, n, rent=("pfpp", "pppf", "ffpp")[n % 3]) for n in range(14, 28)]

    result = monitor(*good, *bad)

    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "Suite all against clerk-1 1 (released)"
    assert lines[1] == (
        "28 runs, night-00 to night-27; a wrong alarm has a chance of at most 5 %, however often one looks"
    )
    at = lines.index("declined: rent")
    assert " at the release; 1 : " in lines[at + 1]
    assert ", noticed after night-" in lines[at + 1]
    assert lines[at + 2].startswith("  it began with ")
    told = "\n".join(lines[at + 3 :])
    assert "Shorten the prompt" in told
    assert "Take a rule away \\x1b[2J" in told
    assert "\x1b" not in result.stdout
    assert "Begin" not in told


def test_steady_runs_end_with_zero_and_name_the_most_suspicious(tree: WorkTree):
    released(tree)
    runs = [night(tree, n, refuse="pppf" if n == 3 else "pppp") for n in range(8)]

    result = monitor(*runs)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "No decline is shown." in result.stdout
    assert "  refuse (required): passed 31 of 32, the release 20 of 20; " in result.stdout


def test_decline_without_a_commit_in_between_says_that_something_else_changed(tree: WorkTree):
    released(tree)
    runs = [night(tree, n, rent="pppp" if n < 10 else "ffff") for n in range(14)]

    result = monitor(*runs)

    assert result.exit_code == 1
    assert "none: both runs are of the same commit, so that something else changed" in result.stdout


def test_commit_that_is_not_in_the_clone_does_not_hide_the_decline(tree: WorkTree):
    released(tree)
    for n in range(12):
        marks = {**STEADY, "rent": "pppp" if n < 8 else "ffff"}
        at = f"2026-05-{n + 1:02}T02:00:00+00:00"
        stored(RUNS / f"night-{n:02}", marks, created_at=at, revision=f"{n:040x}")

    result = monitor(*(f"night-{n:02}" for n in range(12)))

    assert result.exit_code == 1
    assert "declined: rent" in result.stdout
    assert f"the commit {8:040x} is not in this clone" in result.stdout


def test_json_holds_the_runs_the_declines_and_their_commits(tree: WorkTree):
    released(tree)
    good = [night(tree, n) for n in range(10)]
    commit = tree.commit({"prompt.txt": "shorter"}, "Shorten the prompt")
    bad = [night(tree, n, rent="ffpf") for n in range(10, 15)]

    result = monitor(*good, *bad, "--alpha", "0.01", "--format", "json")

    found = json.loads(result.stdout)
    assert (result.exit_code, found["alpha"], len(found["nights"])) == (1, 0.01, 15)
    decline = next(d for d in found["declines"] if d["case"] == "rent")
    assert decline["commits"] == [[commit, "Shorten the prompt"]]
    assert (decline["first"], decline["last"]) == (10, 10)
    assert found["baseline"]["arm"] == "clerk-1"


def test_runs_that_are_not_later_than_the_release_are_left_out(tree: WorkTree):
    runs = [night(tree, 0, rent="ffff")]
    stored("released", GOOD, "clerk-1", created_at="2026-05-02T00:00:00+00:00")
    runs += [night(tree, n) for n in range(1, 4)]

    result = monitor(*runs)

    assert result.exit_code == 0
    assert "left out, not later than the release: night-00" in result.stdout
    assert result.stdout.splitlines()[1].startswith("3 runs, night-01 to night-03")


def test_nothing_to_hold_against_the_release_is_undecided(tree: WorkTree):
    released(tree)
    runs = [night(tree, n, **dict.fromkeys(CASES, "ii")) for n in range(2)]

    result = monitor(*runs)

    assert result.exit_code == 3
    assert "No trial can be held against the release." in result.stdout


def test_runs_in_the_wrong_order_are_refused(tree: WorkTree):
    released(tree)
    night(tree, 1)
    night(tree, 2)

    result = monitor("night-02", "night-01")

    assert result.exit_code == 2
    assert result.stderr == (
        "Error: run night-01 is older than night-02, which stands before it\n"
        "  → give the runs in the order of time, oldest first; their ids sort that way\n"
    )
    assert monitor("night-01", "night-01").stderr.startswith("Error: run night-01 is given twice")


def test_runs_that_were_kept_beside_the_release_need_not_be_named(tree: WorkTree):
    cases = [bike_shop.case(id, required=id != "return") for id in CASES]
    documents = bike_shop.catalog(*cases, bike_shop.arm(), bike_shop.suite(cases))
    bike_shop.write_tree(tree.root, documents)
    tree.commit({"prompt.txt": "long"}, "Write a prompt")
    baseline.release(
        stored(RUNS / "r1", GOOD, "clerk-1", revision=tree.head()),
        None,
        approver=baseline.Approver(name="Bea Builder <bea@example.org>"),
        repository=Repository.find(tree.root),
        to=tree.root / "releases",
    )
    keep(tree, *(night(tree, n) for n in range(10)))
    tree.commit({"prompt.txt": "short"}, "Shorten the prompt")
    keep(tree, *(night(tree, n, rent="ffpf") for n in range(10, 15)))

    given = ["monitor", "--suite", "all", "--baseline", "releases"]
    result = CliRunner().invoke(main, given)

    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[1].startswith("15 runs, night-00 to night-14; ")
    assert "declined: rent" in lines
    assert any(line.endswith(" Shorten the prompt") for line in lines)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "which runs?\n  → name them, or the suite whose runs are kept: --suite ID"),
        (
            ["night-01", "--suite", "all"],
            "runs say themselves of which suite and agent they are\n"
            "  → leave out --suite and --agent, or the runs",
        ),
        (
            ["--suite", "all", "--arm", "clerk-2"],
            "a run that is kept has one arm\n  → leave out --arm",
        ),
    ],
)
def test_options_that_clash_are_refused(tree: WorkTree, words: list[str], message: str):
    result = monitor(*words)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"Error: {message}\n")
