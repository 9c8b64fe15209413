"""Checks that are functions of the repository, in a run and graded again from what it stored."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests import bike_shop
from tests.shell import seatrial

from seatrial import checks, functions, store
from seatrial.checks.again import Grader, functions_named, grade_again
from seatrial.errors import ExitCode
from seatrial.verdicts import Cause, Verdict

AGENTS = Path(__file__).parents[1] / "agents"
CODE = """\
def once(trace, tool):
    calls = [call for call in trace.calls if call.tool == tool]
    if len(calls) == 1:
        return "passed", f"{tool} was called once"
    return "failed", f"{tool} was called {len(calls)} times"


def breaks(trace):
    return trace.calls[99]
"""


def repository(root: Path, **own: Any) -> None:
    cases = [
        bike_shop.case("by-a-function", checks=[{"check": "python", **own}]),
        bike_shop.case("otherwise"),
    ]
    rents = bike_shop.arm("rents", {"type": "python", "target": "shop_agents:rents"})
    bike_shop.write_tree(root, bike_shop.catalog(*cases, rents))
    shutil.copy(AGENTS / "shop_agents.py", root)
    (root / "fairness_of_rents.py").write_text(CODE, encoding="utf-8")


def run_it(root: Path):
    return seatrial(root, "run", "--suite", "all", "--arm", "rents", "--trials", "1", "--out", "r")


def test_a_function_judges_in_the_run_and_again_from_what_is_stored(tmp_path: Path):
    repository(tmp_path, function="fairness_of_rents:once", arguments={"tool": "rent"})

    code, out, _ = run_it(tmp_path)

    assert code == ExitCode.OPEN
    assert "by-a-function  rents  1/1 passed" in out
    run = store.Run.open(tmp_path / "r")
    (record,) = [r for r in run.records() if r.case == "by-a-function"]
    assert [(f.check, f.status, f.reason) for f in record.findings] == [
        ("python", "passed", "rent was called once")
    ]
    loaded = functions.load_all(functions_named(run.catalog.cases.values()), tmp_path)
    trace = run.trace(record)
    assert Grader(run.catalog, loaded).findings(trace) == record.findings
    without = grade_again(run.catalog, trace)
    assert checks.verdict(without, trace)[:2] == (Verdict.INVALID, Cause.NO_EVIDENCE)


def test_a_function_that_raises_makes_its_trials_invalid_and_no_others(tmp_path: Path):
    repository(tmp_path, function="fairness_of_rents:breaks")

    _, out, _ = run_it(tmp_path)

    assert "by-a-function  rents  0/0 passed, 1 invalid (internal)" in out
    assert "otherwise      rents  1/1 passed" in out
    (record,) = [r for r in store.Run.open(tmp_path / "r").records() if r.case == "by-a-function"]
    assert record.detail == (
        "python: fairness_of_rents:breaks raised IndexError: tuple index out of range "
        "(fairness_of_rents.py:9)"
    )


def test_a_run_does_not_start_with_a_function_that_is_not_there(tmp_path: Path):
    repository(tmp_path, function="fairness_of_rents:onse")

    code, _, error = run_it(tmp_path)

    assert code == ExitCode.USAGE
    assert "module 'fairness_of_rents' has no function 'onse'; it has once, breaks" in error
    assert not (tmp_path / "r").exists()


def test_a_changed_function_grades_a_stored_run_again(tmp_path: Path):
    repository(tmp_path, function="fairness_of_rents:once", arguments={"tool": "rent"})
    run_it(tmp_path)
    stricter = CODE.replace("len(calls) == 1", "len(calls) == 0")
    (tmp_path / "fairness_of_rents.py").write_text(stricter, encoding="utf-8")

    code, out, _ = seatrial(tmp_path, "regrade", "r", "--out", "again")

    assert code == ExitCode.OPEN
    assert "by-a-function by rents: 1 passed before, failed now" in out
    assert "otherwise" not in out
