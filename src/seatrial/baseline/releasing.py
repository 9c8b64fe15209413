"""Making a run the released baseline."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seatrial.baseline import branch, folders
from seatrial.baseline.approval import objections
from seatrial.baseline.sealed import digests
from seatrial.errors import BaselineError, UsageError, printable
from seatrial.git import Repository
from seatrial.records import Release
from seatrial.store import Run
from seatrial.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Released:
    """A release that stands."""

    release: Release
    where: str
    """The branch and commit, or the folder."""


def release(
    run: Run,
    arm: str | None,
    *,
    approved_by: str,
    repository: Repository | None,
    to: Path | None = None,
    push_to: str | None = None,
    message: str = "",
    allow_dirty: str = "",
) -> Released:
    """Make the trials of one arm of a complete run the baseline of its agent in its suite.

    Args:
        run: The run.
        arm: Whose trials; may be left out where the run has one arm.
        approved_by: Who answers for it: a name, an address, or both.
        repository: The repository the run was made from.
        to: A folder to write to, instead of the branch.
        push_to: The remote whose branch moves as well.
        message: Kept with the release.
        allow_dirty: Why a run that no commit describes may be released; kept with the release.

    Raises:
        UsageError: something speaks against it; every reason is named.
        BaselineError: there is nowhere to write it to, or others kept winning.
        RevisionError: git cannot commit, or the remote refuses.
        StorageError: the folder cannot be written.
    """
    arm = _one_arm(run, arm)
    if not approved_by.strip():
        raise UsageError("somebody must approve a release", hint="--approved-by NAME")
    records = tuple(run.records(arm))
    against = list(
        objections(
            run,
            arm,
            records,
            repository=repository,
            approved_by=approved_by,
            allow_dirty=allow_dirty,
        )
    )
    if against:
        raise UsageError(
            f"run {run.manifest.run} cannot be released:\n" + "\n".join(f"  - {a}" for a in against)
        )
    if to is None and repository is None:
        raise BaselineError(
            "outside of a git repository there is no branch to release to", hint="--to DIR"
        )
    files = run.export(arm)
    document = run.catalog.arms[arm]
    verdicts = Counter(r.verdict for r in records)
    made = Release(
        suite=run.manifest.suite,
        agent=document.agent,
        arm=arm,
        version=document.version,
        run=run.manifest.run,
        seatrial=run.manifest.seatrial,
        revision=run.manifest.revision,
        dirty=printable(allow_dirty) if run.manifest.dirty or not run.manifest.revision else "",
        approved_by=printable(approved_by.strip()),
        released_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        message=printable(message, keep="\n"),
        cases=len({r.case for r in records}),
        trials=len(records),
        passed=verdicts[Verdict.PASSED],
        invalid=verdicts[Verdict.INVALID],
        files=digests(files),
    )
    whole = {**files, branch.RELEASE: made.model_dump_json(indent=1).encode() + b"\n"}
    return Released(made, _put(whole, made, repository=repository, to=to, push_to=push_to))


def _put(
    files: Mapping[str, bytes],
    made: Release,
    *,
    repository: Repository | None,
    to: Path | None,
    push_to: str | None,
) -> str:
    below = branch.folder(made.suite, made.agent)
    if to is not None:
        return str(folders.write(to, below, files))
    assert repository is not None
    commit = branch.write(repository, below, files, _commit_message(made), push_to)
    return f"{branch.BRANCH} at {commit[:12]}"


def _one_arm(run: Run, arm: str | None) -> str:
    rerun = run.manifest.rerun
    if rerun is not None and arm == rerun.arm and arm not in run.manifest.candidates:
        raise UsageError(
            f"{arm} is the released arm itself, run again beside the candidate",
            hint="run it by itself to record it anew",
        )
    arms = run.manifest.candidates
    listed = ", ".join(arms)
    if arm is None and len(arms) == 1:
        return arms[0]
    if arm is None:
        raise UsageError(
            f"run {run.manifest.run} has {len(arms)} arms; one of them is released",
            hint=f"--arm, with one of {listed}",
        )
    if arm not in arms:
        raise UsageError(f"run {run.manifest.run} has no arm {arm!r}", hint=f"it has {listed}")
    return arm


def _commit_message(made: Release) -> str:
    lines = [
        f"Release {made.agent} {made.version} for suite {made.suite}",
        "",
        *([made.message, ""] if made.message else []),
        f"Run: {made.run}",
        f"Arm: {made.arm}",
        f"Revision: {made.revision or 'none'}",
        *([f"Not of a commit: {made.dirty}"] if made.dirty else []),
        f"Approved-by: {made.approved_by}",
    ]
    return "\n".join(lines) + "\n"
