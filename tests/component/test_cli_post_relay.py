"""`seatrial post pack`, `relay` and `head`: what a trusted workflow tells of a run that others control."""

import io
import json
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.servers import github_api
from tests.servers.github_api import ARTIFACTS, DOWNLOAD, PULLS, STATUS, Artifact, Fails, Hub
from tests.stored_runs import CASES, stored

from seatrial.cli import main

HEAD = "a" * 40
FORK = 2
SELF = "seatrial/gate (self-reported)"
RUN: dict[str, Any] = {
    "id": 42,
    "run_attempt": 1,
    "event": "pull_request",
    "conclusion": "success",
    "head_sha": HEAD,
    "head_repository": {"id": FORK},
    "repository": {"id": 1},
    "pull_requests": [],
    "display_title": "::error::planted",
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What `post pack` writes of an open and of a closed gate."""
    folder = tmp_path_factory.mktemp("packed")
    stored(folder / "released", dict.fromkeys(CASES, "p" * 12), "clerk-1")
    files = {}
    for ruling, trials in (("open", {}), ("closed", {"rent": "fffff"})):
        stored(folder / ruling, dict.fromkeys(CASES, "p" * 5) | trials)
        words = ("--out", str(folder / f"{ruling}.json"), "--baseline", str(folder / "released"))
        done = seatrial("post", "pack", str(folder / ruling), *words)
        assert done.exit_code == 0, done.output
        files[ruling] = (folder / f"{ruling}.json").read_bytes()
    return files


@pytest.fixture(autouse=True)
def _step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in [*os.environ]:
        if name.startswith(("GITHUB_", "ACTIONS_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "GITHUB_EVENT_PATH": "event.json",
        "GITHUB_REPOSITORY": github_api.REPOSITORY,
        "GITHUB_SHA": "d" * 40,
        "GITHUB_TOKEN": github_api.TOKEN,
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with github_api.serving() as served:
        served.pulls[7] = HEAD
        served.heads[7] = FORK
        monkeypatch.setenv("GITHUB_API_URL", served.url)
        yield served


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def relay(*words: str, **run: Any) -> Result:
    event = {"action": "completed", "workflow_run": RUN | run}
    Path("event.json").write_text(json.dumps(event), encoding="utf-8")
    return seatrial("post", "relay", *words)


def zipped(files: dict[str, bytes], mode: int = stat.S_IFREG | 0o644) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return data.getvalue()


def uploaded(hub: Hub, data: bytes, name: str = "seatrial-told-1") -> None:
    hub.artifacts.append(Artifact(run=42, name=name, data=data))


@pytest.mark.parametrize(("ruling", "state"), [("open", "success"), ("closed", "failure")])
def test_ruling_of_a_fork_is_told_as_its_own_and_opens_no_gate(
    hub: Hub, packed: dict[str, bytes], ruling: str, state: str
):
    uploaded(hub, zipped({"told.json": packed[ruling]}))

    done = relay()

    assert done.exit_code == 0, done.output
    gate = hub.status()
    assert (gate["state"], gate["sha"]) == ("error", HEAD)
    assert gate["description"] == (
        f"Undecided: from a fork, which says of itself: {ruling}. A maintainer runs the commit by hand"
    )
    assert hub.status(SELF)["state"] == state
    assert hub.status(SELF)["description"].startswith("Self-reported, untrusted: ")
    assert gate["target_url"] == "https://github.com/acme/helpdesk/actions/runs/42"
    (comment,) = hub.comments
    assert comment["issue"] == 7
    assert "Self-reported by an untrusted run of a fork" in comment["body"]
    assert f"## {'🟢' if ruling == 'open' else '🔴'} Gate {ruling}" in comment["body"]
    assert "seatrial run --suite" not in comment["body"]  # nobody is to type what a fork says


def test_what_is_too_long_in_every_way_is_cut_and_told(hub: Hub, packed: dict[str, bytes]):
    told = json.loads(packed["closed"])
    told["ruling"]["headline"] = "Closed: 🚲`" * 500_000
    told["concerns"] = told["concerns"] * 200_000
    uploaded(hub, zipped({"told.json": json.dumps(told).encode()}))

    done = relay()

    assert done.exit_code == 0, done.output
    assert len(hub.status(SELF)["description"].encode("utf-16-le")) <= 2 * 140
    assert hub.comments[0]["body"].count("**rent**") == 1


def test_second_run_of_a_fork_keeps_its_one_comment_up_to_date(hub: Hub, packed: dict[str, bytes]):
    uploaded(hub, zipped({"told.json": packed["closed"]}))
    relay()
    uploaded(hub, zipped({"told.json": packed["open"]}), "seatrial-told-2")

    relay(run_attempt=2)

    (comment,) = hub.comments
    assert comment["edits"] == 1
    assert "Gate open" in comment["body"]


def test_what_a_maintainers_run_ruled_is_not_replaced_by_a_fork(hub: Hub, packed: dict[str, bytes]):
    hub.statuses.append({"context": "seatrial/gate", "state": "success", "sha": HEAD})
    uploaded(hub, zipped({"told.json": packed["closed"]}))

    relay()

    assert hub.status()["state"] == "success"
    assert hub.status(SELF)["state"] == "failure"


def bomb() -> bytes:
    return zipped({"told.json": b" " * 16_000_001})


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (lambda ok: b"no archive", "no archive that could be read"),
        (lambda ok: zipped({"../told.json": ok}), "holds 1 files, not told.json alone"),
        (lambda ok: zipped({"told.json": ok, "x": b""}), "holds 2 files"),
        (lambda ok: zipped({"told.json": b"/etc/passwd"}, stat.S_IFLNK | 0o777), "no plain file"),
        (lambda ok: bomb(), "more than 16,000,000 bytes"),
        (lambda ok: zipped({"told.json": b"{}"}), "seatrial post pack"),
        (lambda ok: zipped({"told.json": b"[" * 200_000}), "seatrial post pack"),
        (
            lambda ok: zipped({"told.json": ok[:-1] + b', "pull_request": 8}'}),
            "seatrial post pack",
        ),
        (lambda ok: zipped({"told.json": ok})[:-30], "no archive that could be read"),
    ],
)
def test_anything_else_in_the_artifact_is_told_as_no_ruling(
    hub: Hub, packed: dict[str, bytes], data: Any, why: str
):
    uploaded(hub, data(packed["open"]))

    done = relay()

    assert done.exit_code == 0, done.output
    assert hub.status()["state"] == "error"
    assert "no ruling" in hub.status()["description"]
    assert hub.status(SELF)["state"] == "error"
    assert why in hub.comments[0]["body"]


def test_number_of_the_pull_request_comes_from_the_forge_by_commit_and_repository(
    hub: Hub, packed: dict[str, bytes]
):
    hub.pulls = dict.fromkeys(range(100, 300), "e" * 40)
    hub.pulls |= {5: HEAD, 6: HEAD, 7: HEAD}
    hub.heads = {5: 9, 6: FORK, 7: FORK}
    hub.closed = {6}
    uploaded(hub, zipped({"told.json": packed["open"]}))

    relay(pull_requests=[{"number": 5}])

    assert [comment["issue"] for comment in hub.comments] == [7]
    assert hub.asked.count(PULLS) == 3


def test_commit_that_is_no_longer_the_head_of_any_is_told_nowhere(
    hub: Hub, packed: dict[str, bytes]
):
    hub.pulls[7] = "e" * 40
    uploaded(hub, zipped({"told.json": packed["open"]}))

    done = relay()

    assert done.exit_code == 0
    assert "no open pull request has the commit of this run" in done.stderr
    assert (hub.statuses, hub.comments) == ([], [])


@pytest.mark.parametrize(("conclusion", "states"), [("success", []), ("cancelled", ["error"] * 2)])
def test_fork_that_left_nothing_is_not_set_up_or_ended_without_a_ruling(
    hub: Hub, conclusion: str, states: list[str]
):
    relay(conclusion=conclusion)

    assert [status["state"] for status in hub.statuses] == states
    assert [status["context"] for status in hub.statuses] == ["seatrial/gate", SELF][: len(states)]


@pytest.mark.parametrize(
    ("conclusion", "before", "after"),
    [
        ("cancelled", ["pending"], "error"),
        ("failure", [], "error"),
        ("timed_out", ["pending"], "error"),
        ("failure", ["pending", "failure"], "failure"),
        ("success", ["pending", "success"], "success"),
        ("success", ["pending"], "error"),
        ("success", [], None),
    ],
)
def test_no_status_of_ones_own_run_stays_pending_and_none_is_replaced(
    hub: Hub, conclusion: str, before: list[str], after: str | None
):
    hub.heads.clear()
    for state in before:
        hub.statuses.append({"context": "seatrial/gate", "state": state, "sha": HEAD})

    done = relay(conclusion=conclusion, head_repository={"id": 1})

    assert done.exit_code == 0
    states = [status["state"] for status in hub.statuses]
    assert states[-1:] == ([after] if after else [])
    assert len(hub.comments) == (len(states) > len(before))


@pytest.mark.parametrize(
    ("ruling", "conclusion", "state", "said"),
    [
        ("open", "success", "success", "Open: "),
        ("closed", "failure", "failure", "Closed: rent regressed"),
        ("closed", "cancelled", "failure", "Closed: rent regressed"),
        ("open", "failure", "error", "No ruling: the trials say open, but the workflow's run ended (failure)"),
        ("closed", "success", "error", "No ruling: the trials say closed, but"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", [[], ["pending"]])
def test_what_ones_own_run_ruled_and_could_not_tell_is_told(
    hub: Hub, packed: dict[str, bytes], before: list[str], ruling: str, conclusion: str, state: str, said: str
):  # fmt: skip
    hub.heads.clear()
    uploaded(hub, zipped({"told.json": packed[ruling]}))
    for earlier in before:
        hub.statuses.append({"context": "seatrial/gate", "state": earlier, "sha": HEAD})

    relay(conclusion=conclusion, head_repository={"id": 1})

    assert hub.status()["state"] == state
    assert hub.status()["description"].startswith(said)
    assert "Self-reported" not in hub.comments[0]["body"]


def test_what_ones_own_run_left_and_nobody_can_read_is_no_ruling(hub: Hub):
    hub.heads.clear()
    uploaded(hub, b"no archive")

    relay(head_repository={"id": 1})

    assert hub.status()["state"] == "error"


def test_run_that_was_started_by_hand_is_of_a_commit_that_nobody_knows_here(hub: Hub):
    done = relay(event="workflow_dispatch", conclusion="cancelled", head_repository={"id": 1})

    assert "nothing is relayed of a run that began with workflow_dispatch" in done.stderr
    assert hub.asked == []


@pytest.mark.parametrize("operation", [PULLS, ARTIFACTS, DOWNLOAD])
def test_forge_that_answers_nothing_useful_is_a_warning_and_opens_nothing(
    hub: Hub, packed: dict[str, bytes], operation: str
):
    uploaded(hub, zipped({"told.json": packed["open"]}))
    hub.next(operation, Fails(status=404, message="Not Found"))

    done = relay()

    assert done.exit_code == 0
    assert "success" not in [status["state"] for status in hub.statuses]
    assert len(hub.statuses) == (0 if operation == PULLS else 2)


@pytest.mark.parametrize("text", ["{}", "[]", "none", '{"workflow_run": {"id": 1}}'])
def test_another_event_is_a_usage_error(hub: Hub, text: str):
    Path("event.json").write_text(text, encoding="utf-8")

    done = seatrial("post", "relay")

    assert done.exit_code == 2
    assert "not that of a workflow's run which has ended" in done.stderr


def test_commit_and_number_cannot_be_chosen(hub: Hub):
    assert relay("--commit", HEAD).exit_code == 2
    assert hub.asked == []


def test_packed_ruling_is_told_without_the_run(hub: Hub, packed: dict[str, bytes]):
    Path("told.json").write_bytes(packed["closed"])
    words = ("--commit", HEAD, "--pull-request", "7")

    done = seatrial("post", "result", "--packed", "told.json", *words)

    assert done.exit_code == 0
    assert hub.status()["state"] == "failure"
    assert "seatrial run --suite all --arm clerk-2 --case rent" in hub.comments[0]["body"]


def test_file_that_is_not_there_cannot_be_told(hub: Hub):
    done = seatrial("post", "result", "--packed", "told.json", "--commit", HEAD)

    assert done.exit_code == 2
    assert "told.json cannot be read" in done.stderr
    assert hub.status()["state"] == "error"


def test_file_that_cannot_be_written_is_a_usage_error(tmp_path: Path):
    stored("candidate", dict.fromkeys(CASES, "p" * 5))

    done = seatrial("post", "pack", "candidate", "--out", "nowhere/told.json")

    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("commit", "closed", "code"), [(HEAD, False, 0), ("e" * 40, False, 3), (HEAD, True, 3)]
)
def test_commit_is_held_against_the_head_of_the_pull_request(
    hub: Hub, commit: str, closed: bool, code: int
):
    if closed:
        hub.closed.add(7)

    assert seatrial("post", "head", "--commit", commit, "--pull-request", "7").exit_code == code
    assert seatrial("post", "head", "--commit", commit, "--pull-request", "8").exit_code == 3
    assert seatrial("post", "head", "--commit", commit).exit_code == 2
    assert STATUS not in hub.asked
