"""What the shipped workflows and actions promise, held by their text; zizmor and actionlint hold the rest."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("seatrial-*.yml"))
ACTIONS = [ROOT / "action.yml", ROOT / "post/action.yml", *sorted((ROOT / "action").glob("*/action.yml"))]  # fmt: skip
GATE, REPORT = (ROOT / f".github/workflows/seatrial-{name}.yml" for name in ("gate", "report"))
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def read(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    # YAML 1.1 takes `on` for a truth.
    return {"on" if key is True else key: value for key, value in found.items()}


def steps(path: Path) -> Iterator[dict[str, Any]]:
    found = read(path)
    for job in found.get("jobs", {}).values():
        yield from job["steps"]
    yield from found.get("runs", {}).get("steps", ())


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_is_put_into_a_script_and_everything_is_pinned(path: Path):
    for step in steps(path):
        assert "${{" not in step.get("run", "")
        uses = step.get("uses", "$/")
        assert uses.startswith("$/") or _PINNED.fullmatch(uses), uses
        if uses.startswith("$/") and uses != "$/":
            assert (ROOT / uses.removeprefix("$/") / "action.yml").is_file()
        if uses.startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_workflow_has_no_rights_but_those_that_a_job_asks_for(path: Path):
    flow = read(path)

    assert flow["permissions"] == {}
    assert "pull_request_target" not in flow["on"]
    assert all(job["timeout-minutes"] < 360 for job in flow["jobs"].values())


def test_no_job_that_may_write_has_the_change_or_the_secrets():
    for name, job in read(GATE)["jobs"].items():
        used = [step.get("uses", "") for step in job["steps"]]
        text = json.dumps(job)
        if "write" in job["permissions"].values():
            assert not any("checkout" in one or "/action/" in one for one in used), name
            assert "secrets." not in text
        if "secrets.SEATRIAL_ENV }}" in text:
            assert name == "shard"
            assert job["permissions"] == {"contents": "read"}
    relay = json.dumps(read(REPORT)["jobs"])
    assert "checkout" not in relay
    assert "secrets." not in relay


def test_gate_and_what_tells_are_never_skipped_and_know_how_all_ended():
    jobs = read(GATE)["jobs"]

    assert jobs["gate"]["if"] == "always()"
    assert jobs["gate"]["needs"] == ["plan", "shard"]
    assert jobs["tell"]["if"].startswith("always() && ")
    rule = next(step for step in jobs["gate"]["steps"] if step.get("id") == "rule")
    assert rule["with"]["plan-result"] == "${{ needs.plan.result }}"
    assert rule["with"]["shard-result"] == "${{ needs.shard.result }}"
    assert "if" not in rule


def test_run_whose_form_chose_what_is_ruled_on_has_other_names_and_a_branch_its_base_from_main():
    jobs = read(GATE)["jobs"]
    posting = [step.get("with", {}) for job in ("start", "tell") for step in jobs[job]["steps"]]
    told = [given for given in posting if "context" in given]
    base = next(s for s in jobs["plan"]["steps"] if s.get("id") == "plan")["with"]["base"]

    assert jobs["gate"]["name"] == "gate${{ needs.plan.outputs.aside }}"
    assert len(told) == 2
    assert all(one["context"].endswith("}}${{ needs.plan.outputs.aside }}") for one in told)
    assert " ".join(base.split()).endswith(
        "|| github.event_name == 'workflow_dispatch' && github.ref_name != "
        "github.event.repository.default_branch && format('origin/{0}', "
        "github.event.repository.default_branch) || github.event_name == 'pull_request' && 'HEAD^1' "
        "|| github.event.merge_group.base_sha || '' }}"
    )


def test_no_name_of_an_artifact_is_given_twice_in_a_workflows_run():
    for step in steps(GATE):
        if "upload-artifact" in step.get("uses", ""):
            assert "${{ github.run_attempt }}" in step["with"]["name"]
            assert step["with"]["if-no-files-found"] == "error"


def test_only_runs_of_pull_requests_are_cancelled_by_newer_ones():
    cancels = "${{ github.event_name == 'pull_request' }}"

    assert read(GATE)["concurrency"]["cancel-in-progress"] == cancels
    assert read(REPORT)["concurrency"]["cancel-in-progress"] is False


def test_whoever_approves_a_release_sees_beforehand_that_its_gate_is_set_aside():
    flow = read(ROOT / ".github/workflows/seatrial-release.yml")

    assert "inputs.override && format(" in flow["run-name"]
