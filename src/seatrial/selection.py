"""Documents now + documents at the base + changed files → which cases run, and why.

Content is compared, not text: a comment or another order of keys selects nothing. Whatever cannot
be compared is run: missing history leads to more trials, never to fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from seatrial.documents import Arm, Case, Catalog, Suite, World, digest
from seatrial.documents.patterns import matches
from seatrial.documents.sources import patterns
from seatrial.records import PlannedCase

_FILES_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What the documents are compared with."""

    name: str
    """The revision as a person would write it."""
    catalog: Catalog | None
    """The documents there; None when they cannot be read."""
    unreadable: str = ""
    """Why they cannot be read."""
    changed_files: frozenset[str] = field(default_factory=frozenset)
    """Files that are not what they were, added and deleted ones among them; relative to the root."""
    unversioned_files: frozenset[str] = field(default_factory=frozenset)
    """Files that git does not keep: whether they changed cannot be known."""


def select(
    catalog: Catalog,
    suite: Suite,
    arms: Sequence[Arm],
    *,
    base: Base | None,
    trials: int | None = None,
) -> tuple[PlannedCase, ...]:
    """The cases of a suite in its order, each selected or left out with its reasons, then the removed ones.

    Args:
        catalog: The documents that would be run.
        suite: The suite, one of them.
        arms: The arms that would run it.
        base: What to compare with; without one every case is selected.
        trials: Trials per case, instead of what case and suite say.
    """
    general = tuple(_general_reasons(suite, arms, base))
    before = _cases_before(suite, base)
    of_arms = {arm.agent: list[str]() for arm in arms}
    of_fixtures: dict[str, str] = {}
    if base and base.catalog:
        of_fixtures = dict(_fixture_reasons(catalog, base, base.catalog))
        for arm in arms:
            of_arms[arm.agent] += _arm_reasons(arm, base, base.catalog)
    planned = []
    for case in catalog.suite_cases(suite):
        if case.agent not in of_arms:
            planned.append(_left_out(case, f"no arm of this run is of the agent {case.agent}"))
            continue
        reasons = [*(["required"] if case.required else []), *general]
        if base and base.catalog:
            reasons += _case_reasons(case, base, base.catalog, before)
            reasons += (of_fixtures[name] for name in _fixtures(case) if name in of_fixtures)
            reasons += of_arms[case.agent]
        if reasons:
            planned.append(_selected(case, reasons, trials or case.trials or suite.trials))
        else:
            name = base.name if base else ""
            planned.append(_left_out(case, f"nothing it leans on changed since {name}"))
    return (*planned, *_removed(catalog, suite, before))


def _general_reasons(suite: Suite, arms: Sequence[Arm], base: Base | None) -> Iterator[str]:
    """Reasons to run everything."""
    if base is None:
        yield "no base given"
    elif base.catalog is None:
        yield f"the documents at {base.name} cannot be read: {base.unreadable}"
    elif suite.id not in base.catalog.suites:
        yield f"suite {suite.id} is new"
    else:
        differing = _differing(suite, base.catalog.suites[suite.id])
        what = [key for key in differing if key in ("trials", "gate")]
        if what:
            yield f"suite {suite.id} changed ({', '.join(what)})"


def _cases_before(suite: Suite, base: Base | None) -> dict[str, Case]:
    """The cases the suite had at the base, by id."""
    if base is None or base.catalog is None or suite.id not in base.catalog.suites:
        return {}
    return {c.id: c for c in base.catalog.suite_cases(base.catalog.suites[suite.id])}


def _case_reasons(
    case: Case, base: Base, before: Catalog, in_suite_before: dict[str, Case]
) -> Iterator[str]:
    old = before.cases.get(case.id)
    if old is None:
        yield "new case"
        return
    differing = _differing(case, old)
    if differing:
        yield f"case changed ({', '.join(differing)})"
    named = case.check_files()
    if changed := _fitting(base.changed_files, named):
        yield f"checks of the case changed ({_some(sorted(changed))})"
    elif unknown := _fitting(base.unversioned_files, named):
        yield f"checks of the case may have changed (git does not keep {_some(sorted(unknown))})"
    if in_suite_before and case.id not in in_suite_before:
        yield "new in the suite"


def _fixture_reasons(catalog: Catalog, base: Base, before: Catalog) -> Iterator[tuple[str, str]]:
    for name, now in catalog.fixtures.items():
        files = (
            [p for named in now.files().values() for p in named] if isinstance(now, World) else []
        )
        if name not in before.fixtures:
            yield name, f"fixture {name} is new"
        elif differing := _differing(now, before.fixtures[name]):
            yield name, f"fixture {name} changed ({', '.join(differing)})"
        elif changed := _fitting(base.changed_files, files):
            yield name, f"fixture {name} changed ({_some(sorted(changed))})"
        elif unknown := _fitting(base.unversioned_files, files):
            some = _some(sorted(unknown))
            yield name, f"fixture {name} may have changed (git does not keep {some})"


def _fixtures(case: Case) -> tuple[str, ...]:
    """The fixtures a case leans on."""
    return tuple(name for name in (case.world, case.answers) if name is not None)


def _arm_reasons(arm: Arm, base: Base, before: Catalog) -> Iterator[str]:
    """Reasons to run every case of the arm's agent."""
    if arm.id not in before.arms:
        yield f"arm {arm.id} is new"
        return
    if differing := _differing(arm, before.arms[arm.id]):
        yield f"arm {arm.id} changed ({', '.join(differing)})"
    told: set[str] = set()
    for component, named in patterns(arm).items():
        changed = _fitting(base.changed_files, named) - told
        unknown = _fitting(base.unversioned_files, named) - told
        told |= changed | unknown
        if changed:
            yield f"arm {arm.id} changed ({component}: {_some(sorted(changed))})"
        if unknown:
            files = _some(sorted(unknown))
            yield f"arm {arm.id} may have changed ({component}: git does not keep {files})"


def _fitting(files: frozenset[str], named: Sequence[str]) -> set[str]:
    return {f for f in files if any(matches(p, f) for p in named)}


def _removed(catalog: Catalog, suite: Suite, before: dict[str, Case]) -> Iterator[PlannedCase]:
    kept = {case.id for case in catalog.suite_cases(suite)}
    for id, old in before.items():
        if id in kept:
            continue
        what = "no longer in the suite" if id in catalog.cases else "the case was deleted"
        reasons = (f"removed: {what}", *(("it was required",) if old.required else ()))
        yield PlannedCase(case=id, selected=False, reasons=reasons, required=old.required)


def _selected(case: Case, reasons: Sequence[str], trials: int) -> PlannedCase:
    return PlannedCase(
        case=case.id,
        selected=True,
        reasons=tuple(dict.fromkeys(reasons)),
        required=case.required,
        trials=trials,
    )


def _left_out(case: Case, reason: str) -> PlannedCase:
    return PlannedCase(case=case.id, selected=False, reasons=(reason,), required=case.required)


def _differing(now: BaseModel, then: BaseModel) -> tuple[str, ...]:
    """Keys of two documents whose content differs, in the order of the first."""
    new, old = (d.model_dump(mode="json", by_alias=True, exclude_unset=True) for d in (now, then))
    return tuple(
        key
        for key in dict.fromkeys((*new, *old))
        if (key in new) != (key in old) or digest(new[key]) != digest(old[key])
    )


def _some(files: Sequence[str]) -> str:
    named = ", ".join(files[:_FILES_NAMED])
    rest = len(files) - _FILES_NAMED
    return f"{named} and {rest} more" if rest > 0 else named
