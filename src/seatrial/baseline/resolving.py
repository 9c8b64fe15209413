"""Which baseline a change is held against, and what has been released before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from seatrial.baseline import branch, folders, listing
from seatrial.baseline.ledger import Recorded, read
from seatrial.baseline.sealed import Sealed, digest
from seatrial.compare import BaselineInfo
from seatrial.errors import BaselineError, NothingReleased, RevisionError
from seatrial.git import Repository
from seatrial.records import Release
from seatrial.store import RUNS, Run

PINNED = f"{branch.BRANCH}@"
"""Before a commit: the branch as it was then, of which the release is chosen as of the branch now."""
_TREES = 5_000
"""Ancestors of a change whose trees are looked at."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A stored run to compare with, and why this one. `info.arm` names the arm whose records count."""

    run: Run
    info: BaselineInfo
    release: Release | None
    """None for a run that was named as it is and never released."""
    batches: tuple[Recorded, ...] = ()
    """What lies beside the release: its ledger, and later versions that are watched."""
    digest: str = ""
    """SHA-256 of its `release.json`."""
    folder: Path | None = None
    """The folder it lies in, where it does not lie in git."""
    newest: bool = False
    """It was found at the tip of the branch, where a batch can be added to it."""

    @property
    def ledger(self) -> tuple[Recorded, ...]:
        """Further batches of the released arm, which count as the release's own trials."""
        return tuple(found for found in self.batches if found.batch.kind == "baseline")

    @property
    def watched(self) -> tuple[Recorded, ...]:
        """Batches of later versions, the oldest first; they never count as the release's trials."""
        return tuple(found for found in self.batches if found.batch.kind == "watch")

    @property
    def parts(self) -> tuple[tuple[Run, str], ...]:
        """The released run, then the batches of its ledger, each with the arm whose trials count."""
        return (
            (self.run, self.info.arm),
            *((found.run, found.batch.arm) for found in self.ledger),
        )


def resolve(
    spec: str | None,
    suite: str,
    agent: str,
    *,
    root: Path,
    repository: Repository | None,
    since: str | None = None,
) -> Baseline:
    """The baseline of an agent in a suite.

    Args:
        spec: A folder that `release --to` wrote, the folder or id of a run, or a git ref or commit that
            holds baselines. None: the branch `seatrial-baselines`, the local one or the one last fetched,
            whichever is ahead; of its releases the newest whose commit the change descends from, else the newest.
            `seatrial-baselines@COMMIT`: the same, as the branch was at that commit.
        suite: Id of the suite.
        agent: The agent whose released version it is.
        root: Where `.seatrial/` lies.
        repository: The repository around it, if there is one.
        since: Where the change parted from what is released: its base; HEAD, when left out.

    Raises:
        NothingReleased: no baseline was named, and the branch holds none.
        BaselineError: the named one does not exist, or it cannot be read; the hint says what to type.
    """
    if spec is None:
        return _newest(suite, agent, repository, since)
    if spec.startswith(PINNED):
        return _newest(suite, agent, repository, since, spec.removeprefix(PINNED))
    for folder in (Path(spec), root / RUNS / spec):
        if folder.is_dir():
            _demand_one_meaning(spec, repository)
            return _in_folder(folder, suite, agent)
    if repository is not None:
        try:
            commit = repository.resolve(spec)
        except RevisionError as error:
            raise BaselineError(
                f"{spec!r} is neither a folder nor a revision: {error.message}", hint=error.hint
            ) from error
        return _at_commit(
            repository,
            commit,
            suite,
            agent,
            where=listing.at(spec, commit),
            reason="named by --baseline",
        )
    raise BaselineError(
        f"there is no folder {spec!r}, and no git repository that could have a ref of that name",
        hint="name a folder that `seatrial release --to` wrote",
    )


def _demand_one_meaning(spec: str, repository: Repository | None) -> None:
    """A change may bring a folder of the name by which a revision is asked for."""
    plainly = spec.startswith(("/", "./", "../"))
    if not plainly and repository is not None and repository.ref(spec) is not None:
        raise BaselineError(
            f"{spec!r} is a folder and a revision",
            hint=f"./{spec} is the folder; for the revision, take the folder away",
        )


def other_arm(run: Run, arm: str) -> Baseline:
    """An arm of a run in the baseline's place, to hold another arm of the same run against it.

    Their trials took turns, so that a drift of the provider hit both: nothing has to be confirmed by live trials.

    Raises:
        UsageError: the run has not ended.
    """
    run.demand_end()
    info = BaselineInfo(
        run=run.manifest.run,
        suite=run.manifest.suite,
        arm=arm,
        version=run.catalog.arms[arm].version,
        revision=run.manifest.revision,
        where=run.where,
        reason=f"named by --against; its trials and the candidate's took turns in run {run.manifest.run}",
    )
    return Baseline(run, info, None)


def in_force(repository: Repository, suite: str, agent: str) -> Baseline:
    """What is released now, whatever descends from it.

    Raises:
        NothingReleased: nothing is.
        BaselineError: it cannot be read.
    """
    newest = listing.newest_tip(repository)
    where = listing.at(newest.name, newest.commit)
    return _at_commit(
        repository, newest.commit, suite, agent, where=where, reason="in force", newest=True
    )


def _newest(
    suite: str,
    agent: str,
    repository: Repository | None,
    since: str | None,
    pinned: str | None = None,
) -> Baseline:
    """The newest release that the change descends from; where there is none, the newest, and it says so."""
    place = listing.demand_repository(repository)
    newest = listing.newest_tip(place) if pinned is None else _pinned(place, pinned)
    found = _at_commit(
        place,
        newest.commit,
        suite,
        agent,
        where=listing.at(newest.name, newest.commit),
        reason=f"the newest release of {agent} in suite {suite}",
        newest=True,
    )
    if pinned is not None:
        found = replace(found, newest=False)  # others may have released since
    lineage = _Lineage.of(place, since)
    apart = lineage.apart(found.release)
    if not apart:
        return found
    for commit, release in _superseded(place, newest.commit, suite, agent):
        if not lineage.apart(release):
            why = (
                f"the newest release of {agent} in suite {suite} that this change descends from; the release of run "
                f"{found.info.run} is newer: {apart}"
            )
            where = listing.at(newest.name, commit)
            return _at_commit(place, commit, suite, agent, where=where, reason=why)
    info = found.info.model_copy(update={"reason": f"{found.info.reason}; {apart}"})
    return replace(found, info=info)


def _pinned(place: Repository, commit: str) -> branch.Tip:
    try:
        return branch.Tip(place.resolve(commit), branch.BRANCH)
    except RevisionError as error:
        raise BaselineError(
            f"the branch {branch.BRANCH} at {commit!r}: {error.message}", hint=error.hint
        ) from error


def _superseded(
    place: Repository, tip: str, suite: str, agent: str
) -> Iterator[tuple[str, Release]]:
    """Releases before the newest, each at the last commit of the branch that still has it, with all of its ledger."""
    path = f"{branch.folder(suite, agent)}/{branch.RELEASE}"
    for commit, _ in place.log(tip, [path]):
        last = place.parent(commit)
        data = place.read_file(last, path) if last else None
        if last is not None and data is not None:
            yield last, listing.parse(data, f"{last[:12]}: {path}")


@dataclass(frozen=True, slots=True)
class _Lineage:
    """What a change descends from."""

    repository: Repository
    commit: str | None
    """Where it parted from its base; None before the first commit."""

    @classmethod
    def of(cls, repository: Repository, since: str | None) -> _Lineage:
        return cls(repository, repository.ref(since or "HEAD"))

    def apart(self, release: Release | None) -> str:
        """Why the change does not descend from a release, as far as this clone knows; empty when it does."""
        if release is None or release.revision is None or self.commit is None:
            return "it was made from no commit"
        known = self.repository.ref(release.revision) is not None
        if known and self.repository.is_ancestor(release.revision, self.commit):
            return ""
        if release.tree and release.tree in self._trees_since(release, self.commit):
            return ""  # a squash or a rebase made another commit of it, which holds the same files
        if not known:
            return "the commit it was made from is not in this clone"
        return "it was made from a commit that this change does not descend from"

    def _trees_since(self, release: Release, commit: str) -> frozenset[str]:
        """The trees of what came after the release before: of earlier ones a revert has the tree as well."""
        if release.since is None:
            return self.repository.trees(commit, most=_TREES)
        if self.repository.ref(release.since) is None:
            return frozenset()
        return self.repository.trees(commit, since=release.since, most=_TREES)


def _at_commit(
    repository: Repository,
    commit: str,
    suite: str,
    agent: str,
    *,
    where: str,
    reason: str,
    newest: bool = False,
) -> Baseline:
    below = branch.folder(suite, agent)
    files = branch.Files(repository, commit, below)
    if branch.RELEASE not in files:
        missing = _none_of(suite, agent, where, repository.paths_at(commit, ["suites"]))
        raise NothingReleased(missing.message, hint=missing.hint) if newest else missing
    return replace(_of_release(files, where=where, reason=reason), newest=newest)


def _in_folder(folder: Path, suite: str, agent: str) -> Baseline:
    below = folder / branch.folder(suite, agent)
    if (below / branch.RELEASE).is_file():
        found = _of_release(folders.Files(below), where=str(below), reason="named by --baseline")
        return replace(found, folder=below)
    if (folder / branch.RELEASE).is_file():
        found = _of_release(folders.Files(folder), where=str(folder), reason="named by --baseline")
        release = found.release
        if release and (release.suite, release.agent) != (suite, agent):
            raise BaselineError(
                f"{folder} is the baseline of {release.agent} in suite {release.suite}, "
                f"not of {agent} in {suite}"
            )
        return replace(found, folder=folder)
    if (folder / "run.json").is_file():
        return _of_run(Run.open(folder), suite, agent)
    names = folders.Files(folder) if (folder / "suites").is_dir() else ()
    raise _none_of(suite, agent, str(folder), tuple(names))


def _of_release(files: Mapping[str, bytes], *, where: str, reason: str) -> Baseline:
    whole = files[branch.RELEASE]
    release = listing.parse(whole, f"{where}: {branch.RELEASE}")
    run = Run.of_files(Sealed(files, release.files, where), where=where)
    info = BaselineInfo(
        run=release.run,
        suite=release.suite,
        arm=release.arm,
        version=release.version,
        revision=release.revision,
        where=where,
        approved_by=release.approved_by,
        released_at=release.released_at,
        override=release.override,
        reason=reason + (f"; not of a commit: {release.dirty}" if release.dirty else ""),
    )
    return Baseline(run, info, release, batches=read(files, whole, where), digest=digest(whole))


def _of_run(run: Run, suite: str, agent: str) -> Baseline:
    """A run that nobody released, taken as it is."""
    manifest = run.manifest
    run.demand_end()
    if manifest.suite != suite:
        raise BaselineError(f"{run.where} is a run of suite {manifest.suite}, not of {suite}")
    fitting = [arm for arm in manifest.arms if run.catalog.arms[arm].agent == agent]
    if len(fitting) != 1:
        raise BaselineError(
            f"{run.where} has {len(fitting)} arms of the agent {agent}; a baseline is of one",
            hint=f"release one of them: seatrial release {run.where} --arm ARM --approved-by 'NAME <MAIL>'",
        )
    info = BaselineInfo(
        run=manifest.run,
        suite=manifest.suite,
        arm=fitting[0],
        version=run.catalog.arms[fitting[0]].version,
        revision=manifest.revision,
        where=run.where,
        reason="named by --baseline; nobody has released it",
    )
    return Baseline(run, info, None)


def _none_of(suite: str, agent: str, where: str, paths: tuple[str, ...]) -> BaselineError:
    known = [p.split("/") for p in paths if listing.is_release(p)]
    listed = ", ".join(f"{agent} in suite {suite}" for _, suite, agent, _ in known)
    has = f"; it holds {listed}" if listed else ""
    return BaselineError(
        f"{where} holds no baseline of {agent} in suite {suite}{has}",
        hint=f"seatrial run --suite {suite} --arm ARM, then seatrial release RUN --approved-by 'NAME <MAIL>'",
    )
