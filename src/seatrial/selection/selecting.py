"""The cases of a suite, each selected or left out with its reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seatrial.documents import Arm, Case, Catalog, Suite
from seatrial.records import PlannedCase
from seatrial.selection import reasons as reasons_to_run
from seatrial.selection.known import Base, Known


def select(
    catalog: Catalog,
    suite: Suite,
    arms: Sequence[Arm],
    *,
    base: Base | None,
    known: Known | None = None,
    trials: int | None = None,
) -> tuple[PlannedCase, ...]:
    """The cases of a suite in its order, each selected or left out with its reasons, then the removed ones.

    Args:
        catalog: The documents that would be run.
        suite: The suite, one of them.
        arms: The arms that would run it.
        base: What to compare with; without one every case is selected.
        known: What the baseline knows of the cases; without it none can be left out.
        trials: Trials per case, instead of what case and suite say.
    """
    general = tuple(reasons_to_run.for_all(suite, arms, base))
    before = _cases_before(suite, base)
    of_arms = {arm.agent: list[str]() for arm in arms}
    of_arms_servers = {arm.agent: list[str]() for arm in arms}
    for arm in arms:
        of_arms_servers[arm.agent] += arm.servers
    of_fixtures: dict[str, str] = {}
    known = known or Known()
    tools = None
    if base and base.catalog:
        tools = reasons_to_run.Tools(catalog, base.catalog, suite, known, arms)
        of_fixtures = dict(reasons_to_run.of_fixtures(catalog, base, base.catalog))
        for arm in arms:
            of_arms[arm.agent] += reasons_to_run.of_arm(arm, base, base.catalog)
    planned = []
    for case in catalog.suite_cases(suite):
        old = before.get(case.id)
        if case.agent not in of_arms and old is not None and old.agent in of_arms:
            planned.append(_gone(old, f"it is for the agent {case.agent} now"))
            continue
        if case.agent not in of_arms:
            planned.append(_left_out(case, f"no arm of this run is of the agent {case.agent}"))
            continue
        required = case.required or (old is not None and old.required)
        reasons = [*(["required"] if case.required else []), *general]
        if base is not None and required and not case.required:
            reasons.insert(0, f"required at {base.name}, no longer marked so")
        passed_over: tuple[str, ...] = ()
        if base and base.catalog and tools:
            reasons += reasons_to_run.of_case(case, base, base.catalog, before, catalog)
            leaning_on = (*case.fixtures, *of_arms_servers[case.agent])
            reasons += (of_fixtures[name] for name in leaning_on if name in of_fixtures)
            touched, passed_over = tools.touching(case)
            reasons += touched
            reasons += of_arms[case.agent]
        if not reasons and (why := known.why_not_carried(case)):
            reasons.append(why)
        if reasons:
            often = trials or case.trials or suite.trials
            planned.append(
                _selected(case, reasons, often, _quarantine(case, old), required=required)
            )
        else:
            name = base.name if base else ""
            planned.append(_carried(case, name, _quarantine(case, old), passed_over))
    return (*planned, *_removed(catalog, suite, before))


def _cases_before(suite: Suite, base: Base | None) -> dict[str, Case]:
    """The cases the suite had at the base, by id."""
    if base is None or base.catalog is None or suite.id not in base.catalog.suites:
        return {}
    return {c.id: c for c in base.catalog.suite_cases(base.catalog.suites[suite.id])}


def _removed(catalog: Catalog, suite: Suite, before: dict[str, Case]) -> Iterator[PlannedCase]:
    kept = {case.id for case in catalog.suite_cases(suite)}
    for id, old in before.items():
        if id in kept:
            continue
        what = "no longer in the suite" if id in catalog.cases else "the case was deleted"
        yield _gone(old, what)


def _gone(old: Case, why: str) -> PlannedCase:
    """A case that the arms of this run had at the base."""
    reasons = (f"removed: {why}", *(("it was required",) if old.required else ()))
    return PlannedCase(
        case=old.id, selected=False, removed=True, reasons=reasons, required=old.required
    )


def _quarantine(case: Case, old: Case | None) -> str | None:
    """Until when a case is in quarantine by the change and by its base alike."""
    if case.quarantine is None or old is None or old.quarantine is None:
        return None
    return min(case.quarantine.until, old.quarantine.until).isoformat()


def _selected(
    case: Case, reasons: Sequence[str], trials: int, quarantine: str | None, *, required: bool
) -> PlannedCase:
    return PlannedCase(
        case=case.id,
        selected=True,
        reasons=tuple(dict.fromkeys(reasons)),
        required=required,
        quarantine=quarantine,
        trials=trials,
    )


def _carried(
    case: Case, base: str, quarantine: str | None, passed_over: Sequence[str]
) -> PlannedCase:
    reasons = [f"carried, not run: nothing it leans on changed since {base}"]
    if passed_over:
        reasons.append(f"it never called {reasons_to_run.some(passed_over)}, which changed")
    return PlannedCase(
        case=case.id,
        selected=False,
        reasons=tuple(reasons),
        required=case.required,
        quarantine=quarantine,
        carried=True,
    )


def _left_out(case: Case, reason: str) -> PlannedCase:
    return PlannedCase(case=case.id, selected=False, reasons=(reason,), required=case.required)
