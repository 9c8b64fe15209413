"""The scripts behind the actions of the workflows, run as GitHub runs a step."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from tests import workflow_runs
from tests.work_trees import WorkTree

ROOT = Path(__file__).parents[2]
SUITE, ARM = "desk", "desk-1"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with workflow_runs.interpreter(tmp_path_factory.mktemp("python")) as script:
        yield script


@dataclass
class Step:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


def step(
    action: str, folder: Path, python: Path, given: dict[str, str], **environment: str
) -> Step:
    """Run the last step of an action with its inputs."""
    about = yaml.safe_load((ROOT / f"action/{action}/action.yml").read_text(encoding="utf-8"))
    inputs = {name: str(i.get("default", "")) for name, i in about["inputs"].items()} | given
    temp = folder.parent / f"temp-{action}"
    temp.mkdir(exist_ok=True)
    output, summary, commands = temp / "output", temp / "summary", temp / "commands"
    for file in (output, summary, commands):
        file.write_text("", encoding="utf-8")
    last = about["runs"]["steps"][-1]
    filled = {
        key: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: inputs[m[1]], value)
        for key, value in last["env"].items()
    }
    filled |= {
        "SEATRIAL_EVENT": "pull_request",
        "SEATRIAL_FORM": "null",
        "SEATRIAL_IN_FORK": "false",
        "SEATRIAL_FORK": "false",
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", last["run"]],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(temp),
            "GITHUB_ACTION_PATH": str(ROOT / "action" / action),
            "GITHUB_ENV": str(commands),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_TOKEN": "token-of-the-job",
            "ACTIONS_RUNTIME_TOKEN": "token-of-the-runner",
            "RUNNER_TEMP": str(temp),
            "SEATRIAL_PYTHON": str(python),
            "STAND_IN_REPORTS": "False",
            **filled,
            **environment,
        },
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert commands.read_text(encoding="utf-8") == ""
    said, lines = {}, iter(output.read_text(encoding="utf-8").splitlines())
    for line in lines:
        name, end = line.split("<<")
        value = []
        while (inner := next(lines)) != end:
            value.append(inner)
        said[name] = "\n".join(value)
    told = summary.read_text(encoding="utf-8")
    return Step(done.returncode, done.stdout + done.stderr, said, told)


# --- plan ---


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> WorkTree:
    """The starter's repository, without a release."""
    from tests.shell import seatrial

    tree = WorkTree.init(tmp_path_factory.mktemp("origin"))
    assert seatrial(tree.root, "init", "--no-workflow")[0] == 0
    tree.commit({})
    tree.commit({"notes/größe.md": "äöü\n", "desk_agent.py": "# another\n"})
    return tree


def plan(tree: WorkTree, python: Path, **environment: str) -> Step:
    given = {"suite": SUITE, "arm": ARM, "trials": "1", "shards": "2"}
    return step("plan", tree.root, python, given, **environment)


def test_plan_says_matrix_and_arm_and_that_nothing_is_released(origin: WorkTree, python: Path):
    done = plan(origin, python)

    assert done.code == 0, done.log
    assert done.outputs == {
        "matrix": '{"shard": ["1/2", "2/2"]}', "baseline": "", "arm": ARM, "state": "ready", "why": "",
        "aside": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("form", "aside"),
    [
        ("null", ""),
        ('{"agent-version":"configured","suite":"","arm":null}', ""),
        ('{"budget": "5 EUR", "pull-request": "7", "commit": "abc"}', ""),
        ('{"base": "HEAD"}', " (by hand)"),
        ('{\n  "agent-version": "configured",\n  "suite": "configured"\n}', " (by hand)"),
        ('{"agent-version": "latest"}', " (by hand)"),
        ('{"budget": "\\"", "commit": ""}', " (by hand)"),
        ("garbled", " (by hand)"),
    ],
)
def test_who_chooses_what_is_ruled_on_does_not_speak_for_the_gate(
    origin: WorkTree, python: Path, form: str, aside: str
):
    words = {"SEATRIAL_EVENT": "workflow_dispatch", "SEATRIAL_FORM": form}

    # Nothing is planned: that it is so is said first, whatever becomes of the plan.
    done = plan(origin, python, SEATRIAL_ROOT="nowhere", **words)

    assert done.outputs["aside"] == aside, done.log


@pytest.mark.parametrize(("depth", "code", "state"), [(1, 2, "broken"), (2, 0, "ready")])
def test_shallow_clone_must_have_the_base(
    origin: WorkTree, python: Path, tmp_path: Path, depth: int, code: int, state: str
):
    clone = origin.clone(tmp_path / "clone", "--depth", str(depth))

    done = plan(clone, python, SEATRIAL_BASE="HEAD^1")

    assert (done.code, done.outputs["state"]) == (code, state), done.log
    assert ("git fetch --deepen=1 origin" in done.log) == (depth == 1)


@pytest.mark.parametrize(
    ("environment", "code", "state", "said"),
    [
        ({"SEATRIAL_SUITE": ""}, 0, "inert", "write suite and arm into the workflow"),
        ({"SEATRIAL_NEEDS_SECRETS": "true"}, 0, "inert", "the secret SEATRIAL_ENV is not set"),
        (
            {"SEATRIAL_NEEDS_SECRETS": "true", "SEATRIAL_FORK": "true"},
            0, "waiting", "a fork gets no secrets",
        ),
        ({"SEATRIAL_EVENT": "workflow_dispatch", "SEATRIAL_IN_FORK": "true"}, 0, "inert", "is a fork"),
        ({"SEATRIAL_EVENT": "schedule", "SEATRIAL_IN_FORK": "true"}, 0, "inert", "is a fork"),
        ({"SEATRIAL_ARM": "nobody"}, 2, "broken", "seatrial plan ended with exit code 2"),
        ({"SEATRIAL_ROOT": "$(touch ran)"}, 2, "broken", "there is no folder"),
    ],
)  # fmt: skip
def test_what_keeps_a_plan_from_being_made_is_said(
    origin: WorkTree, python: Path, environment: dict[str, str], code: int, state: str, said: str
):
    done = plan(origin, python, **environment)

    assert (done.code, done.outputs["state"]) == (code, state), done.log
    assert said in done.outputs["why"]
    assert "matrix" not in done.outputs
    assert not list(origin.root.parent.rglob("ran"))


@pytest.mark.parametrize("missing", ["SEATRIAL_SUITE", "SEATRIAL_ARM"])
def test_what_was_set_up_once_is_never_green_without_a_plan(
    origin: WorkTree, python: Path, tmp_path: Path, missing: str
):
    clone = origin.clone(tmp_path / "clone", "--depth", "1")
    origin.git("branch", "seatrial-baselines")
    try:
        done = plan(clone, python, **{missing: ""})
    finally:
        origin.git("branch", "-D", "seatrial-baselines")

    assert (done.code, done.outputs["state"]) == (2, "broken")
    assert "not set up any more, though a baseline is released" in done.log


def test_arm_for_forks_runs_for_forks_alone(origin: WorkTree, python: Path):
    arms = origin.root / "arms"
    text = (arms / "desk-1.yaml").read_text(encoding="utf-8")
    (arms / "free.yaml").write_text(text.replace("id: desk-1", "id: free"), encoding="utf-8")
    words = {"SEATRIAL_FORK_ARM": "free", "SEATRIAL_NEEDS_SECRETS": "true"}
    try:
        theirs = plan(origin, python, SEATRIAL_FORK="true", **words)
        ours = plan(origin, python, SEATRIAL_HAS_SECRETS="true", **words)
    finally:
        (arms / "free.yaml").unlink()

    assert theirs.outputs["arm"] == "free", theirs.log
    assert ours.outputs["arm"] == ARM


# --- shard ---

_LEAKS = """
import base64, os

def answer(text, seat):
    print("::error::planted")
    for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"):
        assert name not in os.environ, name
    key = os.environ["AGENT_KEY"]
    return f"::error::{key} {base64.b64encode(key.encode()).decode()} %s"
"""


@pytest.fixture
def leaking(origin: WorkTree, tmp_path: Path) -> WorkTree:
    clone = origin.clone(tmp_path / "clone")
    clone.write({"desk_agent.py": _LEAKS % ""})
    return clone


def shard(tree: WorkTree, python: Path, env: str) -> Step:
    given = {"suite": SUITE, "arm": ARM, "trials": "1", "shard": "1/2", "env": env}
    return step("shard", tree.root, python, given)


def test_secrets_of_the_agent_are_masked_and_no_word_of_it_is_a_command(
    leaking: WorkTree, python: Path
):
    done = shard(leaking, python, "# the agent's\nAGENT_KEY=k3y=of the agent\n\n")

    assert done.code == 0, done.log
    assert done.outputs["name"] == "1-of-2"
    stored = b"".join(path.read_bytes() for path in Path(done.outputs["run"]).iterdir())
    assert b"k3y=of" not in stored
    assert b"[AGENT_KEY]" in stored
    told = [line for line in done.log.splitlines() if line.startswith("::")]
    token = told[0].removeprefix("::stop-commands::")
    assert told[1:4] == [f"::{token}::", "::add-mask::k3y=of the agent", told[0]]
    assert told[-1] == f"::{token}::"
    assert "::error::planted" not in told


def test_run_without_a_valid_trial_is_handed_on_for_the_gate_to_say_so(
    leaking: WorkTree, python: Path
):
    done = shard(leaking, python, "")

    assert done.code == 0, done.log
    assert "0/0 passed, 1 invalid" in done.log
    assert done.outputs["run"]


def test_mask_is_of_the_value_also_where_the_runner_takes_its_end_for_an_escape(
    leaking: WorkTree, python: Path
):
    done = shard(leaking, python, "AGENT_KEY=k3y%0Aof the%25agent")

    assert "::add-mask::k3y%250Aof the%2525agent" in done.log.splitlines(), done.log


def test_agent_that_finds_the_files_of_the_runners_commands_sets_nothing(
    leaking: WorkTree, python: Path
):
    """They lie in a folder that whoever runs as the same user can list."""
    leaking.write(
        {
            "desk_agent.py": _LEAKS % ""
            + """
from pathlib import Path

for name in ("output", "commands", "summary"):
    file = Path(os.environ["HOME"]) / name
    file.write_text(file.read_text() + "run=/etc\\nLD_PRELOAD=/tmp/planted.so\\n<img src=//example.org>\\n")
"""
        }
    )

    done = shard(leaking, python, "AGENT_KEY=k3y=of the agent")

    assert set(done.outputs) == {"run", "name"}, done.log
    assert "etc" not in done.outputs["run"]
    assert done.summary == ""


def test_run_in_which_a_secret_is_hidden_is_not_handed_on(leaking: WorkTree, python: Path):
    leaking.write({"desk_agent.py": _LEAKS % ("ghp_" + "a1" * 18)})

    done = shard(leaking, python, "AGENT_KEY=k3y=of the agent")

    assert done.code == 1
    assert done.outputs == {}
    assert "traces.jsonl:" in done.log
    assert "`ghp_…` looks like a secret" in done.log
    assert "a1a1" not in done.log


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("PATH=/tmp", "sets PATH, which is not an agent's"),
        ("LD_PRELOAD=x", "sets LD_PRELOAD"),
        ("GITHUB_ENV=x", "sets GITHUB_ENV"),
        ("no value", "is not NAME=VALUE"),
        ("$(touch ran)=x", "is not NAME=VALUE"),
        ("AGENT_KEY=short", None),
    ],
)
def test_secret_that_is_none_is_refused(
    leaking: WorkTree, python: Path, line: str, said: str | None
):
    done = shard(leaking, python, line)

    assert done.code != 0
    assert done.outputs == {}
    assert (said or "shorter than 6 characters") in done.log
    assert not list(leaking.root.parent.rglob("ran"))


# --- rule ---


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Path:
    """What two shards of a change left that is as good as the release, and the release."""
    from tests.shell import seatrial

    tree = WorkTree.init(tmp_path_factory.mktemp("parts") / "tree")
    assert seatrial(tree.root, "init", "--no-workflow")[0] == 0
    tree.commit({})
    choice = ("--suite", SUITE, "--arm", ARM)
    assert seatrial(tree.root, "run", *choice, "--trials", "12", "--out", "released")[0] == 0
    for number in (1, 2):
        words = (
            "--shard",
            f"{number}/2",
            "--trials",
            "5",
            "--out",
            f"shards/seatrial-shard-{number}-of-2-attempt-1",
        )
        code, _, said = seatrial(tree.root, "run", *choice, *words)
        assert code == 0, said
    return tree.root


def rule(parts: Path, folder: Path, python: Path, *, result: str = "success", **given: str) -> Step:
    """Rule on what lies in a folder."""
    inputs = {
        "state": "ready", "matrix": '{"shard": ["1/2", "2/2"]}', "plan-result": "success",
        "shard-result": result, "baseline": str(parts / "released"), "shards": str(folder), **given,
    }  # fmt: skip
    return step("rule", parts, python, inputs, GITHUB_RUN_ATTEMPT="10")


@pytest.fixture
def left(parts: Path, tmp_path: Path) -> Path:
    """A copy of what the shards left."""
    return Path(shutil.copytree(parts / "shards", tmp_path / "shards"))


def test_shards_are_put_together_and_ruled_on(parts: Path, left: Path, python: Path):
    done = rule(parts, left, python)

    assert (done.code, done.outputs["ruling"]) == (0, "open"), done.log
    assert Path(done.outputs["told"]).name == "told.json"
    assert done.outputs["report"] == ""


def test_of_each_shard_the_newest_attempt_counts_and_no_other_plan(
    parts: Path, left: Path, python: Path
):
    for number in (2, 10):
        shutil.copytree(
            left / "seatrial-shard-1-of-2-attempt-1",
            left / f"seatrial-shard-1-of-2-attempt-{number}",
        )
    for broken in ("seatrial-shard-1-of-2-attempt-1", "seatrial-shard-1-of-2-attempt-2"):
        (left / broken / "run.json").write_text("{}", encoding="utf-8")
    shutil.copytree(
        left / "seatrial-shard-2-of-2-attempt-1", left / "seatrial-shard-2-of-3-attempt-9"
    )

    done = rule(parts, left, python)

    assert (done.code, done.outputs["ruling"]) == (0, "open"), done.log


@pytest.mark.parametrize(
    "name", ["seatrial-shard-2-of-2-attempt-11", "seatrial-shard-z-2-of-2-attempt-1"]
)
def test_nobody_takes_the_place_of_a_shard_by_another_name_or_an_attempt_to_come(
    parts: Path, left: Path, python: Path, name: str
):
    (left / "seatrial-shard-2-of-2-attempt-1").rename(left / name)

    done = rule(parts, left, python)

    assert (done.code, done.outputs["ruling"]) == (3, "undecided"), done.log


@pytest.mark.parametrize("result", ["success", "failure", "cancelled"])
def test_missing_shard_is_undecided_however_its_job_ended(
    parts: Path, left: Path, python: Path, result: str
):
    shutil.rmtree(left / "seatrial-shard-2-of-2-attempt-1")

    done = rule(parts, left, python, result=result)

    assert (done.code, done.outputs["ruling"]) == (3, "undecided"), done.log
    assert "shard 2/2 left nothing behind" in done.log
    assert done.outputs["told"]


@pytest.mark.parametrize("result", ["failure", "cancelled", "skipped", ""])
def test_gate_is_not_open_where_a_job_did_not_end_well(
    parts: Path, left: Path, python: Path, result: str
):
    done = rule(parts, left, python, result=result)

    assert (done.code, done.outputs["ruling"]) == (4, "error")
    assert "told" not in done.outputs
    assert "would open the gate, but" in done.outputs["why"]


@pytest.mark.parametrize(
    ("given", "code", "ruling", "why"),
    [
        ({"plan-result": "failure", "state": "broken", "why": "no suite"}, 4, "error", "ended as failure: no suite"),
        ({"plan-result": "cancelled", "state": ""}, 4, "error", "ended as cancelled"),
        ({"state": ""}, 4, "error", "said nothing"),
        ({"state": "inert", "why": "nobody set it up"}, 0, "", "nobody set it up"),
        ({"state": "waiting", "why": "a fork"}, 3, "undecided", "a fork"),
        ({"matrix": "[]"}, 4, "error", "named no shards"),
        ({"shards": "nowhere"}, 4, "error", "no shard left anything behind"),
        ({"root": "nowhere"}, 2, "error", "there is no folder"),
        ({"baseline": "nowhere"}, 2, "error", "seatrial gate ended with exit code 2"),
    ],
)  # fmt: skip
def test_every_way_to_no_ruling_says_why_and_is_not_open(
    parts: Path, left: Path, python: Path, given: dict[str, str], code: int, ruling: str, why: str
):
    done = rule(parts, left, python, **given)

    assert (done.code, done.outputs["ruling"]) == (code, ruling), done.log
    assert why in done.outputs["why"]


def test_run_that_may_hold_a_secret_is_not_handed_on(parts: Path, left: Path, python: Path):
    done = step(
        "rule", parts, python,
        {"state": "ready", "matrix": '{"shard": ["1/2", "2/2"]}', "plan-result": "success",
         "shard-result": "success", "baseline": str(parts / "released"), "shards": str(left)},
        SEATRIAL_SECRETS="NAMED", NAMED="books-a-free-room",
    )  # fmt: skip

    assert (done.code, done.outputs["ruling"]) == (4, "error")
    assert done.outputs["why"] == "nothing is uploaded: it may hold a secret"
    assert "the value of NAMED" in done.log
    assert "run" not in done.outputs
