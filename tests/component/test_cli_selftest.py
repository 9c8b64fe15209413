"""`seatrial selftest` on a stored baseline: what it prints, and what it needs."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop
from tests.stored_runs import CASES, stored

from seatrial.cli import main

GOOD = dict.fromkeys(CASES, "p" * 20)


@pytest.fixture(autouse=True)
def _documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    write()


def write(*, required: bool = True, agent: str = "clerk") -> None:
    cases = [
        bike_shop.case(
            id,
            required=required and id != "return",
            agent=agent if id == "return" else "clerk",
        )
        for id in CASES
    ]
    suite = bike_shop.suite(cases, trials=4)
    bike_shop.write_tree(Path.cwd(), bike_shop.catalog(*cases, bike_shop.arm(), suite))


def selftest(*words: str, suite: str = "all") -> Result:
    given = ("selftest", "--suite", suite, "--baseline", "released", "--times", "30", *words)
    return CliRunner().invoke(main, given)


def test_both_kinds_of_error_are_told_with_their_intervals():
    stored("released", GOOD, "clerk-1")

    result = selftest()

    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "Suite all of clerk: 3 cases, 2 required; 20 stored trials each of clerk-1 1 (released)",
        "profile pr; trials added on suspicion, the released arm beside them; "
        "30 simulated changes of each kind, seed 20260101",
    ]
    assert "wrong red  0 of 30, 0.00 % [0.00, 11.57]: nothing changed (redrawn)" in lines
    assert "missed     0 of 30, 0.00 % [0.00, 11.57]: one forbidden action in one trial" in lines
    table = [line for line in lines if line.startswith("one required case never passes")]
    assert [line.split()[-8:-4] for line in table] == [["100.0", "%", "0.0", "%"]]


def test_missed_changes_say_whether_they_were_undecided_or_let_through():
    stored("released", GOOD, "clerk-1")

    result = selftest("--trials", "4")

    lines = result.stdout.splitlines()
    halved = next(n for n, line in enumerate(lines) if line.startswith("missed") and "half" in line)
    assert " undecided for required_too_few_trials (" in lines[halved + 1]
    assert lines[halved + 1].endswith(" let through")
    assert "a fixed number of trials; 30 simulated" in lines[1]


def test_json_holds_every_count_and_is_the_same_for_the_same_seed():
    stored("released", {**GOOD, "rent": "p" * 18 + "ff"}, "clerk-1")

    result = selftest("--format", "json", "--seed", "5")

    found = json.loads(result.stdout)
    assert (found["suite"], found["cases"], found["required"], found["seed"]) == ("all", 3, 2, 5)
    assert [(row["change"], row["drawn"]) for row in found["rates"]] == [
        ("same", "redrawn"),
        ("same", "foretold"),
        ("drifted", "foretold"),
        ("one_halved", "foretold"),
        ("one_dead", "foretold"),
        ("five_weaker", "foretold"),
        ("all_weaker", "foretold"),
        ("one_forbidden", "foretold"),
    ]
    for row in found["rates"]:
        assert row["closed"]["times"] + row["undecided"]["times"] + row["opened"]["times"] == 30
        assert row["trials"] >= 12
    assert selftest("--format", "json", "--seed", "5").stdout == result.stdout


def test_case_without_a_baseline_trial_that_counts_is_left_out_by_name():
    stored("released", {**GOOD, "return": "iii"}, "clerk-1")

    result = selftest()

    assert "Suite all of clerk: 2 cases" in result.stdout
    assert "left out, no baseline trial that counts: return" in result.stdout


@pytest.mark.parametrize(
    ("trials", "documents", "words", "message"),
    [
        (
            GOOD,
            {"required": False},
            [],
            "suite 'all' has no required case with a baseline, so that its gate never opens\n"
            "  → mark at least one case `required: true`",
        ),
        (
            dict.fromkeys(CASES, "i"),
            {},
            [],
            "the baseline released has no valid trial of any case of suite 'all'\n"
            "  → record one: seatrial run, then seatrial release",
        ),
        (
            GOOD,
            {"agent": "smith"},
            [],
            "suite 'all' is for 2 agents\n  → --agent, with one of clerk, smith",
        ),
        (
            GOOD,
            {},
            ["--agent", "nobody"],
            "suite 'all' has no case for agent 'nobody'\n  → --agent, with one of clerk",
        ),
    ],
)
def test_what_it_cannot_be_tried_on_is_a_usage_error(trials, documents, words, message):
    write(**documents)
    stored("released", trials, "clerk-1")

    result = selftest(*words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {message}\n"


def test_nothing_released_is_told_with_what_to_type():
    result = CliRunner().invoke(main, ["selftest", "--suite", "all"])

    assert result.exit_code == 2
    assert "seatrial" in result.stderr
    assert "Traceback" not in result.stderr
