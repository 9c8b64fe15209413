"""Adding a batch to the ledger of a release: what may be added, and where it lands."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from seatrial.baseline import branch, folders
from seatrial.baseline.ledger import BATCH, folder_of
from seatrial.baseline.resolving import Baseline
from seatrial.baseline.sealed import digest, digests
from seatrial.comparability import between, expanded, is_own
from seatrial.compare import Side
from seatrial.compare.pooling import pool
from seatrial.compare.sides import Served
from seatrial.errors import BaselineError, UsageError
from seatrial.git import Repository
from seatrial.records import Batch, Manifest, TrialRecord
from seatrial.store import Run
from seatrial.verdicts import Verdict

Kind = Literal["baseline", "watch"]
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Added:
    """A batch that lies in the ledger."""

    batch: Batch
    where: str
    """The branch and commit, or the folder."""

    @property
    def trials(self) -> int:
        """Its trials, the invalid ones among them."""
        return sum(sum(tally) for tally in self.batch.tallies.values())


def apart_from_release(manifest: Manifest, arm: str, found: Baseline) -> tuple[str, ...]:
    """In which components of its own an arm is not the released one; each once, over all cases.

    A case that the release does not have says nothing.
    """
    release = found.run.manifest
    apart: dict[str, None] = {}
    for key, components in manifest.fingerprints.items():
        case, _, of = key.rpartition("@")
        released = release.fingerprints.get(f"{case}@{found.info.arm}")
        if of == arm and released is not None:
            here = expanded(components, manifest.toolsets)
            there = expanded(released, release.toolsets)
            apart |= dict.fromkeys(name for name in between(there, here) if is_own(name))
    return tuple(apart)


def valid_trials(found: Baseline, candidate: Side) -> dict[str, int]:
    """Case → valid trials of the release, its ledger included, that count under a side's conditions."""
    # Where only the checks changed, its traces are graded again, and count.
    sides = [
        replace(side, regraded=frozenset(side.concerned()))
        for run, arm in found.parts
        for side in [Side.of(run.manifest, run.catalog, arm, run.records(arm), where=run.where)]
    ]
    cases = tuple(candidate.concerned())
    counted = pool(sides[0], sides[1:], None, candidate, Served(), cases)
    return {
        case: counted.stored[case].valid
        for case in cases
        if case in counted.stored and not counted.standing[case].apart
    }


def add(
    run: Run,
    arm: str | None,
    found: Baseline,
    *,
    kind: Kind = "baseline",
    target: int | None = None,
    repository: Repository | None = None,
    push_to: str | None = None,
) -> Added:
    """Add the first batch of every case of a run to the ledger of a release.

    Args:
        run: the run; every trial that was planned beforehand has a record.
        arm: whose trials; may be left out where there is one to choose.
        found: the release. It must still be the one in force when the batch is written.
        kind: `baseline`: of the released arm, to count as its trials. `watch`: of a later version.
        target: valid trials of a case, the ledger's included, beyond which no more of it are added.
        repository: the repository, where the release lies on its branch.
        push_to: the remote whose branch moves as well.

    Raises:
        UsageError: something speaks against it; every reason is named.
        BaselineError: the release has changed meanwhile, or nothing can be added to this one.
        RevisionError: git cannot commit, or the remote refuses.
        StorageError: the folder cannot be written.
    """
    if found.release is None or not (found.newest or found.folder):
        raise BaselineError(
            f"{found.info.where} is no release in force, so nothing can be added to its ledger",
            hint="leave out --baseline for the newest release, or name the folder of one",
        )
    run.demand_end()
    arm = _one_arm(run, arm)
    against = list(_objections(run, arm, found, kind))
    if against:
        raise UsageError(
            f"run {run.manifest.run} cannot be added to the ledger of {found.info.arm} "
            f"{found.info.version}:\n" + "\n".join(f"  - {a}" for a in against)
        )
    full = _full(run, arm, found, target) if target is not None else frozenset[str]()
    planned = {c.case: c.trials for c in run.manifest.selected() if c.case not in full}

    def wanted(record: TrialRecord) -> bool:
        return record.number <= planned.get(record.case, 0)

    batch = _batch(run, arm, found, kind, [r for r in run.records(arm) if wanted(r)])
    if not batch.tallies:
        raise UsageError(
            f"nothing is added: every case of run {run.manifest.run} has {target} valid trials or more"
        )
    files = run.export(arm, wanted)
    batch = batch.model_copy(update={"files": digests(files)})
    whole = {**files, BATCH: batch.model_dump_json(indent=1).encode() + b"\n"}
    return Added(batch, _put(whole, batch, found, repository=repository, push_to=push_to))


def _objections(run: Run, arm: str, found: Baseline, kind: Kind) -> Iterator[str]:
    manifest, release = run.manifest, found.release
    assert release is not None
    agent = run.catalog.arms[arm].agent
    if (manifest.suite, agent) != (release.suite, release.agent):
        yield (
            f"it is of {agent} in suite {manifest.suite}, the release of {release.agent} in suite "
            f"{release.suite}"
        )
        return
    known = {release.run, *(recorded.batch.run for recorded in found.batches)}
    if manifest.run in known:
        yield "its trials are in the baseline already"
    if manifest.regraded is not None:
        yield f"its trials are those of run {manifest.regraded.run}, graded again: add that one"
    pinned = manifest.recording
    if pinned is not None and pinned.release_digest != found.digest:
        yield f"it was recorded for release {pinned.release}, which is no longer in force"
    if arm not in manifest.candidates:
        yield f"{arm} was run beside a candidate, where its trials may be run on suspicion"
    if kind == "baseline" and (apart := apart_from_release(manifest, arm, found)):
        yield (
            f"{arm} is not what was released: {_some(apart)} differ{'s' * (len(apart) == 1)}. A "
            "ledger is pinned to the released version"
        )
    yield from _incomplete(run, arm)


def _incomplete(run: Run, arm: str) -> Iterator[str]:
    """What keeps the run from being a whole batch whose size was set before its first trial."""
    manifest = run.manifest
    cases = run.catalog.cases
    agent = run.catalog.arms[arm].agent
    planned = [
        c
        for c in manifest.selected()
        if c.case in cases and cases[c.case].agent == agent and c.answered_by(arm)
    ]
    chosen = [c.case for c in planned if c.by_hand]
    if chosen:
        yield (
            f"{_some(chosen)} {'was' if len(chosen) == 1 else 'were'} asked for by --case: trials that are "
            "run because of how earlier ones went would bend the rates"
        )
    recorded = {(r.case, r.number): r.verdict for r in run.records(arm)}
    missing = [
        f"{c.case} #{number}"
        for c in planned
        for number in range(1, c.trials + 1)
        if (c.case, number) not in recorded
    ]
    if missing:
        yield (
            f"{len(missing)} of {sum(c.trials for c in planned)} planned trials have no record "
            f"({_some(missing)}); go on with: seatrial run --resume {manifest.run}"
        )
    elif all(verdict is Verdict.INVALID for verdict in recorded.values()):
        yield "none of its trials is valid; mend the cause and run again"


def _full(run: Run, arm: str, found: Baseline, target: int) -> frozenset[str]:
    side = Side.of(run.manifest, run.catalog, arm, (), where=run.where)
    return frozenset(case for case, n in valid_trials(found, side).items() if n >= target)


def _batch(run: Run, arm: str, found: Baseline, kind: Kind, records: list[TrialRecord]) -> Batch:
    manifest, release = run.manifest, found.release
    assert release is not None
    counted: dict[str, Counter[Verdict]] = {}
    for record in records:
        counted.setdefault(record.case, Counter())[record.verdict] += 1
    return Batch(
        kind=kind,
        suite=release.suite,
        agent=release.agent,
        release=release.run,
        release_digest=found.digest,
        run=manifest.run,
        arm=arm,
        version=run.catalog.arms[arm].version,
        revision=manifest.revision,
        dirty=manifest.dirty,
        seatrial=manifest.seatrial,
        run_at=manifest.created_at,
        added_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        tallies={
            case: (of[Verdict.PASSED], of[Verdict.FAILED], of[Verdict.INVALID])
            for case, of in sorted(counted.items())
        },
    )


def _put(
    files: Mapping[str, bytes],
    batch: Batch,
    found: Baseline,
    *,
    repository: Repository | None,
    push_to: str | None,
) -> str:
    below = branch.folder(batch.suite, batch.agent)
    if found.folder is not None:
        home = found.folder
        return str(
            folders.write(
                *_root_of(home, below, folder_of(batch)),
                files,
                check=lambda: _same(folders.Files(home).get(branch.RELEASE), found),
            )
        )
    assert repository is not None
    place = repository

    def check(parent: str | None) -> None:
        path = f"{below}/{branch.RELEASE}"
        _same(place.read_file(parent, path) if parent is not None else None, found)

    message = _message(batch)
    into = f"{below}/{folder_of(batch)}"
    commit = branch.write(place, into, files, message, push_to, check=check)
    return f"{branch.BRANCH} at {commit[:12]}"


def _root_of(folder: Path, below: str, inside: str) -> tuple[Path, str]:
    """The folder that `release --to` was given, whose lock every writer takes, and the rest of the path."""
    root = folder.resolve()
    if root.as_posix().endswith(f"/{below}"):
        return root.parents[below.count("/")], f"{below}/{inside}"
    return root, inside


def _same(release: bytes | None, found: Baseline) -> None:
    if release is None or digest(release) != found.digest:
        raise BaselineError(
            f"{found.info.arm} {found.info.version} is no longer the release: another one was made while "
            "this batch was recorded, and nothing was added",
            hint="record a batch of the new release: seatrial baseline record",
        )


def _one_arm(run: Run, arm: str | None) -> str:
    manifest = run.manifest
    arms = manifest.candidates
    if arm is None and len(arms) == 1:
        return arms[0]
    listed = ", ".join(manifest.arms)
    if arm is None:
        raise UsageError(
            f"run {manifest.run} has {len(arms)} arms", hint=f"--arm, with one of {listed}"
        )
    if arm not in manifest.arms:
        raise UsageError(f"run {manifest.run} has no arm {arm!r}", hint=f"it has {listed}")
    return arm


def _message(batch: Batch) -> str:
    trials = sum(sum(tally) for tally in batch.tallies.values())
    what = f"{batch.agent} {batch.version} for suite {batch.suite}"
    done = "Record" if batch.kind == "baseline" else "Watch"
    return (
        f"{done} {trials} trials of {what}\n\n"
        f"Run: {batch.run}\nArm: {batch.arm}\nRevision: {batch.revision or 'none'}\n"
        f"Release: {batch.release}\n"
    )


def _some(names: tuple[str, ...] | list[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
