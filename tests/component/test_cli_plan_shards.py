"""`seatrial plan --shards`: the matrix, and what each shard has to do."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop

from seatrial.cli import main


@pytest.fixture(autouse=True)
def _in_a_folder_with_three_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("nowhere.py").write_text("def clerk(text, seat): ...\n", encoding="utf-8")
    cases = [bike_shop.case(id, trials=n) for id, n in (("a", 1), ("b", 1), ("c", 20))]
    bike_shop.write_tree(tmp_path, bike_shop.catalog(*cases, bike_shop.arm()))


def plan(*words: str) -> Result:
    return CliRunner().invoke(main, ["plan", "--suite", "all", *words])


def test_matrix_is_one_line_and_what_shards_do_goes_to_stderr():
    done = plan("--shards", "2")

    assert done.exit_code == 0
    assert done.stdout == '{"shard": ["1/2", "2/2"]}\n'
    assert done.stderr == (
        "2 shards\n"
        "  1/2  1 case, 20 trials\n"
        "  2/2  2 cases, 2 trials\n"
        "No baseline tells how long trials take: each is taken for 30 s.\n"
    )


def test_there_are_no_more_shards_than_cases():
    assert json.loads(plan("--shards", "8").stdout) == {"shard": ["1/3", "2/3", "3/3"]}


def test_number_of_shards_is_found_by_how_long_they_take():
    assert json.loads(plan("--shards", "auto").stdout) == {"shard": ["1/1"]}

    assert json.loads(plan("--shards", "auto", "--trials", "300").stdout) == {
        "shard": ["1/2", "2/2"]
    }


def test_cases_of_each_shard_are_there_for_programs():
    data = json.loads(plan("--shards", "2", "--format", "json").stdout)

    assert data["matrix"] == {"shard": ["1/2", "2/2"]}
    assert data["shards"] == [
        {"shard": "1/2", "cases": ["c"], "trials": 20, "expected_seconds": None},
        {"shard": "2/2", "cases": ["a", "b"], "trials": 2, "expected_seconds": None},
    ]


@pytest.mark.parametrize("shards", ["0", "-1", "many", "1/2", "²"])
def test_number_that_is_none_is_refused(shards: str):
    done = plan("--shards", shards)

    assert done.exit_code == 2
    assert "is no number of shards\n  → --shards 8, or --shards auto" in done.stderr
