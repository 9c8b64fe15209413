"""A folder of documents: where it lies, what is in it now and at a base, and what a run selects."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seatrial import loading, selection
from seatrial.comparability import Fingerprints, conditions, fingerprints
from seatrial.documents import Arm, Case, Catalog, Policy, Server, Suite, World
from seatrial.errors import InvalidDocuments, RevisionError, UsageError
from seatrial.git import Repository
from seatrial.loading.lifelike import allowed
from seatrial.loading.tree import ALLOWED, read_beside, root_around
from seatrial.records import PlannedCase, PolicyChange
from seatrial.workspace.arms_apart import Change, arms_apart
from seatrial.workspace.check_files import CheckFiles
from seatrial.workspace.files import SourceFiles
from seatrial.workspace.versions import CONFIGURED, answering
from seatrial.workspace.world_files import WorldFiles

Recall = Callable[[str, str], selection.Dependencies | str]
"""Suite and agent → the dependency record of the agent's baseline, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a run would run, and where it comes from."""

    catalog: Catalog
    suite: Suite
    arms: tuple[Arm, ...]
    cases: tuple[PlannedCase, ...]
    """Every case of the suite, selected or left out, with its reasons; then the removed ones."""
    base: str | None
    """The commit that the documents were compared with."""
    base_name: str
    """The same for people; empty without a base."""
    base_policy: Policy | None = None
    """The gate's policy of the suite there; None without a base, or where the suite is new."""
    policy_changes: tuple[PolicyChange, ...] | None = None
    """In what the change would be judged less strictly than the base says; None without a base."""

    @property
    def selected(self) -> tuple[PlannedCase, ...]:
        """The cases to run."""
        return tuple(c for c in self.cases if c.selected)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder with `cases/` and `suites/`, usually in a git work tree."""

    root: Path
    repository: Repository | None

    @classmethod
    def find(cls, path: Path | None = None) -> Workspace:
        """The workspace that a folder (the current one) lies in: the nearest with documents or `.git`.

        Raises:
            UsageError: there is none.
            RevisionError: git will not open its repository.
        """
        start = (path or Path.cwd()).resolve()
        root = root_around(start)
        if root is None:
            raise UsageError(
                f"neither {start} nor a folder above it has cases/ or suites/",
                hint="go to the folder that holds them, or name it with --root; `seatrial init` begins one",
            )
        return cls(root, Repository.find(root))

    @classmethod
    def find_or_here(cls, path: Path | None = None) -> Workspace:
        """The workspace that a folder lies in, or the folder: for commands that need no documents."""
        start = (path or Path.cwd()).resolve()
        root = root_around(start) or start
        return cls(root, Repository.find(root))

    def at(self, work_tree: Path) -> Workspace:
        """The same folder in another work tree of the repository."""
        return Workspace(work_tree / self._prefix, Repository(work_tree))

    # --- documents ---

    def catalog(self) -> Catalog:
        """The documents as they lie in the folder.

        Raises:
            InvalidDocuments: every problem of every file.
        """
        return loading.load(loading.read_tree(self.root))

    def catalog_at(self, revision: str) -> Catalog:
        """The documents as they were at a revision.

        Raises:
            InvalidDocuments: they cannot be read by this version.
            RevisionError: there is no such revision.
        """
        prefix = self._prefix
        files = self._demand_repository().read_tree(
            revision,
            [prefix + folder for folder in loading.FOLDERS],
            wanted=lambda path: loading.is_document(path.removeprefix(prefix)),
        )
        return loading.load({path.removeprefix(prefix): data for path, data in files.items()})

    def suite_and_arms(
        self, catalog: Catalog, suite: str, arms: Sequence[str]
    ) -> tuple[Suite, tuple[Arm, ...]]:
        """The documents behind ids; without arms, those that the suite names, else all of the agents of its cases.

        Raises:
            UsageError: there is no such suite or arm.
        """
        if suite not in catalog.suites:
            raise _unknown("suite", suite, catalog.suites)
        for arm in arms:
            if arm not in catalog.arms:
                raise _unknown("arm", arm, catalog.arms)
        found = catalog.suites[suite]
        agents = {case.agent for case in catalog.suite_cases(found)}
        arms = arms or found.arms
        named = [catalog.arms[arm] for arm in dict.fromkeys(arms) or sorted(catalog.arms)]
        fitting = tuple(arm for arm in named if arm.agent in agents)
        if not fitting:
            theirs = ", ".join(f"{arm.id} is of {arm.agent}" for arm in named[:5])
            raise UsageError(
                f"no arm is of an agent that suite {suite!r} has cases for",
                hint=f"the cases are for {', '.join(sorted(agents)) or 'nobody'}"
                + (f"; {theirs}" if theirs else ""),
            )
        return found, tuple(named) if arms else fitting

    # --- where it comes from ---

    def revision(self) -> tuple[str | None, bool]:
        """The commit that is checked out (None outside git, and before the first), and whether the folder differs."""
        if self.repository is None:
            return None, False
        within = [self._prefix.rstrip("/")] if self._prefix else []
        return self.repository.head(), self.repository.is_dirty(within)

    def source_digests(self, catalog: Catalog, arm: Arm) -> dict[str, str]:
        """A digest of the content of the files behind each component of an arm.

        Raises:
            InvalidDocuments: a source names no file, or one outside of the repository.
        """
        return self._files.digests(catalog, arm)

    def arms_apart(self, one: Arm, other: Arm) -> tuple[Change, ...]:
        """In what two arms differ, their files as they lie in the folder.

        Raises:
            UsageError: a file cannot be read.
        """
        return arms_apart(self._files, one, other)

    def fingerprints(
        self, catalog: Catalog, known: Mapping[str, Mapping[str, str]] | None = None
    ) -> Fingerprints:
        """What makes trials of these cases and arms comparable, by the files as they lie in the folder.

        Args:
            catalog: the cases and arms.
            known: digests of the files of arms that lie elsewhere, by arm.

        Raises:
            InvalidDocuments: a source or a world names no file, or one outside of the repository.
        """
        arms, digests = catalog.arms.values(), dict(known or {})
        for arm in arms:
            if arm.id not in digests:
                digests[arm.id] = self.source_digests(catalog, arm)
        return fingerprints(
            catalog, arms, digests, self._digests_of_used(catalog), self.check_digests(catalog)
        )

    def _digests_of_used(self, catalog: Catalog) -> dict[str, str]:
        """As `world_digests`, of the worlds and servers that cases and arms lean on."""
        used = {id for case in catalog.cases.values() for id in case.fixtures}
        used |= {id for arm in catalog.arms.values() for id in arm.servers}
        used &= catalog.fixtures.keys()
        fixtures = {id: catalog.fixtures[id] for id in sorted(used)}
        return self.world_digests(replace(catalog, fixtures=fixtures))

    def conditions(self, catalog: Catalog) -> dict[str, dict[str, str]]:
        """What trials of these cases lean on beside the arm, by the files as they lie in the folder.

        Raises:
            InvalidDocuments: a world names no file, or one outside of the repository.
        """
        return conditions(catalog, self._digests_of_used(catalog), self.check_digests(catalog))

    def world_digests(self, catalog: Catalog) -> dict[str, str]:
        """A digest of the content of the files behind each world and each server that has any.

        Raises:
            InvalidDocuments: a file is missing, lies outside of the repository, or cannot be used.
        """
        return WorldFiles(self._files).digests(catalog)

    def check_digests(self, catalog: Catalog) -> dict[str, str]:
        """A digest of the content of the files behind the checks of each case that names any.

        Raises:
            InvalidDocuments: a check names no file, or one outside of the repository.
        """
        return CheckFiles(self._files).digests(catalog)

    # --- selection ---

    def select(
        self,
        suite: str,
        arms: Sequence[str] = (),
        *,
        base: str | None = None,
        trials: int | None = None,
        recall: Recall | None = None,
        version: str = CONFIGURED,
    ) -> Selection:
        """Which cases of a suite run, and why.

        Args:
            suite: Id of the suite.
            arms: Ids of the arms; all that fit, when left out.
            base: A revision. Compared is the folder as it lies there with the commit where that revision
                and HEAD parted, which is the revision itself where HEAD descends from it.
            trials: Trials per case, instead of what cases and suite say.
            version: Which versions of the agents answer, see `versions.answering`.
            recall: Asked for the dependency record of an agent, where there is a base. Without it no case
                can be left out.

        Raises:
            InvalidDocuments: the documents of the folder cannot be read.
            UsageError: there is no such suite or arm, or nobody can answer a required case.
            RevisionError: the base is not in this clone; the hint says what to fetch.
        """
        catalog = self.catalog()
        the_suite, the_arms = self.suite_and_arms(catalog, suite, arms)
        who = answering(
            catalog, catalog.suite_cases(the_suite), the_arms, named=bool(arms), version=version
        )
        the_arms = who.arms
        refuse_what_nobody_answers(catalog, the_suite)
        for arm in the_arms:
            self.source_digests(catalog, arm)
        used = {id for case in catalog.suite_cases(the_suite) for id in case.fixtures}
        used |= {id for arm in the_arms for id in arm.servers}
        the_worlds = [fixture for fixture in catalog.built if fixture.id in used]
        self.world_digests(replace(catalog, fixtures={world.id: world for world in the_worlds}))
        the_cases = catalog.suite_cases(the_suite)
        self.check_digests(replace(catalog, cases={c.id: c for c in the_cases}))
        commit, compared, known = None, None, None
        if base is not None:
            commit, compared = self._base(base, the_arms, the_worlds, the_cases)
            if recall is not None:
                agents = sorted({arm.agent for arm in the_arms})
                known = selection.Known(
                    today=self.conditions(catalog.part(c.id for c in the_cases)),
                    records={agent: recall(the_suite.id, agent) for agent in agents},
                )
        cases = selection.select(
            catalog, the_suite, the_arms, base=compared, known=known, trials=trials
        )
        before = compared.catalog if compared else None
        return Selection(
            catalog=catalog,
            suite=the_suite,
            arms=the_arms,
            cases=who.told(cases),
            base=commit,
            base_name=compared.name if compared else "",
            base_policy=before.suites[suite].gate if before and suite in before.suites else None,
            policy_changes=self._loosened(catalog, suite, commit, compared)
            if commit and compared
            else None,
        )

    def _loosened(
        self, catalog: Catalog, suite: str, commit: str, base: selection.Base
    ) -> tuple[PolicyChange, ...]:
        """In what the documents of the folder ask less than those at a commit."""
        from seatrial import loosening  # noqa: PLC0415 - it loads the whole gate, and few commands ask

        if base.catalog is None:
            return (loosening.unreadable(base.name, base.unreadable),)
        if commit == self._demand_repository().head() and not base.changed_files:
            return (loosening.itself(base.name),)
        beside = read_beside(self.root, ALLOWED)
        before = self._demand_repository().read_file(commit, self._prefix + ALLOWED)
        return loosening.changes(
            base.catalog,
            catalog,
            suite,
            allowed_before=_allowances(before),
            allowed_now=_allowances(beside if isinstance(beside, bytes) else None),
            changed_files=base.changed_files | base.unversioned_files,
        )

    def _base(
        self,
        revision: str,
        arms: Iterable[Arm],
        worlds: Iterable[World | Server],
        cases: Iterable[Case],
    ) -> tuple[str, selection.Base]:
        repository = self._demand_repository()
        commit = repository.merge_base(revision, "HEAD")
        changed = {
            path.removeprefix(self._prefix)
            for path in repository.changed_paths(commit)
            if path.startswith(self._prefix)
        }
        files, unversioned = self._files, set[str]()
        known = files.known()
        of_worlds, of_checks = WorldFiles(files), CheckFiles(files)
        leaning_on = {path for arm in arms for path in files.of(arm)}
        leaning_on.update(path for world in worlds for path in of_worlds.of(world))
        leaning_on.update(path for case in cases for path in of_checks.of(case))
        for path in leaning_on:
            real = files.real(path)
            if real in changed:
                changed.add(path)
            elif path not in known and real not in known:
                unversioned.add(path)
        catalog, unreadable = None, ""
        try:
            catalog = self.catalog_at(commit)
        except InvalidDocuments as error:
            first, count = error.problems[0], len(error.problems)
            unreadable = first.render() + (f" (and {count - 1} more)" if count > 1 else "")
        name = revision if commit.startswith(revision) else f"{revision} ({commit[:10]})"
        return commit, selection.Base(
            name=name,
            catalog=catalog,
            unreadable=unreadable,
            changed_files=frozenset(changed),
            unversioned_files=frozenset(unversioned),
        )

    # --- within ---

    @property
    def _files(self) -> SourceFiles:
        return SourceFiles(self.root, self.repository, self._prefix)

    @property
    def folder(self) -> str:
        """Where the root lies within its repository; empty at its root, or where there is none."""
        if self.repository is None:
            return ""
        within = self.root.resolve().relative_to(self.repository.root.resolve()).as_posix()
        return "" if within == "." else within

    @property
    def _prefix(self) -> str:
        """What paths of the repository have before paths of the root: nothing, or `folder/`."""
        if self.repository is None or self.repository.root == self.root:
            return ""
        return self.root.relative_to(self.repository.root).as_posix() + "/"

    def _demand_repository(self) -> Repository:
        if self.repository is None:
            raise RevisionError(
                f"{self.root} is not in a git repository, so there is nothing to compare with",
                hint="leave out --base: then every case is selected",
            )
        return self.repository


def _allowances(data: bytes | None) -> Mapping[str, int]:
    """What a list of values that look real allows; of one that `check` refuses nothing counts."""
    try:
        return allowed(data).values
    except InvalidDocuments:
        return {}


def _unknown(kind: str, id: str, known: Iterable[str]) -> UsageError:
    names = sorted(known)
    near = difflib.get_close_matches(id, names, n=3)
    listed = ", ".join(near or names[:8]) + (" …" if not near and len(names) > 8 else "")
    ask = "did you mean " if near else "there are "
    hint = (
        f"{ask}{listed}" + ("?" if near else "")
        if names
        else f"there is none at all: write {kind}s/{id}.yaml"
    )
    return UsageError(f"there is no {kind} {id!r}", hint=hint)


def refuse_what_nobody_answers(catalog: Catalog, suite: Suite) -> None:
    """A required case that no arm can ever answer must not be left out as one of another agent is.

    Raises:
        UsageError: the agent of a required case of the suite has no arm.
    """
    agents = sorted({arm.agent for arm in catalog.arms.values()})
    lost = [c for c in catalog.suite_cases(suite) if c.required and c.agent not in agents]
    if lost:
        told = ", ".join(f"{case.id} (agent {case.agent})" for case in lost)
        raise UsageError(
            f"no arm is of the agent of these required cases: {told}",
            hint=f"agents with an arm: {', '.join(agents)}; write one of them as `agent:`, or add an arm",
        )
