"""Reasons to run a case, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from seatrial.comparability import behind_the_tools, between, tools_shown
from seatrial.documents import Arm, Case, Catalog, Server, Suite, World, digest
from seatrial.documents.patterns import matches
from seatrial.documents.sources import patterns
from seatrial.selection.known import Base, Known

_FILES_NAMED = 3


def for_all(suite: Suite, arms: Sequence[Arm], base: Base | None) -> Iterator[str]:
    """Reasons to run everything."""
    if base is None:
        yield "no base given"
    elif base.catalog is None:
        yield f"the documents at {base.name} cannot be read: {base.unreadable}"
    elif suite.id not in base.catalog.suites:
        yield f"suite {suite.id} is new"
    else:
        differing = _differing(suite, base.catalog.suites[suite.id])
        what = [key for key in differing if key in ("trials", "gate", "select")]
        if what:
            yield f"suite {suite.id} changed ({', '.join(what)})"


def of_case(
    case: Case, base: Base, before: Catalog, in_suite_before: dict[str, Case], now: Catalog
) -> Iterator[str]:
    """Reasons in the case's own document and what it inherits, the files behind its checks, and its suite."""
    old = before.cases.get(case.id)
    if old is None:
        yield "new case"
        return
    differing = _differing(case, old)
    if differing:
        yield f"case changed ({', '.join(_written(case, key, now) for key in differing)})"
    named = case.check_files()
    if changed := _fitting(base.changed_files, named):
        yield f"checks of the case changed ({some(sorted(changed))})"
    elif unknown := _fitting(base.unversioned_files, named):
        yield f"checks of the case may have changed (git does not keep {some(sorted(unknown))})"
    if in_suite_before and case.id not in in_suite_before:
        yield "new in the suite"


def _written(case: Case, key: str, now: Catalog) -> str:
    """A key, with the file that wrote it where that is not the one of the case."""
    source = now.sources.get(("case", case.id))
    file = source.at(key)[0] if source else ""
    return key if source is None or file == source.path else f"{key}: {file}"


def of_fixtures(catalog: Catalog, base: Base, before: Catalog) -> Iterator[tuple[str, str]]:
    """Reasons to run every case of a fixture. What agents read of single tools is none of them."""
    for name, now in catalog.fixtures.items():
        built = now.files() if isinstance(now, World | Server) else {}
        files = [pattern for named in built.values() for pattern in named]
        if name not in before.fixtures:
            yield name, f"fixture {name} is new"
            continue
        then = before.fixtures[name]
        differing = [*_keys(behind_the_tools(now), behind_the_tools(then))]
        if getattr(now, "instructions", "") != getattr(then, "instructions", ""):
            differing.append("instructions")
        if differing:
            yield name, f"fixture {name} changed ({', '.join(differing)})"
        elif changed := _fitting(base.changed_files, files):
            yield name, f"fixture {name} changed ({some(sorted(changed))})"
        elif unknown := _fitting(base.unversioned_files, files):
            listed = some(sorted(unknown))
            yield name, f"fixture {name} may have changed (git does not keep {listed})"


class Tools:
    """Reasons by tools of which agents read something else now than at the base."""

    def __init__(
        self,
        catalog: Catalog,
        before: Catalog,
        suite: Suite,
        known: Known,
        arms: Sequence[Arm] = (),
    ) -> None:
        self._arms = arms
        self._catalog, self._before = catalog, before
        self._by_calls = suite.select.tools == "called"
        self._known = known
        self._changed: dict[tuple[str, str | None, bool | None, str | None], dict[str, str]] = {}

    def touching(self, case: Case) -> tuple[list[str], tuple[str, ...]]:
        """The reasons to run a case, and the changed tools that are none because it never called them."""
        called = self._known.called(case) if self._by_calls else None
        touched, passed_over = [], []
        for name, what in (*self._seen_by(case).items(), *self._described_for(case)):
            if called is None:
                touched.append(f"{what}, which it can list")
            elif any(tool.endswith(f"/{name}") for tool in called):
                touched.append(f"{what}, which it called")
            else:
                passed_over.append(name)
        return touched, tuple(passed_over)

    def _described_for(self, case: Case) -> Iterator[tuple[str, str]]:
        """The tools that an arm of the case's agent describes otherwise than before, and the case could list."""
        world = self._catalog.world(case.world)
        for arm in self._arms:
            then = self._before.arms.get(arm.id)
            if arm.agent != case.agent or then is None:
                continue
            other = {
                n for n in arm.tools.keys() | then.tools if arm.tools.get(n) != then.tools.get(n)
            }
            if not other:
                continue
            own = world.tools_as_data()
            seen = tools_shown(world, case.role, case.see_refused, purpose=case.purpose)
            for name in sorted(other):
                if name in seen or name not in own:  # of a server, it is known only when it runs
                    yield name, f"arm {arm.id} describes tool {name} otherwise"

    def _seen_by(self, case: Case) -> dict[str, str]:
        """The changed tools that the case's role can list, and what changed."""
        key = (case.world, case.role, case.see_refused, case.purpose)
        if key not in self._changed:
            now, then = self._catalog.world(case.world), self._before.fixtures.get(case.world)
            names: tuple[str, ...] = ()
            if isinstance(then, World):
                names = between(
                    tools_shown(then, case.role, case.see_refused, purpose=case.purpose),
                    tools_shown(now, case.role, case.see_refused, purpose=case.purpose),
                )
            self._changed[key] = {
                name: f"tool {name} changed ({', '.join(_told_of(name, now, then))})"
                for name in names
                if isinstance(then, World)
            }
        return self._changed[key]


def _told_of(name: str, now: World, then: World) -> tuple[str, ...]:
    """What of a tool changed that agents read."""
    here, there = now.tools_as_data().get(name), then.tools_as_data().get(name)
    if here is None or there is None:
        return ("new",) if there is None else ("gone",)
    keys = ("description", "parameters", "output", "read_only", "destructive", "leaves_world")
    return tuple(k for k in keys if getattr(here, k, None) != getattr(there, k, None))


TOLD_ELSEWHERE = frozenset({"prices", "tools"})
"""Keys of an arm of which a change is no reason to run every case: prices are no part of what it does, and by tools
`Tools` tells the reasons."""


def of_arm(arm: Arm, base: Base, before: Catalog) -> Iterator[str]:
    """Reasons to run every case of the arm's agent."""
    if arm.id not in before.arms:
        yield f"arm {arm.id} is new"
        return
    then = before.arms[arm.id]
    differing = [key for key in _differing(arm, then) if key not in TOLD_ELSEWHERE]
    if differing:
        yield f"arm {arm.id} changed ({', '.join(differing)})"
    told: set[str] = set()
    for component, named in patterns(arm).items():
        changed = _fitting(base.changed_files, named) - told
        unknown = _fitting(base.unversioned_files, named) - told
        told |= changed | unknown
        if changed:
            yield f"arm {arm.id} changed ({component}: {some(sorted(changed))})"
        if unknown:
            files = some(sorted(unknown))
            yield f"arm {arm.id} may have changed ({component}: git does not keep {files})"


def _fitting(files: frozenset[str], named: Sequence[str]) -> set[str]:
    return {f for f in files if any(matches(p, f) for p in named)}


def _differing(now: BaseModel, then: BaseModel) -> tuple[str, ...]:
    """Keys of two documents whose content differs, in the order of the first."""
    new, old = (d.model_dump(mode="json", by_alias=True, exclude_unset=True) for d in (now, then))
    return _keys(new, old)


def _keys(new: Mapping[str, object], old: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(
        key
        for key in dict.fromkeys((*new, *old))
        if (key in new) != (key in old) or digest(new[key]) != digest(old[key])
    )


def some(files: Sequence[str]) -> str:
    """The first few, and how many more."""
    named = ", ".join(files[:_FILES_NAMED])
    rest = len(files) - _FILES_NAMED
    return f"{named} and {rest} more" if rest > 0 else named
