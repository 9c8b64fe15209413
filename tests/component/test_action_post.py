"""The step of post/action.yml, run as GitHub runs it, against a server that behaves like GitHub's API."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests import workflow_runs
from tests.servers import github_api
from tests.servers.github_api import Fails, Hub
from tests.shell import seatrial
from tests.stored_runs import CASES, stored
from tests.work_trees import WorkTree

ROOT = Path(__file__).parents[2]
HEAD = "a" * 40
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with workflow_runs.interpreter(tmp_path_factory.mktemp("python")) as script:
        yield script


@pytest.fixture
def hub() -> Iterator[Hub]:
    with github_api.serving() as served:
        served.pulls[7] = HEAD
        yield served


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    made = WorkTree.init(tmp_path / "tree")
    stored(made.root / "released", dict.fromkeys(CASES, "p" * 12), "clerk-1")
    stored(made.root / "candidate", dict.fromkeys(CASES, "p" * 5) | {"rent": "fffff"})
    return made


def step(tree: WorkTree, python: Path, hub: Hub, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of post/action.yml with its inputs."""
    action = yaml.safe_load((ROOT / "post/action.yml").read_text(encoding="utf-8"))
    last = action["runs"]["steps"][-1]
    given = {name: about.get("default", "") for name, about in action["inputs"].items()} | inputs
    given["token"] = github_api.TOKEN
    event = tree.root.parent / "event.json"
    ends = {"head": {"sha": HEAD, "repo": {"id": 1}}, "base": {"sha": HEAD, "repo": {"id": 1}}}
    event.write_text(json.dumps({"pull_request": {"number": 7, **ends}}), encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tree.root.parent),
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT / "post"),
        "GITHUB_API_URL": hub.url,
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": github_api.REPOSITORY,
        "RUNNER_TEMP": str(tree.root.parent),
        "SEATRIAL_PYTHON": str(python),
        **{
            key: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: given[m[1]], value)
            for key, value in last["env"].items()
        },
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", last["run"]],
        cwd=tree.root, env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def test_start_and_result_are_posted(tree: WorkTree, python: Path, hub: Hub):
    first = step(tree, python, hub, what="start")
    last = step(tree, python, hub, what="result", run="candidate", baseline="released")

    assert (first.returncode, last.returncode) == (0, 0), first.stderr + last.stderr
    assert [s["state"] for s in hub.statuses] == ["pending", "failure"]
    assert "Gate closed: rent regressed" in hub.comments[0]["body"]
    assert github_api.TOKEN not in first.stdout + first.stderr + last.stdout + last.stderr


def test_run_that_never_came_is_told_as_no_ruling_and_nothing_of_it_is_a_command(
    tree: WorkTree, python: Path, hub: Hub
):
    name = "x\n::error::planted"
    done = step(tree, python, hub, what="result", run=name, baseline="released")

    assert done.returncode == 2
    assert hub.status()["state"] == "error"
    lines = (done.stdout + done.stderr).splitlines()
    assert not [line for line in lines if line.lstrip().startswith("::")]


def test_no_folder_of_the_change_takes_the_place_of_a_run_that_is_not_there(
    tree: WorkTree, python: Path, hub: Hub
):
    stored(tree.root / "nowhere", dict.fromkeys(CASES, "p" * 5))

    step(tree, python, hub, what="result", run="", baseline="released")

    assert hub.status()["state"] == "error"
    assert hub.status()["description"] == "No ruling: the job that rules left no run behind"


@pytest.mark.parametrize("value", ["$(touch ran)", "; touch ran", "--help", "a\nb"])
def test_inputs_are_never_taken_for_commands_or_options(
    tree: WorkTree, python: Path, hub: Hub, tmp_path: Path, value: str
):
    done = step(tree, python, hub, what="result", run=value, baseline=value, context="c" + value)

    assert done.returncode == 2
    assert "Usage: seatrial post result [OPTIONS]" not in done.stdout
    assert not list(tmp_path.rglob("ran"))


def test_forge_that_refuses_is_a_warning_of_the_run(tree: WorkTree, python: Path, hub: Hub):
    hub.next(github_api.STATUS, Fails(status=422, message="no"))

    done = step(tree, python, hub, what="start")

    assert done.returncode == 0
    assert done.stdout.startswith("::warning title=Seatrial::127.0.0.1:")


def test_word_that_is_none_of_both_posts_nothing(tree: WorkTree, python: Path, hub: Hub):
    assert step(tree, python, hub, what="no-ruling").returncode == 2
    assert hub.asked == []


def packed(tree: WorkTree) -> None:
    words = ("post", "pack", "candidate", "--baseline", "released", "--out", "told.json")
    assert seatrial(tree.root, *words)[0] == 0


def test_what_the_job_that_rules_left_is_told(tree: WorkTree, python: Path, hub: Hub):
    packed(tree)

    told = step(tree, python, hub, what="told", told="told.json", ruling="closed")

    assert told.returncode == 0, told.stderr
    assert hub.status()["state"] == "failure"
    assert "Gate closed: rent regressed" in hub.comments[0]["body"]


@pytest.mark.parametrize(
    ("ruling", "file", "why", "said"),
    [
        ("", "nowhere", "", "No ruling: the job that rules left nothing behind"),
        ("error", "told.json", "--help", "No ruling: --help"),
        ("open", "told.json", "", "No ruling: Nothing can be ruled on the run: it says closed"),
        ("open", "empty.json", "", "No ruling: Nothing can be ruled on the run: empty.json is not"),
    ],
)
def test_anything_but_a_ruling_that_both_say_is_told_as_none(
    tree: WorkTree, python: Path, hub: Hub, ruling: str, file: str, why: str, said: str
):
    packed(tree)
    (tree.root / "empty.json").write_text("{}", encoding="utf-8")

    step(tree, python, hub, what="told", told=file, ruling=ruling, why=why)

    assert hub.status()["state"] == "error"
    assert hub.status()["description"].startswith(said)


def test_commit_is_held_against_the_pull_request(tree: WorkTree, python: Path, hub: Hub):
    given = {"what": "head", "pull-request": "7"}

    assert step(tree, python, hub, commit=HEAD, **given).returncode == 0
    assert step(tree, python, hub, commit="b" * 40, **given).returncode == 3
    assert step(tree, python, hub, commit="HEAD; touch ran", **given).returncode == 2
    assert hub.statuses == []
