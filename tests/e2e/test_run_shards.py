"""`seatrial run --shard` and `merge`: several machines decide together what one would have decided."""

import json
import shutil
from pathlib import Path

import pytest
from tests import bike_shop
from tests.shell import ROOT, seatrial

from seatrial.cli.compared import compared
from seatrial.gate import rule
from seatrial.store import Run

CASES = ("a", "b", "c", "d")
RUN = ("run", "--suite", "all", "--arm", "new", "--baseline", "baseline", "--seed", "7")


def arm(id: str, script: dict[str, str]):
    return bike_shop.arm(
        id,
        {"type": "python", "target": "scripted:serves"},
        settings={"name": id, "script": script},
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four cases, a release that passes, and a candidate of which two look suspicious and one dies."""
    root = tmp_path_factory.mktemp("released")
    cases = [
        bike_shop.case(
            id, task=f"I am {{{{run}}}}. I would like bike b-1. This is {id}.", required=id != "d"
        )
        for id in CASES
    ]
    suite = bike_shop.suite(cases, trials=4, gate={"margin": 0.9})
    candidate = arm("new", {"a": "pfppp", "b": "ppfppppfpp" + "p" * 30, "c": "f", "d": "pf"})
    bike_shop.write_tree(root, bike_shop.catalog(*cases, suite, arm("old", {}), candidate))
    shutil.copy(ROOT / "tests" / "agents" / "scripted.py", root)
    does(
        root, "run", "--suite", "all", "--arm", "old", "--trials", "20", "--seed", "7", "--out", "o"
    )
    does(
        root, "release", "o", "--approved-by", "Rita <rita@example.org>", "--to", "baseline",
        "--allow-dirty", "a test",
    )  # fmt: skip
    return root


def does(root: Path, *words: str, code: int = 0) -> tuple[str, str]:
    status, out, err = seatrial(root, *words)
    assert status == code, (out, err)
    return out, err


def keys(folder: Path) -> list[tuple[str, str, int, str]]:
    found = Run.open(folder).records()
    return sorted((r.case, r.arm, r.number, r.verdict.value) for r in found)


def test_shards_run_and_decide_what_one_run_would(root: Path, tmp_path: Path):
    out, _ = does(
        root, "plan", "--suite", "all", "--arm", "new", "--baseline", "baseline", "--shards", "3"
    )
    matrix = json.loads(out)
    assert matrix == {"shard": ["1/3", "2/3", "3/3"]}
    does(root, *RUN, "--out", f"{tmp_path}/one")

    for number, shard in enumerate(matrix["shard"]):
        _, err = does(root, *RUN, "--shard", shard, "--out", f"{tmp_path}/parts/{number}")
        assert f"Shard {shard} of plan " in err
    out, err = does(root, "merge", f"{tmp_path}/parts", "--out", f"{tmp_path}/whole")

    assert err == ""
    assert " trials of 3 of 3 shards, plan " in out
    assert keys(tmp_path / "whole") == keys(tmp_path / "one")
    assert len(keys(tmp_path / "whole")) > 30
    one, other = (
        rule(compared(f"{tmp_path}/{name}", str(root / "baseline"), None, root=root).comparison)
        for name in ("one", "whole")
    )
    assert one == other


def test_bound_on_trials_is_divided_over_the_shards(root: Path, tmp_path: Path):
    counted = 0
    for number in (1, 2, 3):
        does(
            root, *RUN, "--max-trials", "22", "--shard", f"{number}/3", "--out", f"{tmp_path}/{number}",
        )  # fmt: skip
        counted += len(keys(tmp_path / str(number)))

    assert 16 <= counted <= 22
    does(root, "merge", str(tmp_path), "--out", f"{tmp_path}/whole")
    assert len(keys(tmp_path / "whole")) == counted


def test_shard_that_stopped_early_is_told_and_resumed_in_the_whole(root: Path, tmp_path: Path):
    for number in (1, 2):
        does(root, *RUN, "--shard", f"{number}/2", "--out", f"{tmp_path}/{number}")
    # The durations of the released run say which shard a case is in; what c shows has to stay.
    short = next(n for n in (2, 1) if sum(case != "c" for case, *_ in keys(tmp_path / str(n))) > 2)
    journal = tmp_path / str(short) / "journal.jsonl"
    told = journal.read_bytes().splitlines(keepends=True)
    lost = [line for line in told if json.loads(line).get("case") in ("a", "b", "d")][-2:]
    assert len(lost) == 2
    journal.write_bytes(b"".join(line for line in told if line not in lost))
    (tmp_path / str(short) / "seal.json").unlink()

    _, err = does(root, "merge", f"{tmp_path}/1", f"{tmp_path}/2", "--out", f"{tmp_path}/w", code=3)

    assert f"shard {short}/2 has not ended" in err
    assert " trials have no record:" in err
    assert f"seatrial run --resume {tmp_path}/w" in err
    does(root, "gate", f"{tmp_path}/w", "--baseline", "baseline", code=1)  # c died in any case
    does(root, "run", "--resume", f"{tmp_path}/w")
    assert Run.open(tmp_path / "w").sealed
    assert len(keys(tmp_path / "w")) == len(set(keys(tmp_path / "w")))


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b"])
def test_shard_that_is_none_is_refused(root: Path, tmp_path: Path, shard: str):
    _, err = does(root, *RUN, "--shard", shard, "--out", str(tmp_path / "r"), code=2)

    assert "is no shard" in err
    assert not (tmp_path / "r").exists()
