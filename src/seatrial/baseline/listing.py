"""What is released, now and before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from seatrial.baseline import branch, folders
from seatrial.errors import BaselineError, NothingReleased
from seatrial.git import Repository
from seatrial.records import Release


def released(spec: str | None, *, repository: Repository | None) -> tuple[tuple[Release, str], ...]:
    """Every baseline that is in force, and where it lies: of the branch, a folder, a ref or a commit.

    Raises:
        BaselineError: there is none.
    """
    if spec is not None and Path(spec).is_dir():
        files = folders.Files(Path(spec))
        names = [p for p in files if p == branch.RELEASE or is_release(p)]
        found = tuple((parse(files[name], f"{spec}/{name}"), spec) for name in names)
    else:
        place = demand_repository(repository)
        if spec is None:
            newest = newest_tip(place)
            commit, name = newest.commit, newest.name
        else:
            commit, name = place.resolve(spec), spec
        listed = place.read_tree(commit, ["suites"], wanted=is_release)
        where = at(name, commit)
        found = tuple((parse(data, f"{where}: {path}"), where) for path, data in listed.items())
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
    place = demand_repository(repository)
    newest = newest_tip(place)
    below = f"suites/{suite}" if suite else "suites"
    for commit, _ in place.log(newest.commit, [below]):
        before = place.parent(commit)
        changed = place.changed_paths(before, commit) if before else place.paths_at(commit, [below])
        for path in sorted(changed):
            if path.startswith(below + "/") and is_release(path):
                data = place.read_file(commit, path)
                if data is not None:
                    yield commit, parse(data, f"{commit[:12]}: {path}")


def superseded(release: Release, repository: Repository | None) -> str | None:
    """The last commit of the branch that held the release before one that is in force; None where it is the first."""
    place = demand_repository(repository)
    path = f"{branch.folder(release.suite, release.agent)}/{branch.RELEASE}"
    for commit, _ in place.log(newest_tip(place).commit, [path]):
        last = place.parent(commit)
        held = place.read_file(last, path) if last else None
        return last if held is not None else None
    return None


def tip_of_branch(repository: Repository | None) -> str:
    """The commit of the branch that is in force.

    Raises:
        NothingReleased: there is no such branch.
    """
    return newest_tip(demand_repository(repository)).commit


def newest_tip(repository: Repository) -> branch.Tip:
    """The newest state of the branch that this clone knows.

    Raises:
        NothingReleased: there is no such branch.
    """
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
        hint=f"{fetch}release a run: seatrial release RUN --approved-by 'NAME <MAIL>'",
    )


def demand_repository(repository: Repository | None) -> Repository:
    """The repository; without one nothing can be released but to a folder."""
    if repository is None:
        raise NothingReleased(
            "outside of a git repository there is no branch with baselines",
            hint="write a baseline to a folder, and name it: seatrial release RUN --to DIR, --baseline DIR",
        )
    return repository


def is_release(path: str) -> bool:
    """Whether a path is `suites/<suite>/<agent>/release.json`; what is being written starts with a dot."""
    parts = path.split("/")
    return (
        len(parts) == len(("suites", "suite", "agent", branch.RELEASE))
        and (parts[0], parts[-1]) == ("suites", branch.RELEASE)
        and not any(part.startswith(".") for part in parts)
    )


def at(name: str, commit: str) -> str:
    """Where a baseline lies, for people."""
    return commit[:12] if commit.startswith(name) else f"{name} at {commit[:12]}"


def parse(data: bytes, what: str) -> Release:
    """A `release.json`; a BaselineError says that it cannot be read."""
    try:
        return Release.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(str(part) for part in first["loc"])
        raise BaselineError(
            f"{what} cannot be read: {at}: {first['msg']}",
            hint="release the run again with this version of Seatrial",
        ) from error
