"""Which version of an agent answers which case, and what its results say of it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop
from tests.shell import ROOT

from seatrial.cli import main
from seatrial.errors import InvalidDocuments
from seatrial.store import Run
from seatrial.workspace import Workspace

TARGET = {"type": "python", "target": "shop_agents:rents"}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three versions: 1.0 deployed in `shop`, 2.0 in `test`, and 3.0, a draft. Case `old` pins 1.0."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests" / "agents" / "shop_agents.py", tmp_path)
    write()
    return tmp_path


def write(*more: Any, **changes: Any) -> None:
    bike_shop.write_tree(
        Path(),
        bike_shop.catalog(
            bike_shop.case("any", required=True),
            bike_shop.case("old", version="1.0"),
            bike_shop.case("live", environment="shop"),
            bike_shop.arm("one", TARGET, version="1.0", deployed=["shop"]),
            bike_shop.arm("two", TARGET, version="2.0", deployed=["test"]),
            bike_shop.arm("three", TARGET, version="3.0", **changes),
            *more,
        ),
    )


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def answered(*words: str) -> dict[str, set[str]]:
    """Case → the arms and versions that answered."""
    done = seatrial("run", "--suite", "all", "--trials", "1", "--out", "r", *words)
    assert done.exit_code == 0, done.output
    found: dict[str, set[str]] = {}
    for record in Run.open(Path("r")).records():
        assert record.verdict == "passed"
        found.setdefault(record.case, set()).add(f"{record.arm} {record.version}")
    return found


def test_configured_keeps_the_pin_of_a_case_and_leaves_the_others_to_the_arm_that_is_run():
    assert answered("--arm", "three") == {
        "any": {"three 3.0"}, "old": {"one 1.0"}, "live": {"three 3.0"},
    }  # fmt: skip


def test_latest_is_what_is_deployed_in_the_environment_of_the_case_and_not_the_newest():
    assert answered("--agent-version", "latest") == {
        "any": {"two 2.0"}, "old": {"two 2.0"}, "live": {"one 1.0"},
    }  # fmt: skip
    manifest = Run.open(Path("r")).manifest
    assert manifest.agent_version == "latest"
    assert Run.open(Path("r")).catalog.cases["live"].environment == "shop"


def test_version_by_name_answers_every_conversation_though_it_is_a_draft():
    assert answered("--agent-version", "3.0") == {
        id: {"three 3.0"} for id in ("any", "old", "live")
    }


def test_without_arms_each_version_answers_what_no_case_pins():
    found = answered()

    assert found["any"] == {"one 1.0", "two 2.0", "three 3.0"}
    assert found["old"] == {"one 1.0"}


def test_run_and_plan_say_who_answers():
    done = seatrial("run", "--suite", "all", "--trials", "1", "--agent-version", "latest")
    planned = seatrial("plan", "--suite", "all", "--agent-version", "latest", "--format", "json")

    assert "Answered by one 1.0, two 2.0.\n" in done.output
    data = json.loads(planned.stdout)
    assert data["trials"] == 3 * 2
    assert {case["case"]: case["arms"] for case in data["cases"]} == {
        "any": ["two"], "old": ["two"], "live": ["one"],
    }  # fmt: skip


def test_comparison_of_an_arm_is_about_the_cases_that_it_answers():
    answered("--arm", "three")

    done = seatrial("compare", "r", "--arm", "three", "--format", "json")

    found = json.loads(done.stdout)
    assert (found["candidate_arm"], found["candidate_version"]) == ("three", "3.0")
    assert [case["case"] for case in found["cases"]] == ["any", "live"]


def test_required_case_that_a_change_pins_to_the_released_version_is_told_as_removed():
    """Otherwise a change could take a case that it fails out of its own gate."""
    answered("--arm", "two")
    released = seatrial(
        "release", "r", "--arm", "two", "--approved-by", "rita@example.org", "--to", "base", "--allow-dirty", "a test",
    )  # fmt: skip
    assert released.exit_code == 0, released.output
    shutil.rmtree("r")
    write(bike_shop.case("any", required=True, version="2.0"))
    assert answered("--arm", "three")["any"] == {"two 2.0"}

    done = seatrial("compare", "r", "--arm", "three", "--baseline", "base", "--format", "json")

    outcomes = {case["case"]: case["outcome"] for case in json.loads(done.stdout)["cases"]}
    assert outcomes["any"] == "removed"
    ruled = seatrial("gate", "r", "--arm", "three", "--baseline", "base")
    assert ruled.exit_code != 0


def test_ledger_of_a_release_takes_no_trials_of_cases_that_another_version_answers():
    answered("--arm", "three")
    released = seatrial(
        "release", "r", "--approved-by", "rita@example.org", "--arm", "three", "--to", "base", "--allow-dirty", "test",
    )  # fmt: skip
    assert released.exit_code == 0, released.output

    done = seatrial(
        "baseline", "record", "--suite", "all", "--baseline", "base", "--trials", "2", "--out", "n"
    )

    assert done.exit_code == 0, done.output
    assert {(r.case, r.version) for r in Run.open(Path("n")).records()} == {
        ("any", "3.0"), ("live", "3.0"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--agent-version", "9"],
            "clerk has no version '9' (there is 1.0, 2.0, 3.0): any, old, live",
        ),
        (["--agent-version", "2.0", "--arm", "two"], "says which arms answer, and so does --arm"),
    ],
)
def test_version_that_nobody_is_is_refused(words: list[str], says: str):
    for command in ("run", "plan"):
        done = seatrial(command, "--suite", "all", *words)
        assert done.exit_code == 2
        assert says in done.stderr


def test_environment_in_which_nothing_is_deployed_is_refused():
    write(bike_shop.case("live", environment="elsewhere"))

    done = seatrial("run", "--suite", "all", "--agent-version", "latest")

    assert done.exit_code == 2
    assert "no version of clerk is deployed in environment 'elsewhere': live" in done.stderr


def test_several_arms_of_one_version_must_be_told_apart():
    write(bike_shop.arm("twin", TARGET, version="3.0"))

    done = seatrial("run", "--suite", "all", "--agent-version", "3.0")

    assert done.exit_code == 2
    assert "several arms are 3.0: three, twin" in done.stderr
    assert answered("--arm", "twin")["any"] == {"twin 3.0"}


def test_two_versions_cannot_be_deployed_in_one_environment():
    write(deployed=["test"])

    assert "is deployed in `test` already" in wrong()


def test_pin_of_a_version_that_no_arm_is_is_refused_with_the_nearest():
    write(bike_shop.case("old", version="1.O"))

    assert "is version `1.O`; did you mean `1.0`" in wrong()


def wrong() -> str:
    with pytest.raises(InvalidDocuments) as caught:
        Workspace.find().catalog()
    (problem,) = caught.value.problems
    return problem.render()
