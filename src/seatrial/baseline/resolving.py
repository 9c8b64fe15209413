"""Which baseline a change is held against, and what has been released before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from seatrial.baseline import branch, folders
from seatrial.compare import BaselineInfo
from seatrial.errors import BaselineError, NothingReleased, RevisionError
from seatrial.git import Repository
from seatrial.records import Release
from seatrial.store import RUNS, Run


@dataclass(frozen=True, slots=True)
class Baseline:
    """A stored run to compare with, and why this one. `info.arm` names the arm whose records count."""

    run: Run
    info: BaselineInfo
    release: Release | None
    """None for a run that was named as it is and never released."""


def resolve(
    spec: str | None, suite: str, agent: str, *, root: Path, repository: Repository | None
) -> Baseline:
    """The baseline of an agent in a suite.

    Args:
        spec: A folder that `release --to` wrote, the folder or id of a run, or a git ref or commit that
            holds baselines. None: the branch `seatrial-baselines`, the local one or the one last fetched,
            whichever is ahead.
        suite: Id of the suite.
        agent: The agent whose released version it is.
        root: Where `.seatrial/` lies.
        repository: The repository around it, if there is one.

    Raises:
        NothingReleased: no baseline was named, and the branch holds none.
        BaselineError: the named one does not exist, or it cannot be read; the hint says what to type.
    """
    if spec is None:
        return _newest(suite, agent, repository)
    for folder in (Path(spec), root / RUNS / spec):
        if folder.is_dir():
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
            where=_where(spec, commit),
            reason="named by --baseline",
        )
    raise BaselineError(
        f"there is no folder {spec!r}, and no git repository that could have a ref of that name",
        hint="name a folder that `seatrial release --to` wrote",
    )


def released(spec: str | None, *, repository: Repository | None) -> tuple[tuple[Release, str], ...]:
    """Every baseline that is in force, and where it lies: of the branch, a folder, a ref or a commit.

    Raises:
        BaselineError: there is none.
    """
    if spec is not None and Path(spec).is_dir():
        files = folders.Files(Path(spec))
        names = [p for p in files if p == branch.RELEASE or _is_release(p)]
        found = tuple((_parse(files[name], f"{spec}/{name}"), spec) for name in names)
    else:
        place = _demand_repository(repository)
        if spec is None:
            newest = _tip(place)
            commit, name = newest.commit, newest.name
        else:
            commit, name = place.resolve(spec), spec
        listed = place.read_tree(commit, ["suites"], wanted=_is_release)
        where = _where(name, commit)
        found = tuple((_parse(data, f"{where}: {path}"), where) for path, data in listed.items())
    if not found:
        raise BaselineError(
            f"nothing is released in {spec or branch.BRANCH}", hint="seatrial release --help"
        )
    return found


def history(
    repository: Repository | None, *, suite: str | None = None
) -> Iterator[tuple[str, Release]]:
    """Every release on the branch, newest first: the commit, and what it released.

    Raises:
        BaselineError: nothing was ever released here.
    """
    place = _demand_repository(repository)
    newest = _tip(place)
    below = f"suites/{suite}" if suite else "suites"
    for commit, _ in place.log(newest.commit, [below]):
        before = place.parent(commit)
        changed = place.changed_paths(before, commit) if before else place.paths_at(commit, [below])
        for path in sorted(changed):
            if path.startswith(below + "/") and _is_release(path):
                data = place.read_file(commit, path)
                if data is not None:
                    yield commit, _parse(data, f"{commit[:12]}: {path}")


def _newest(suite: str, agent: str, repository: Repository | None) -> Baseline:
    place = _demand_repository(repository)
    newest = _tip(place)
    found = _at_commit(
        place,
        newest.commit,
        suite,
        agent,
        where=_where(newest.name, newest.commit),
        reason=f"the newest release of {agent} in suite {suite}",
        newest=True,
    )
    revision, head = found.info.revision, place.head()
    if revision is None or head is None or place.ref(revision) is None:
        note = "; the commit it was made from is not in this clone"
    elif not place.is_ancestor(revision, head):
        note = "; it was made from a commit that this change does not descend from"
    else:
        return found
    info = found.info.model_copy(update={"reason": found.info.reason + note})
    return Baseline(found.run, info, found.release)


def _tip(repository: Repository) -> branch.Tip:
    newest = branch.tip(repository)
    if newest is not None:
        return newest
    remote = repository.remote()
    fetch = (
        f"git fetch {remote} {branch.BRANCH}:refs/remotes/{remote}/{branch.BRANCH}, or "
        if remote
        else ""
    )
    raise NothingReleased(
        f"nothing is released here: there is no branch {branch.BRANCH}",
        hint=f"{fetch}release a run: seatrial release RUN --approved-by NAME",
    )


def _demand_repository(repository: Repository | None) -> Repository:
    if repository is None:
        raise BaselineError(
            "outside of a git repository there is no branch with baselines",
            hint="name a folder: --baseline DIR (written by `seatrial release RUN --to DIR`)",
        )
    return repository


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
    return _of_release(files, where=where, reason=reason)


def _in_folder(folder: Path, suite: str, agent: str) -> Baseline:
    below = folder / branch.folder(suite, agent)
    if (below / branch.RELEASE).is_file():
        return _of_release(folders.Files(below), where=str(below), reason="named by --baseline")
    if (folder / branch.RELEASE).is_file():
        found = _of_release(folders.Files(folder), where=str(folder), reason="named by --baseline")
        release = found.release
        if release and (release.suite, release.agent) != (suite, agent):
            raise BaselineError(
                f"{folder} is the baseline of {release.agent} in suite {release.suite}, "
                f"not of {agent} in {suite}"
            )
        return found
    if (folder / "run.json").is_file():
        return _of_run(Run.open(folder), suite, agent)
    names = folders.Files(folder) if (folder / "suites").is_dir() else ()
    raise _none_of(suite, agent, str(folder), tuple(names))


def _of_release(files: Mapping[str, bytes], *, where: str, reason: str) -> Baseline:
    release = _parse(files[branch.RELEASE], f"{where}: {branch.RELEASE}")
    run = Run.of_files(_Sealed(files, release.files, where), where=where)
    info = BaselineInfo(
        run=release.run,
        suite=release.suite,
        arm=release.arm,
        version=release.version,
        revision=release.revision,
        where=where,
        approved_by=release.approved_by,
        released_at=release.released_at,
        reason=reason + (f"; not of a commit: {release.dirty}" if release.dirty else ""),
    )
    return Baseline(run, info, release)


def _of_run(run: Run, suite: str, agent: str) -> Baseline:
    """A run that nobody released, taken as it is."""
    manifest = run.manifest
    if manifest.suite != suite:
        raise BaselineError(f"{run.where} is a run of suite {manifest.suite}, not of {suite}")
    fitting = [arm for arm in manifest.arms if run.catalog.arms[arm].agent == agent]
    if len(fitting) != 1:
        raise BaselineError(
            f"{run.where} has {len(fitting)} arms of the agent {agent}; a baseline is of one",
            hint=f"release one of them: seatrial release {run.where} --arm ARM --approved-by NAME",
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
    known = [p.split("/") for p in paths if _is_release(p)]
    listed = ", ".join(f"{agent} in suite {suite}" for _, suite, agent, _ in known)
    has = f"; it holds {listed}" if listed else ""
    return BaselineError(
        f"{where} holds no baseline of {agent} in suite {suite}{has}",
        hint=f"seatrial run --suite {suite} --arm ARM, then seatrial release RUN --approved-by NAME",
    )


def _is_release(path: str) -> bool:
    """Whether a path is `suites/<suite>/<agent>/release.json`; what is being written starts with a dot."""
    parts = path.split("/")
    return (
        len(parts) == len(("suites", "suite", "agent", branch.RELEASE))
        and (parts[0], parts[-1]) == ("suites", branch.RELEASE)
        and not any(part.startswith(".") for part in parts)
    )


def _where(name: str, commit: str) -> str:
    return commit[:12] if commit.startswith(name) else f"{name} at {commit[:12]}"


def _parse(data: bytes, what: str) -> Release:
    try:
        return Release.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(str(part) for part in first["loc"])
        raise BaselineError(
            f"{what} cannot be read: {at}: {first['msg']}",
            hint="release the run again with this version of Seatrial",
        ) from error


class _Sealed(Mapping[str, bytes]):
    """The files of a release, each held against the digest it was released with."""

    def __init__(self, files: Mapping[str, bytes], digests: Mapping[str, str], where: str) -> None:
        self._files = files
        self._digests = digests
        self._where = where
        self._seen: set[str] = set()

    def __getitem__(self, path: str) -> bytes:
        data = self._files[path]
        if path not in self._seen:
            if self._digests.get(path) != hashlib.sha256(data).hexdigest():
                raise BaselineError(
                    f"{self._where}: {path} is not what was released",
                    hint="it was altered afterwards; take an earlier baseline or release again",
                )
            self._seen.add(path)
        return data

    def __contains__(self, path: object) -> bool:
        return path in self._digests

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)
