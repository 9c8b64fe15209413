"""Two arms of one run, whose trials take turns, held against each other."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop
from tests.shell import ROOT

from seatrial.cli import main
from seatrial.store import Run


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run `r` of two cases by an arm that rents bikes out and one that does nothing, a trial at a time."""
    root = tmp_path_factory.mktemp("arms")
    target = {"type": "python", "target": "shop_agents:rents"}
    idle = {"type": "python", "target": "shop_agents:does_nothing"}
    cases = [bike_shop.case("a", required=True), bike_shop.case("b")]
    arms = [bike_shop.arm("rents", target), bike_shop.arm("idle", idle, version="2.0")]
    bike_shop.write_tree(root, bike_shop.catalog(*cases, *arms))
    shutil.copy(ROOT / "tests" / "agents" / "shop_agents.py", root)
    done = seatrial(
        "run", "--suite", "all", "--arm", "rents", "--arm", "idle", "--trials", "12", "--at-once", "1",
        "--out", str(root / "r"), "--root", str(root),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return root


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def compare(root: Path, *words: str) -> Result:
    return seatrial("compare", str(root / "r"), "--root", str(root), *words)


def test_trials_of_two_arms_take_turns(root: Path):
    order = [(record.case, record.arm) for record in Run.open(root / "r").records()]

    assert order == [("a", "rents"), ("a", "idle"), ("b", "rents"), ("b", "idle")] * 12


def test_arm_that_is_worse_than_the_other_has_regressed(root: Path):
    done = compare(root, "--arm", "idle", "--against", "rents")

    assert done.exit_code == 0
    assert done.stdout.startswith("Suite all: idle 2.0 (run ")
    assert " against rents 1.0 (" in done.stdout
    assert "Their trials took turns. rents stands where the release would" in done.stdout
    assert "regressed    a (required)\n" in done.stdout
    assert "released 12/12 [0.76, 1.00]   candidate 0/12 [0.00, 0.24]" in done.stdout


def test_the_other_way_round_it_is_better(root: Path):
    done = compare(root, "--against", "idle", "--format", "json")

    found = json.loads(done.stdout)
    assert (found["candidate_arm"], found["baseline"]["arm"]) == ("rents", "idle")
    assert {case["outcome"] for case in found["cases"]} == {"improved"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--against", "nobody"], "has no arm 'nobody'\n  → it has rents, idle"),
        (["--against", "idle", "--arm", "nobody"], "has no arm 'nobody'"),
        (["--against", "idle", "--arm", "idle"], "idle cannot be held against itself"),
        (["--against", "idle", "--baseline", "r"], "--against names an arm of the run itself"),
    ],
)
def test_arms_that_cannot_be_compared_are_refused(root: Path, words: list[str], says: str):
    done = compare(root, *words)

    assert done.exit_code == 2
    assert says in done.stderr


def test_run_that_has_not_ended_is_refused(root: Path, tmp_path: Path):
    shutil.copytree(root / "r", tmp_path / "r")
    (tmp_path / "r" / "seal.json").unlink()

    done = seatrial("compare", str(tmp_path / "r"), "--root", str(root), "--against", "idle")

    assert done.exit_code == 2
    assert "has not ended" in done.stderr
