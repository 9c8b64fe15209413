"""Statuses and notes at a server that behaves like GitLab's API."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
from tests.servers import github_api, gitlab_api
from tests.servers.github_api import Fails
from tests.servers.gitlab_api import BOT, PROJECT, SLOW_DOWN, TOKEN, Lab

from seatrial.errors import ForgeError
from seatrial.forge import GitLab, Pipeline, State, Status, Subject, marker, post
from seatrial.forge.asking import Api
from seatrial.forge.gitlab import _HINTS, connected

HEAD, MERGE = "a" * 40, "b" * 40
CONTEXT = "seatrial/gate"
MARK = marker(CONTEXT)
SUBJECT = Subject(
    repository=PROJECT, commit=HEAD, pull_request=7, web="https://gitlab.example.com/acme/agents/helpdesk"
)  # fmt: skip
TOLD = replace(SUBJECT, pipeline=Pipeline(900, HEAD))
RUNNING = Status(CONTEXT, State.RUNNING, "Trials are running", "https://gitlab.example.com/p/900")
CLOSED = Status(CONTEXT, State.CLOSED, "Closed: rent regressed")


@dataclass
class Side:
    lab: Lab
    gitlab: GitLab
    waited: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def post(self, status: Status = CLOSED) -> tuple[ForgeError, ...]:
        return post(self.gitlab, SUBJECT, status, MARK, f"{MARK}\n\n{status.text}")


def api(url: str, waited: list[float], token: str = TOKEN) -> Api:
    return Api(url, {"PRIVATE-TOKEN": token}, hints=_HINTS, sleep=waited.append, clock=lambda: 1000)


@pytest.fixture
def side() -> Iterator[Side]:
    waited: list[float] = []
    told: list[str] = []
    with gitlab_api.serving() as lab, api(lab.url, waited) as opened:
        lab.heads[7] = HEAD
        lab.commits |= {HEAD, MERGE}
        lab.pipelines |= {900: HEAD, 901: MERGE}
        yield Side(lab, GitLab(opened, TOLD, told=told.append), waited, told)


def test_status_and_note_go_from_running_to_the_ruling_in_place(side: Side):
    assert side.post(RUNNING) == ()
    before = dict(side.lab.status())
    assert side.post(CLOSED) == ()

    assert (before["status"], side.lab.status()["status"]) == ("running", "failed")
    assert before["target_url"] == "https://gitlab.example.com/p/900"
    assert len(side.lab.statuses) == 1
    (note,) = side.lab.notes
    assert (note["edits"], note["body"]) == (1, f"{MARK}\n\nClosed: rent regressed")
    assert note["author"]["username"] == BOT


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (State.RUNNING, "running"),
        (State.OPEN, "success"),
        (State.CLOSED, "failed"),
        (State.UNDECIDED, "canceled"),
        (State.UNRULED, "canceled"),
    ],
)
def test_every_state_has_one_of_gitlabs_and_is_read_back(side: Side, state: State, shown: str):
    side.gitlab.tell(Status(CONTEXT, state, "x"))

    assert side.lab.status()["status"] == shown
    told = side.gitlab.told(CONTEXT)
    assert told is (State.UNRULED if state is State.UNDECIDED else state)
    assert side.gitlab.told("another") is None


def test_job_that_runs_again_finds_the_status_as_it_is_and_goes_on(side: Side):
    for status in (RUNNING, RUNNING, CLOSED, RUNNING, CLOSED):
        assert side.post(status) == ()

    assert [s["status"] for s in side.lab.statuses] == ["failed", "failed"]
    assert len(side.lab.notes) == 1


def test_answer_that_was_lost_is_no_failure(side: Side):
    side.lab.next("POST statuses", Fails(status=502, done=True))
    side.lab.next("POST notes", Fails(status=502, done=True))

    assert side.post(RUNNING) == ()
    assert (len(side.lab.statuses), len(side.lab.notes)) == (1, 1)


def test_other_refusal_of_a_state_is_a_failure(side: Side):
    refused = Fails(status=400, message="Cannot transition status via :run from :success")
    side.lab.next("POST statuses", refused)

    (failure,) = side.post(RUNNING)

    assert failure.status == 400


def test_status_of_a_merge_that_is_tried_stands_in_its_own_pipeline(side: Side):
    with api(side.lab.url, []) as opened:
        GitLab(opened, replace(SUBJECT, pipeline=Pipeline(901, MERGE))).tell(CLOSED)

    assert (side.lab.status()["sha"], side.lab.status()["pipeline_id"]) == (MERGE, 901)


def test_status_outside_of_a_pipeline_stands_where_gitlab_puts_it(side: Side):
    with api(side.lab.url, []) as opened:
        gitlab = GitLab(opened, SUBJECT)
        gitlab.tell(RUNNING)
        assert gitlab.told(CONTEXT) is State.RUNNING

    assert side.lab.status()["pipeline_id"] == 900


def test_status_of_another_pipeline_of_the_same_commit_is_not_ours(side: Side):
    side.lab.pipelines[950] = HEAD
    with api(side.lab.url, []) as opened:
        GitLab(opened, replace(SUBJECT, pipeline=Pipeline(950, HEAD))).tell(RUNNING)

    assert side.gitlab.told(CONTEXT) is None


def test_note_of_somebody_else_with_our_marker_is_left_alone(side: Side):
    planted = side.lab.write(7, f"{MARK}\n\n## 🟢 Gate open", "mallory")
    side.lab.write(7, f"{MARK}\n\nassigned", BOT, system=True)

    assert side.post() == ()
    assert (planted["body"], planted["edits"]) == (f"{MARK}\n\n## 🟢 Gate open", 0)
    assert [n["author"]["username"] for n in side.lab.notes] == ["mallory", BOT, BOT]


def test_note_is_found_behind_many_others(side: Side):
    for number in range(230):
        side.lab.write(7, f"remark {number}", "rita")
    mine = side.lab.write(7, MARK, BOT)

    assert side.post() == ()
    assert mine["edits"] == 1
    assert side.lab.asked.count("GET notes") == 3


def test_note_that_a_person_deletes_meanwhile_is_written_anew(side: Side):
    side.post(RUNNING)
    side.lab.before["PUT note"] = side.lab.notes.clear

    assert side.post(CLOSED) == ()
    (note,) = side.lab.notes
    assert "rent regressed" in note["body"]


def test_note_about_an_earlier_commit_is_not_written(side: Side):
    side.lab.heads[7] = "c" * 40

    assert side.post() == ()
    assert side.lab.notes == []
    assert side.lab.status()["status"] == "failed"


def test_author_that_is_named_is_not_asked_for(side: Side):
    with api(side.lab.url, []) as opened:
        gitlab = GitLab(opened, TOLD, author="somebody", told=side.told.append)
        gitlab.comment(MARK, MARK)

    assert "GET user" not in side.lab.asked
    assert side.told == [
        f"notes with this token are written by {BOT}, not by somebody: without --author {BOT} each "
        "run writes a new one"
    ]


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"username": ""}', b'{"username": 7}'])
def test_without_an_author_no_note_is_taken_for_ours(side: Side, body: bytes):
    side.lab.next("GET user", Fails(status=200, body=body))

    (failure,) = side.post()

    assert "does not say who the token belongs to" in failure.message
    assert side.lab.notes == []


def test_longest_text_is_shortened_to_what_gitlab_takes(side: Side):
    side.gitlab.tell(Status(CONTEXT, State.CLOSED, "🙂 word " * 100))

    assert len(side.lab.status()["description"]) == 255
    assert side.lab.status()["description"].endswith("…")


def test_rate_limit_is_waited_for_as_long_as_it_says(side: Side):
    side.lab.next("POST statuses", SLOW_DOWN)
    limit = {"ratelimit-remaining": "0", "ratelimit-reset": "1042"}
    side.lab.next("POST notes", Fails(status=429, headers=limit))

    assert side.post() == ()
    assert side.waited == [7.0, 42.0]


@pytest.mark.parametrize("status", [409, 500, 502, 503, 504])
def test_what_passes_by_itself_is_asked_again(side: Side, status: int):
    for operation in ("POST statuses", "GET request", "GET user", "GET notes", "POST notes"):
        side.lab.next(operation, *[Fails(status=status, body=b"<html>sorry</html>")] * 2)

    assert side.post() == ()
    assert (len(side.lab.statuses), len(side.lab.notes)) == (1, 1)


def test_role_that_is_too_small_is_told_with_what_to_do_and_the_note_is_written(side: Side):
    side.lab.role = "reporter"

    (failure,) = side.post()

    assert failure.status == 403
    assert "the scope `api` and the role Developer" in failure.hint
    assert len(side.lab.notes) == 1


def test_single_mistakes_of_a_refusal_are_told(side: Side):
    side.lab.next(
        "POST statuses", Fails(status=400, body=b'{"message":{"target_url":["is blocked"]}}')
    )

    (failure,) = side.post()

    assert failure.message.endswith(": target_url is blocked")


def test_wrong_token_project_or_merge_request_is_told(side: Side):
    with api(side.lab.url, [], token="glpat-wrong") as opened:
        failures = post(GitLab(opened, TOLD), SUBJECT, CLOSED, MARK, MARK)
    assert [f.status for f in failures] == [401, 401]
    assert "glpat-wrong" not in "".join(f.render() for f in failures)

    with api(side.lab.url, []) as opened:
        elsewhere = replace(TOLD, repository="acme/other")
        failures = post(GitLab(opened, elsewhere), elsewhere, CLOSED, MARK, MARK)
    assert [f.status for f in failures] == [404, 404]

    side.lab.heads.clear()
    assert [f.status for f in side.post()] == [404]


def test_pipeline_that_is_not_of_the_commit_is_told(side: Side):
    with (
        api(side.lab.url, []) as opened,
        pytest.raises(ForgeError, match="404 Pipeline for pipeline_id"),
    ):
        GitLab(opened, replace(SUBJECT, pipeline=Pipeline(900, MERGE))).tell(CLOSED)


def test_note_that_is_too_long_is_refused_with_the_reason(side: Side):
    with pytest.raises(ForgeError, match=r"note is too long \(maximum is 1000000"):
        side.gitlab.comment(MARK, MARK + "x" * 1_000_000)


def test_commenting_where_there_is_no_merge_request_asks_nothing(side: Side):
    subject = replace(SUBJECT, pull_request=None)
    with api(side.lab.url, []) as opened:
        gitlab = GitLab(opened, subject)
        assert gitlab.is_newest()
        with pytest.raises(ForgeError, match="no merge request"):
            gitlab.comment(MARK, MARK)
    assert side.lab.asked == []


def test_api_that_is_down_is_one_failure():
    waited: list[float] = []
    with github_api.nobody() as url, api(url, waited) as opened:
        (failure,) = post(GitLab(opened, TOLD), SUBJECT, CLOSED, MARK, MARK)

    assert failure.passing
    assert sum(waited) < 60


def test_variable_without_a_token_is_told_with_the_kind_that_is_needed():
    with connected({"GITLAB_TOKEN": ""}, SUBJECT) as gitlab:
        (failure,) = post(gitlab, SUBJECT, CLOSED, MARK, MARK)

    assert failure.message == "the variable GITLAB_TOKEN holds no token"
    assert "project access token" in failure.hint


def test_line_of_a_file_has_its_address():
    with Api("https://gitlab.example.com/api/v4", {}) as opened:
        link = GitLab(opened, SUBJECT).link("cases/a b#c.yaml", 3)
        assert link == f"{SUBJECT.web}/-/blob/{HEAD}/cases/a%20b%23c.yaml#L3"
        assert GitLab(opened, replace(SUBJECT, web="")).link("a", 1) == ""
