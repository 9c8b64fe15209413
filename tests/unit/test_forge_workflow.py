"""Which change a step of GitHub Actions is about: the head of a pull request, never the merge that was tried."""

import json
from pathlib import Path
from typing import Any

import pytest

from seatrial.errors import UsageError
from seatrial.forge import Subject, subject

HEAD, MERGE, BASE = "a" * 40, "b" * 40, "c" * 40
TITLE = "$(touch ran) \u202e"


def step(folder: Path, event: Any, **more: str) -> Subject:
    file = folder / "event.json"
    file.write_text(event if isinstance(event, str) else json.dumps(event), encoding="utf-8")
    environment = {
        "GITHUB_REPOSITORY": "acme/helpdesk",
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_SHA": MERGE,
        "GITHUB_RUN_ID": "42",
        "GITHUB_SERVER_URL": "https://github.example.com",
    }
    return subject(environment | more)


def pull_request(head_repository: int | None) -> dict[str, Any]:
    repository = None if head_repository is None else {"id": head_repository, "full_name": TITLE}
    return {
        "action": "synchronize",
        "number": 7,
        "pull_request": {
            "number": 7,
            "title": TITLE,
            "head": {"sha": HEAD, "ref": TITLE, "repo": repository},
            "base": {"sha": BASE, "ref": "main", "repo": {"id": 1, "full_name": "acme/helpdesk"}},
        },
    }


def test_pull_request_is_about_its_head_commit(tmp_path: Path):
    found = step(tmp_path, pull_request(1))

    assert found == Subject(
        repository="acme/helpdesk",
        commit=HEAD,
        pull_request=7,
        from_fork=False,
        run_url="https://github.example.com/acme/helpdesk/actions/runs/42",
        web="https://github.example.com/acme/helpdesk",
    )


@pytest.mark.parametrize("repository", [2, None])
def test_pull_request_from_another_repository_or_a_deleted_one_is_from_a_fork(
    tmp_path: Path, repository: int | None
):
    assert step(tmp_path, pull_request(repository)).from_fork


def test_merge_queue_is_about_the_commit_it_would_make(tmp_path: Path):
    found = step(tmp_path, {"merge_group": {"head_sha": HEAD, "base_sha": BASE}})

    assert (found.commit, found.pull_request) == (HEAD, None)


@pytest.mark.parametrize("event", [{"ref": "refs/heads/main", "after": MERGE}, {"inputs": {}}])
def test_push_and_dispatch_are_about_the_commit_of_the_workflow(tmp_path: Path, event: Any):
    found = step(tmp_path, event)

    assert (found.commit, found.pull_request) == (MERGE, None)


def test_named_commit_and_number_take_the_place_of_the_event():
    found = subject({"GITHUB_REPOSITORY": "acme/helpdesk"}, commit=HEAD, pull_request=9)

    assert (found.commit, found.pull_request, found.run_url) == (HEAD, 9, "")


@pytest.mark.parametrize(
    "event",
    [
        "no json",
        "[1]",
        "[" * 100_000,
        {"pull_request": {"number": 7}},
        {"pull_request": pull_request(1)["pull_request"] | {"number": -1}},
        {"merge_group": {"head_sha": "main; touch ran"}},
    ],
)
def test_event_that_is_none_is_a_usage_error(tmp_path: Path, event: Any):
    with pytest.raises(UsageError, match=r"is no event of GitHub's: "):
        step(tmp_path, event)


def test_event_that_cannot_be_read_is_a_usage_error(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be read"):
        step(tmp_path, {}, GITHUB_EVENT_PATH=str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    "name", ["", "helpdesk", "acme/help desk", "../..", "a/b/c", "acme/helpdesk\n"]
)
def test_repository_of_another_form_is_a_usage_error(tmp_path: Path, name: str):
    with pytest.raises(UsageError, match="GITHUB_REPOSITORY does not name a repository"):
        step(tmp_path, {}, GITHUB_REPOSITORY=name)


@pytest.mark.parametrize("commit", ["", "main", "a" * 39, "A" * 40, HEAD + "\n"])
def test_commit_that_is_not_whole_is_a_usage_error(commit: str):
    with pytest.raises(UsageError, match="is not the full name of a commit"):
        subject({"GITHUB_REPOSITORY": "acme/helpdesk"}, commit=commit)
