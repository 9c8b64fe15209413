"""Several run folders put together into one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from seatrial.errors import StorageError
from seatrial.records import Manifest
from seatrial.store.shards import Shard, Stub
from seatrial.store.writer import Writer


def merge(
    folder: Path,
    manifest: Manifest,
    shards: Sequence[Shard],
    *,
    seen: Callable[[Shard, Sequence[Stub], bytes], None],
    whole: Callable[[], bool],
) -> None:
    """Write a run folder that holds the trials of all shards, one shard behind the other, read once.

    What goes wrong leaves nothing behind.

    Args:
        folder: the new folder.
        manifest: what the whole run says of itself.
        shards: where the trials are.
        seen: told of trials as they are read, with their shard and the lines of their records; what it raises ends
            the merge.
        whole: asked when all are read: nothing is missing, so that the run has ended and is sealed.

    Raises:
        UsageError: the folder is in use or holds something already.
        StorageError: a shard was altered or cannot be read, or the folder cannot be written.
    """
    new = not folder.exists()
    try:
        writer = Writer.create(folder, manifest, shards[0].documents())
    except StorageError:
        if new:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    with writer:
        try:
            writer.take_in(shards, seen)
            writer.leave_open = not whole()
        except BaseException:
            writer.leave_open = True
            shutil.rmtree(folder, ignore_errors=True)
            raise
