"""The released arm beside a candidate: as it was released, on the cases and in the worlds of today.

The arm's document comes from the baseline. Its files are those of the work tree where they are the same,
else those of the commit it was released from, checked out into a temporary folder. It is shown the tools
as they were when it was released. So nothing of the change under test can make it better or worse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from seatrial.baseline.resolving import Baseline
from seatrial.comparability import between, expanded
from seatrial.documents import Arm, Catalog, FixtureDocument, Recorded
from seatrial.documents import Python as PythonAdapter
from seatrial.errors import BaselineError, InvalidDocuments, UsageError
from seatrial.git import work_tree
from seatrial.records import Manifest, Rerun
from seatrial.workspace import Workspace

_SOURCE = "source:"


@dataclass(frozen=True, slots=True)
class Beside:
    """The released arm, ready to be run again."""

    rerun: Rerun
    """What the manifest of the run says of it."""
    arm: Arm
    """Its document, under the id that it has in this run."""
    home: Path
    """The root below which its files lie."""
    sources: Mapping[str, str]
    """The digests of its files."""
    worlds: Mapping[str, FixtureDocument]
    """The fixtures that it is given in place of today's."""

    def joined(self, catalog: Catalog) -> Catalog:
        """The documents of a run with this arm among them."""
        return replace(
            catalog,
            arms={**catalog.arms, self.arm.id: self.arm},
            own_fixtures={**catalog.own_fixtures, self.arm.id: self.worlds},
        )


@contextmanager
def beside(
    found: Baseline,
    catalog: Catalog,
    workspace: Workspace,
    *,
    cases: Collection[str],
    fixed: bool = True,
) -> Iterator[Beside]:
    """The released arm for as long as it is run beside the arms of a catalog.

    Args:
        found: the baseline.
        catalog: the documents of the run: its cases, fixtures and candidates.
        workspace: where the files of arms lie.
        cases: the cases it is to run.
        fixed: it is run as often as the candidate; otherwise only where it could decide.

    Raises:
        UsageError: an arm of this kind cannot be run again.
        BaselineError: its files are neither in the work tree nor at the commit it was released from.
        RevisionError: that commit is not in this clone.
    """
    released = found.run.catalog.arms[found.info.arm]
    manifest = found.run.manifest
    prints = {
        case: expanded(components, manifest.toolsets)
        for key, components in manifest.fingerprints.items()
        for case, _, arm in [key.rpartition("@")]
        if arm == released.id
    }
    if not prints:
        raise BaselineError(
            f"{found.info.where} does not say which files {released.id} was run with",
            hint="release a run of this version of Seatrial",
        )
    arm = _named_apart(released, catalog)
    today = workspace.conditions(catalog.part(cases))
    worlds, left_out = _as_released(found.run.catalog, catalog, prints, today)
    rerun = Rerun(
        arm=arm.id,
        released_arm=released.id,
        release=found.info.run,
        version=found.info.version,
        revision=found.info.revision,
        fixed=fixed,
        left_out=left_out,
    )
    sources = _sources(next(iter(prints.values())))
    with _at_home(arm, sources, rerun, catalog, workspace) as home:
        yield Beside(rerun, arm, home, sources, worlds)


@contextmanager
def beside_again(manifest: Manifest, catalog: Catalog, workspace: Workspace) -> Iterator[Beside]:
    """The released arm of a run that goes on, from what the run has stored.

    Raises:
        UsageError, BaselineError, RevisionError: as `beside`.
    """
    rerun = manifest.rerun
    assert rerun is not None
    components = next(
        found for key, found in manifest.fingerprints.items() if key.endswith(f"@{rerun.arm}")
    )
    arm, sources = catalog.arms[rerun.arm], _sources(components)
    with _at_home(arm, sources, rerun, catalog, workspace) as home:
        yield Beside(rerun, arm, home, sources, catalog.own_fixtures.get(arm.id, {}))


def _named_apart(arm: Arm, catalog: Catalog) -> Arm:
    """The arm under an id that no candidate has."""
    id, number = arm.id, 1
    while id in catalog.arms:
        suffix = ".released" if number == 1 else f".released-{number}"
        id, number = arm.id[: 80 - len(suffix)] + suffix, number + 1
    return arm if id == arm.id else arm.model_copy(update={"id": id})


def _as_released(
    before: Catalog,
    now: Catalog,
    then: Mapping[str, Mapping[str, str]],
    today: Mapping[str, Mapping[str, str]],
) -> tuple[dict[str, FixtureDocument], dict[str, str]]:
    """The worlds in which the released arm is shown the tools of its time; case → why there is none.

    What a tool says is taken from the release, what it does from today. Where both have changed, neither the
    old words nor the new ones describe what the released arm would have met.
    """
    worlds: dict[str, FixtureDocument] = {}
    left_out: dict[str, str] = {}
    for id in today:
        names = between(then.get(id, today[id]), today[id])
        shown = [name for name in names if name == "instructions" or name.startswith("tool:")]
        if not shown:
            continue
        world = now.cases[id].world
        if then[id]["world"] == today[id]["world"]:
            worlds[world] = before.fixtures[world]
        else:
            told = ", ".join(name.removeprefix("tool:") for name in shown[:3])
            left_out[id] = f"world {world} changed, and so did what agents read of {told}"
    return worlds, left_out


def _sources(components: Mapping[str, str]) -> dict[str, str]:
    found = {name: value for name, value in components.items() if name.startswith(_SOURCE)}
    return {name.removeprefix(_SOURCE): value for name, value in found.items()}


@contextmanager
def _at_home(
    arm: Arm, sources: Mapping[str, str], rerun: Rerun, catalog: Catalog, workspace: Workspace
) -> Iterator[Path]:
    if isinstance(arm.adapter, Recorded):
        raise UsageError(
            f"the released arm {rerun.released_arm} is a recording: it cannot be run again",
            hint="leave out --rerun-baseline",
        )
    if _digests(workspace, catalog, arm) == sources:
        yield workspace.root
        return
    if isinstance(arm.adapter, PythonAdapter):
        raise UsageError(
            f"the files of the released arm {rerun.released_arm} have changed, and two revisions of one "
            "Python module cannot be loaded side by side",
            hint="talk to the agent as a process: `adapter: {type: command, …}`",
        )
    if workspace.repository is None or rerun.revision is None:
        raise BaselineError(
            f"the files of the released arm {rerun.released_arm} are not those of this folder, and no "
            "commit says where they are",
            hint="leave out --rerun-baseline, or release a run that was made from a commit",
        )
    with work_tree(workspace.repository, rerun.revision) as folder:
        there = workspace.at(folder)
        if _digests(there, catalog, arm) != sources:
            raise BaselineError(
                f"the files of the released arm {rerun.released_arm} are neither those of this folder "
                f"nor those of {rerun.revision[:10]}, from which it was released",
                hint="they are not in git, or it was released with --allow-dirty; release it again",
            )
        yield there.root


def _digests(workspace: Workspace, catalog: Catalog, arm: Arm) -> dict[str, str] | None:
    """None where a file of the arm is not there."""
    try:
        return workspace.source_digests(catalog, arm)
    except InvalidDocuments:
        return None
