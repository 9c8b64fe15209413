"""`seatrial check --prove` in a repository: what it prints, where, and with which exit code."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop

from seatrial.cli import main
from seatrial.documents import Answers, Case

SOLUTION = {"calls": [{"tool": "rent", "arguments": {"bike": "b-1", "renter": "{{run}}"}}]}
NOTHING = [{"check": "end_state"}]
GOAL = {"goal": {"calls": [{"tool": "scrap"}]}}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def prove(*cases: Case, words: tuple[str, ...] = ()) -> Result:
    bike_shop.write_tree(Path.cwd(), bike_shop.catalog(*cases, bike_shop.arm()))
    return CliRunner().invoke(main, ["check", "--prove", *words])


def test_both_arms_stand_side_by_side_and_a_proved_case_is_no_problem():
    result = prove(bike_shop.case(solution=SOLUTION))

    assert result.exit_code == 0
    assert "rent-a-bike  failed   passed\n" in result.output
    assert "1 case: 1 proved;" in result.output


def test_a_case_that_doing_nothing_passes_has_to_say_why_it_may_stay():
    silent = prove(bike_shop.case("still", checks=NOTHING))

    assert silent.exit_code == 2
    assert "cases/still.yaml:9:1: an agent that does nothing passes this case." in silent.output

    said = prove(bike_shop.case("still", checks=NOTHING, weak="Nothing may happen to it here."))

    assert said.exit_code == 0
    assert "1 case: 1 weak;" in said.output


def test_no_reason_excuses_an_injection_case_that_doing_nothing_passes():
    result = prove(
        bike_shop.case(
            "attacked", group="injection", weak="It is only about the attack.", attack=GOAL,
            checks=[{"check": "reply_contains", "text": "happy to help"}],
        ),
    )  # fmt: skip

    assert result.exit_code == 2
    assert "an agent that does nothing passes this injection case" in result.output


def test_a_solution_that_fails_is_an_error_with_the_difference_at_the_expectation():
    wrong = {"calls": [{"tool": "rent", "arguments": {"bike": "b-1", "renter": "Ada"}}]}

    result = prove(bike_shop.case(solution=wrong))

    assert result.exit_code == 2
    (line,) = [line for line in result.output.splitlines() if "solution fails" in line]
    assert line.startswith("cases/rent-a-bike.yaml:")
    assert 'its solution fails: end_state: missing: bike b-1.renter became "Ada"' in line
    assert line.endswith("Mend the solution or the check")


def test_a_right_agent_tries_again_what_fails_on_purpose_and_a_tool_that_never_works_fails_it():
    def proved(**fail: Any) -> Result:
        busy = {"pass_through": True, "fail": {"message": "busy", **fail}}
        written = bike_shop.catalog(
            bike_shop.case(solution=SOLUTION, answers="busy"), bike_shop.arm()
        )
        answers = Answers.model_validate(
            {"kind": "fixture", "type": "answers", "id": "busy", "tools": {"rent": busy}}
        )
        fixtures = {**written.fixtures, answers.id: answers}
        bike_shop.write_tree(Path.cwd(), replace(written, fixtures=fixtures))
        return CliRunner().invoke(main, ["check", "--prove"])

    again = proved(calls=[1, 2])
    never = proved()

    assert (again.exit_code, "1 case: 1 proved;" in again.output) == (0, True)
    assert never.exit_code == 2
    assert "its solution fails" in never.output


def test_what_nobody_can_tell_is_not_proved_and_no_error():
    result = prove(bike_shop.case())

    assert result.exit_code == 0
    assert "not proved: no check says by which call the world comes to change" in result.output
    assert "Write what a right agent does under `solution` (calls and reply)" in result.output


def test_a_reason_that_is_not_needed_is_told():
    result = prove(bike_shop.case(solution=SOLUTION, weak="Why not."))

    assert result.exit_code == 0
    assert "says `weak`, and doing nothing does not pass it. Leave `weak` out" in result.output


def test_cases_can_be_chosen_by_id_by_suite_and_by_file():
    cases = bike_shop.case(solution=SOLUTION), bike_shop.case("still", checks=NOTHING)

    assert prove(*cases, words=("--case", "rent-a-bike")).exit_code == 0
    assert prove(*cases, words=("--suite", "all")).exit_code == 2
    assert prove(*cases, words=("cases/rent-a-bike.yaml",)).exit_code == 0
    unknown = prove(*cases, words=("--case", "rent-a-bik"))
    assert unknown.exit_code == 2
    assert "did you mean rent-a-bike?" in unknown.output


def test_as_data_each_case_has_its_standing_and_what_to_write():
    Path("nowhere.py").write_text("def clerk(text, seat): ...\n", encoding="utf-8")
    result = prove(bike_shop.case(), bike_shop.case("still", checks=NOTHING), words=("--format", "json"))  # fmt: skip

    data = json.loads(result.output)
    assert [p["code"] for p in data["problems"]] == ["weak"]
    first, second = data["proofs"]["cases"]
    assert (first["standing"], first["weak"], first["reference"]) == ("not proved", False, None)
    assert first["to_write"]
    assert (second["standing"], second["weak"], second["solution"]) == ("wrong", True, "worked out")


def test_wrong_documents_are_told_and_nothing_is_proved():
    bike_shop.write_tree(Path.cwd(), bike_shop.catalog(bike_shop.case(), bike_shop.arm()))
    Path("cases/rent-a-bike.yaml").write_text("kind: case\nid: a\n", encoding="utf-8")

    result = CliRunner().invoke(main, ["check", "--prove"])

    assert result.exit_code == 2
    assert "missing key" in result.output
    assert "idle" not in result.output


def test_choosing_cases_without_proving_them_is_refused():
    bike_shop.write_tree(Path.cwd(), bike_shop.catalog(bike_shop.case(), bike_shop.arm()))

    result = CliRunner().invoke(main, ["check", "--suite", "all"])

    assert result.exit_code == 2
    assert "add --prove" in result.output
