"""`seatrial power`, and what `seatrial plan` says of cost, on a stored baseline."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop
from tests.stored_runs import CASES, stored

from seatrial.cli import main
from seatrial.trace import Usage

GOOD = {"rent": "p" * 20, "refuse": "p" * 20, "return": "p" * 15 + "f" * 5}


@pytest.fixture(autouse=True)
def _documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    cases = [bike_shop.case(id, required=id != "return") for id in CASES]
    suite = bike_shop.suite(cases, trials=4)
    bike_shop.write_tree(Path.cwd(), bike_shop.catalog(*cases, bike_shop.arm(), suite))


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--suite", "all", "--baseline", "released"])


def test_power_tells_what_is_seen_per_case_and_for_the_suite_and_what_to_do():
    stored("released", GOOD, "clerk-1")

    result = seatrial("power")

    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "Suite all of clerk: 3 cases, 2 required; 20 stored trials each of clerk-1 1 (released)"
    )
    assert re.fullmatch(
        r"A good change takes 12\.\d trials on average: 12 to begin with, the rest on suspicion, "
        r"0\.\d of them of the released arm\. What that costs is not known: arm clerk-1 carries no `prices`\.",
        lines[1],
    )
    (row,) = [line for line in lines if line.lstrip().startswith("20/20")]
    assert row.split()[1] == "2"
    assert row.split()[-1] in ("−0.45", "−0.5")
    assert "The suite's mean, by a fixed number of trials of each case" in lines
    advice = lines[lines.index("Recommended") + 1 :]
    assert len(advice) == 3
    assert advice[0].startswith("- add trials on suspicion, which is the default: a required case")
    assert re.search(r"--trials \d+, \d+ trials in all", advice[1])
    assert "cannot be shown with up to 40 trials of each case" in advice[2]


def test_power_as_json_holds_the_numbers():
    stored("released", GOOD, "clerk-1")

    found = json.loads(seatrial("power", "--format", "json").stdout)

    assert (found["cases"], found["required"], found["drop"]) == (3, 2, 0.5)
    assert found["good_change"]["first_batches"] == 12
    assert found["good_change"]["trials"] == pytest.approx(
        4 + sum(r["good_trials"] * r["cases"] for r in found["records"])
    )
    (record,) = found["records"]
    assert (record["passed"], record["stored"], record["cases"]) == (20, 20, 2)
    assert record["closes"]["0.5"] > 0.9
    assert [row["trials_per_case"] for row in found["suite_mean"]][:4] == [1, 2, 3, 4]
    fixed = {row["trials_per_case"]: row for row in found["fixed"]}
    assert fixed[4]["trials"] == 12
    assert fixed[4]["let_through"] <= 0.1
    assert fixed[20]["closes"] > fixed[7]["closes"] > 0


def test_without_the_released_arm_no_live_trial_is_planned():
    stored("released", GOOD, "clerk-1")

    found = json.loads(seatrial("power", "--no-live", "--format", "json").stdout)

    assert found["good_change"]["live"] == 0


def test_small_baseline_is_named_as_what_to_mend():
    stored("released", dict.fromkeys(CASES, "p" * 6), "clerk-1")

    result = seatrial("power")

    assert "record the baseline with 20 trials of each case (3 have fewer)" in result.stdout


def test_plan_tells_how_many_trials_a_good_change_takes():
    stored("released", GOOD, "clerk-1")

    result = seatrial("plan")

    assert result.exit_code == 0
    assert re.search(
        r"\nA good change takes 12\.\d trials on average: 12 planned, 0\.\d added on suspicion, "
        r"0\.\d of these of the released arm\. What that costs is not known: arm clerk-1 carries no `prices`\.\n$",
        result.stdout,
    )
    found = json.loads(seatrial("plan", "--format", "json").stdout)
    assert 12 < found["good_change"]["trials"] < 13.5
    assert 0 < found["good_change"]["live"] < 1


def test_plan_with_a_fixed_number_of_trials_expects_no_others():
    stored("released", GOOD, "clerk-1")

    found = json.loads(seatrial("plan", "--trials", "5", "--format", "json").stdout)

    assert (found["trials"], found["good_change"]) == (15, None)


PRICES = {"currency": "EUR", "input": 2.0, "output": 10.0}
USED = Usage(input_tokens=30_000, output_tokens=4_000)  # 0.10 EUR by these prices


def written(arm: str = "clerk-1", **changes: Any) -> None:
    bike_shop.write_tree(Path.cwd(), bike_shop.catalog(bike_shop.arm(arm, **changes)))


def test_plan_tells_what_a_good_change_costs_by_the_tokens_of_the_stored_trials():
    stored("released", GOOD, "clerk-1", usage=USED)
    written(prices=PRICES)

    assert re.search(
        r"\. That costs about 1\.2\d EUR, by the tokens of the stored trials\.\n$",
        seatrial("plan").stdout,
    )
    good = json.loads(seatrial("plan", "--format", "json").stdout)["good_change"]
    assert good["cost"]["currency"] == "EUR"
    assert good["cost"]["amount"] == pytest.approx(0.1 * good["trials"])


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        ("2 EUR", "The budget of 2.00 EUR suffices for that."),
        ("1 EUR", "The budget of 1.00 EUR does not suffice for that: trials that no longer fit"),
        ("9000 tokens", "The budget is 9,000 tokens."),
    ],
)
def test_plan_tells_whether_the_suites_budget_suffices(budget: str, says: str):
    stored("released", GOOD, "clerk-1", usage=USED)
    written(prices=PRICES)
    with (Path.cwd() / "suites" / "all.yaml").open("a", encoding="utf-8") as suite:
        suite.write(f"budget: {budget}\n")

    assert says in seatrial("plan").stdout.splitlines()[-1]


def test_trials_beside_the_candidate_cost_what_the_release_costs():
    stored("released", GOOD, "clerk-1", usage=USED, prices={**PRICES, "input": 4.0})
    written(prices=PRICES)

    good = json.loads(seatrial("plan", "--format", "json").stdout)["good_change"]

    own = good["trials"] - good["live"]
    assert good["cost"]["amount"] == pytest.approx(0.1 * own + 0.16 * good["live"])


def test_prices_in_two_currencies_are_not_added_up():
    stored("released", GOOD, "clerk-1", usage=USED, prices={**PRICES, "currency": "USD"})
    written(prices=PRICES)

    assert seatrial("plan").stdout.endswith(
        "What that costs is not known: arm clerk-1 is paid in EUR, the release in USD.\n"
    )


@pytest.mark.parametrize("command", ["plan", "power"])
def test_prices_without_recorded_tokens_tell_no_cost(command: str):
    stored("released", GOOD, "clerk-1")
    written(prices=PRICES)

    result = seatrial(command)

    assert "What that costs is not known: no stored trial recorded how many tokens" in result.stdout
    assert "EUR" not in result.stdout


def test_power_tells_the_cost_of_every_number_of_trials():
    stored("released", GOOD, "clerk-1", usage=USED, prices=PRICES)

    lines = seatrial("power").stdout.splitlines()
    found = json.loads(seatrial("power", "--format", "json").stdout)

    assert re.search(r"That costs about 1\.2\d EUR", lines[1])
    heads = [line for line in lines if line.lstrip().startswith("trials")]
    assert ["EUR" in head for head in heads] == [True, True]
    assert [line.split()[:3] for line in lines if line.startswith("       4 ")] == [
        ["4", "12", "1.20"]
    ] * 2
    assert found["fixed"][3]["cost"] == found["suite_mean"][3]["cost"] == pytest.approx(1.2)
    assert re.search(r"--trials \d+, \d+ trials \(\d+\.\d\d EUR\) in all", "\n".join(lines))


def test_plan_by_a_baseline_that_does_not_exist_is_refused():
    result = seatrial("plan")

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: there is no folder 'released'")
