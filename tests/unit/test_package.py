"""The package as it is installed: its version, its entry points, its licence."""

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import seatrial

ROOT = Path(__file__).parents[2]


def test_installed_metadata_says_the_same_version_as_the_module():
    assert metadata.version("seatrial") == seatrial.__version__


def test_changelog_opens_with_what_is_unreleased_or_with_the_version_of_the_module():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = [line for line in changelog.splitlines() if line.startswith("## ")]

    assert headings[0] == "## [Unreleased]" or headings[0].startswith(
        f"## [{seatrial.__version__}] - "
    )


def test_python_dash_m_seatrial_is_the_seatrial_command():
    done = subprocess.run(
        [sys.executable, "-m", "seatrial", "--version"], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"seatrial {seatrial.__version__}\n"


def test_locks_name_no_package_index_and_no_folder_of_a_machine():
    for lock in sorted((ROOT / "requirements").glob("*.lock")):
        lines = lock.read_text(encoding="utf-8").splitlines()

        assert [line for line in lines if "://" in line or " /" in line] == [], lock.name


@pytest.mark.parametrize("lock", ["runtime.lock", "uv.lock"])
def test_other_locks_pin_the_versions_that_the_tests_ran_with(lock: str):
    assert _pins(lock).items() <= _pins("dev.lock").items()


def test_every_runtime_dependency_is_in_the_runtime_lock():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {_name(dependency) for dependency in project["dependencies"]}

    assert names <= _pins("runtime.lock").keys()


def _name(requirement: str) -> str:
    for mark in "<>=[;":
        requirement = requirement.partition(mark)[0]
    return requirement.strip()


def _pins(lock: str) -> dict[str, str]:
    lines = (ROOT / "requirements" / lock).read_text(encoding="utf-8").splitlines()
    return {
        name: rest.split()[0]
        for line in lines
        for name, mark, rest in [line.partition("==")]
        if mark and not line.startswith((" ", "#"))
    }
