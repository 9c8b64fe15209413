"""Approvals of policy changes: who may give them, where they are kept, and which of them count.

Recorded ones lie on the branch of the baselines, `approvals/<commit>/<digest of who and why>/approval.json`, out of
reach of the change that they are about. One counts when it is of the very commit that was run, of the change as it
stands there, and given by somebody who had no hand in it: no author, committer or co-author of any commit since the
base. Where that cannot be known, it does not count.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from seatrial.baseline import branch
from seatrial.baseline.approval import same_person
from seatrial.baseline.sealed import digest
from seatrial.errors import BaselineError, UsageError, printable
from seatrial.gate import RuledChange
from seatrial.git import Person, Repository
from seatrial.records import Approval, PolicyChange
from seatrial.store import Run

FOLDER = "approvals"
_FILE = "approval.json"


def judged(
    run: Run, repository: Repository | None, given: Sequence[Approval] = ()
) -> tuple[RuledChange, ...]:
    """Each policy change of a run, and who lets it pass.

    Args:
        run: the run.
        repository: the one it was made from, with the branch of the baselines.
        given: approvals beside those on the branch, as the forge tells of them.

    Raises:
        BaselineError: an approval on the branch cannot be read, or the branch has gone apart.
        RevisionError: git failed.
    """
    changes = run.manifest.policy_changes or ()
    if not changes:
        return ()
    known = _Change.of(run, repository)
    found = [(a, known.why_not(a)) for a in given]
    if repository is not None:
        found += [(a, why or known.why_not(a)) for a, why in _recorded(repository, known.commits)]
    return tuple(_ruled(change, found) for change in changes)


def approve(
    run: Run,
    repository: Repository | None,
    changes: Sequence[str],
    *,
    reason: str,
    push_to: str | None = None,
) -> tuple[Approval, str]:
    """Record that whom git commits for approves policy changes of a run.

    Args:
        run: the run that lists them.
        repository: the one it was made from.
        changes: ids of the changes.
        reason: why they may be made.
        push_to: the remote whose branch moves as well.

    Returns:
        The approval, and where it lies.

    Raises:
        UsageError: there is no such change, or somebody else has to approve it.
        BaselineError: there is nowhere to keep it.
        RevisionError: git cannot commit, or the remote refuses.
    """
    if repository is None or run.manifest.revision is None:
        raise BaselineError("only policy changes of a commit can be approved")
    if not reason.strip():
        raise UsageError("an approval says why", hint="--reason TEXT")
    known = {change.id for change in run.manifest.policy_changes or ()}
    strange = [id for id in changes if id not in known]
    if strange or not changes:
        raise UsageError(
            f"run {run.manifest.run} has no policy change {strange[0]!r}" if strange else "which change?",
            hint="`seatrial gate RUN` lists them with their ids" if known else "it has none at all",
        )  # fmt: skip
    who = repository.identity()
    made = Approval(
        commit=run.manifest.revision,
        changes=tuple(dict.fromkeys(changes)),
        by=printable(str(who)),
        how="recorded",
        at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        reason=printable(reason.strip()),
    )
    against = _Change.of(run, repository).why_not(made)
    if against:
        raise UsageError(
            f"{made.by} cannot approve this: {against}",
            hint="commit everything, and run it again"
            if run.manifest.dirty
            else f"seatrial approve {run.manifest.run} …, by somebody without a hand in it, in whose name git "
            "commits, in a clone that holds the whole change",
        )
    below = f"{FOLDER}/{made.commit}/{digest(json.dumps([made.by, made.reason]).encode())[:16]}"
    tip = branch.tip(repository)
    before = repository.read_file(tip.commit, f"{below}/{_FILE}") if tip else None
    if before is not None:
        earlier = _parsed(before, below).changes or ()
        made = made.model_copy(
            update={"changes": tuple(dict.fromkeys((*earlier, *(made.changes or ()))))}
        )
    files = {_FILE: made.model_dump_json(indent=1).encode() + b"\n"}
    message = (
        f"Approve {len(changes)} policy changes of {made.commit[:12]}\n\n{made.reason}\n\n"
        f"Approved-by: {made.by}\n"
    )
    commit = branch.write(repository, below, files, message, push_to)
    return made, f"{branch.BRANCH} at {commit[:12]}"


@dataclass(frozen=True, slots=True)
class _Change:
    """The change that is approved."""

    commits: frozenset[str]
    """The commit that was run; where that is a merge of the change into its base, the change's own head."""
    people: frozenset[Person] | None
    """Who had a hand in it; None where that is not known."""
    unknown: str = ""
    """Why it is not known."""
    dirty: bool = False

    @classmethod
    def of(cls, run: Run, repository: Repository | None) -> _Change:
        manifest = run.manifest
        revision, base = manifest.revision, manifest.base
        if repository is None or revision is None or base is None:
            return cls(
                frozenset(), None, "no commits say what was run and what it is compared with"
            )
        if repository.ref(revision) is None or repository.ref(base) is None:
            return cls(
                frozenset({revision}), None, "its commits are not in this clone", manifest.dirty
            )
        commits = {revision}
        parents = repository.parents(revision)
        if len(parents) == 2 and parents[0] == base:
            commits.add(parents[1])
        if repository.is_cut_off(revision, since=base):
            return cls(
                frozenset(commits), None, "this clone is shallow and does not hold the whole change "
                "(git fetch --unshallow; in GitHub Actions: actions/checkout with fetch-depth: 0)", manifest.dirty,
            )  # fmt: skip
        return cls(
            frozenset(commits), repository.people(revision, since=base), dirty=manifest.dirty
        )

    def why_not(self, approval: Approval) -> str:
        """Why an approval does not count; empty when it does."""
        if self.dirty:
            return "the work tree was not what its commit says, so nobody can have looked at it"
        if approval.commit not in self.commits:
            return f"it is of commit {approval.commit[:12]}, which is not what was run"
        if self.people is None:
            # Of a review the forge has said who wrote and who pushed the change.
            return (
                ""
                if approval.how == "review"
                else f"who wrote the change is not known: {self.unknown}"
            )
        own = sorted(p for p in self.people if same_person(approval.by, p))
        return f"it is by {own[0]}, who had a hand in the change" if own else ""


def _recorded(repository: Repository, commits: frozenset[str]) -> Iterator[tuple[Approval, str]]:
    """The approvals on the branch, each with why it does not count: whoever it names must have committed it."""
    tip = branch.tip(repository)
    if tip is None:
        return
    below = [f"{FOLDER}/{commit}" for commit in sorted(commits)]
    for path, data in repository.read_tree(tip.commit, below).items() if below else ():
        approval = _parsed(data, path)
        written = repository.log(tip.commit, [path])
        # Neither a co-author nor a `.mailmap`, which the change may bring, says who committed it.
        if approval.how != "recorded":
            yield approval, f"it lies on {branch.BRANCH}, where nobody's review is kept"
        elif written and approval.by == printable(str(repository.committer(written[0][0]))):
            yield approval, ""
        else:
            yield (
                approval,
                (
                    f"it names {approval.by}, and somebody else committed it, or this clone does not hold the whole "
                    f"branch (git fetch {repository.remote() or 'origin'} {branch.BRANCH})"
                ),
            )


def _ruled(change: PolicyChange, found: Sequence[tuple[Approval, str]]) -> RuledChange:
    covering = [(approval, why) for approval, why in found if approval.covers(change)]
    for approval, why in covering:
        if not why:
            return RuledChange(
                change=change, approved_by=approval.by, approved_at=approval.at, reason=approval.reason
            )  # fmt: skip
    refused = tuple(
        printable(f"the approval of {a.by} does not count: {why}") for a, why in covering
    )
    return RuledChange(change=change, refused=refused)


def _parsed(data: bytes, where: str) -> Approval:
    try:
        return Approval.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(map(str, first["loc"]))
        raise BaselineError(f"{where} is no approval: {at}: {first['msg']}") from error
