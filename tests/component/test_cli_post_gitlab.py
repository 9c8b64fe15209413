"""`seatrial post` in a job of GitLab CI: what stands at the merge request afterwards, and how the command ends."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.servers import github_api, gitlab_api
from tests.servers.gitlab_api import BOT, PROJECT, Lab
from tests.stored_runs import CASES, stored

from seatrial.cli import main

HEAD, MERGE = "a" * 40, "b" * 40
GOOD = dict.fromkeys(CASES, "p" * 12)
WORSE = {**dict.fromkeys(CASES, "p" * 5), "rent": "fffff"}
MARK = "<!-- seatrial seatrial/gate -->"


@pytest.fixture(autouse=True)
def _job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The environment of a job, on a merge request, in an empty folder."""
    for name in [*os.environ]:
        if name.startswith(("GITHUB_", "ACTIONS_", "CI_", "GITLAB_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "GITLAB_CI": "true",
        "GITLAB_TOKEN": gitlab_api.TOKEN,
        "CI_PROJECT_PATH": PROJECT,
        "CI_PROJECT_ID": "7",
        "CI_PROJECT_URL": f"https://gitlab.example.com/{PROJECT}",
        "CI_PIPELINE_URL": f"https://gitlab.example.com/{PROJECT}/-/pipelines/900",
        "CI_PIPELINE_ID": "900",
        "CI_COMMIT_SHA": HEAD,
        "CI_MERGE_REQUEST_IID": "12",
        "CI_MERGE_REQUEST_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    with gitlab_api.serving() as served:
        served.heads[12] = HEAD
        served.commits |= {HEAD, MERGE}
        served.pipelines |= {900: HEAD}
        monkeypatch.setenv("CI_API_V4_URL", served.url)
        yield served


@pytest.fixture
def _runs():
    stored("released", GOOD, "clerk-1")
    stored("candidate", WORSE)


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def posted(*words: str) -> Result:
    result = seatrial("post", *words)
    assert (result.exit_code, result.output) == (0, "")
    return result


@pytest.mark.usefixtures("_runs")
def test_status_and_note_go_from_running_to_the_ruling(lab: Lab):
    posted("start")
    before = lab.status()["status"], lab.notes[0]["body"]
    posted("result", "candidate", "--baseline", "released")

    assert before[0] == "running"
    assert f"{MARK}\n\n## ⏳ Gate: trials are running" in before[1]
    status = lab.status()
    assert (status["status"], status["sha"], status["pipeline_id"]) == ("failed", HEAD, 900)
    assert status["target_url"] == f"https://gitlab.example.com/{PROJECT}/-/pipelines/900"
    (note,) = lab.notes
    assert note["edits"] == 1
    assert "## 🔴 Gate closed: rent regressed" in note["body"]
    assert f"(https://gitlab.example.com/{PROJECT}/-/blob/{HEAD}/cases/" in note["body"]


@pytest.mark.usefixtures("_runs")
def test_pipeline_of_merged_results_is_told_of_at_its_own_commit(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
):
    lab.pipelines[900] = MERGE
    monkeypatch.setenv("CI_COMMIT_SHA", MERGE)
    monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", HEAD)
    stored("tried", WORSE, revision=MERGE)

    posted("result", "tried", "--baseline", "released")

    assert lab.status()["sha"] == MERGE
    assert f"for `{HEAD[:12]}`" in lab.notes[0]["body"]


def test_last_job_ends_what_still_waits(lab: Lab):
    posted("start")
    posted("no-ruling", "the job was cancelled")

    assert lab.status()["status"] == "canceled"
    assert "## ⚪ No ruling" in lab.notes[0]["body"]


def test_reason_that_somebody_wrote_is_not_carried_out(lab: Lab):
    posted("no-ruling", "/merge\n/approve @octocat ~bug")

    body = lab.notes[0]["body"]
    assert not [line for line in body.splitlines() if line.lstrip().startswith("/")]
    assert "@octocat" not in body


@pytest.mark.usefixtures("_runs")
def test_api_that_is_down_for_the_whole_pipeline_changes_no_exit_code(
    monkeypatch: pytest.MonkeyPatch,
):
    with github_api.nobody() as url:
        monkeypatch.setenv("CI_API_V4_URL", f"{url}/api/v4")
        for words in (("start",), ("result", "candidate", "--baseline", "released")):
            told = seatrial("post", *words, "--patience", "0")
            assert told.exit_code == 0
            assert told.stderr.startswith("Warning: no answer from 127.0.0.1:")
            assert told.stderr.endswith("The ruling stands.\n")

    assert seatrial("gate", "candidate", "--baseline", "released").exit_code == 1


@pytest.mark.usefixtures("_runs")
def test_note_that_a_person_deleted_is_written_anew_and_a_planted_one_is_left_alone(lab: Lab):
    posted("start")
    lab.notes.clear()
    planted = lab.write(12, f"{MARK}\n\n## 🟢 Gate open", "mallory")

    posted("result", "candidate", "--baseline", "released")

    assert planted["edits"] == 0
    (mine,) = [note for note in lab.notes if note["author"]["username"] == BOT]
    assert "Gate closed" in mine["body"]


def test_pipeline_in_a_fork_tells_nothing_and_is_never_red(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CI_PROJECT_ID", "8")
    monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "8")
    lab.role = "reporter"

    result = seatrial("post", "start", "--strict")

    assert result.exit_code == 0
    assert "Notice: nothing is posted for a pull request from a fork" in result.stderr
    assert lab.notes == []


def test_without_a_token_it_is_said_which_kind_is_needed(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GITLAB_TOKEN")

    result = seatrial("post", "start")

    assert result.exit_code == 0
    assert "the variable GITLAB_TOKEN holds no token; a project access token" in result.stderr
    assert lab.asked == []


def test_token_and_author_are_named_for_a_person(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINE", gitlab_api.TOKEN)
    lab.writer = "rita"

    posted("start", "--token-env", "MINE", "--author", "rita")

    assert lab.notes[0]["author"]["username"] == "rita"
    assert "GET user" not in lab.asked
