"""`seatrial init`: what it writes passes, beside whatever is there, and nothing is overwritten."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests import harbour

from seatrial.cli import main

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _own_modules():
    """An agent is loaded into this process: the next test has one of the same name in another folder."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name.endswith("_agent")]:
        del sys.modules[name]


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def _all() -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in Path().rglob("*") if p.is_file()}


def test_what_init_writes_is_right_and_proved_and_in_its_usual_form():
    made = seatrial("init")

    assert made.exit_code == 0, made.output
    assert seatrial("check").output == ("checked 3 cases, 1 suite, 1 arm, 1 fixture: no problems\n")
    assert "3 cases: 3 proved;" in seatrial("check", "--prove").output
    assert "0 not in their usual form" in seatrial("fmt", "--check").output
    assert seatrial("schema", "--check").exit_code == 0


def test_what_init_writes_runs_offline_and_the_gate_says_why_it_is_undecided():
    seatrial("init", "--agent", "front-desk")

    ran = seatrial("run", "--suite", "front-desk", "--arm", "front-desk-1", "--out", "run")
    assert ran.exit_code == 0, ran.output
    journal = [
        json.loads(line) for line in Path("run/journal.jsonl").read_text("utf-8").splitlines()
    ]
    assert len(journal) == 12
    assert {record["verdict"] for record in journal} == {"passed"}

    ruled = seatrial("gate", "run")
    assert ruled.exit_code == 3
    assert "nothing is released" in ruled.output.lower() or "no baseline" in ruled.output.lower()


def test_each_document_names_the_schema_that_lies_beside_it():
    seatrial("init")

    for path in Path().rglob("*.yaml"):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        schema = first.removeprefix("# yaml-language-server: $schema=")
        assert (path.parent / schema).resolve().is_file(), f"{path}: {first}"


def test_what_is_typed_next_is_said():
    output = seatrial("init", "new/repository").output

    assert "wrote new/repository/cases/desk/asks-for-the-day.yaml" in output
    assert "  cd new/repository\n  seatrial check --prove\n" in output
    assert "commit -m 'The first cases'\n  seatrial run --suite desk --arm desk-1\n" in output
    assert "seatrial release latest --approved-by 'NAME <MAIL>'" in output
    assert (
        "replace OWNER/seatrial and COMMIT in .github/workflows/desk.yml and "
        ".github/workflows/desk-report.yml by" in output
    )


def test_a_second_agent_is_added_beside_the_documents_that_are_there():
    harbour.write(Path.cwd())
    before = _all()

    assert seatrial("init", "--agent", "rooms").exit_code == 0

    assert _all().items() >= before.items()
    assert "no problems" in seatrial("check").output
    assert seatrial("init", "--agent", "halls").exit_code == 0
    assert "no problems" in seatrial("check").output


def test_where_something_stands_in_the_way_nothing_is_written():
    Path("desk_agent.py").write_text("mine = True\n", encoding="utf-8")
    before = _all()

    refused = seatrial("init")

    assert refused.exit_code == 2
    assert "desk_agent.py: there already, and nothing is overwritten" in refused.output
    assert _all() == before


def test_an_id_that_is_taken_elsewhere_is_told_and_nothing_is_written():
    harbour.write(Path.cwd(), {"suites/all.yaml": harbour.SUITE.replace("id: all", "id: desk")})
    before = _all()

    refused = seatrial("init")

    assert refused.exit_code == 2
    assert "suite `desk` is there already: suites/all.yaml:2:5" in refused.output
    assert "choose another name with --agent" in refused.output
    assert _all() == before


def test_beside_documents_that_are_wrong_nothing_is_written():
    harbour.write(Path.cwd(), {"cases/take.yaml": "kind: case\n"})
    before = _all()

    refused = seatrial("init")

    assert refused.exit_code == 2
    assert "run `seatrial check`, and mend them first" in refused.output
    assert _all() == before


def test_what_git_ignores_is_added_to_and_nothing_is_taken_away():
    Path(".gitignore").write_bytes(b"*.pyc\n/.seatrial")

    seatrial("init")

    assert Path(".gitignore").read_bytes() == b"*.pyc\n/.seatrial\nsite/report/\n"


def test_a_link_that_leads_out_of_the_folder_is_not_written_through(tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    Path(".github").symlink_to(outside)

    refused = seatrial("init")

    assert refused.exit_code == 2
    assert "a link leads out of" in refused.output
    assert list(outside.iterdir()) == []
    assert not Path("cases").exists()


@pytest.mark.parametrize("name", ["../x", "A", "", "1st", "a" * 41, "desk;rm"])
def test_a_name_that_cannot_be_one_is_refused(name: str):
    refused = seatrial("init", "--agent", name)

    assert refused.exit_code == 2
    assert "cannot be the name of an agent" in refused.output
    assert list(Path().iterdir()) == []


def test_an_action_that_is_not_pinned_is_refused():
    assert "names no action at a commit" in seatrial("init", "--action", "o/seatrial@v1").output


def test_the_workflow_lies_at_the_top_of_the_repository_and_names_the_folder():
    subprocess.run(["git", "init", "--quiet"], check=True)
    Path("bots").mkdir()

    made = seatrial("init", "bots", "--action", f"example/seatrial@{COMMIT}")

    assert made.exit_code == 0, made.output
    workflow = yaml.safe_load(Path(".github/workflows/desk.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["gate"]
    assert job["uses"] == f"example/seatrial/.github/workflows/seatrial-gate.yml@{COMMIT}"
    assert job["with"]["root"] == "bots"
    assert "replace" not in made.output


def test_the_workflows_are_some_that_github_and_its_linters_accept():
    seatrial("init", "--action", f"example/seatrial@{COMMIT}")
    tools = Path(sys.executable).parent
    paths = [".github/workflows/desk.yml", ".github/workflows/desk-report.yml"]

    for words in (
        ["actionlint", *paths],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *paths],
        ["zizmor", "--offline", "--no-progress", "--persona=pedantic", *paths],
    ):
        done = subprocess.run(
            [tools / words[0], *words[1:]], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    ("caller", "called"), [("desk", "seatrial-gate"), ("desk-report", "seatrial-report")]
)
def test_each_workflow_gives_the_one_it_calls_what_that_asks_for(caller: str, called: str):
    root = Path(__file__).parents[2]
    seatrial("init")
    job = _workflow(Path(f".github/workflows/{caller}.yml"))["jobs"].popitem()[1]
    shipped = _workflow(root / f".github/workflows/{called}.yml")
    asked = shipped["on"]["workflow_call"]

    assert job["uses"] == f"OWNER/seatrial/.github/workflows/{called}.yml@COMMIT"
    assert set(job["with"]) <= set(asked["inputs"])
    assert {n for n, i in asked["inputs"].items() if i.get("required")} <= set(job["with"])
    assert set(job.get("secrets", {})) == set(asked.get("secrets", {}))
    rights = {"read": 1, "write": 2}
    for name, inner in shipped["jobs"].items():
        for right, level in inner["permissions"].items():
            assert rights[job["permissions"][right]] >= rights[level], f"{name} needs {right}"


def test_the_form_has_what_the_shipped_one_has():
    root = Path(__file__).parents[2]
    seatrial("init")

    def form(path: Path) -> set[str]:
        return set(_workflow(path)["on"]["workflow_dispatch"]["inputs"])

    assert form(Path(".github/workflows/desk.yml")) == form(
        root / ".github/workflows/seatrial-gate.yml"
    )


def _workflow(path: Path) -> dict[str, Any]:
    """A workflow, whose `on` is no boolean."""
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in read.items()}


def test_pipeline_of_gitlab_is_one_that_it_accepts_and_its_scripts_are_shell():
    made = seatrial("init", "--forge", "gitlab", "--action", f"acme/seatrial@{COMMIT}")

    assert made.exit_code == 0, made.output
    path = Path(".gitlab/desk.gitlab-ci.yml")
    assert f"include:\n  - local: {path}\n" == Path(".gitlab-ci.yml").read_text(encoding="utf-8")
    assert not Path(".github").exists()
    checked = subprocess.run(
        [
            Path(sys.executable).parent / "check-jsonschema",
            "--builtin-schema",
            "vendor.gitlab-ci",
            path,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert (
        jobs[".desk"]["variables"]["SEATRIAL"]
        == f"seatrial @ git+https://github.com/acme/seatrial@{COMMIT}"
    )
    assert jobs[".desk"]["variables"]["ROOT"] == "."
    for job in jobs.values():
        script = "\n".join([*job.get("before_script", ()), *job.get("script", ())])
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_jobs_with_the_token_of_gitlab_run_no_agent_and_not_for_forks():
    seatrial("init", "--forge", "gitlab")

    jobs = yaml.safe_load(Path(".gitlab/desk.gitlab-ci.yml").read_text(encoding="utf-8"))

    posting = {name for name, job in jobs.items() if "seatrial post" in str(job)}
    assert posting == {"desk start", "desk tell"}
    for name, job in jobs.items():
        environment = job.get("environment", {}).get("name")
        same = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID"
        assert (environment == "seatrial/post") == (name in posting)
        if name in posting:
            assert all(same in rule["if"] for rule in job["rules"])
            assert "seatrial run" not in str(job)
    assert jobs["desk trials"]["parallel"] == {"matrix": [{"shard": ["1/4", "2/4", "3/4", "4/4"]}]}
    assert [rule["when"] for name in ("desk gate", "desk tell") for rule in jobs[name]["rules"]] == [
        "always", "always",
    ]  # fmt: skip


def test_pipeline_that_is_there_is_left_alone_and_the_include_is_told():
    Path(".gitlab-ci.yml").write_text("test:\n  script: [make]\n", encoding="utf-8")

    made = seatrial("init", "--forge", "gitlab")

    assert made.exit_code == 0
    assert Path(".gitlab-ci.yml").read_text(encoding="utf-8") == "test:\n  script: [make]\n"
    assert "put `- local: .gitlab/desk.gitlab-ci.yml` under `include:`" in made.output
    assert "replace OWNER/seatrial and COMMIT in .gitlab/desk.gitlab-ci.yml" in made.output
