"""Who had a hand in what is released: the commits since the released baseline that touch what the arm is built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from seatrial import loosening
from seatrial.baseline import branch, listing
from seatrial.baseline.resolving import Baseline
from seatrial.documents import Catalog, Server
from seatrial.documents.patterns import literal
from seatrial.documents.sources import patterns
from seatrial.git import Person, Repository
from seatrial.records import PolicyChange, Release
from seatrial.store import Run


@dataclass(frozen=True, slots=True)
class Hands:
    """The commits that count, with their people."""

    commits: Mapping[str, frozenset[Person]] = field(default_factory=dict)
    """Commit → authors, committers and co-authors; the commit that was run is always among them."""
    since: str | None = None
    """The commit after which they count; None: all of the history."""
    unknown: str = ""
    """Why they are not known, and what to do; empty when they are."""

    @property
    def people(self) -> frozenset[Person]:
        """Everybody."""
        return frozenset(chain.from_iterable(self.commits.values()))


def hands(
    run: Run, arm: str, before: Baseline | None, *, repository: Repository | None, folder: str
) -> Hands:
    """Who had a hand in an arm since what is released.

    Args:
        run: the run that is released.
        arm: the arm.
        before: what is released now; None where nothing is.
        repository: the repository.
        folder: what paths of the repository have before those of the documents: nothing, or a folder.
    """
    changed = since_release(run, before)
    return hands_of(
        run.catalog, arm, changed, run.manifest.revision,
        repository=repository, folder=folder, since=_since(before, repository),
    )  # fmt: skip


def hands_of(
    catalog: Catalog,
    arm: str,
    changed: tuple[PolicyChange, ...],
    revision: str | None,
    *,
    repository: Repository | None,
    folder: str,
    since: str | None,
) -> Hands:
    """The same, of documents that lie elsewhere."""
    if repository is None or revision is None or repository.ref(revision) is None:
        return Hands()  # whether that may be released at all is asked elsewhere
    own = {repository.resolve(revision): repository.people(revision)}
    if repository.is_cut_off(revision, since=since):
        remote = repository.remote() or "origin"
        return Hands(
            own, since, "this clone is shallow, so who wrote what is released is not known; git fetch "
            f"--unshallow {remote} (in GitHub Actions: actions/checkout with fetch-depth: 0)",
        )  # fmt: skip
    before = f"{folder.rstrip('/')}/" if folder else ""
    wanted = [before + path for path in _files(catalog, arm, changed)]
    return Hands({**repository.commits(revision, wanted, since=since), **own}, since)


def since_release(run: Run, before: Baseline | None) -> tuple[PolicyChange, ...]:
    """In what the documents of a run ask less than those that are released, by the documents alone."""
    if before is None:
        return ()
    return loosening.changes(
        before.run.catalog,
        run.catalog,
        run.manifest.suite,
        allowed_before={},
        allowed_now={},
        changed_files=frozenset(),
    )


def _since(before: Baseline | None, repository: Repository | None) -> str | None:
    """The commit of the newest release that this clone has: those of merged branches may be gone."""
    if before is None or repository is None or before.info.revision is None:
        return None
    if (found := repository.ref(before.info.revision)) is not None:
        return found
    if before.release is None or before.folder is not None:
        return None
    for _, earlier in earlier_releases(repository, before.release.suite, before.release.agent):
        if earlier.revision and (found := repository.ref(earlier.revision)) is not None:
            return found
    return None


def earlier_releases(
    repository: Repository, suite: str, agent: str
) -> tuple[tuple[str, Release], ...]:
    """Every release of an agent in a suite that the branch holds, newest first, each with its commit there."""
    tip = branch.tip(repository)
    if tip is None:
        return ()
    path = f"{branch.folder(suite, agent)}/{branch.RELEASE}"
    found = []
    for commit, _ in repository.log(tip.commit, [path]):
        data = repository.read_file(commit, path)
        if data is not None:
            found.append((commit, listing.parse(data, f"{commit[:12]}: {path}")))
    return tuple(found)


def _files(catalog: Catalog, arm: str, changed: tuple[PolicyChange, ...]) -> tuple[str, ...]:
    """Patterns of all that the arm is built from, its documents, and the documents that ask less than before."""
    document = catalog.arms[arm]
    named = [pattern for of in patterns(document).values() for pattern in of]
    places = [catalog.place("arm", arm) or "arms"]
    for id in document.servers:
        server = catalog.fixtures.get(id)
        if isinstance(server, Server):
            named += server.sources
        places.append(catalog.place("fixture", id) or "fixtures")
    places += [place for one in changed for place in (one.old_place, one.new_place) if place]
    files = [place.rsplit(":", 2)[0] for place in places]
    return tuple(dict.fromkeys((*named, *map(literal, files))))
