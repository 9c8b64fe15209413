"""Runs on disk: written a trial at a time, read lazily, and read alike from a baseline.

    run.json         the manifest (`records.Manifest`)
    documents.json   the documents of the run with their places, so that checks, comparison and
                     report can be redone from the folder alone
    journal.jsonl    a `TrialRecord` a line, appended the moment a trial ends
    traces.jsonl     a `Trace` a line; on disk before the record that points into it
    seal.json        the digests of these files, written when the run has ended
    lock             held by the one process that writes

A baseline is the same files of one arm, except that the traces lie in `traces/<case>.jsonl`: git then
stores anew only the cases that ran anew, and a reader fetches only the ones it looks at.
"""

from seatrial.store.folders import RUNS, find, new_run_id, resume_name, runs
from seatrial.store.merging import merge
from seatrial.store.run import Key, Run
from seatrial.store.shards import Shard, Stub, stubs, trial_of
from seatrial.store.writer import Writer

__all__ = [
    "RUNS", "Key", "Run", "Shard", "Stub", "Writer", "find", "merge", "new_run_id", "resume_name", "runs", "stubs",
    "trial_of",
]  # fmt: skip
