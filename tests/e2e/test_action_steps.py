"""The steps of action.yml, run as GitHub runs them, on the example documents in a repository of their own."""

import os
import re
import shutil
import subprocess
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from tests.work_trees import BEA, WorkTree

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that finds Seatrial and what it needs without PYTHONPATH, as the installed one does."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    paths = [str(ROOT / "src"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (site / "seatrial.pth").write_text("\n".join(paths), encoding="utf-8")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory, python: Path) -> WorkTree:
    """The help desk with a released baseline, and a branch that touches the candidate's rules."""
    tree = WorkTree.init(tmp_path_factory.mktemp("origin"))
    for name in ("cases", "suites", "arms", "fixtures", "examples"):
        shutil.copytree(ROOT / name, tree.root / name, ignore=shutil.ignore_patterns("__pycache__"))
    tree.commit({".gitignore": ".seatrial/\n__pycache__/\n"})
    for words in (
        ("run", "--suite", "smoke", "--arm", "helpdesk-released", "--trials", "4"),
        ("release", "latest", "--approved-by", "Rita Releaser <rita@example.org>"),
    ):
        command = [str(python), "-I", "-m", "seatrial", *words]
        subprocess.run(command, cwd=tree.root, check=True, capture_output=True, timeout=120)
    tree.git("checkout", "-q", "-b", "change")
    tree.become(BEA)
    rules = (ROOT / "examples/helpdesk/rules/1.5.0.json").read_text(encoding="utf-8")
    tree.commit({"examples/helpdesk/rules/1.5.0.json": rules + "\n"})
    return tree


@dataclass
class Step:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


def gate(clone: Path, python: Path, temp: Path, **inputs: str) -> Step:
    """Run the step `trials` of action.yml with its inputs, and read what it left behind."""
    temp.mkdir(exist_ok=True)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    given = {name: about.get("default", "") for name, about in action["inputs"].items()} | inputs
    filled = {
        key: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: given[m[1]], value)
        for key, value in step["env"].items()
    }
    output, summary, env_file = temp / "output", temp / "summary", temp / "env"
    for file in (output, summary, env_file):
        file.write_text("", encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(temp),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ENV": str(env_file),
        "GITHUB_TOKEN": "secret-token",
        "ACTIONS_RUNTIME_TOKEN": "secret-token",
        "RUNNER_TEMP": str(temp),
        "PYTHONPATH": str(clone / "planted"),
        "SEATRIAL_PYTHON": str(python),
        **filled,
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=clone, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert env_file.read_text(encoding="utf-8") == ""
    return Step(
        done.returncode,
        done.stdout + done.stderr,
        _outputs(output.read_text(encoding="utf-8")),
        summary.read_text(encoding="utf-8"),
    )


def _outputs(text: str) -> dict[str, str]:
    found, lines = {}, iter(text.splitlines())
    for line in lines:
        name, end = line.split("<<")
        value = []
        while (inner := next(lines)) != end:
            value.append(inner)
        found[name] = "\n".join(value)
    return found


def test_candidate_with_planted_regressions_closes_the_gate(
    origin: WorkTree, python: Path, tmp_path: Path
):
    clone = origin.clone(tmp_path / "clone", "--depth", "2", "--branch", "change")
    clone.write({"seatrial/__init__.py": "raise SystemExit('the change runs instead of Seatrial')"})

    step = gate(
        clone.root, python, tmp_path / "temp",
        suite="smoke", arm="helpdesk-candidate", base="HEAD^1",
    )  # fmt: skip

    assert (step.code, step.outputs["ruling"], step.outputs["exit-code"]) == (1, "closed", "1"), (
        step.log
    )
    assert (Path(step.outputs["report"]) / "index.html").is_file()
    assert "refund-damaged-lamp" in Path(step.outputs["junit"]).read_text(encoding="utf-8")
    assert "refund-damaged-lamp" in Path(step.outputs["sarif"]).read_text(encoding="utf-8")
    assert "Gate closed" in Path(step.outputs["page"]).read_text(encoding="utf-8")
    assert (Path(step.outputs["run"]) / "run.json").is_file()
    assert re.search(
        r"(?m)^::error file=cases/\S+\.yaml,line=\d+,col=\d+,title=Seatrial%3A refund-damaged-lamp",
        step.log,
    )
    assert "closed" in step.summary.lower()
    assert "arm helpdesk-candidate changed" in step.log
    assert "secret-token" not in step.log


def test_before_the_first_release_the_gate_is_undecided_and_says_why(
    origin: WorkTree, python: Path, tmp_path: Path
):
    bare = tmp_path / "origin"
    origin.git("clone", "-q", "--bare", "--single-branch", "--branch", "change", ".", str(bare))
    clone = WorkTree(bare).clone(tmp_path / "clone", "--depth", "1")

    step = gate(
        clone.root, python, tmp_path / "temp", suite="smoke", arm="helpdesk-released", trials="1"
    )

    assert (step.code, step.outputs["ruling"]) == (3, "undecided")
    assert (
        "::notice::Seatrial: nothing is released yet, origin has no branch seatrial-baselines"
        in step.log
    )
    assert "::warning::" not in step.log


def test_log_is_closed_to_commands_of_the_runner_from_start_to_end(
    origin: WorkTree, python: Path, tmp_path: Path
):
    clone = origin.clone(tmp_path / "clone", "--depth", "1", "--branch", "change")

    step = gate(clone.root, python, tmp_path / "temp", suite="nothing", arm="helpdesk-candidate")

    first, *_, last = step.log.split("Error:")[0].splitlines()
    token = first.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert last == f"::{token}::"


def test_usage_error_is_no_ruling_and_keeps_its_exit_code(
    origin: WorkTree, python: Path, tmp_path: Path
):
    clone = origin.clone(tmp_path / "clone", "--depth", "1", "--branch", "change")

    step = gate(
        clone.root, python, tmp_path / "temp",
        suite="smoke", arm="helpdesk-candidate", base="HEAD^1",
    )  # fmt: skip

    assert (step.code, step.outputs) == (2, {"ruling": "error", "exit-code": "2"})
    assert "git fetch --deepen=1 origin" in step.log
    assert "no ruling" in step.summary


@pytest.mark.parametrize("value", ["$(touch ran)", "; touch ran", "`touch ran`", "--help", "a\nb"])
def test_inputs_are_never_taken_for_commands_or_options(
    origin: WorkTree, python: Path, tmp_path: Path, value: str
):
    clone = origin.clone(tmp_path / "clone", "--depth", "1", "--branch", "change")

    step = gate(clone.root, python, tmp_path / "temp", suite=value, arm=value, base=value)

    assert (step.code, step.outputs["ruling"]) == (2, "error")
    assert not list(tmp_path.rglob("ran"))


def test_report_that_cannot_be_built_leaves_the_ruling_as_it_is(
    origin: WorkTree, python: Path, tmp_path: Path
):
    clone = origin.clone(tmp_path / "clone", "--depth", "1", "--branch", "change")
    broken = tmp_path / "python"
    broken.write_text(
        f'#!/bin/sh\ntest "$4" = report && exit 4\nexec {python} "$@"\n', encoding="utf-8"
    )
    broken.chmod(0o755)

    step = gate(
        clone.root, broken, tmp_path / "temp", suite="smoke", arm="helpdesk-released", trials="1"
    )

    assert step.code in (0, 3)
    assert step.outputs["ruling"] in ("open", "undecided")
    assert step.outputs["report"] == ""
    assert "::warning::Seatrial: the report could not be built; the ruling stands" in step.log
    assert step.outputs["ruling"] in step.summary
