"""Documents at the base and of the change → every point in which less is asked, or may be."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.documents import Case, Catalog, Suite
from seatrial.loosening import arms, cases, fixtures, suites
from seatrial.loosening.sides import Allowances, Sides, told
from seatrial.records import PolicyChange

_ALLOWLIST = "real-data.yaml"


def changes(
    before: Catalog,
    now: Catalog,
    suite: str,
    *,
    allowed_before: Allowances,
    allowed_now: Allowances,
    changed_files: frozenset[str],
) -> tuple[PolicyChange, ...]:
    """What the change would loosen for a run of a suite, each once.

    Args:
        before: the documents at the base.
        now: those of the change.
        suite: the suite that is run.
        allowed_before: what `real-data.yaml` allows at the base.
        allowed_now: what it allows in the change.
        changed_files: files that are not what they were, relative to the root.
    """
    sides = Sides(before, now, allowed_before, allowed_now, changed_files)
    found = {change.id: change for change in _all(sides, suite)}
    return tuple(found.values())


def unreadable(name: str, why: str) -> PolicyChange:
    """The documents at the base cannot be read, so that nobody can tell what the change loosens.

    Args:
        name: the base, for people.
        why: the first problem.
    """
    text = f"the documents at {name} cannot be read, so what the change loosens is not known: {why}"
    return told("base_unreadable", "base", text, old=name, effect="unknown")


def itself(name: str) -> PolicyChange:
    """The base is what was run, so that whatever it loosened is in the base as well.

    Args:
        name: the base, for people.
    """
    text = f"the base {name} is the very commit that was run, so what it loosened is not known"
    return told("base_is_itself", "base", text, old=name, effect="unknown")


def _all(sides: Sides, suite: str) -> Iterator[PolicyChange]:
    yield from suites.gone(sides)
    old, new = sides.before.suites.get(suite), sides.now.suites.get(suite)
    if old is not None and new is not None:
        yield from suites.of(sides, old, new)
    pairs = tuple(_pairs(sides, old, new))
    trials = [suite.trials for suite in (old, new) if suite is not None]
    for was, now in pairs:
        yield from cases.of(sides, was, now, (trials[0], trials[-1]))
    used = {id for case, _ in pairs for id in case.fixtures}
    used |= {id for arm in sides.before.arms.values() for id in arm.servers}
    for id in sorted(used & sides.before.fixtures.keys() & sides.now.fixtures.keys()):
        yield from fixtures.of(sides, id)
    yield from arms.of(sides)
    yield from _allowances(sides)


def _pairs(sides: Sides, old: Suite | None, new: Suite | None) -> Iterator[tuple[Case, Case]]:
    """The cases of the suite, as it was and as it is, that there are on both sides."""
    ids = [case.id for case in sides.before.suite_cases(old)] if old else []
    ids += [case.id for case in sides.now.suite_cases(new)] if new else []
    for id in dict.fromkeys(ids):
        if id in sides.before.cases and id in sides.now.cases:
            yield sides.before.cases[id], sides.now.cases[id]


def _allowances(sides: Sides) -> Iterator[PolicyChange]:
    for value, number in sides.allowed_now.items():
        if value not in sides.allowed_before:
            yield told(
                "allowlist_extended",
                _ALLOWLIST,
                f"{_ALLOWLIST} allows one more value that looks real: {value}",
                path=f"[{number - 1}]",
                new=value,
                new_place=f"{_ALLOWLIST}:1:1",
            )
