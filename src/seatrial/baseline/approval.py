"""What speaks against releasing a run: evidence that is not whole, and an author who approves himself."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from seatrial.baseline.hands import Hands
from seatrial.errors import RevisionError, printable
from seatrial.git import Person, Repository
from seatrial.records import PlannedCase, TrialRecord
from seatrial.store import Run
from seatrial.verdicts import Verdict

_ADDRESS = re.compile(r"^\s*(.*?)\s*<\s*([^<>]+?)\s*>\s*$")
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Approver:
    """Who answers for a release."""

    name: str
    """`Name <address>`, an address, or the login at the forge."""
    how: Literal["typed", "environment"] = "typed"
    logins: frozenset[str] = frozenset()
    """Logins of those who had a hand in what is released, as the forge tells them; for how=environment."""
    strangers: tuple[str, ...] = ()
    """Those of whom the forge does not say who they are, a sentence each: any of them may be the approver."""


def objections(
    run: Run,
    arm: str,
    records: tuple[TrialRecord, ...],
    *,
    repository: Repository | None,
    approver: Approver,
    hands: Hands,
    allow_dirty: str,
    commit: str | None,
) -> Iterator[str]:
    """Every reason not to release the trials of `arm`, a sentence each with what to do about it."""
    if not run.sealed:
        yield f"the run has not ended; go on with: seatrial run --resume {run.manifest.run}"
    yield from _gaps(run, arm, records)
    yield from _origin(run, repository, allow_dirty)
    if commit is not None and run.manifest.revision != commit:
        yield (
            f"the run was made from {(run.manifest.revision or 'no commit')[:10]}, not from {commit[:10]}; "
            "run again on that commit"
        )
    yield from _four_eyes(run, repository, approver, hands)


def _gaps(run: Run, arm: str, records: tuple[TrialRecord, ...]) -> Iterator[str]:
    """What a baseline of this suite needs and the run does not have."""
    manifest, catalog = run.manifest, run.catalog
    agent = catalog.arms[arm].agent
    planned = {c.case: c for c in manifest.plan if c.selected}
    of_others = {entry.case for entry in manifest.plan if not entry.answered_by(arm)}
    wanted = [
        c
        for c in catalog.suite_cases(catalog.suites[manifest.suite])
        if c.agent == agent and c.id not in of_others
    ]
    left_out = [c.id for c in wanted if c.id not in planned]
    if not wanted:
        yield f"suite {manifest.suite} has no case for the agent {agent}"
    if left_out:
        yield (
            f"{len(left_out)} of {len(wanted)} cases were left out of the run ({_some(left_out)}); "
            f"run the whole suite: seatrial run --suite {manifest.suite} --arm {arm}"
        )
    numbers: dict[str, set[int]] = {}
    for record in records:
        numbers.setdefault(record.case, set()).add(record.number)
    of_agent = [planned[c.id] for c in wanted if c.id in planned]
    # An adaptive run ends a case at its first forbidden action, and going on adds nothing.
    halted = {r.case for r in records if r.forbidden} if manifest.adding is not None else set()
    cut = [c for c in of_agent if c.case in halted and len(numbers[c.case]) < c.trials]
    if cut:
        yield (
            f"{_some([c.case for c in cut])} ended at a forbidden action, before all trials were run; to "
            f"record it all the same: seatrial run --suite {manifest.suite} --arm {arm} "
            f"--trials {manifest.trials}"
        )
    missing = [
        trial
        for case in of_agent
        if case not in cut
        for trial in _missing(case, numbers.get(case.case, set()))
    ]
    if missing:
        yield (
            f"{len(missing)} of {sum(c.trials for c in of_agent)} planned trials have no record "
            f"({_some(missing)}); go on with: seatrial run --resume {manifest.run}"
        )
    valid = Counter(r.case for r in records if r.verdict is not Verdict.INVALID)
    blank = [c.case for c in of_agent if numbers.get(c.case) and not valid[c.case]]
    if blank:
        yield (
            f"no trial of {_some(blank)} is valid, so there would be nothing to hold a change "
            "against; mend the cause and run again"
        )


def _missing(case: PlannedCase, recorded: set[int]) -> Iterator[str]:
    for number in range(1, case.trials + 1):
        if number not in recorded:
            yield f"{case.case} #{number}"


def _origin(run: Run, repository: Repository | None, allow_dirty: str) -> Iterator[str]:
    """Whether a commit says what the run was made from, and whether that commit is known here."""
    revision, regraded = run.manifest.revision, run.manifest.regraded
    if regraded is not None and (regraded.dirty or regraded.revision is None) and not allow_dirty:
        yield (
            "no commit says by which checks it was graded again; commit and grade again, or say why it "
            "may be released all the same: --allow-dirty REASON"
        )
    if revision is None:
        if not allow_dirty:
            yield (
                "the run was made outside of git or before the first commit, so no commit says what was "
                "run; commit and run again, or say why it may be released all the same: --allow-dirty REASON"
            )
        return
    if run.manifest.dirty and not allow_dirty:
        now = repository.dirty_paths() if repository else ()
        differing = f" (now differ: {_some(sorted(now))})" if now else ""
        yield (
            f"the work tree was not what {revision[:10]} says when it ran{differing}; commit and run again, "
            "or say why it may be released all the same: --allow-dirty REASON"
        )
    if repository is None:
        yield f"the run was made from the commit {revision[:10]}, and there is no repository here"
        return
    try:
        repository.resolve(revision)
    except RevisionError as error:
        yield f"the run was made from a commit that is not here: {error.message}; {error.hint}"


def _four_eyes(
    run: Run, repository: Repository | None, approver: Approver, hands: Hands
) -> Iterator[str]:
    """Whether the approver had a hand in what is released, or in the checks that graded it; unknown is refused."""
    shown = printable(approver.name)
    if hands.unknown:
        yield hands.unknown
    regraded = run.manifest.regraded
    by_commit = dict(hands.commits)
    if (
        regraded is not None
        and regraded.revision
        and repository
        and repository.ref(regraded.revision)
    ):
        by_commit[regraded.revision] = repository.people(regraded.revision)
    for commit, people in by_commit.items():
        own = sorted(p for p in people if same_person(approver.name, p))
        if own:
            when = (
                ""
                if commit in (run.manifest.revision, regraded and regraded.revision)
                else (", which touches what is released, and is not in what was released before")
            )
            yield (
                f"{shown} is {printable(str(own[0]))}, who wrote or committed {commit[:10]}{when}; somebody else "
                "must approve it"
            )
            break
    else:
        if approver.how == "typed" and not _names_an_address(approver.name):
            yield (
                f"nobody can tell whether {shown} is one of the authors; give an address: --approved-by "
                '"Name <name@example.org>"'
            )
    if approver.name.casefold() in {login.casefold() for login in approver.logins}:
        yield (
            f"{shown} wrote, committed, proposed or pushed what is released, as the forge tells; somebody else must "
            "approve it"
        )
    yield from approver.strangers


def _names_an_address(name: str) -> bool:
    found = _ADDRESS.match(name)
    return "@" in (found[2] if found else name).strip("@")


def same_person(approver: str, person: Person) -> bool:
    """Whether `Name`, `name@example.org`, `Name <name@example.org>` or a login means this person.

    Names and addresses are compared without regard to case and to what nobody sees, accents stay; the part of
    an address before the `@` counts as a name (of GitHub's `1234+login@…` what follows the `+`). What others
    write behind a `+` leads to the same mailbox. Two people of one name are taken for one: give the other
    one's address without the name.
    """
    found = _ADDRESS.match(approver)
    given = {_folded(part) for part in (found.groups() if found else (approver,))} - {""}
    given |= {_mailbox(part) for part in given if "@" in part}
    address = _folded(person.email)
    mailbox = _mailbox(address)
    locals = {one.partition("@")[0] for one in (address, mailbox)}
    behind = address.partition("@")[0].rpartition("+")[2]
    return bool(given & ({_folded(person.name), address, mailbox, behind, *locals} - {""}))


def _mailbox(address: str) -> str:
    """The address without what may be added to it."""
    local, _, domain = address.partition("@")
    domain = domain.rstrip(".")
    if domain.startswith("users.noreply."):
        return f"{local.rpartition('+')[2]}@{domain}"
    return f"{local.partition('+')[0] or local}@{domain}"


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    seen = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return " ".join(seen.split())


def _some(names: list[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
