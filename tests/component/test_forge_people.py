"""What GitHub says of people, on a server that behaves like its API: who approved, who had a hand, who is unknown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers import github_api
from tests.servers.github_api import ACTIVITY, REPOSITORY_RUNS, REVIEWS, Fails, Hub
from tests.shell import seatrial

from seatrial.errors import ForgeError
from seatrial.forge import People
from seatrial.forge.asking import Api

HEAD = "0123456789abcdef0123456789abcdef01234567"
MERGED = "89abcdef0123456789abcdef0123456789abcdef"
PUSHED = "fedcba9876543210fedcba9876543210fedcba98"
ANN = ("Ann Author", "ann@example.org")


@pytest.fixture
def hub() -> Iterator[Hub]:
    with github_api.serving() as served:
        served.pulls[7] = HEAD
        served.known |= {
            f"/commits/{MERGED}": commit(MERGED, "ann", committer="web-flow"),
            f"/commits/{MERGED}/pulls": [pull()],
            "/pulls/7": pull(),
            "/pulls/7/commits": [commit(HEAD, "ann")],
            "/pulls/7/reviews": [review("rita")],
            "/activity": [{"before": MERGED, "after": HEAD, "actor": {"login": "bea"}}],
            "/actions/runs": {"workflow_runs": []},
        }
        yield served


@pytest.fixture
def people(hub: Hub) -> Iterator[People]:
    headers = {"Authorization": f"Bearer {github_api.TOKEN}"}
    with Api(hub.url, headers, sleep=lambda _: None) as api:
        yield People(api, github_api.REPOSITORY)


def commit(
    sha: str, login: str | None, *, committer: str | None = "", message: str = "x"
) -> dict[str, Any]:
    committer = login if committer == "" else committer
    return {
        "sha": sha,
        "author": login and {"login": login},
        "committer": committer and {"login": committer},
        "commit": {
            "author": {"email": ANN[1]},
            "committer": {"email": "noreply@github.com" if committer == "web-flow" else ANN[1]},
            "message": message,
        },
    }


def pull(**more: Any) -> dict[str, Any]:
    return {
        "number": 7,
        "merged_at": "2026-04-01T10:00:00Z",
        "commits": 1,
        "user": {"login": "dan"},
        "head": {"sha": HEAD, "ref": "change", "repo": {"full_name": github_api.REPOSITORY}},
        **more,
    }


def review(login: str, state: str = "APPROVED", **more: Any) -> dict[str, Any]:
    return {
        "user": {"login": login},
        "state": state,
        "commit_id": HEAD,
        "author_association": "MEMBER",
        "submitted_at": "2026-04-02T10:00:00Z",
        **more,
    }


def hands(people: People, *commits: str, names: tuple[tuple[str, str], ...] = (ANN,)) -> Any:
    return people.hands(
        dict.fromkeys(commits or (MERGED,), names),
        "main",
        canonical=lambda name: ("Cy", "1+cy@users.noreply.github.com") if name[0] == "Cy" else name,
        within=lambda before, after, sha: (before, after, sha) == (MERGED, HEAD, "a" * 40),
    )


# --- hands ---


def test_authors_proposers_pushers_and_co_authors_had_a_hand_in_it(people: People):
    names = (ANN, ("Cy", "cy@example.org"), ("Eve", "12+eve@users.noreply.github.com"))

    known = hands(people, names=names)

    assert known.logins == {"ann", "web-flow", "dan", "bea", "cy", "eve"}
    assert known.strangers == ()


def test_whom_the_forge_does_not_know_is_a_stranger(hub: Hub, people: People):
    hub.known[f"/commits/{MERGED}"] = commit(MERGED, None)

    known = hands(people, names=(ANN, ("Zoe", "zoe@example.org")))

    assert [said.partition("GitHub does not know who ")[2][:20] for said in known.strangers] == [
        "the author of 89abcd",
        "the committer of 89a",
        "Ann Author <ann@exam",
        "Zoe <zoe@example.org",
    ]


def test_push_of_a_branch_that_is_gone_is_told_by_the_runs_of_its_workflows(
    hub: Hub, people: People
):
    hub.known[f"/commits/{MERGED}/pulls"] = [
        pull(head={"sha": HEAD, "ref": "change", "repo": None})
    ]
    assert hands(people).strangers == ("GitHub does not say who pushed pull request 7 last",)

    hub.known["/actions/runs"] = {"workflow_runs": [{"actor": {"login": "bea"}}]}
    assert "bea" in hands(people).logins


@pytest.mark.parametrize("operation", [ACTIVITY, REPOSITORY_RUNS])
@pytest.mark.parametrize("status", [403, 404])
def test_what_may_not_be_seen_leaves_unknown_who_pushed(
    hub: Hub, people: People, operation: str, status: int
):
    hub.known["/activity"] = []
    hub.next(operation, Fails(status=status, message="Not Found"))

    assert hands(people).strangers == ("GitHub does not say who pushed pull request 7 last",)


def test_commits_without_a_pull_request_are_those_of_whom_pushed_them(hub: Hub, people: People):
    for sha in (PUSHED, "a" * 40, "b" * 40):
        hub.known |= {f"/commits/{sha}": commit(sha, "ann"), f"/commits/{sha}/pulls": []}
    hub.known["/activity"].append({"before": HEAD, "after": PUSHED, "actor": {"login": "fay"}})

    known = hands(people, PUSHED, "a" * 40, "b" * 40)

    assert known.logins == {"ann", "bea", "fay"}
    assert known.strangers == ("GitHub does not say who pushed bbbbbbbbbb to main",)


def test_pull_request_of_nobody_and_too_many_commits_are_told(hub: Hub, people: People):
    hub.known[f"/commits/{MERGED}/pulls"] = [pull(user=None)]

    assert hands(people).strangers == ("GitHub does not know who proposed pull request 7",)
    with pytest.raises(ForgeError, match="401 commits touch what is released"):
        hands(people, *(f"{n:040x}" for n in range(401)))


# --- approvers of an environment ---


def test_whoever_let_the_job_into_its_environment_approves_it_the_last_one_first(
    hub: Hub, people: People
):
    environments = [{"name": "agent-release"}]
    hub.known["/actions/runs/42/approvals"] = [
        {"state": "approved", "environments": environments, "user": {"login": "rita"}},
        {"state": "rejected", "environments": environments, "user": {"login": "bea"}},
        {"state": "approved", "environments": [{"name": "pages"}], "user": {"login": "dan"}},
        {"state": "approved", "environments": environments, "user": {"login": "eve"}},
    ]

    assert people.approvers(42, "agent-release") == ("eve", "rita")
    with pytest.raises(ForgeError, match="nobody approved run 42 for the environment 'other'"):
        people.approvers(42, "other")


# --- reviews ---


def test_review_of_somebody_else_at_the_head_commit_is_an_approval(people: People):
    assert list(people.reviewers(7, HEAD)) == [("rita", "2026-04-02T10:00:00Z")]


@pytest.mark.parametrize(
    "reviews",
    [
        [review("rita", commit_id=MERGED)],
        [review("rita", author_association="NONE")],
        [review("rita"), review("rita", "CHANGES_REQUESTED")],
        [review("rita"), review("rita", "DISMISSED")],
        [review("rita", "COMMENTED")],
        [review("Ann")],
        [review("dan")],
        [review("bea")],
        [review("cy")],
        [review("github-actions[bot]")],
        [],
    ],
)
def test_review_of_another_commit_by_a_stranger_taken_back_or_of_an_author_is_none(
    hub: Hub, people: People, reviews: list[dict[str, Any]]
):
    hub.known["/pulls/7/reviews"] = reviews
    said = "x\n\nCo-authored-by: Cy <1+cy@users.noreply.github.com>"
    hub.known["/pulls/7/commits"] = [commit(HEAD, "ann", message=said)]

    assert list(people.reviewers(7, HEAD)) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/pulls/7", pull(head={"sha": MERGED})),
        ("/pulls/7", pull(commits=2)),
        ("/pulls/7/commits", [commit(HEAD, None)]),
        (
            "/pulls/7/commits",
            [commit(HEAD, "ann", message="x\n\nCo-authored-by: Zoe <zoe@example.org>")],
        ),
        ("/activity", []),
    ],
)
def test_where_somebody_is_unknown_nobody_approved(hub: Hub, people: People, path: str, value: Any):
    hub.known[path] = value

    assert list(people.reviewers(7, HEAD)) == []


# --- the command ---


def asked(hub: Hub, folder: Path, *words: str, **more: str) -> tuple[int, str, str, Any]:
    environment = {
        **more,
        "GITHUB_API_URL": hub.url,
        "GITHUB_TOKEN": github_api.TOKEN,
        "GITHUB_REPOSITORY": github_api.REPOSITORY,
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_PATH": "",
    }
    words = ("approvals", "found.json", "--patience", "0", *words)
    code, out, err = seatrial(folder, *words, environment=environment)
    return code, out, err, json.loads((folder / "found.json").read_text(encoding="utf-8"))


def test_command_writes_who_approved_a_pull_request(hub: Hub, tmp_path: Path):
    code, out, err, found = asked(hub, tmp_path, "--commit", HEAD, "--pull-request", "7")

    assert (code, err) == (0, "")
    assert out == f"Approved at {HEAD[:12]} by rita\n"
    assert [(one["by"], one["commit"], one["how"], one["changes"]) for one in found] == [
        ("rita", HEAD, "review", None)
    ]


def test_command_finds_the_pull_request_of_a_commit_that_was_pushed(hub: Hub, tmp_path: Path):
    code, _, _, found = asked(hub, tmp_path, "--commit", MERGED)
    hub.known[f"/commits/{MERGED}/pulls"] = [pull(merged_at=None)]
    other = asked(hub, tmp_path, "--commit", MERGED)

    assert (code, [(one["by"], one["commit"]) for one in found]) == (0, [("rita", MERGED)])
    assert other[1:] == ("Nobody else approved it yet\n", "", [])


def test_command_finds_the_pull_request_that_a_merge_queue_tries(hub: Hub, tmp_path: Path):
    hub.known[f"/commits/{PUSHED}/pulls"] = []
    ref = {"GITHUB_REF": f"refs/heads/gh-readonly-queue/main/pr-7-{MERGED}"}

    _, _, _, found = asked(
        hub, tmp_path, "--commit", PUSHED, GITHUB_EVENT_NAME="merge_group", **ref
    )
    other = asked(hub, tmp_path, "--commit", PUSHED, GITHUB_EVENT_NAME="push", **ref)

    assert [(one["by"], one["commit"]) for one in found] == [("rita", PUSHED)]
    assert other[3] == []


def test_forge_that_does_not_answer_approves_nothing(hub: Hub, tmp_path: Path):
    hub.next(REVIEWS, Fails(), Fails(), Fails(), Fails())

    code, _, err, found = asked(hub, tmp_path, "--commit", HEAD, "--pull-request", "7")

    assert (code, found) == (0, [])
    assert err.startswith("Warning: ")
