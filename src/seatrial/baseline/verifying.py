"""Whether released baselines are what was released: their files, their order, their commits, and their approvers.

Nothing that a `release.json` says of its author is believed: who had a hand in the commits is found again in git.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from seatrial.baseline import branch, folders, listing
from seatrial.baseline.approval import same_person
from seatrial.baseline.hands import hands_of
from seatrial.baseline.sealed import Sealed, digest
from seatrial.errors import BaselineError, Error
from seatrial.git import Repository
from seatrial.records import Release
from seatrial.store import Run


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found out of one release."""

    where: str
    release: Release
    wrong: tuple[str, ...] = ()
    """What is not as it was released, or never should have been."""
    unknown: tuple[str, ...] = ()
    """What cannot be verified here."""


def verify(
    repository: Repository | None, *, folder: str, place: str | None = None
) -> tuple[Verified, ...]:
    """Every release of the branch, newest first, or those of a folder.

    Args:
        repository: the repository with the branch and the commits.
        folder: what paths of the repository have before those of the documents: nothing, or a folder.
        place: a folder that `release --to` wrote, instead of the branch.

    Raises:
        BaselineError: there is none, or a `release.json` cannot be read.
    """
    if place is not None:
        return tuple(
            _of_folder(place, release, repository, folder)
            for release, _ in listing.released(place, repository=None)
        )
    there = listing.demand_repository(repository)
    found: list[Verified] = []
    chains: dict[tuple[str, str], list[tuple[str, Release]]] = {}
    for commit, release in listing.history(there):
        chains.setdefault((release.suite, release.agent), []).append((commit, release))
    for chain in chains.values():
        for at, (commit, release) in enumerate(chain):
            before = chain[at + 1] if at + 1 < len(chain) else None
            found.append(_of_branch(there, commit, release, before, folder))
    return tuple(found)


def _of_folder(
    place: str, release: Release, repository: Repository | None, folder: str
) -> Verified:
    below = Path(place) / branch.folder(release.suite, release.agent)
    files = folders.Files(below if below.is_dir() else Path(place))
    wrong = list(_of_files(files, release, place))
    unknown: list[str] = []
    if not wrong:
        wrong += _of_people(release, files, repository, folder, place, unknown)
    return Verified(place, release, tuple(wrong), tuple(unknown))


def _of_branch(
    repository: Repository,
    commit: str,
    release: Release,
    before: tuple[str, Release] | None,
    folder: str,
) -> Verified:
    below = branch.folder(release.suite, release.agent)
    files = branch.Files(repository, commit, below)
    where = f"{branch.BRANCH} at {commit[:12]}"
    unknown: list[str] = []
    wrong = [
        *_of_files(files, release, where),
        *_of_order(repository, release, before, below, unknown),
    ]
    if not wrong:
        wrong += _of_people(release, files, repository, folder, where, unknown)
    return Verified(where, release, tuple(wrong), tuple(unknown))


def _of_files(files: Mapping[str, bytes], release: Release, where: str) -> Iterator[str]:
    """Each file against its digest; and the seal of the run, which is among them."""
    for path, sealed in release.files.items():
        if path not in files:
            yield f"{path} is missing"
        elif digest(files[path]) != sealed:
            yield f"{path} is not what was released"
    try:
        run = Run.of_files(Sealed(files, release.files, where), where=where)
        if (run.manifest.run, run.manifest.revision) != (release.run, release.revision):
            yield f"its run is {run.manifest.run}, not {release.run}, or of another commit"
        counted = sum(1 for _ in run.records(release.arm))
        if counted != release.trials:
            yield f"it has {counted} trials, not {release.trials}"
    except (Error, KeyError) as error:
        yield error.message if isinstance(error, Error) else f"{error} is missing"


def _of_order(
    repository: Repository,
    release: Release,
    before: tuple[str, Release] | None,
    below: str,
    unknown: list[str],
) -> Iterator[str]:
    """That it follows the release that it was held against, and counts its people from there."""
    if before is None:
        if release.previous:
            yield "it follows a release that the branch does not hold"
        return
    commit, earlier = before
    if not release.previous:
        unknown.append("an earlier Seatrial released it, which did not keep what it follows")
        return
    data = repository.read_file(commit, f"{below}/{branch.RELEASE}")
    if data is None or digest(data) != release.previous:
        yield f"it does not follow the release of run {earlier.run}, which lies before it"
    known = earlier.revision is not None and repository.ref(earlier.revision) is not None
    if known and release.since != earlier.revision and _later(repository, release, earlier):
        yield "it counts who had a hand in it from another commit than that of the release before it"


def _later(repository: Repository, release: Release, earlier: Release) -> bool:
    """Whether commits between the two releases were not counted."""
    if release.since is None or earlier.revision is None:
        return False  # all of the history counted
    if repository.ref(release.since) is None:
        return True
    return not repository.is_ancestor(release.since, earlier.revision)


def _of_people(
    release: Release,
    files: Mapping[str, bytes],
    repository: Repository | None,
    folder: str,
    where: str,
    unknown: list[str],
) -> Iterator[str]:
    """That the approver had no hand in what was released."""
    if release.revision is None:
        unknown.append(f"it is of no commit: {release.dirty}")
        return
    if repository is None or repository.ref(release.revision) is None:
        unknown.append(f"the commit {release.revision[:12]} is not in this clone")
        return
    if release.tree and repository.tree(release.revision) != release.tree:
        yield f"the commit {release.revision[:12]} holds other files than it says"
    since = release.since if release.since and repository.ref(release.since) else None
    if release.since and since is None:
        unknown.append(f"the commit {release.since[:12]}, from which its people count, is not here")
        return
    try:
        catalog = Run.of_files(files, where=where).catalog
    except BaselineError as error:
        yield error.message
        return
    found = hands_of(
        catalog, release.arm, release.policy_changes, release.revision,
        repository=repository, folder=folder, since=since,
    )  # fmt: skip
    if found.unknown:
        unknown.append(found.unknown)
        return
    own = sorted(p for p in found.people if same_person(release.approved_by, p))
    if own:
        yield f"{release.approved_by}, who approved it, is {own[0]}, who had a hand in it"
    elif release.approved_by.casefold() in {hand.casefold() for hand in release.hands}:
        yield f"{release.approved_by}, who approved it, is among those who had a hand in it"
