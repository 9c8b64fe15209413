"""What is doubtful in right documents: each may be meant as it is, so these are warnings and never errors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.documents import Case, Catalog, Kind, ObjectsWorld, PriceList, World
from seatrial.documents.checks import Changes, EndState, ExpectedChange
from seatrial.documents.placeholders import names
from seatrial.errors import Problem
from seatrial.loading.mistakes import closest
from seatrial.state.operators import fulfils

FEWEST_CASES = 5
"""Of which share negative cases are, is asked of suites with at least so many cases."""
LEAST_NEGATIVE = 0.2
"""Share of negative cases below which a suite is told to have few."""
_NEED_A_CALL = ("tool_arguments", "arguments_valid")
"""Checks that are skipped in every trial in which the agent calls nothing."""

Doubts = Iterator[tuple[Kind, str, str, str, str, str]]
"""Kind and id of a document, the path in it, message, hint and code."""


def doubts(catalog: Catalog, today: dt.date, stale_after: int) -> tuple[Problem, ...]:
    """Everything that is doubtful in right documents, in the order of the files.

    Args:
        catalog: the documents.
        today: the day on which reviews are looked at.
        stale_after: days after which a review is stale.
    """
    found = [
        *_in_no_suite(catalog),
        *_of_no_arm(catalog),
        *_stale_reviews(catalog, today, stale_after),
        *_unused_fixtures(catalog),
        *_few_negative(catalog),
        *_already_so(catalog),
        *_all_skippable(catalog),
    ]
    problems = set()
    for kind, id, path, message, hint, code in found:
        source = catalog.sources.get((kind, id))
        if source is not None:
            problems.add(Problem(*source.at(path), message, hint, code, "warning"))
    return tuple(sorted(problems))


def expired(catalog: Catalog, today: dt.date) -> tuple[Problem, ...]:
    """Quarantines that have ended: an error each, for somebody has to decide what becomes of the case."""
    found = set()
    for case in catalog.cases.values():
        quarantine, source = case.quarantine, catalog.sources.get(("case", case.id))
        if quarantine is not None and quarantine.until < today and source is not None:
            message = f"the quarantine of case `{case.written_as}` ended on {quarantine.until}"
            hint = (
                f"{quarantine.owner}: mend the case and remove `quarantine`, or give it a later day"
            )
            spot = source.at("quarantine.until")
            found.add(Problem(*spot, message, hint, "quarantine-expired"))
    return tuple(sorted(found))


def _in_no_suite(catalog: Catalog) -> Doubts:
    held = {case.id for suite in catalog.suites.values() for case in catalog.suite_cases(suite)}
    for case in catalog.cases.values():
        if case.required and case.id not in held:
            message = f"required case `{case.written_as}` is in no suite, so that nothing runs it"
            yield "case", case.id, "id", message, "Put it into a suite", "in-no-suite"


def _of_no_arm(catalog: Catalog) -> Doubts:
    """Cases whose agent has no arm, where others have one: a run leaves them out."""
    agents = sorted({arm.agent for arm in catalog.arms.values()})
    for case in catalog.cases.values():
        if agents and case.agent not in agents:
            guess = closest(case.agent, agents)
            message = f"no arm is of agent `{case.agent}`, so that nothing runs the case"
            message += f"; did you mean `{guess}`?" if guess else ""
            yield "case", case.id, "agent", message, "", "no-arm"


def _stale_reviews(catalog: Catalog, today: dt.date, stale_after: int) -> Doubts:
    for case in catalog.cases.values():
        if case.reviewed is None:
            continue
        age = (today - case.reviewed).days
        if age < 0:
            message = f"`reviewed` lies {-age} days ahead"
            yield "case", case.id, "reviewed", message, "", "review-stale"
        elif age > stale_after:
            message = f"the case was last reviewed {age} days ago, more than {stale_after}"
            hint = "Look at it again, and write the day"
            yield "case", case.id, "reviewed", message, hint, "review-stale"


def _unused_fixtures(catalog: Catalog) -> Doubts:
    used = {id for arm in catalog.arms.values() for id in arm.servers}
    for case in catalog.cases.values():
        used.update(case.fixtures)
        if case.attack is not None and case.attack.payloads is not None:
            used.add(case.attack.payloads)
    for id, fixture in catalog.fixtures.items():
        # The prices of a list stand in the arms that name it.
        if id not in used and not isinstance(fixture, PriceList):
            message = f"nothing uses fixture `{id}`"
            yield "fixture", id, "id", message, "Remove it, or write a case", "unused-fixture"


def _few_negative(catalog: Catalog) -> Doubts:
    for suite in catalog.suites.values():
        cases = {case.written_as: case for case in catalog.suite_cases(suite)}
        negative = sum(case.negative for case in cases.values())
        if len(cases) >= FEWEST_CASES and negative < LEAST_NEGATIVE * len(cases):
            message = (
                f"{negative} of {len(cases)} cases are negative ({negative / len(cases):.0%}), "
                f"less than {LEAST_NEGATIVE:.0%}"
            )
            hint = "Add cases whose right answer is a refusal or a question back, or say `negative: true` where it is"
            yield "suite", suite.id, "cases", message, hint, "few-negative"


def _already_so(catalog: Catalog) -> Doubts:
    starts = {world.id: _start_of(world) for world in catalog.worlds}
    for case in catalog.cases.values():
        start = starts[case.world]
        if start is None:
            continue
        for path, _, check in case.placed_checks():
            if not isinstance(check, EndState):
                continue
            parts: list[tuple[str, Changes]] = [(path, check)]
            parts += [(f"{path}.any_of[{i}]", part) for i, part in enumerate(check.any_of)]
            for place, part in parts:
                for index, change in enumerate(part.changed):
                    object = start.get(change.type, {}).get(change.key)
                    if object is not None and _is_so(change, object):
                        message = f"{change.type} `{change.key}` is so at the start already"
                        hint = "No agent can bring this change about; expect another, or begin otherwise"
                        yield (
                            "case",
                            case.id,
                            f"{place}.changed[{index}]",
                            message,
                            hint,
                            "already-so",
                        )


def _start_of(world: World) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
    """Type → key → properties, as far as the document tells them."""
    if not isinstance(world, ObjectsWorld):
        return world.declared_start()
    return {
        name: {str(properties[world.types[name].key]): properties for properties in objects}
        for name, objects in world.objects.items()
    }


def _is_so(change: ExpectedChange, object: object) -> bool:
    """Whether every expected value is known, and stands there at the start."""
    if not isinstance(object, dict):
        return False
    for name, condition in change.properties.items():
        if condition.bind is not None or next(names(condition.operators), None) is not None:
            return False
        if name not in object or not fulfils(condition, object[name]):
            return False
    return True


def _all_skippable(catalog: Catalog) -> Doubts:
    for case in catalog.cases.values():
        if _can_all_be_skipped(case):
            message = "every critical check is skipped when the agent calls nothing, and its trials are then invalid"
            hint = "Add a check that answers always: `tool_called`, `end_state`, `reply_contains` …"
            yield "case", case.id, "checks", message, hint, "all-skippable"


def _can_all_be_skipped(case: Case) -> bool:
    return case.attack is None and all(
        check.check in _NEED_A_CALL
        for _, _, check in case.placed_checks()
        if check.severity == "critical"
    )
