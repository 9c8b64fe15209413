"""`seatrial dispatch` and `seatrial status`: a run at GitHub, started and followed, and the exit code of its ruling."""

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.servers import github_api
from tests.servers.github_api import ARTIFACTS, DISPATCH, RUN, Artifact, Fails, Hub, Look
from tests.stored_runs import CASES, stored
from tests.work_trees import WorkTree

from seatrial.cli import main
from seatrial.cli.dispatching import dispatch

COMMIT = "a" * 40
FILE = "seatrial-gate.yml"
GOOD = dict.fromkeys(CASES, "p" * 12)
FINE = dict.fromkeys(CASES, "p" * 5)
TRIALS = {
    "open": FINE,
    "closed": {**FINE, "rent": "fffff"},
    "undecided": {**FINE, "rent": "pppf"},
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Ruling → the artifact that a run with it leaves."""
    folder = tmp_path_factory.mktemp("told")
    stored(folder / "released", GOOD, "clerk-1")
    archives = {}
    for ruling, trials in TRIALS.items():
        stored(folder / ruling, trials)
        file = folder / ruling / "told.json"
        packed = CliRunner().invoke(
            main,
            ["post", "pack", str(folder / ruling), "--baseline", str(folder / "released"),
             "--out", str(file)],
        )  # fmt: skip
        assert packed.exit_code == 0, packed.output
        archives[ruling] = zipped(file.read_bytes())
    return archives


def zipped(data: bytes, name: str = "told.json") -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(name, data)
    return archive.getvalue()


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    for name in [*os.environ]:
        if name.startswith(("GITHUB_", "ACTIONS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    tree = WorkTree.init(tmp_path / "tree")
    tree.git("remote", "add", "origin", f"git@github.com:{github_api.REPOSITORY}.git")
    monkeypatch.chdir(tree.root)
    with github_api.serving() as served:
        served.workflows[FILE] = {"suite", "arm", "agent-version", "trials", "base", "budget",
                                  "pull-request", "commit"}  # fmt: skip
        served.branches |= {"main": COMMIT, tree.git("symbolic-ref", "--short", "HEAD"): COMMIT}
        monkeypatch.setenv("GITHUB_API_URL", served.url)
        monkeypatch.setenv("GITHUB_TOKEN", github_api.TOKEN)
        yield served


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def ends(hub: Hub, conclusion: str, artifact: bytes | None = None, number: int = 9001) -> None:
    """The next run takes a look until it ends, and leaves the artifact."""
    jobs = {"plan": ("completed", "success"), "gate": ("completed", conclusion)}
    hub.course = [
        Look(jobs={"plan": ("in_progress", None)}),
        Look(status="completed", conclusion=conclusion, jobs=jobs),
    ]
    if artifact is not None:
        hub.artifacts.append(Artifact(run=number, name="seatrial-told-1", data=artifact))


@pytest.mark.parametrize(
    ("ruling", "conclusion", "code", "said"),
    [
        ("open", "success", 0, "Open: none of 2 required cases shown worse"),
        ("closed", "failure", 1, "Closed: rent regressed"),
        ("undecided", "failure", 3, "Undecided: "),
    ],
)
def test_run_is_followed_and_the_exit_code_is_the_rulings(
    hub: Hub, told: dict[str, bytes], ruling: str, conclusion: str, code: int, said: str
):
    ends(hub, conclusion, told[ruling])

    result = seatrial(
        "dispatch", "--suite", "all", "--arm", "clerk-2", "--agent-version", "latest",
        "--trials", "5", "--base", "main", "--budget", "5 EUR", "--wait", "--every", "0.05",
    )  # fmt: skip

    assert result.exit_code == code, result.output
    (run,) = hub.runs
    assert run["inputs"] == {
        "suite": "all", "arm": "clerk-2", "agent-version": "latest", "trials": "5", "base": "main",
        "budget": "5 EUR",
    }  # fmt: skip
    assert result.stderr.splitlines() == [
        "  plan: in progress",
        "  plan: success",
        f"  gate: {conclusion}",
    ]
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Started run 9001 at ")
    assert f"Run 9001 (workflow_dispatch at {run['head_branch']}, {COMMIT[:12]}): {conclusion}" in (
        lines
    )
    assert any(line.startswith(said) for line in lines)


def test_shipped_form_has_every_field_that_is_filled_in():
    shipped = Path(__file__).parents[2] / ".github" / "workflows" / FILE
    read = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    form = read[True]["workflow_dispatch"]["inputs"]  # `on` is a boolean in YAML 1.1

    asked = {parameter.name for parameter in dispatch.params} - {
        "ref", "workflow", "repository", "token_env", "wait", "timeout", "every",
    }  # fmt: skip
    assert {str(name).replace("_", "-") for name in asked} == set(form)


def test_without_waiting_it_says_how_to_follow(hub: Hub):
    result = seatrial("dispatch", "--ref", "main")

    assert (result.exit_code, hub.runs[0]["inputs"]) == (0, {})
    assert result.stdout.splitlines()[1] == "Follow it: seatrial status 9001 --wait"


def test_fork_is_run_by_its_number_and_the_whole_commit(hub: Hub):
    half = seatrial("dispatch", "--pull-request", "7")
    whole = seatrial("dispatch", "--pull-request", "7", "--commit", COMMIT)

    assert (half.exit_code, whole.exit_code) == (2, 0)
    assert hub.runs[0]["inputs"] == {"pull-request": "7", "commit": COMMIT}


def test_workflow_that_calls_the_gate_is_found_and_of_several_one_is_named(hub: Hub):
    folder = Path(".github/workflows")
    folder.mkdir(parents=True)
    calls = f"jobs: {{gate: {{uses: acme/seatrial/.github/workflows/seatrial-gate.yml@{COMMIT}}}}}"
    (folder / "ci.yml").write_text("jobs: {}", encoding="utf-8")
    (folder / "desk.yml").write_text(calls, encoding="utf-8")
    hub.workflows = {"desk.yml": set(), "shop.yaml": set()}

    assert seatrial("dispatch").exit_code == 0
    assert [run["workflow"] for run in hub.runs] == ["desk.yml"]
    assert seatrial("status").stdout.startswith("Run 9001 (workflow_dispatch")

    (folder / "shop.yaml").write_text(calls, encoding="utf-8")
    several = seatrial("dispatch")
    assert several.exit_code == 2
    assert "2 workflows call the gate: desk.yml, shop.yaml" in several.stderr
    assert seatrial("dispatch", "--workflow", "shop.yaml").exit_code == 0

    (folder / "dir.yml").mkdir()
    assert "cannot be read: Is a directory" in seatrial("status").stderr


def test_run_that_ruled_on_nothing_is_undecided(hub: Hub):
    ends(hub, "success")

    result = seatrial("dispatch", "--wait", "--every", "0.05")

    assert result.exit_code == 3
    assert "It ruled on nothing" in result.stdout


@pytest.mark.parametrize("conclusion", ["failure", "cancelled", "timed_out", "startup_failure"])
def test_run_that_ended_without_a_ruling_is_no_pass_and_no_failure(hub: Hub, conclusion: str):
    ends(hub, conclusion)

    result = seatrial("dispatch", "--wait", "--every", "0.05")

    assert result.exit_code == 4
    assert f"ended without a ruling: {conclusion.replace('_', ' ')}" in result.stderr
    assert "https://github.com/acme/helpdesk/actions/runs/9001" in result.stderr


def test_trials_that_would_open_the_gate_open_nothing_where_the_run_failed(
    hub: Hub, told: dict[str, bytes]
):
    ends(hub, "failure", told["open"])

    result = seatrial("dispatch", "--wait", "--every", "0.05")

    assert result.exit_code == 4
    assert "what was run would open the gate, but the run ended otherwise: failure" in result.stderr


@pytest.mark.parametrize(
    "archive", [b"no zip", zipped(b"{}"), zipped(b"{}", "../told.json"), zipped(b"[" * 100_000)]
)
def test_artifact_that_is_no_ruling_opens_nothing(hub: Hub, archive: bytes):
    ends(hub, "success", archive)

    result = seatrial("dispatch", "--wait", "--every", "0.05")

    assert result.exit_code == 4
    assert "what run 9001 left cannot be read" in result.stderr


def test_artifact_that_cannot_be_had_opens_nothing(hub: Hub, told: dict[str, bytes]):
    ends(hub, "success", told["open"])
    hub.rights.discard(ARTIFACTS)

    result = seatrial("dispatch", "--wait", "--every", "0.05")

    assert result.exit_code == 2
    assert "answered 403 to GET /repos/acme/helpdesk/actions/runs/9001/artifacts" in result.stderr


def test_run_that_takes_too_long_is_told_with_how_to_go_on(hub: Hub):
    hub.course = [Look(status="waiting")]

    result = seatrial("dispatch", "--wait", "--every", "0.1", "--timeout", "0.002")

    assert result.exit_code == 4
    assert "run 9001 has not ended after" in result.stderr
    assert "seatrial status 9001 --wait" in result.stderr


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (Fails(status=401, message="Bad credentials"), 2, "the token is wrong"),
        (Fails(status=403, message="Resource not accessible"), 2, "`actions: write`"),
        (Fails(status=404, message="Not Found"), 2, "Name another with --workflow"),
        (Fails(status=422, message="Workflow does not have"), 2, "have `workflow_dispatch`"),
        (Fails(status=502, done=True), 4, "the run may have been started all the same"),
        (Fails(status=403, headers={"retry-after": "9000"}), 4, "answered 403"),
        (Fails(status=429, headers={"retry-after": "9000"}), 4, "answered 429"),
    ],
)
def test_refusal_of_the_dispatch_is_told_and_not_repeated(
    hub: Hub, failure: Fails, code: int, said: str
):
    hub.next(DISPATCH, failure)

    result = seatrial("dispatch", "--wait")

    assert result.exit_code == code
    assert said in result.stderr
    assert github_api.TOKEN not in result.output
    assert hub.asked.count(DISPATCH) == 1


def test_api_that_is_down_is_an_internal_fault_and_never_a_ruling(
    monkeypatch: pytest.MonkeyPatch,
):
    with github_api.nobody() as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        result = seatrial("dispatch", "--wait")

    assert result.exit_code == 4
    assert "no answer from 127.0.0.1:" in result.stderr


def test_without_a_token_or_a_repository_nothing_is_asked(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.delenv("GITHUB_TOKEN")
    assert "the variable GITHUB_TOKEN holds no token" in seatrial("dispatch").stderr

    monkeypatch.chdir(tmp_path)
    result = seatrial("dispatch", "--ref", "main")
    assert (result.exit_code, hub.asked) == (2, [])
    assert "--repository OWNER/NAME" in result.stderr
    assert "--ref BRANCH" in seatrial("dispatch", "--repository", "acme/helpdesk").stderr


def test_status_of_a_run_that_goes_on_names_its_jobs(hub: Hub):
    hub.begin(FILE, COMMIT)
    hub.course = [Look(jobs={"plan": ("completed", "success"), "shard \x1b[2J": ("queued", None)})]

    result = seatrial("status", "9001")

    assert result.exit_code == 3
    assert result.stdout.splitlines() == [
        f"Run 9001 (pull_request at change, {COMMIT[:12]}): in progress",
        "https://github.com/acme/helpdesk/actions/runs/9001",
        "  plan: success",
        r"  shard \x1b[2J: queued",
    ]


def test_status_finds_the_newest_run_of_a_pull_request_or_a_commit(
    hub: Hub, told: dict[str, bytes]
):
    hub.begin(FILE, "c" * 40)
    hub.begin(FILE, COMMIT)
    hub.begin(FILE, "b" * 40)
    hub.pulls[7] = COMMIT
    for run, ruling in ((9002, "closed"), (9003, "open")):
        hub.artifacts.append(Artifact(run=run, name="seatrial-told-1", data=told[ruling]))

    by_number = seatrial("status", "--pull-request", "7")
    by_commit = seatrial("status", "--commit", COMMIT)
    newest = seatrial("status")

    assert [r.exit_code for r in (by_number, by_commit, newest)] == [1, 1, 0]
    assert "Run 9002 " in by_number.stdout
    none = seatrial("status", "--commit", "d" * 40)
    assert (none.exit_code, none.stderr.splitlines()[0]) == (
        2, f"Error: {FILE} has no run of {'d' * 12}",
    )  # fmt: skip
    assert seatrial("status", "9001", "--commit", COMMIT).exit_code == 2


def test_status_waits_for_the_end(hub: Hub, told: dict[str, bytes]):
    hub.begin(FILE, COMMIT)
    ends(hub, "success", told["open"])

    result = seatrial("status", "9001", "--wait", "--every", "0.05")

    assert result.exit_code == 0
    assert "  gate: success" in result.stderr


def test_server_that_does_not_name_the_run_is_told(hub: Hub):
    hub.tells_runs = False

    followed = seatrial("dispatch", "--wait")
    assert (followed.exit_code, hub.runs) == (2, [])
    assert "start it without --wait" in followed.stderr

    alone = seatrial("dispatch")
    assert (alone.exit_code, len(hub.runs)) == (0, 1)
    assert "does not say which run it is: seatrial status" in alone.stdout


def test_run_that_is_not_there_is_told(hub: Hub):
    assert seatrial("status", "4").exit_code == 2
    assert hub.asked == [RUN]
