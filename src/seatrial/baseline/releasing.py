"""Making a run the released baseline."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seatrial.baseline import branch, folders
from seatrial.baseline.approval import Approver, objections
from seatrial.baseline.hands import Hands, hands, since_release
from seatrial.baseline.holding import hold
from seatrial.baseline.resolving import Baseline, in_force, resolve
from seatrial.baseline.sealed import digest, digests
from seatrial.errors import BaselineError, NothingReleased, StorageError, UsageError, printable
from seatrial.gate import RuledChange, Ruling, rule
from seatrial.git import Repository
from seatrial.records import PolicyChange, Release, TrialRecord
from seatrial.store import Run
from seatrial.verdicts import Verdict

_ATTEMPTS = 10
_OF_THE_FIRST = frozenset({"no_baseline", "margin_not_shown", "nothing_ran"})
"""Grounds of which the first release takes no account: there is nothing to hold it against, and no required case may be
marked yet. That every case has a valid trial is asked for beside."""
_OVERRIDE = "to release it all the same, say why: --override REASON, which is shown for ever"


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
    approver: Approver,
    repository: Repository | None,
    folder: str = "",
    to: Path | None = None,
    push_to: str | None = None,
    message: str = "",
    allow_dirty: str = "",
    override: str = "",
    commit: str | None = None,
) -> Released:
    """Make the trials of one arm of a complete run the baseline of its agent in its suite.

    It is held against what is released now, and refused where its gate is not open. If somebody else releases the same
    agent meanwhile, it is held against that.

    Args:
        run: The run.
        arm: Whose trials; may be left out where the run has one arm.
        approver: Who answers for it.
        repository: The repository the run was made from.
        folder: What paths of the repository have before those of the documents: nothing, or a folder.
        to: A folder to write to, instead of the branch.
        push_to: The remote whose branch moves as well.
        message: Kept with the release.
        allow_dirty: Why a run that no commit describes may be released; kept with the release.
        override: Why it may be released though its gate is not open; kept with the release.
        commit: The commit that the run must be of; None: whichever it is of.

    Raises:
        UsageError: something speaks against it; every reason is named.
        BaselineError: there is nowhere to write it to, or others kept winning.
        RevisionError: git cannot commit, or the remote refuses.
        StorageError: the folder cannot be written.
    """
    arm = _one_arm(run, arm)
    if not approver.name.strip():
        raise UsageError("somebody must approve a release", hint="--approved-by 'NAME <MAIL>'")
    if to is None and repository is None:
        raise BaselineError(
            "outside of a git repository there is no branch to release to", hint="--to DIR"
        )
    if push_to is not None and repository is not None:
        branch.update(repository, push_to)
    for _ in range(_ATTEMPTS):
        standing = _standing(run, arm, repository, to)
        before, unreadable = _before(run, arm, repository, to)
        judged = _Judged.of(run, arm, approver, before, unreadable)
        known = hands(run, arm, before, repository=repository, folder=folder)
        records = tuple(run.records(arm))
        against = list(
            objections(
                run,
                arm,
                records,
                repository=repository,
                approver=approver,
                hands=known,
                allow_dirty=allow_dirty,
                commit=commit,
            )
        )
        if judged.against and not override.strip():
            against.append(judged.against)
        if against:
            raise UsageError(
                f"run {run.manifest.run} cannot be released:\n"
                + "\n".join(f"  - {a}" for a in against)
            )
        files = run.export(arm)
        made = _made(
            run, arm, records, approver, judged, known,
            repository=repository if to is None else None, message=message, allow_dirty=allow_dirty,
            override=override, files=files, previous=digest(standing) if standing else "",
        )  # fmt: skip
        whole = {**files, branch.RELEASE: made.model_dump_json(indent=1).encode() + b"\n"}
        try:
            return Released(made, _put(whole, made, repository=repository, to=to, push_to=push_to))
        except _Overtaken:
            continue
    raise BaselineError(
        f"others released {run.catalog.arms[arm].agent} {_ATTEMPTS} times while this was tried",
        hint="try again",
    )


def hands_in(
    run: Run, arm: str | None, *, repository: Repository, folder: str, remote: str | None = None
) -> Hands:
    """Who had a hand in what `release` would put on the branch.

    Args:
        run: the run.
        arm: whose trials; may be left out where the run has one arm.
        repository: the repository.
        folder: what paths of the repository have before those of the documents.
        remote: where the branch is fetched from first.

    Raises:
        UsageError: there is no such arm.
    """
    chosen = _one_arm(run, arm)
    if remote is not None:
        branch.update(repository, remote)
    before, _ = _before(run, chosen, repository, None)
    return hands(run, chosen, before, repository=repository, folder=folder)


class _Overtaken(Exception):
    """Somebody released the same agent in the same suite meanwhile."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """What the gate says of a run, held against what is released."""

    before: Baseline | None
    ruling: Ruling | None = None
    changes: tuple[PolicyChange, ...] = ()
    """In what its documents ask less than what is released."""
    against: str = ""
    """Why it may not be released without an override; empty when it may."""

    @classmethod
    def of(
        cls, run: Run, arm: str, approver: Approver, before: Baseline | None, unreadable: str
    ) -> _Judged:
        """Whoever approves the release approves what it asks less; everything else the gate must have let pass."""
        if unreadable:
            return cls(None, against=f"what is released cannot be read: {unreadable}; {_OVERRIDE}")
        if not run.sealed:
            return cls(before)  # that is said already, and nothing can be held against anything yet
        changes = since_release(run, before)
        held = hold(run, arm, before)
        ruling = rule(
            held.comparison,
            loosened=held.loosened,
            changes=[RuledChange(change=c, approved_by=printable(approver.name)) for c in changes],
        )
        lacking = [
            ground
            for ground in ruling.grounds
            if ground.effect in ("closed", "undecided")
            and (before is not None or ground.kind not in _OF_THE_FIRST)
        ]
        if not lacking:
            return cls(before, ruling, changes)
        said = "; ".join(ground.text for ground in lacking)
        state = "closed" if any(g.effect == "closed" for g in lacking) else "undecided"
        return cls(before, ruling, changes, f"its gate is {state}: {said}; {_OVERRIDE}")


def _standing(run: Run, arm: str, repository: Repository | None, to: Path | None) -> bytes | None:
    """The `release.json` that this one would replace."""
    path = f"{branch.folder(run.manifest.suite, run.catalog.arms[arm].agent)}/{branch.RELEASE}"
    if to is not None:
        return (to / path).read_bytes() if (to / path).is_file() else None
    tip = branch.tip(repository) if repository else None
    return repository.read_file(tip.commit, path) if repository and tip else None


def _before(
    run: Run, arm: str, repository: Repository | None, to: Path | None
) -> tuple[Baseline | None, str]:
    """What is released where this would be, and why that cannot be read."""
    suite, agent = run.manifest.suite, run.catalog.arms[arm].agent
    try:
        if to is not None:
            if not (to / branch.folder(suite, agent) / branch.RELEASE).is_file():
                return None, ""
            return resolve(str(to), suite, agent, root=to, repository=None), ""
        if repository is None or branch.tip(repository) is None:
            return None, ""
        return in_force(repository, suite, agent), ""
    except NothingReleased:
        return None, ""
    except (BaselineError, StorageError) as error:
        return None, error.message


def _made(
    run: Run,
    arm: str,
    records: tuple[TrialRecord, ...],
    approver: Approver,
    judged: _Judged,
    known: Hands,
    *,
    repository: Repository | None,
    message: str,
    allow_dirty: str,
    override: str,
    files: Mapping[str, bytes],
    previous: str,
) -> Release:
    document, manifest = run.catalog.arms[arm], run.manifest
    verdicts = Counter(r.verdict for r in records)
    ruling, before = judged.ruling, judged.before
    people = {printable(str(person)) for person in known.people}
    told = before is not None or bool(judged.against)  # of the first nothing is to be said
    of_commit = repository is not None and manifest.revision is not None
    return Release(
        suite=manifest.suite,
        agent=document.agent,
        arm=arm,
        version=document.version,
        run=manifest.run,
        seatrial=manifest.seatrial,
        revision=manifest.revision,
        dirty=printable(allow_dirty) if manifest.dirty or not manifest.revision else "",
        approved_by=printable(approver.name.strip()),
        approval=approver.how,
        released_by=printable(str(repository.identity())) if repository else "",
        released_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        message=printable(message, keep="\n"),
        gate=ruling.ruling if told and ruling else None,
        gate_said=printable(ruling.headline) if told and ruling else "",
        override=printable(override.strip()) if judged.against else "",
        previous=previous,
        since=known.since,
        hands=tuple(sorted(people | {printable(login) for login in approver.logins})),
        tree=repository.tree(manifest.revision)
        if of_commit and repository and manifest.revision
        else "",
        policy_changes=judged.changes,
        cases=len({r.case for r in records}),
        trials=len(records),
        passed=verdicts[Verdict.PASSED],
        invalid=verdicts[Verdict.INVALID],
        files=digests(files),
    )


def _put(
    files: Mapping[str, bytes],
    made: Release,
    *,
    repository: Repository | None,
    to: Path | None,
    push_to: str | None,
) -> str:
    below = branch.folder(made.suite, made.agent)

    def check(release: bytes | None) -> None:
        if (digest(release) if release is not None else "") != made.previous:
            raise _Overtaken

    if to is not None:
        path = to / below / branch.RELEASE
        return str(
            folders.write(
                to, below, files, check=lambda: check(path.read_bytes() if path.is_file() else None)
            )
        )
    assert repository is not None
    commit = branch.write(
        repository,
        below,
        files,
        _commit_message(made),
        push_to,
        check=lambda tip: check(
            repository.read_file(tip, f"{below}/{branch.RELEASE}") if tip else None
        ),
    )
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
        *([f"Gate: {made.gate_said}"] if made.gate_said else []),
        *([f"Override: {made.override}"] if made.override else []),
        f"Approved-by: {made.approved_by}",
        *(["Approval: of the protected environment"] if made.approval == "environment" else []),
    ]
    return "\n".join(lines) + "\n"
