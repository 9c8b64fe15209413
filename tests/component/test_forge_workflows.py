"""Runs of a workflow at a server that behaves like GitHub's API: started once, looked at, followed to their end."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from tests.servers import github_api
from tests.servers.github_api import DISPATCH, JOBS, REPOSITORY, RUN, Fails, Hub, Look

from seatrial.errors import ForgeError
from seatrial.forge import Started, Workflows
from seatrial.forge.asking import Api

COMMIT = "a" * 40
FILE = "seatrial-gate.yml"


@dataclass
class Desk:
    hub: Hub
    workflows: Workflows
    now: float = 0.0
    told: list[str] = field(default_factory=list)

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def follow(self, number: int, at_most: float = 600.0):
        return self.workflows.follow(
            number, told=self.told.append, every=10.0, at_most=at_most,
            sleep=self.wait, clock=lambda: self.now,
        )  # fmt: skip


@pytest.fixture
def desk() -> Iterator[Desk]:
    headers = {"Authorization": f"Bearer {github_api.TOKEN}"}
    with github_api.serving() as hub:
        made: list[Desk] = []
        api = Api(
            hub.url, headers, patience=10_000, sleep=lambda s: made[0].wait(s), clock=lambda: 1000
        )
        with api:
            hub.workflows[FILE] = {"suite", "arm", "trials"}
            hub.branches["main"] = COMMIT
            made.append(Desk(hub, Workflows(api, REPOSITORY)))
            yield made[0]


def test_run_is_started_with_the_inputs_and_known_by_its_number(desk: Desk):
    started = desk.workflows.start(FILE, "main", {"suite": "smoke", "trials": "4"}, must_tell=True)

    (run,) = desk.hub.runs
    assert started == Started(run["id"], run["html_url"])
    assert run["inputs"] == {"suite": "smoke", "trials": "4"}
    assert desk.workflows.run(run["id"]).head_sha == COMMIT


@pytest.mark.parametrize(
    ("file", "ref", "inputs", "said", "hint"),
    [
        ("other.yml", "main", {}, "answered 404", "Name another with --workflow"),
        (FILE, "gone", {}, "No ref found for: gone", "does it have `workflow_dispatch`"),
        (FILE, "main", {"budget": "5 EUR"}, "Unexpected inputs provided", "and these inputs?"),
    ],
)
def test_refusal_says_what_to_look_at(
    desk: Desk, file: str, ref: str, inputs: dict[str, str], said: str, hint: str
):
    with pytest.raises(ForgeError) as caught:
        desk.workflows.start(file, ref, inputs, must_tell=True)

    assert said in caught.value.message
    assert hint in caught.value.hint
    assert desk.hub.runs == []


def test_right_that_is_missing_is_told(desk: Desk):
    desk.hub.rights.discard(DISPATCH)

    with pytest.raises(ForgeError) as caught:
        desk.workflows.start(FILE, "main", {}, must_tell=True)

    assert caught.value.hint == "the token needs `actions: write`"


def test_older_server_starts_nothing_where_the_run_must_be_known(desk: Desk):
    desk.hub.tells_runs = False

    with pytest.raises(ForgeError, match="nothing was started"):
        desk.workflows.start(FILE, "main", {}, must_tell=True)
    assert desk.hub.runs == []

    assert desk.workflows.start(FILE, "main", {}, must_tell=False) == Started(None)
    assert len(desk.hub.runs) == 1


@pytest.mark.parametrize(
    "lost", [Fails(status=502, done=True), Fails(dropped=True, done=True), Fails(status=500)]
)
def test_run_whose_answer_was_lost_is_not_started_a_second_time(desk: Desk, lost: Fails):
    desk.hub.next(DISPATCH, lost)

    with pytest.raises(ForgeError, match="may have been started all the same"):
        desk.workflows.start(FILE, "main", {}, must_tell=True)

    assert desk.hub.asked.count(DISPATCH) == 1


def test_limit_is_waited_for_before_it_is_started(desk: Desk):
    desk.hub.next(DISPATCH, github_api.SLOW_DOWN)

    assert desk.workflows.start(FILE, "main", {}, must_tell=True).run
    assert desk.now == 7.0
    assert len(desk.hub.runs) == 1


@pytest.mark.parametrize("body", [b"[]", b'{"workflow_run_id": "7"}', b'{"workflow_run_id": true}'])
def test_answer_that_names_no_run_is_none(desk: Desk, body: bytes):
    desk.hub.next(DISPATCH, Fails(status=200, body=body))

    assert desk.workflows.start(FILE, "main", {}, must_tell=True) == Started(None)


def test_run_is_followed_and_each_change_of_a_job_is_told_once(desk: Desk):
    run = desk.hub.begin(FILE, COMMIT)
    desk.hub.course = [
        Look(status="queued"),
        Look(jobs={"plan": ("in_progress", None)}),
        Look(jobs={"plan": ("completed", "success"), "shard (1/2)": ("queued", None)}),
        Look(jobs={"plan": ("completed", "success"), "shard (1/2)": ("in_progress", None)}),
        Look(jobs={"plan": ("completed", "success"), "shard (1/2)": ("in_progress", None)}),
        Look(
            status="completed",
            conclusion="failure",
            jobs={
                "plan": ("completed", "success"),
                "shard (1/2)": ("completed", "success"),
                "gate": ("completed", "failure"),
            },
        ),
    ]

    ended = desk.follow(run["id"])

    assert (ended.conclusion, ended.ended) == ("failure", True)
    assert desk.told == [
        "plan: in progress",
        "plan: success",
        "shard (1/2): queued",
        "shard (1/2): in progress",
        "shard (1/2): success",
        "gate: failure",
    ]
    assert desk.now == 50.0


def test_run_that_does_not_end_is_given_up_and_can_be_followed_again(desk: Desk):
    run = desk.hub.begin(FILE, COMMIT)
    desk.hub.course = [Look(status="waiting")]

    with pytest.raises(ForgeError, match=r"has not ended after 2 minutes$") as caught:
        desk.follow(run["id"], at_most=120)

    assert caught.value.hint == f"seatrial status {run['id']} --wait"
    assert desk.now <= 120


def test_api_that_is_down_for_a_while_is_told_once_and_waited_for(desk: Desk):
    run = desk.hub.begin(FILE, COMMIT)
    desk.hub.next(RUN, *[Fails(status=503)] * 12)
    desk.hub.next(JOBS, Fails(status=502))

    assert desk.follow(run["id"]).conclusion == "success"
    (line,) = desk.told
    assert line.endswith("; still waiting")


def test_api_that_stays_down_is_told_at_the_end(desk: Desk):
    run = desk.hub.begin(FILE, COMMIT)
    desk.hub.next(RUN, *[Fails(status=503)] * 1000)

    with pytest.raises(ForgeError, match=r"has not ended after 2 minutes: .* answered 503"):
        desk.follow(run["id"], at_most=120)


def test_limit_that_lasts_is_waited_for_and_a_missing_right_is_not(desk: Desk):
    run = desk.hub.begin(FILE, COMMIT)
    desk.hub.next(RUN, *[github_api.SLOW_DOWN] * 5)
    assert desk.follow(run["id"]).ended

    desk.hub.rights.discard(JOBS)
    with pytest.raises(ForgeError, match="answered 403"):
        desk.follow(run["id"])


def test_run_that_is_not_found_yet_is_waited_for_and_one_that_never_is_is_told(desk: Desk):
    run = desk.hub.begin(FILE, COMMIT)
    desk.hub.next(RUN, Fails(status=404, message="Not Found"))
    assert desk.follow(run["id"]).ended

    with pytest.raises(ForgeError, match="answered 404"):
        desk.follow(7)
    assert desk.now < 120


def test_newest_run_of_a_workflow_and_of_a_commit_is_found(desk: Desk):
    first = desk.hub.begin(FILE, COMMIT)
    second = desk.hub.begin(FILE, "b" * 40)
    desk.hub.begin("other.yml", COMMIT)
    desk.hub.pulls[7] = COMMIT

    newest, at_commit = desk.workflows.newest(FILE), desk.workflows.newest(FILE, COMMIT)

    assert newest is not None
    assert newest.id == second["id"]
    assert at_commit is not None
    assert at_commit.id == first["id"]
    assert desk.workflows.newest(FILE, "c" * 40) is None
    assert desk.workflows.head(7) == COMMIT
    with pytest.raises(ForgeError, match="answered 404") as caught:
        desk.workflows.newest("gone.yml")
    assert "gone.yml in .github/workflows/" in caught.value.hint


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"id": "x"}', b"null"])
def test_answer_that_is_no_run_or_no_pull_request_is_told(desk: Desk, body: bytes):
    desk.hub.next(RUN, Fails(status=200, body=body))
    with pytest.raises(ForgeError, match="with what is no run"):
        desk.workflows.run(1)

    desk.hub.next(github_api.PULL, Fails(status=200, body=body))
    with pytest.raises(ForgeError, match="with what is no pull request"):
        desk.workflows.head(1)
