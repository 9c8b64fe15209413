"""A status and a comment on a server that behaves like GitHub's API, on good days and on bad ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from tests.servers import github_api
from tests.servers.github_api import (
    CREATE,
    LIST,
    PULL,
    SLOW_DOWN,
    STATUS,
    UPDATE,
    Fails,
    Hub,
)

from seatrial.errors import ForgeError
from seatrial.forge import GitHub, State, Status, Subject, marker, post
from seatrial.forge.asking import Api

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LATER = "89abcdef0123456789abcdef0123456789abcdef"
SUBJECT = Subject(repository=github_api.REPOSITORY, commit=COMMIT, pull_request=7)
MARK = marker("seatrial/gate")
CLOSED = Status("seatrial/gate", State.CLOSED, "Closed: rent regressed", "https://ci.example.com/1")


@dataclass
class Side:
    """A GitHub of ours, what it was told to say, and how long it waited."""

    github: GitHub
    hub: Hub
    told: list[str] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)

    def post(self, status: Status = CLOSED, body: str = "", subject: Subject = SUBJECT):
        return post(self.github, subject, status, MARK, body or f"{MARK}\n\n{status.text}\n")


@pytest.fixture
def hub() -> Iterator[Hub]:
    with github_api.serving() as served:
        served.pulls[7] = COMMIT
        yield served


@pytest.fixture
def side(hub: Hub) -> Iterator[Side]:
    told: list[str] = []
    waited: list[float] = []
    with api(hub.url, waited) as opened:
        yield Side(GitHub(opened, SUBJECT, told=told.append), hub, told, waited)


def api(url: str, waited: list[float], token: str = github_api.TOKEN) -> Api:
    headers = {"Authorization": f"Bearer {token}"}
    return Api(url, headers, sleep=waited.append, clock=lambda: 1_000.0)


def test_status_and_comment_are_written_and_the_second_time_the_comment_is_updated(side: Side):
    running = Status("seatrial/gate", State.RUNNING, "Trials are running")

    assert side.post(running) == ()
    assert side.post() == ()

    assert [(s["state"], s["sha"]) for s in side.hub.statuses] == [
        ("pending", COMMIT),
        ("failure", COMMIT),
    ]
    assert side.hub.status()["description"] == "Closed: rent regressed"
    assert side.hub.status()["target_url"] == "https://ci.example.com/1"
    (comment,) = side.hub.comments
    assert (comment["edits"], comment["body"]) == (1, f"{MARK}\n\nClosed: rent regressed\n")
    assert side.told == []


@pytest.mark.parametrize(
    ("state", "word"),
    [("open", "success"), ("closed", "failure"), ("undecided", "error"), ("unruled", "error")],
)
def test_every_end_is_a_state_that_does_not_wait_any_longer(side: Side, state: str, word: str):
    side.github.tell(Status("c", State(state), "text"))

    assert side.hub.status("c")["state"] == word
    assert side.github.told("C") is not State.RUNNING


def test_state_of_another_name_or_commit_is_not_ours(side: Side):
    assert side.github.told("seatrial/gate") is None
    side.github.tell(Status("job", State.RUNNING, "text"))

    assert side.github.told("seatrial/gate") is None
    assert side.github.told("job") is State.RUNNING


@pytest.mark.parametrize("text", ["x" * 141, "😀" * 100, "Closed:\n\u202eneeds " + "é" * 200])
def test_description_is_as_long_as_github_takes_and_hides_nothing(side: Side, text: str):
    side.github.tell(Status("c", State.CLOSED, text))

    said = side.hub.status("c")["description"]
    assert said.endswith("…")
    assert "\u202e" not in said
    assert "\n" not in said
    assert len(said) > 60


def test_comment_behind_many_others_is_found_on_a_later_page(side: Side):
    for number in range(250):
        side.hub.write(7, f"looks good {number}", "octavia")
    side.post()

    side.post()

    assert len(side.hub.comments) == 251
    assert side.hub.comments[-1]["edits"] == 1
    assert side.hub.asked.count(LIST) == 6


def test_marker_planted_by_somebody_else_is_left_alone(side: Side):
    theirs = side.hub.write(7, f"{MARK}\n\n## 🟢 Gate open", "mallory")
    quoting = side.hub.write(7, f"> {MARK}", github_api.BOT)

    side.post()
    side.post()

    assert (theirs["edits"], quoting["edits"]) == (0, 0)
    assert [c["user"]["login"] for c in side.hub.comments] == ["mallory", *[github_api.BOT] * 2]
    assert side.hub.comments[-1]["edits"] == 1


def test_comment_of_another_status_name_is_another_comment(side: Side):
    side.post()
    post(side.github, SUBJECT, CLOSED, marker("other"), marker("other"))

    assert len(side.hub.comments) == 2


def test_comment_that_a_person_deleted_is_written_anew(side: Side):
    side.post()
    side.hub.comments.clear()

    assert side.post() == ()
    assert len(side.hub.comments) == 1


def test_comment_that_is_deleted_between_finding_and_updating_is_written_anew(side: Side):
    side.post()
    side.hub.before[UPDATE] = side.hub.comments.clear

    assert side.post() == ()
    assert [c["edits"] for c in side.hub.comments] == [0]


def test_comment_whose_answer_was_lost_is_not_written_twice(side: Side):
    side.hub.next(CREATE, Fails(status=502, done=True))

    assert side.post() == ()
    (comment,) = side.hub.comments
    assert comment["edits"] == 1


def test_comment_whose_connection_broke_is_not_written_twice(side: Side):
    side.hub.next(CREATE, Fails(done=True, dropped=True))

    assert side.post() == ()
    assert len(side.hub.comments) == 1


def test_ruling_on_an_earlier_commit_does_not_overwrite_the_comment(side: Side):
    side.hub.pulls[7] = LATER
    side.hub.write(7, f"{MARK}\n\nthe later one", github_api.BOT)

    assert side.post() == ()
    assert side.hub.comments[0]["body"].endswith("the later one")
    assert side.hub.status()["sha"] == COMMIT


def test_without_a_pull_request_there_is_a_status_alone(side: Side):
    subject = Subject(repository=github_api.REPOSITORY, commit=COMMIT)

    assert side.post(subject=subject) == ()
    assert side.hub.asked == [STATUS]


def test_token_of_another_author_is_told_of(side: Side):
    side.hub.writer = "release-bot"

    assert side.post() == ()
    assert side.told == [
        "comments with this token are written by release-bot, not by github-actions[bot]: without "
        "--author release-bot each run writes a new one"
    ]


@pytest.mark.parametrize("status", [409, 500, 502, 503, 504])
def test_what_passes_by_itself_is_asked_again(side: Side, status: int):
    for operation in (STATUS, PULL, LIST, CREATE):
        side.hub.next(operation, *[Fails(status=status, body=b"<html>unicorn</html>")] * 2)

    assert side.post() == ()
    assert (len(side.hub.statuses), len(side.hub.comments)) == (1, 1)
    assert 0 < sum(side.waited) < 60


def test_secondary_rate_limit_is_waited_for_as_long_as_it_says(side: Side):
    side.hub.next(STATUS, SLOW_DOWN)
    side.hub.next(CREATE, SLOW_DOWN, Fails(status=429, headers={"retry-after": "3"}))

    assert side.post() == ()
    assert side.waited == [7.0, 7.0, 3.0]


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        (
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1042"},
            "API rate limit exceeded",
            42.0,
        ),
        ({"x-ratelimit-remaining": "0"}, "API rate limit exceeded", 60.0),
        ({}, "You have exceeded a secondary rate limit", 60.0),
    ],
)
def test_limit_without_retry_after_is_waited_for_by_the_other_headers(
    side: Side, headers: dict[str, str], message: str, seconds: float
):
    side.hub.next(STATUS, Fails(status=403, message=message, headers=headers))

    assert side.post() == ()
    assert side.waited == [seconds]


def test_limit_that_lasts_longer_than_the_patience_is_given_up_at_once(side: Side):
    side.hub.next(STATUS, Fails(status=403, message="slow", headers={"retry-after": "3600"}))

    (failure,) = side.post()

    assert failure.status == 403
    assert side.waited == []
    assert len(side.hub.comments) == 1


@pytest.mark.parametrize(
    ("status", "headers"), [(502, {}), (403, {"retry-after": "1"}), (429, {"retry-after": "1"})]
)
def test_what_does_not_pass_is_given_up_after_a_few_attempts(
    side: Side, status: int, headers: dict[str, str]
):
    side.hub.next(STATUS, *[Fails(status=status, headers=headers)] * 50)
    side.hub.next(LIST, *[Fails(status=status, headers=headers)] * 50)

    assert [f.status for f in side.post()] == [status, status]
    assert side.hub.asked.count(STATUS) == 4
    assert side.hub.comments == []


def test_right_that_is_missing_is_told_with_what_to_type_and_not_asked_again(side: Side):
    side.hub.rights = {PULL, LIST, CREATE}

    (failure,) = side.post()

    assert failure.status == 403
    assert "answered 403 to POST /repos/acme/helpdesk/statuses/" in failure.message
    assert "Resource not accessible by integration" in failure.message
    assert "`statuses: write`" in failure.hint
    assert side.hub.asked.count(STATUS) == 1
    assert len(side.hub.comments) == 1, "the right to comment is another one"


def test_wrong_token_is_told_and_never_shown(hub: Hub):
    with api(hub.url, [], token="a-wrong-token") as opened:
        failures = post(GitHub(opened, SUBJECT), SUBJECT, CLOSED, MARK, MARK)

    assert [f.status for f in failures] == [401, 401]
    assert "a-wrong-token" not in "".join(f.render() for f in failures)


def test_pull_request_or_repository_that_is_not_there_is_told(side: Side):
    side.hub.pulls.clear()

    (failure,) = side.post()

    assert failure.status == 404


def test_comment_that_is_too_long_is_refused_with_the_reason(side: Side):
    with pytest.raises(ForgeError, match=r"422 .* Body is too long \(maximum is 65536"):
        side.github.comment(MARK, MARK + "x" * 65_536)


def test_answer_that_is_no_json_is_told_and_nothing_done_twice(side: Side):
    side.hub.next(CREATE, Fails(status=201, body=b"<html>proxy</html>", done=True))

    (failure,) = side.post()

    assert "what is no JSON" in failure.message
    assert side.hub.asked.count(CREATE) == 1


def test_refusal_is_quoted_shortened_and_without_control_characters(side: Side):
    side.hub.next(STATUS, Fails(status=422, message="\x1b[2J" + "long " * 500))

    failure = side.post()[0]

    assert "\x1b" not in failure.message
    assert len(failure.message) < 500


def test_api_that_is_down_all_the_time_is_one_failure():
    waited: list[float] = []
    with github_api.nobody() as url, api(url, waited) as opened:
        (failure,) = post(GitHub(opened, SUBJECT), SUBJECT, CLOSED, MARK, MARK)

    assert failure.message.startswith("no answer from 127.0.0.1:")
    assert failure.passing
    assert sum(waited) < 60


@pytest.mark.parametrize(
    "url", ["http://api.example.com", "ftp://127.0.0.1", "", "https://[::1", "nonsense"]
)
def test_token_is_sent_to_nobody_without_encryption(url: str):
    with api(url, []) as opened:
        (failure,) = post(GitHub(opened, SUBJECT), SUBJECT, CLOSED, MARK, MARK)

    assert "is no address" in failure.message


def test_redirection_is_not_followed_with_the_token(side: Side):
    side.hub.next(STATUS, Fails(status=301, headers={"location": "http://127.0.0.1:1/x"}))

    assert side.post()[0].status == 301


def test_list_that_never_ends_is_given_up_and_no_second_comment_written(side: Side):
    more = {"link": '<https://elsewhere.example.com/?page=2>; rel="next"'}
    side.hub.next(LIST, *[Fails(status=200, body=b"[]", headers=more)] * 100)

    (failure,) = side.post()

    assert "has more than 10,000 items" in failure.message
    assert side.hub.comments == []


@pytest.mark.parametrize("body", [b"{}", b"null", b'"text"'])
def test_list_that_is_none_is_told_and_no_second_comment_written(side: Side, body: bytes):
    side.hub.next(LIST, Fails(status=200, body=body))

    (failure,) = side.post()

    assert "what is no list" in failure.message
    assert side.hub.comments == []


def test_items_of_a_list_that_are_no_comments_are_passed_over(side: Side):
    strange = b'[null, 1, "x", {}, {"id": "1", "body": null, "user": null}, {"user": []}]'
    side.hub.next(LIST, Fails(status=200, body=strange))

    assert side.post() == ()
    assert len(side.hub.comments) == 1


def test_answer_without_end_is_not_read_to_its_end(side: Side):
    side.hub.next(PULL, Fails(status=200, body=b" " * 33_000_000))

    (failure,) = side.post()

    assert "answered with more than 32,000,000 bytes" in failure.message


def test_without_patience_nothing_is_asked_twice(hub: Hub):
    hub.next(STATUS, Fails(status=502))
    hub.next(CREATE, Fails(status=502))
    headers = {"Authorization": f"Bearer {github_api.TOKEN}"}
    with Api(hub.url, headers, patience=0) as opened:
        failures = post(GitHub(opened, SUBJECT), SUBJECT, CLOSED, MARK, MARK)

    assert [f.status for f in failures] == [502, 502]
    assert hub.asked == [STATUS, PULL, LIST, CREATE]


def test_commenting_where_there_is_no_pull_request_is_refused_before_anything_is_asked(hub: Hub):
    subject = Subject(repository=github_api.REPOSITORY, commit=COMMIT)
    with api(hub.url, []) as opened, pytest.raises(ForgeError, match="no pull request"):
        GitHub(opened, subject).comment(MARK, MARK)

    assert hub.asked == []
