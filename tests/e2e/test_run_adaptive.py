"""`seatrial run` against a baseline: what it adds to suspicious cases, and when it stops."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop
from tests.shell import ROOT, seatrial

from seatrial.cli.compared import compared
from seatrial.compare import CaseComparison, Comparison
from seatrial.gate import Ground, rule
from seatrial.store import Run
from seatrial.verdicts import Gate

CASES = ("a", "b", "c")
RUN = (
    "run",
    "--suite",
    "all",
    "--arm",
    "new",
    "--baseline",
    "baseline",
    "--seed",
    "7",
    "--out",
    "r",
)
Marks = dict[str, str]


def arm(id: str, script: Marks) -> Any:
    return bike_shop.arm(
        id,
        {"type": "python", "target": "scripted:serves"},
        settings={"name": id, "script": script},
        limits={"turn_seconds": 60, "trial_seconds": 60},
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three cases, the last one not required, and a release that passes 20 of 20 of each."""
    root = tmp_path_factory.mktemp("released")
    cases = [
        bike_shop.case(
            id, task=f"I am {{{{run}}}}. I would like bike b-1. This is {id}.", required=id != "c"
        )
        for id in CASES
    ]
    # In so small a suite one case that fails would make the mean worse than any usual margin.
    suite = bike_shop.suite(cases, trials=4, gate={"margin": 0.9})
    bike_shop.write_tree(root, bike_shop.catalog(*cases, suite, arm("old", {}), arm("new", {})))
    shutil.copy(ROOT / "tests" / "agents" / "scripted.py", root)
    does(
        root, "run", "--suite", "all", "--arm", "old", "--trials", "20", "--seed", "7", "--out", "o"
    )
    does(
        root, "release", "o", "--approved-by", "Rita <rita@example.org>", "--to", "baseline",
        "--allow-dirty", "a test",
    )  # fmt: skip
    return root


@pytest.fixture
def root(released: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(released, tmp_path / "repo"))


def does(root: Path, *words: str, code: int = 0) -> tuple[str, str]:
    status, out, err = seatrial(root, *words)
    assert status == code, (out, err)
    return out, err


def candidate(root: Path, script: Marks) -> None:
    bike_shop.write_tree(root, bike_shop.catalog(arm("new", script)))


def ran(root: Path, run: str = "r") -> dict[tuple[str, str], int]:
    return dict(Counter((r.case, r.arm) for r in Run.open(root / run).records()))


def comparison(root: Path, run: str = "r") -> Comparison:
    return compared(str(root / run), str(root / "baseline"), None, root=root).comparison


def case_of(root: Path, case: str) -> CaseComparison:
    return {c.case: c for c in comparison(root).cases}[case]


def grounds(root: Path, ruling: Gate, run: str = "r") -> list[Ground]:
    """The grounds of a ruling that are not only remarks."""
    found = rule(comparison(root, run))
    assert found.ruling is ruling
    return [g for g in found.grounds if g.effect in ("closed", "undecided")]


def test_change_that_changes_nothing_costs_the_screen_and_nothing_more(root: Path):
    out, err = does(root, *RUN)

    assert ran(root) == {(case, "new"): 4 for case in CASES}
    assert out.startswith("a  new  4/4 passed\nb  new  4/4 passed\nc  new  4/4 passed\n")
    assert "suspicious against baseline/suites/all/clerk are run further, the release beside" in err
    assert grounds(root, Gate.OPEN) == []


def test_single_failure_is_followed_up_and_cleared(root: Path):
    candidate(root, {"a": "pfppp", "c": "pfppp"})

    out, err = does(root, *RUN)

    assert "a  new  3/4 passed, then 8/8 passed\na  old  2/2 passed, beside it\n" in out
    assert "suspicious: a, further trials: " in err
    assert ran(root)["c", "new"] == 4  # not required
    assert grounds(root, Gate.OPEN) == []
    case = case_of(root, "a")
    assert case.candidate is not None
    assert (case.outcome, case.candidate.valid, case.candidate.added) == ("unchanged", 12, 8)
    assert case.candidate.interval == "clopper-pearson"


def test_case_that_halves_is_found_with_the_release_beside_it(root: Path):
    candidate(root, {"b": "pf" * 20})

    out, _ = does(root, *RUN)

    assert ", beside it\n" in out
    (ground,) = grounds(root, Gate.CLOSED)
    assert (ground.kind, ground.cases) == ("required_regressed", ("b",))
    assert "beside it the release failed 0 of " in ground.text
    told, _ = does(root, "gate", "r", "--baseline", "baseline", code=1)
    assert ground.text in told


def test_means_take_only_the_first_batches(root: Path):
    candidate(root, {"b": "ppff" + "f" * 40})

    does(root, *RUN)

    found = comparison(root)
    assert found.overall is not None
    assert found.overall.candidate_mean == pytest.approx((1 + 0.5 + 1) / 3)
    assert {k.k: k.cases for k in found.pass_k["candidate"]} == dict.fromkeys(range(1, 5), 3)
    added = {c.case: c.candidate.added for c in found.cases if c.candidate}
    assert added == {"a": 0, "b": added["b"], "c": 0}
    assert added["b"] > 0


def test_case_that_dies_is_certain_after_fourteen_trials(root: Path):
    candidate(root, {"a": "f"})

    does(root, *RUN)

    assert {key: n for key, n in ran(root).items() if key[0] == "a"} == {
        ("a", "new"): 4, ("a", "old"): 10,
    }  # fmt: skip
    case = case_of(root, "a")
    assert case.live is not None
    assert (case.outcome, case.live.passed, case.live.valid) == ("regressed", 10, 10)


@pytest.mark.parametrize("marks", ["f", "pf" * 40])
def test_world_that_changed_under_both_arms_asks_for_a_new_baseline(root: Path, marks: str):
    (root / "weather.json").write_text(json.dumps({"a": marks}), encoding="utf-8")

    does(root, *RUN)

    (ground,) = grounds(root, Gate.UNDECIDED)
    assert (ground.kind, ground.cases) == ("baseline_stale", ("a",))
    assert "record the baseline again" in ground.text
    assert case_of(root, "a").lacks == "fresh_baseline"


def test_forbidden_action_ends_its_case_at_once_and_nothing_clears_it(root: Path):
    candidate(root, {"a": "pxppp", "c": "x"})

    _, err = does(root, *RUN, "--at-once", "1")

    assert ran(root) == {("a", "new"): 2, ("b", "new"): 4, ("c", "new"): 1}
    assert "forbidden: a, 2 planned trials are not run" in err
    assert [ground.kind for ground in grounds(root, Gate.CLOSED)] == ["forbidden_action"]
    out, _ = does(root, "compare", "r", "--baseline", "baseline")
    assert "mean pass rate over 1 case: released 1.000, candidate 1.000" in out
    assert "left out of means and pass^k, not run to the end of the first batch: a, c" in out
    _, err = does(
        root, "release", "r", "--approved-by", "Rita <rita@example.org>", "--to", "b", code=2
    )
    assert "a, c ended at a forbidden action, before all trials were run" in err
    before = (root / "r" / "journal.jsonl").read_bytes()
    does(root, "run", "--resume", "r")
    assert (root / "r" / "journal.jsonl").read_bytes() == before


def test_arms_run_side_by_side_and_no_case_waits_for_another(root: Path, tmp_path: Path):
    """Each of these trials waits for another one: in any other order the run would never end."""
    candidate(root, {"a": "ffpp" + "f" * 40})
    meeting = _meeting(
        tmp_path,
        {
            "new-b-1": ["new-a-5"],  # a case is followed up while another's first batch goes on
            "new-a-5": ["old-a-1"],  # the release runs beside the candidate
        },
    )

    status, _, err = seatrial(root, *RUN, environment=meeting)

    assert status == 0, err
    assert case_of(root, "a").outcome == "regressed"


def test_run_that_is_killed_goes_on_with_the_same_decisions(root: Path):
    candidate(root, {"a": "pf" * 20, "b": "ppfppppfpp" + "p" * 30})
    does(root, *RUN, "--out", "whole")

    words: tuple[str, ...] = RUN
    for wanted in (6, 15, 20):
        run = _start(root, *words, "--at-once", "1")
        _wait_for_records(root / "r", wanted)
        run.kill()
        run.communicate(timeout=60)
        words = ("run", "--resume", "r")
    does(root, *words, "--at-once", "1")

    assert _keys(root / "r") == _keys(root / "whole")
    assert len(_keys(root / "r")) > 20
    assert grounds(root, Gate.CLOSED) == grounds(root, Gate.CLOSED, run="whole")


def test_neither_order_nor_room_changes_what_is_run(root: Path):
    candidate(root, {"a": "pf" * 20, "b": "ppfpp"})
    for room in ("1", "3", "16"):
        does(root, *RUN, "--at-once", room, "--out", f"r{room}")

    assert _keys(root / "r1") == _keys(root / "r3") == _keys(root / "r16")


def test_number_of_trials_can_be_fixed(root: Path):
    candidate(root, {"a": "f"})

    _, err = does(root, *RUN, "--trials", "3")

    assert ran(root) == {(case, "new"): 3 for case in CASES}
    assert "suspicious" not in err
    assert Run.open(root / "r").manifest.adding is None


def test_without_a_baseline_the_number_is_fixed_and_that_is_said(root: Path):
    candidate(root, {"a": "f"})
    words = [word for word in RUN if word not in ("--baseline", "baseline")]

    _, err = does(root, *words)

    assert ran(root) == {(case, "new"): 4 for case in CASES}
    assert err.startswith("No baseline to hold it against: a fixed number of trials of each case.")


def test_run_can_be_bounded(root: Path):
    candidate(root, {"a": "f", "b": "f"})

    _, err = does(root, *RUN, "--max-trials", "22")

    assert sum(ran(root).values()) == 22
    assert "--max-trials 22 left no trials for " in err
    _, ground = grounds(root, Gate.CLOSED)
    assert ground.kind == "required_unconfirmed"
    assert ground.text.endswith("the run was bounded by `--max-trials 22`")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--max-trials", "11"), "the first batches are 12 trials, more than --max-trials 11"),
        (("--max-trials", "50", "--trials", "4"), "--trials says that nothing is"),
    ],
)
def test_bound_that_cannot_be_kept_is_refused(root: Path, words: tuple[str, ...], says: str):
    _, err = does(root, *RUN, *words, code=2)

    assert says in err
    assert not (root / "r").exists()


def test_release_that_cannot_be_run_again_is_said_and_the_stored_trials_must_do(root: Path):
    """Two revisions of one Python module cannot be loaded side by side."""
    with (root / "scripted.py").open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    candidate(root, {"a": "f"})

    _, err = does(root, *RUN)

    assert "are run further, without the release beside them: the files of the released arm" in err
    assert ran(root) == {(case, "new"): 4 for case in CASES}
    assert [ground.kind for ground in grounds(root, Gate.CLOSED)] == ["required_regressed"]


def test_run_that_stopped_before_its_verdicts_says_how_to_go_on(root: Path, tmp_path: Path):
    candidate(root, {"a": "pf" * 20})
    meeting = _meeting(tmp_path, {"new-a-6": ["never"], "old-a-2": ["never"]})
    run = _start(root, *RUN, environment=meeting)
    _wait_for_records(root / "r", 14)
    run.kill()
    run.communicate(timeout=60)

    by_kind = {ground.kind: ground.text for ground in grounds(root, Gate.UNDECIDED)}

    assert by_kind["required_too_few_trials"].endswith(
        f"go on with `seatrial run --resume {Run.open(root / 'r').manifest.run}`"
    )


def _meeting(folder: Path, waits: dict[str, list[str]]) -> dict[str, str]:
    """Where trials wait for each other."""
    (folder / "waits.json").write_text(json.dumps(waits), encoding="utf-8")
    return {"MEETING": str(folder)}


def _start(
    root: Path, *words: str, environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    # What is killed while it measures coverage leaves a broken file of measurements behind.
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    kept |= environment or {}
    return subprocess.Popen(
        [sys.executable, "-m", "seatrial", *words],
        cwd=root, env={**kept, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _wait_for_records(folder: Path, count: int) -> None:
    journal = folder / "journal.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.002)
    raise AssertionError(f"no {count} records within a minute")


def _keys(folder: Path) -> list[tuple[str, str, int]]:
    return sorted((r.case, r.arm, r.number) for r in Run.open(folder).records())
