"""`seatrial post` in a step of GitHub Actions: what stands at the forge afterwards, and how the command ends."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.servers import github_api
from tests.servers.github_api import LIST, PULL, STATUS, STATUSES, Fails, Hub
from tests.stored_runs import CASES, stored
from tests.work_trees import WorkTree

from seatrial.cli import main

HEAD, MERGE = "a" * 40, "b" * 40
GOOD = dict.fromkeys(CASES, "p" * 12)
FINE = dict.fromkeys(CASES, "p" * 5)
WORSE = {**FINE, "rent": "fffff"}


@pytest.fixture(autouse=True)
def _step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The environment of a step, on a pull request, in an empty folder."""
    for name in [*os.environ]:
        if name.startswith(("GITHUB_", "ACTIONS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    event(monkeypatch, fork=False)
    for name, value in {
        "GITHUB_EVENT_PATH": "event.json",
        "GITHUB_REPOSITORY": github_api.REPOSITORY,
        "GITHUB_RUN_ID": "42",
        "GITHUB_SHA": MERGE,
        "GITHUB_TOKEN": github_api.TOKEN,
    }.items():
        monkeypatch.setenv(name, value)


def event(monkeypatch: pytest.MonkeyPatch, *, fork: bool) -> None:
    ends = {
        "head": {"sha": HEAD, "repo": {"id": 2 if fork else 1}},
        "base": {"sha": "c" * 40, "repo": {"id": 1}},
    }
    Path("event.json").write_text(
        json.dumps({"pull_request": {"number": 7, **ends}}), encoding="utf-8"
    )


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with github_api.serving() as served:
        served.pulls[7] = HEAD
        monkeypatch.setenv("GITHUB_API_URL", served.url)
        yield served


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def posted(*words: str) -> Result:
    result = seatrial("post", *words)
    assert (result.exit_code, result.output) == (0, "")
    return result


@pytest.mark.parametrize(
    ("trials", "state", "sign"),
    [
        (FINE, "success", "## 🟢 Gate open: none of 2 required cases shown worse"),
        (WORSE, "failure", "## 🔴 Gate closed: rent regressed"),
        ({**FINE, "rent": "pppf"}, "error", "## 🟡 Gate undecided: "),
    ],
)
def test_status_and_comment_go_from_running_to_the_ruling(
    hub: Hub, trials: dict[str, str], state: str, sign: str
):
    stored("released", GOOD, "clerk-1")
    stored("candidate", trials)

    posted("start")
    before = hub.status()["state"], hub.comments[0]["body"]
    posted("result", "candidate", "--baseline", "released")

    assert before[0] == "pending"
    assert "## ⏳ Gate: trials are running" in before[1]
    assert (hub.status()["state"], hub.status()["sha"]) == (state, HEAD)
    assert hub.status()["target_url"] == "https://github.com/acme/helpdesk/actions/runs/42"
    (comment,) = hub.comments
    assert sign in comment["body"]
    assert comment["edits"] == 1


def test_comment_on_a_regressed_case_names_step_counts_and_command(hub: Hub):
    stored("released", GOOD, "clerk-1")
    stored("candidate", WORSE)

    posted(
        "result", "candidate", "--baseline", "released", "--report", "https://pages.example.com/r/"
    )

    body = hub.comments[0]["body"]
    assert "[**rent**](https://pages.example.com/r/case.html?id=rent) regressed, required" in body
    assert "Baseline 12/12, candidate 0/5." in body
    assert (
        "```sh\nseatrial run --suite all --arm clerk-2 --case rent --seed 1 --trials 5\n```" in body
    )
    assert hub.status()["target_url"] == "https://pages.example.com/r/"


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        (HEAD, ""),
        (MERGE, ""),
        ("d" * 40, f"Warning: the run is of commit {'d' * 12}, and is told of {'a' * 12}\n"),
    ],
)
def test_run_of_another_commit_is_told_of(hub: Hub, revision: str, said: str):
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE, revision=revision)

    result = seatrial("post", "result", "candidate", "--baseline", "released")

    assert (result.exit_code, result.stderr) == (0, said)
    assert f"of commit {revision[:12]}) against" in hub.comments[0]["body"]


def test_lines_are_linked_from_the_root_of_the_repository(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = WorkTree.init(tmp_path / "repo").root / "agents" / "desk"
    root.mkdir(parents=True)
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.chdir(root)
    (root / "cases").mkdir()
    stored("released", GOOD, "clerk-1")
    stored("candidate", WORSE)

    posted("result", "candidate", "--baseline", "released")

    assert f"/acme/helpdesk/blob/{HEAD}/agents/desk/cases/" in hub.comments[0]["body"]


def test_ruling_written_by_the_gate_is_enough(hub: Hub):
    stored("released", GOOD, "clerk-1")
    stored("candidate", WORSE)
    seatrial("gate", "candidate", "--baseline", "released", "--json", "ruling.json")

    posted("result", "--ruling", "ruling.json")

    assert hub.status()["description"] == "Closed: rent regressed; suite worse by 33.3 points"
    assert "- **closed** 1 required case regressed: rent" in hub.comments[0]["body"]


def test_name_of_the_status_is_chosen_and_has_a_comment_of_its_own(hub: Hub):
    posted("start")
    posted("start", "--context", "agents / refunds")

    assert [s["context"] for s in hub.statuses] == ["seatrial/gate", "agents / refunds"]
    assert len(hub.comments) == 2


def test_status_alone_is_set_where_no_comment_is_wanted(hub: Hub):
    posted("start", "--no-comment")

    assert hub.asked == [STATUS]


def test_run_on_which_nothing_can_be_ruled_ends_the_waiting_and_is_an_error(hub: Hub):
    stored("released", GOOD, "clerk-1")
    stored("candidate", FINE)
    journal = Path("candidate/journal.jsonl")
    journal.write_text("garbage\n" + journal.read_text(encoding="utf-8"), encoding="utf-8")
    posted("start")

    result = seatrial("post", "result", "candidate", "--baseline", "released")

    assert result.exit_code == 4
    assert "journal.jsonl is not what the run left there" in result.stderr
    assert hub.status()["state"] == "error"
    assert hub.status()["description"].startswith("No ruling: Nothing can be ruled on the run: ")
    assert "## ⚪ No ruling" in hub.comments[0]["body"]


@pytest.mark.parametrize("text", ["{}", "no json", '{"ruling": "open", "headline": ""}'])
def test_file_that_is_no_ruling_opens_nothing(hub: Hub, text: str):
    Path("ruling.json").write_text(text.replace('""', "1"), encoding="utf-8")

    result = seatrial("post", "result", "--ruling", "ruling.json")

    assert result.exit_code == 2
    assert "ruling.json is no ruling" in result.stderr
    assert hub.status()["state"] == "error"


def test_file_that_was_never_written_ends_the_waiting(hub: Hub):
    result = seatrial("post", "result", "--ruling", "ruling.json")

    assert (result.exit_code, hub.status()["state"]) == (2, "error")
    assert "ruling.json cannot be read: No such file or directory" in result.stderr


def test_end_without_a_ruling_is_told(hub: Hub):
    posted("no-ruling", "seatrial run ended with exit code 4")

    assert hub.status()["state"] == "error"
    assert hub.status()["description"] == "No ruling: seatrial run ended with exit code 4"


def test_last_step_ends_what_still_waits_and_leaves_a_ruling_alone(hub: Hub):
    last = ("no-ruling", "the job was cancelled", "--if-running")
    posted(*last)
    assert hub.statuses == []

    posted("start")
    posted(*last)
    assert hub.status()["description"] == "No ruling: the job was cancelled"

    stored("released", GOOD, "clerk-1")
    stored("candidate", WORSE)
    posted("start")
    posted("result", "candidate", "--baseline", "released")
    posted(*last)
    assert hub.status()["description"] == "Closed: rent regressed; suite worse by 33.3 points"
    assert "Gate closed" in hub.comments[0]["body"]


def test_forge_that_refuses_is_a_warning_and_fails_only_where_that_is_asked(hub: Hub):
    hub.rights = {PULL, LIST}

    result = seatrial("post", "start")
    strict = seatrial("post", "start", "--strict")

    assert (result.exit_code, strict.exit_code) == (0, 4)
    assert result.stderr == strict.stderr
    first, second = result.stderr.splitlines()
    assert first.startswith("Warning: 127.0.0.1:")
    assert first.endswith("`statuses: write` and `pull-requests: write`. The ruling stands.")
    assert "issues/7/comments" in second
    assert github_api.TOKEN not in result.output


def test_pull_request_from_a_fork_is_a_notice_and_never_red(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
):
    event(monkeypatch, fork=True)
    hub.rights = {PULL, LIST}
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    result = seatrial("post", "start", "--strict")

    assert result.exit_code == 0
    assert all(
        line.startswith(
            "::notice title=Seatrial::nothing is posted for a pull request from a fork: "
        )
        for line in result.stdout.splitlines()
    )
    assert len(result.stdout.splitlines()) == 2


def test_warning_in_github_actions_is_one_line_that_starts_no_command(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    hub.next(STATUS, Fails(status=422, message="100%0A\n::set-output name=x::y"))

    result = seatrial("post", "start", "--no-comment")

    (line,) = result.stdout.splitlines()
    assert line.startswith("::warning title=Seatrial::127.0.0.1:")
    assert "100%250A ::set-output" in line


def test_api_that_is_down_for_the_whole_run_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    stored("released", GOOD, "clerk-1")
    stored("candidate", WORSE)
    with github_api.nobody() as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        started = seatrial("post", "start", "--patience", "0")
        ruled = seatrial("gate", "candidate", "--baseline", "released")
        ended = seatrial("post", "result", "candidate", "--baseline", "released", "--patience", "0")

    assert (started.exit_code, ruled.exit_code, ended.exit_code) == (0, 1, 0)
    assert "Warning: no answer from 127.0.0.1:" in ended.stderr


@pytest.mark.parametrize("token", ["", "with\nnewline", "é"])
def test_token_that_is_none_is_a_warning_with_what_to_type(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, token: str
):
    monkeypatch.setenv("MY_TOKEN", token)

    result = seatrial("post", "start", "--token-env", "MY_TOKEN")

    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: the variable MY_TOKEN holds no token; in the step: `env:` with "
        "`MY_TOKEN: ${{ github.token }}`. The ruling stands.\n"
    )
    assert hub.asked == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["result"], "name a RUN or a file with --ruling"),
        (["start", "--context", " "], "--context is a name"),
        (["start", "--context", "a\nb"], "--context is a name"),
        (["start", "--url", "javascript:alert(1)"], "--url is an address"),
        (["result", "x", "--report", "file:///etc"], "--report is an address"),
        (["start", "--commit", "main"], "not the full name of a commit"),
    ],
)
def test_wrong_option_is_a_usage_error_and_nothing_is_posted(
    hub: Hub, words: list[str], message: str
):
    result = seatrial("post", *words)

    assert result.exit_code == 2
    assert message in result.stderr
    assert hub.asked == []


def test_outside_of_github_actions_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GITHUB_REPOSITORY")

    result = seatrial("post", "start")

    assert result.exit_code == 2
    assert "GITHUB_REPOSITORY does not name a repository\n  → " in result.stderr


def test_status_that_cannot_be_read_is_not_overwritten(hub: Hub):
    posted("start")
    hub.rights -= {STATUSES}

    result = seatrial("post", "no-ruling", "cancelled", "--if-running")

    assert result.exit_code == 0
    assert "Warning: " in result.stderr
    assert len(hub.statuses) == 1
