"""Runs on disk: written a trial at a time, read back alike from a folder and from a baseline's files."""

import json
import multiprocessing
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests import bike_shop

from seatrial import store
from seatrial.documents import digest
from seatrial.errors import BaselineError, StorageError, UsageError
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.trace import Answer, Called, Replied, Said, Trace
from seatrial.verdicts import Finding, Status, Verdict

CASES = (bike_shop.case("rent-a-bike"), bike_shop.case("another", tags=["x"]))
CATALOG = bike_shop.catalog(*CASES, bike_shop.arm("old"), bike_shop.arm("new"))


def test_what_is_added_is_read_back_as_it_was(tmp_path: Path):
    trials = [_trial("rent-a-bike", "old", 1), _trial("another", "new", 1)]
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        stored = [writer.add(*trial) for trial in trials]

    run = store.Run.open(tmp_path / "run")

    assert run.manifest == MANIFEST
    assert list(run.records()) == stored
    assert list(run.records("new")) == stored[1:]
    assert [run.trace(record) for record in stored] == [trace for _, trace in trials]


def test_documents_come_back_with_their_digests_and_places(tmp_path: Path):
    store.Writer.create(tmp_path / "run", MANIFEST, CATALOG).close()

    catalog = store.Run.open(tmp_path / "run").catalog

    assert list(catalog.cases) == ["rent-a-bike", "another"]
    assert {k: digest(v) for k, v in catalog.cases.items()} == {c.id: digest(c) for c in CASES}
    assert digest(catalog.world("bike-shop")) == digest(bike_shop.WORLD)
    assert catalog.place("case", "another", "checks[0].changed") == "cases/another.yaml:9:5"


def test_documents_are_a_line_each():
    lines = store.catalogs.dump(CATALOG).decode().splitlines()

    assert len(lines) == 1 + 6 + 1  # two cases, two arms, a suite, a world
    assert all('"kind":"' in line for line in lines[1:-1])


def test_run_that_is_being_written_can_be_read(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        record = writer.add(*_trial("another", "old", 1))
        journal = tmp_path / "run" / "journal.jsonl"
        whole = journal.stat().st_size
        _append(journal, b'{"format":1,"case":"rent-a')  # the next one is being written

        assert list(store.Run.open(tmp_path / "run").records()) == [record]
        os.truncate(journal, whole)


@pytest.mark.parametrize("torn", [b"{", b'{"format":1,"case":"a', b'{"format":1}', b"\x00\x00"])
def test_torn_last_line_is_cut_off_on_resume_and_nothing_else(tmp_path: Path, torn: bytes):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        stored = [writer.add(*_trial("another", "old", n)) for n in (1, 2)]
    before = (tmp_path / "run" / "journal.jsonl").read_bytes()
    _killed(tmp_path / "run")
    _append(tmp_path / "run" / "journal.jsonl", torn)
    _append(tmp_path / "run" / "traces.jsonl", b'{"format":1,"case":"an')

    seen: list[TrialRecord] = []
    with store.Writer.resume(tmp_path / "run", seen.append) as writer:
        assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before
        stored.append(writer.add(*_trial("another", "old", 3)))

    assert seen == stored[:2]
    run = store.Run.open(tmp_path / "run")
    assert list(run.records()) == stored
    assert [run.trace(r).number for r in run.records()] == [1, 2, 3]


def test_whole_record_without_its_line_end_is_kept(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        stored = [writer.add(*_trial("another", "old", n)) for n in (1, 2)]
    _killed(tmp_path / "run")
    journal = tmp_path / "run" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().removesuffix(b"\n"))

    seen: list[TrialRecord] = []
    with store.Writer.resume(tmp_path / "run", seen.append) as writer:
        stored.append(writer.add(*_trial("another", "old", 3)))

    assert seen == stored[:2]
    assert list(store.Run.open(tmp_path / "run").records()) == stored


def test_record_that_outlived_its_trace_is_run_again(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        stored = [writer.add(*_trial("another", "old", n)) for n in (1, 2, 3)]
    assert stored[1].trace_at
    _killed(tmp_path / "run")
    os.truncate(tmp_path / "run" / "traces.jsonl", sum(stored[1].trace_at) - 1)

    seen: list[TrialRecord] = []
    store.Writer.resume(tmp_path / "run", seen.append).close()

    assert seen == stored[:1]
    assert list(store.Run.open(tmp_path / "run").records()) == stored[:1]


def test_trace_without_a_record_is_cut_off_on_resume(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        writer.add(*_trial("another", "old", 1))
    whole = (tmp_path / "run" / "traces.jsonl").read_bytes()
    _killed(tmp_path / "run")
    _append(tmp_path / "run" / "traces.jsonl", store.run.trace_line(_trial("another", "old", 2)[1]))

    store.Writer.resume(tmp_path / "run", lambda _: None).close()

    assert (tmp_path / "run" / "traces.jsonl").read_bytes() == whole


def test_run_is_sealed_when_it_ends_and_not_before(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        writer.add(*_trial("another", "old", 1))
        assert not store.Run.open(tmp_path / "run").sealed
    assert store.Run.open(tmp_path / "run").sealed

    with store.Writer.resume(tmp_path / "run", lambda _: None) as writer:
        assert not store.Run.open(tmp_path / "run").sealed
        writer.add(*_trial("another", "old", 2))
    assert store.Run.open(tmp_path / "run").sealed


@pytest.mark.parametrize("name", [*store.run.WRITTEN, "seal.json"])
@pytest.mark.parametrize("how", ["changed", "cut", "deleted", "a folder"])
def test_run_that_was_altered_after_its_end_is_neither_trusted_nor_gone_on_with(
    tmp_path: Path, name: str, how: str
):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        writer.add(*_trial("another", "old", 1))
    opened = store.Run.open(tmp_path / "run")
    _alter(tmp_path / "run" / name, how)

    if (name, how) == ("seal.json", "deleted"):
        assert not opened.sealed
        return
    with pytest.raises(StorageError, match=f"{name} is not what the run left there"):
        _ = opened.sealed
    with pytest.raises((StorageError, UsageError)):
        store.Writer.resume(tmp_path / "run", lambda _: None)


@pytest.mark.parametrize("name", store.run.WRITTEN)
@pytest.mark.parametrize("how", ["changed", "cut", "deleted"])
def test_run_that_somebody_else_altered_while_it_went_on_is_no_evidence(
    tmp_path: Path, name: str, how: str
):
    """An agent under test could make its failures passes."""
    writer = store.Writer.create(tmp_path / "run", MANIFEST, CATALOG)
    writer.add(*_trial("another", "old", 1))
    _alter(tmp_path / "run" / name, how)

    with pytest.raises(StorageError, match=f"{name} was altered while the run went on"):
        writer.close()
    with pytest.raises((StorageError, UsageError)):
        store.Writer.resume(tmp_path / "run", lambda _: None)


def test_run_folder_that_cannot_be_locked_says_so(tmp_path: Path):
    store.Writer.create(tmp_path / "run", MANIFEST, CATALOG).close()
    (tmp_path / "run" / "lock").unlink()
    (tmp_path / "run" / "lock").mkdir()

    with pytest.raises(StorageError, match="cannot be written"):
        store.Writer.resume(tmp_path / "run", lambda _: None)


def test_altered_journal_is_noticed_at_the_next_trial_and_stays_unusable(tmp_path: Path):
    writer = store.Writer.create(tmp_path / "run", MANIFEST, CATALOG)
    writer.add(*_trial("another", "old", 1))
    os.truncate(tmp_path / "run" / "journal.jsonl", 0)

    for _ in range(2):
        with pytest.raises(StorageError, match=r"journal\.jsonl was altered"):
            writer.add(*_trial("another", "old", 2))
    with pytest.raises(StorageError, match=r"journal\.jsonl was altered"):
        writer.close()
    with pytest.raises(StorageError, match="altered afterwards"):
        store.Writer.resume(tmp_path / "run", lambda _: None)


def test_second_writer_is_refused_and_told_who_writes(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG):
        with pytest.raises(UsageError, match=f"by another runner \\(process {os.getpid()}\\)"):
            store.Writer.resume(tmp_path / "run", lambda _: None)
        worker = multiprocessing.get_context("spawn").Process(
            target=_refused_in_another_process, args=(tmp_path / "run",)
        )
        worker.start()
        worker.join(60)
        assert worker.exitcode == 0
    store.Writer.resume(tmp_path / "run", lambda _: None).close()


def test_folder_with_something_in_it_is_no_place_for_a_new_run(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(UsageError, match="is not empty"):
        store.Writer.create(tmp_path, MANIFEST, CATALOG)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_place_that_cannot_be_written_is_a_storage_error(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(StorageError, match="cannot be written"):
        store.Writer.create(tmp_path / "file" / "run", MANIFEST, CATALOG)


def test_full_disk_ends_the_run_with_everything_stored_intact(tmp_path: Path):
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.component.test_store_runs import fill_up\n"
        "fill_up(Path(sys.argv[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "run")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.returncode == 0, done.stderr
    count = int(done.stdout)
    run = store.Run.open(tmp_path / "run")
    assert [run.trace(r).number for r in run.records()] == list(range(1, count + 1))
    for path in ("journal.jsonl", "traces.jsonl"):
        assert (tmp_path / "run" / path).read_bytes().endswith(b"}\n")
    with store.Writer.resume(tmp_path / "run", lambda _: None) as writer:
        writer.add(*_trial("another", "old", count + 1))
    assert len(list(store.Run.open(tmp_path / "run").records())) == count + 1


def fill_up(folder: Path) -> None:
    """Add trials until a file may grow no further (a write then takes a part and fails)."""
    writer = store.Writer.create(folder, MANIFEST, CATALOG)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))
    number = 0

    def until_full() -> None:
        nonlocal number
        while True:
            writer.add(*_trial("another", "old", number + 1))
            number += 1

    with pytest.raises(StorageError) as failed:
        until_full()
    assert f"{number} trials are stored and intact" in failed.value.message
    assert failed.value.hint == f"free some space, then: seatrial run --resume {folder}"
    with pytest.raises(StorageError):
        writer.add(*_trial("another", "old", number + 1))
    writer.close()
    print(number)


def _killed(folder: Path) -> None:
    """Leave the folder as `kill -9` leaves it."""
    (folder / "seal.json").unlink()


def _alter(file: Path, how: str) -> None:
    data = file.read_bytes()
    file.unlink()
    if how == "changed":
        file.write_bytes(data.replace(b"1", b"2"))
    elif how == "cut":
        file.write_bytes(data[:-2])
    elif how == "a folder":
        file.mkdir()


def test_baseline_reads_like_the_run_it_was_made_of(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        for number in (2, 1):
            for case in ("another", "rent-a-bike"):
                for arm in ("old", "new"):
                    writer.add(*_trial(case, arm, number))
    run = store.Run.open(tmp_path / "run")

    files = run.export("old")
    baseline = store.Run.of_files(files, where="baseline of old")

    assert set(files) == {
        "run.json",
        "documents.json",
        "journal.jsonl",
        "traces/another.jsonl",
        "traces/rent-a-bike.jsonl",
    }
    assert [(r.case, r.arm, r.number) for r in baseline.records()] == [
        ("rent-a-bike", "old", 1),
        ("rent-a-bike", "old", 2),
        ("another", "old", 1),
        ("another", "old", 2),
    ]
    traces = {(r.case, r.number): run.trace(r) for r in run.records("old")}
    assert {(r.case, r.number): baseline.trace(r) for r in baseline.records()} == traces
    assert baseline.manifest.arms == ("old",)
    assert set(baseline.manifest.fingerprints) == {"another@old"}
    assert set(baseline.catalog.arms) == {"old"}
    assert baseline.export("old") == files


def test_baseline_in_a_folder_is_a_run(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        writer.add(*_trial("another", "old", 1))
    for path, data in store.Run.open(tmp_path / "run").export("old").items():
        file = tmp_path / "baseline" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    baseline = store.Run.open(tmp_path / "baseline")

    assert [baseline.trace(r).number for r in baseline.records()] == [1]


def test_arm_that_was_not_run_cannot_be_exported(tmp_path: Path):
    store.Writer.create(tmp_path / "run", MANIFEST, CATALOG).close()

    with pytest.raises(UsageError, match="has no arm 'newest'") as refused:
        store.Run.open(tmp_path / "run").export("newest")
    assert refused.value.hint == "its arms are old, new"


@pytest.mark.parametrize(
    ("path", "data", "says"),
    [
        ("run.json", None, "run.json is missing"),
        ("run.json", b"{", "run.json cannot be read: Invalid JSON"),
        ("documents.json", None, "documents.json is missing"),
        ("documents.json", b'{"format":2}', "documents.json was written by another Seatrial"),
        ("journal.jsonl", b'{"format":7}\n', "line 1 of journal.jsonl was written by another"),
        ("journal.jsonl", b"[]\n", "line 1 of journal.jsonl cannot be read"),
        ("traces/another.jsonl", None, "traces/another.jsonl is missing"),
        ("traces/another.jsonl", b"{}", "the trace of trial 1 of another by old cannot be read"),
    ],
)
def test_damaged_baseline_is_named_and_never_guessed_at(
    tmp_path: Path, path: str, data: bytes | None, says: str
):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        writer.add(*_trial("another", "old", 1))
    files = store.Run.open(tmp_path / "run").export("old")
    if data is None:
        del files[path]
    else:
        files[path] = data

    with pytest.raises(BaselineError, match=says):
        _read_all(store.Run.of_files(files, where="refs/x"))


def test_trace_of_another_trial_is_not_taken_for_this_one(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        first = writer.add(*_trial("another", "old", 1))
        second = writer.add(*_trial("another", "old", 2))
    run = store.Run.open(tmp_path / "run")

    with pytest.raises(StorageError, match="is that of another trial"):
        run.trace(first.model_copy(update={"trace_at": second.trace_at}))


def test_path_in_place_of_a_case_id_leads_nowhere():
    record = _trial("../../secret", "old", 1)[0].model_copy(update={"trace_at": (0, 5)})
    files = {"run.json": MANIFEST.model_dump_json().encode(), "../../secret": b"hello"}

    with pytest.raises(BaselineError, match="is no id of a case"):
        store.Run.of_files(files, where="refs/x").trace(record)


def test_trial_recorded_twice_is_never_counted_twice(tmp_path: Path):
    with store.Writer.create(tmp_path / "run", MANIFEST, CATALOG) as writer:
        writer.add(*_trial("another", "old", 1))
    journal = tmp_path / "run" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() * 2)

    with pytest.raises(StorageError, match="records trial 1 of another by old a second time"):
        list(store.Run.open(tmp_path / "run").records())


def test_runs_are_found_by_id_by_path_and_as_the_latest(tmp_path: Path):
    ids = [store.new_run_id() for _ in range(3)]
    assert len(set(ids)) == 3
    for id in ids:
        store.Writer.create(tmp_path / store.RUNS / id, MANIFEST, CATALOG).close()
    latest = tmp_path / store.RUNS / sorted(ids)[-1]

    assert store.find(tmp_path, ids[0]) == tmp_path / store.RUNS / ids[0]
    assert store.find(tmp_path, str(latest)) == latest
    assert store.find(tmp_path, "latest") == latest
    assert (tmp_path / ".seatrial" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert store.resume_name(latest) == latest.name


def test_latest_run_is_the_one_that_began_last_whatever_its_folder_is_called(tmp_path: Path):
    for folder, id in (("z", "20260101-0"), ("a", "20260102-0"), ("20260101-5", "20260101-5")):
        manifest = MANIFEST.model_copy(update={"run": id})
        store.Writer.create(tmp_path / store.RUNS / folder, manifest, CATALOG).close()

    assert [folder.name for folder in store.runs(tmp_path)] == ["z", "20260101-5", "a"]
    assert store.find(tmp_path, "latest").name == "a"


def test_run_that_does_not_exist_is_answered_with_those_that_do(tmp_path: Path):
    with pytest.raises(UsageError, match="there are no runs in"):
        store.find(tmp_path, "r1")
    store.Writer.create(tmp_path / store.RUNS / "r2", MANIFEST, CATALOG).close()

    with pytest.raises(UsageError, match="no run 'r1'") as refused:
        store.find(tmp_path, "r1")
    assert refused.value.hint == "the newest are r2"
    with pytest.raises(UsageError, match="is a folder, but no run"):
        store.find(tmp_path, str(tmp_path))


MANIFEST = Manifest(
    run="20260401-100000-000-abcdef",
    suite="all",
    arms=("old", "new"),
    trials=2,
    seed=7,
    created_at="2026-04-01T10:00:00Z",
    seatrial="0.1.0",
    plan=(PlannedCase(case="another", selected=True, reasons=("required",), trials=2),),
    fingerprints={"another@old": {"case": "1"}, "another@new": {"case": "1"}},
)


def _trial(case: str, arm: str, number: int) -> tuple[TrialRecord, Trace]:
    trace = Trace(
        case=case,
        arm=arm,
        number=number,
        events=(
            Said(turn=1, text="Zwei Räder, bitte 🚲"),
            Called(
                turn=1,
                number=1,
                server="bike-shop",
                tool="rent",
                arguments={"bike": "b-1", "note": None},
                answer=Answer.of_text("rented"),
                answered_by="world",
            ),
            Replied(turn=1, text="done" * 100),
        ),
        changes=(),
    )
    finding = Finding(check="end_state", path="checks[0]", status=Status.PASSED, reason="as said")
    return (
        TrialRecord(
            case=case, arm=arm, number=number, verdict=Verdict.PASSED, findings=(finding,), calls=1
        ),
        trace,
    )


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _read_all(run: store.Run) -> None:
    assert json.dumps(list(run.catalog.cases))
    for record in run.records():
        run.trace(record)


def _refused_in_another_process(folder: Path) -> None:
    with pytest.raises(UsageError, match="is being written by another runner"):
        store.Writer.resume(folder, lambda _: None)
