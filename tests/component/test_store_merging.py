"""Shards of one plan, put together: nothing lost, nothing twice, and the same verdict as of one run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import bike_shop, sides, stored_runs

from seatrial import baseline, sharding
from seatrial.cli.dividing import sharded
from seatrial.cli.merging import folders, merged
from seatrial.compare import BaselineInfo, Comparison
from seatrial.documents import Catalog
from seatrial.errors import StorageError, UsageError
from seatrial.gate import rule
from seatrial.records import Manifest, PlannedCase, Sharding, TrialRecord
from seatrial.store import Run, Writer
from seatrial.trace import Trace
from seatrial.verdicts import Gate

IDS = tuple("abcdefg")
TRIALS = {"a": "pppp", "b": "pfpp", "c": "p", "d": "ppipp", "e": "ffff", "f": "pp", "g": "ppp"}


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """Three shards of seven cases."""
    return written(tmp_path, TRIALS, 3)


def documents(trials: Mapping[str, str]) -> Catalog:
    cases = [bike_shop.case(id, required=id < "e") for id in IDS if id in trials]
    return bike_shop.catalog(*cases, bike_shop.arm("clerk-2"), bike_shop.suite(cases))


def plan(trials: Mapping[str, str], run: str = "whole") -> Manifest:
    return Manifest(
        run=run,
        suite="all",
        arms=("clerk-2",),
        trials=5,
        seed=1,
        created_at="2026-04-01T10:00:00+00:00",
        seatrial="0.1.0",
        plan=tuple(
            PlannedCase(
                case=id, selected=True, reasons=("all",), required=id < "e", trials=len(marks)
            )
            for id, marks in trials.items()
        ),
        fingerprints={f"{id}@clerk-2": sides.FINGERPRINT for id in trials},
    )


def write(
    folder: Path, manifest: Manifest, catalog: Catalog, records: Iterable[TrialRecord]
) -> Path:
    with Writer.create(folder, manifest, catalog) as writer:
        for record in records:
            said = Trace(case=record.case, arm=record.arm, number=record.number)
            writer.add(record, said)
    return folder


def written(root: Path, trials: Mapping[str, str], count: int) -> list[Path]:
    catalog = documents(trials)
    records = sides.records(trials, "clerk-2")
    loads = sharding.loads(plan(trials).plan, catalog, ["clerk-2"], count)
    found = []
    for number in range(1, count + 1):
        divided = Sharding(shard=number, cases=tuple(load.cases for load in loads))
        manifest = sharded(plan(trials, f"shard-{number}"), divided, seeded=True)
        own = [record for record in records if record.case in divided.own]
        found.append(write(root / f"shard-{number}", manifest, catalog, own))
    return found


def held(run: Run) -> Comparison:
    """The run against a release that passes everything."""
    with tempfile.TemporaryDirectory() as folder:
        released = write(
            Path(folder, "released"),
            plan(dict.fromkeys(IDS, "p" * 12), "released"),
            documents(TRIALS),
            sides.records(dict.fromkeys(IDS, "p" * 12), "clerk-2"),
        )
        against = Run.open(released)
        info = BaselineInfo(
            run="released", suite="all", arm="clerk-2", version="1.0", where="released"
        )
        found = baseline.hold(run, "clerk-2", baseline.Baseline(against, info, None))
        return found.comparison.model_copy(update={"run": ""})


def keys(run: Run) -> list[tuple[str, int]]:
    return sorted((record.case, record.number) for record in run.records())


def test_merged_run_holds_each_planned_trial_once_with_its_trace(
    shards: list[Path], tmp_path: Path
):
    found = merged(shards, tmp_path / "whole")

    run = Run.open(tmp_path / "whole")
    assert found.whole
    assert (found.there, found.shards, found.trials) == (3, 3, sum(map(len, TRIALS.values())))
    assert keys(run) == [
        (case, number) for case, marks in TRIALS.items() for number in range(1, len(marks) + 1)
    ]
    assert [run.trace(record).number for record in run.records()] == [
        record.number for record in run.records()
    ]
    assert run.manifest.sharding is None
    assert run.manifest.merged == ("shard-1", "shard-2", "shard-3")


def test_seal_of_a_merged_run_is_valid_and_tells_of_every_change(
    shards: list[Path], tmp_path: Path
):
    merged(shards, tmp_path / "whole")
    assert Run.open(tmp_path / "whole").sealed

    for name in ("traces.jsonl", "journal.jsonl", "run.json", "documents.json"):
        path = tmp_path / "whole" / name
        before = path.read_bytes()
        for after in (before + b"\n", before[:-1], before.replace(b"clerk-2", b"clerk-3", 1)):
            path.write_bytes(after)
            with pytest.raises(StorageError, match=f"{name} is not what the run left there"):
                _ = Run.open(tmp_path / "whole").sealed
        path.write_bytes(before)


def test_merged_run_can_be_gone_on_with_and_is_sealed_again(shards: list[Path], tmp_path: Path):
    merged(shards[:2], tmp_path / "whole")
    run = Run.open(tmp_path / "whole")
    missing = set(TRIALS) - {record.case for record in run.records()}
    assert not run.sealed

    with Writer.resume(tmp_path / "whole", lambda _: None) as writer:
        for record in sides.records(TRIALS, "clerk-2"):
            if record.case in missing:
                writer.add(record, Trace(case=record.case, arm=record.arm, number=record.number))

    again = Run.open(tmp_path / "whole")
    assert again.sealed
    assert len(keys(again)) == sum(map(len, TRIALS.values()))


def test_shard_that_is_not_there_is_named_with_its_trials_and_leaves_the_gate_undecided(
    shards: list[Path], tmp_path: Path
):
    found = merged(shards[1:], tmp_path / "whole")

    gone = [id for id in TRIALS if id in Run.open(shards[0]).manifest.sharding.own]  # type: ignore[union-attr]
    assert found.absent == ("1/3",)
    assert sorted({trial.case for trial in found.missing}) == sorted(gone)
    assert "shard 1/3 is not there" in list(found.lacking())
    ruling = rule(held(Run.open(tmp_path / "whole")))
    assert ruling.ruling is not Gate.OPEN
    assert "incomplete_run" in {ground.kind for ground in ruling.grounds}


def test_shard_alone_leaves_the_gate_undecided_and_says_what_it_is(shards: list[Path]):
    ruling = rule(held(Run.open(shards[0])))

    texts = {ground.kind: ground.text for ground in ruling.grounds}
    assert ruling.ruling is not Gate.OPEN
    assert (
        "this is shard 1/3 of a run: put all of them together with `seatrial merge`"
        in (texts["incomplete_run"])
    )


def test_shard_that_was_killed_gives_what_it_has_and_the_rest_is_missing(
    shards: list[Path], tmp_path: Path
):
    (shards[2] / "seal.json").unlink()
    with (shards[2] / "journal.jsonl").open("rb+") as file:
        file.truncate((shards[2] / "journal.jsonl").stat().st_size - 10)
    with (shards[2] / "traces.jsonl").open("ab") as file:
        file.write(b'{"half of a tr')

    found = merged(shards, tmp_path / "whole")

    assert found.cut_off == ("3/3",)
    assert len(found.missing) == 1
    run = Run.open(tmp_path / "whole")
    assert not run.sealed
    for record in run.records():
        assert run.trace(record).case == record.case


@pytest.mark.parametrize("name", ["journal.jsonl", "run.json", "documents.json"])
def test_shard_that_was_altered_is_refused_and_nothing_is_left(
    shards: list[Path], tmp_path: Path, name: str
):
    path = shards[1] / name
    data = path.read_bytes()
    for word, other in ((b'"verdict":"passed"', b'"verdict":"failed"'), (b"clerk-2", b"clerk-1")):
        if word in data:
            path.write_bytes(data.replace(word, other, 1))
            break

    with pytest.raises(StorageError, match=f"{name} is not what the run left there"):
        merged(shards, tmp_path / "whole")

    assert not (tmp_path / "whole").exists()


def test_traces_that_were_altered_before_the_merge_are_found_out_by_who_reads_the_run(
    shards: list[Path], tmp_path: Path
):
    path = shards[1] / "traces.jsonl"
    path.write_bytes(path.read_bytes().replace(b"clerk-2", b"clerk-1", 1))

    merged(shards, tmp_path / "whole")

    with pytest.raises(StorageError, match=r"traces.jsonl is not what the run left there"):
        _ = Run.open(tmp_path / "whole").sealed


def test_traces_that_became_shorter_or_longer_are_refused(shards: list[Path], tmp_path: Path):
    path = shards[1] / "traces.jsonl"
    data = path.read_bytes()
    for altered in (data[:-1], data + b"\n"):
        path.write_bytes(altered)
        with pytest.raises(StorageError, match="is not what the run left there"):
            merged(shards, tmp_path / "whole")
    assert not (tmp_path / "whole").exists()


@pytest.mark.parametrize("most", [1_000, 20_000])
def test_full_disk_leaves_nothing_behind_and_the_shards_as_they_were(tmp_path: Path, most: int):
    """Before the first trial is merged, and amid them."""
    shards = written(tmp_path, {"a": "p" * 150, "b": "p" * 150}, 2)
    program = (
        "import resource, sys\n"
        "from seatrial.cli import main\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))\n"
        "main(['merge', *sys.argv[2:], '--out', sys.argv[1]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "whole"), *map(str, shards)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.returncode == 4
    assert "whole cannot be written: File too large\n  → free some space" in done.stderr
    assert not (tmp_path / "whole").exists()
    assert merged(shards, tmp_path / "again").whole


def test_shard_given_twice_is_refused(shards: list[Path], tmp_path: Path):
    shutil.copytree(shards[0], tmp_path / "copy")

    with pytest.raises(UsageError, match="are both shard 1/3"):
        merged([*shards, tmp_path / "copy"], tmp_path / "whole")


def test_shards_of_different_plans_are_refused_with_what_differs(
    shards: list[Path], tmp_path: Path
):
    others = written(tmp_path / "others", {**TRIALS, "g": "pppp"}, 3)

    with pytest.raises(UsageError, match=r"are not of one plan: plan differs"):
        merged([shards[0], others[1], shards[2]], tmp_path / "whole")


def test_run_that_is_no_shard_is_refused(tmp_path: Path):
    stored_runs.stored(tmp_path / "r", {"rent": "pp"})

    with pytest.raises(UsageError, match="is no shard, it is a whole run"):
        merged([tmp_path / "r"], tmp_path / "whole")


def test_trials_beyond_the_plan_are_refused(tmp_path: Path):
    catalog, trials = documents({"a": "pp"}), {"a": "pp"}
    divided = Sharding(shard=1, cases=(("a",),))
    manifest = sharded(plan(trials), divided, seeded=True)
    folder = write(tmp_path / "s", manifest, catalog, sides.records({"a": "ppp"}, "clerk-2"))

    with pytest.raises(UsageError, match=r"does not ask for: a by clerk-2: 3"):
        merged([folder], tmp_path / "whole")


def test_trials_of_another_shards_case_are_refused(tmp_path: Path):
    trials = {"a": "pp", "b": "pp"}
    catalog = documents(trials)
    divided = Sharding(shard=1, cases=(("a",), ("b",)))
    manifest = sharded(plan(trials), divided, seeded=True)
    folder = write(tmp_path / "s", manifest, catalog, sides.records({"b": "p"}, "clerk-2"))

    with pytest.raises(UsageError, match=r"trial 1 of b by clerk-2, which is not in its plan"):
        merged([folder], tmp_path / "whole")


def test_folder_that_holds_the_shards_may_be_named(shards: list[Path], tmp_path: Path):
    assert folders([tmp_path]) == shards


def test_seed_is_the_same_for_all_shards_of_a_plan_and_of_no_other():
    divided = Sharding(shard=1, cases=(("a",), ("b",)))
    other = divided.model_copy(update={"shard": 2})
    trials = {"a": "pp", "b": "pp"}

    one, two = (
        sharded(plan(trials, id), of, seeded=False) for id, of in (("x", divided), ("y", other))
    )
    third = sharded(plan({"a": "pp", "b": "ppp"}), divided, seeded=False)

    assert one.seed == two.seed != third.seed
    assert one.sharding is not None
    assert two.sharding is not None
    assert one.sharding.plan == two.sharding.plan


@st.composite
def suites(draw: st.DrawFn) -> dict[str, str]:
    marks = st.text(alphabet="ppppfix", min_size=1, max_size=8)
    return draw(st.dictionaries(st.sampled_from(IDS), marks, min_size=1, max_size=7))


@given(trials=suites(), count=st.integers(1, 9))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_verdict_does_not_depend_on_how_a_run_is_divided(trials: dict[str, str], count: int):
    for root in _folders():
        whole = write(
            root / "one", plan(trials), documents(trials), sides.records(trials, "clerk-2")
        )
        assert merged(written(root, trials, count), root / "merged").whole

        one, other = held(Run.open(whole)), held(Run.open(root / "merged"))

        assert json.loads(one.model_dump_json()) == json.loads(other.model_dump_json())
        assert rule(one) == rule(other)


def _folders() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
