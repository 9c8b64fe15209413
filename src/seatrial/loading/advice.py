"""What is doubtful in right documents: each may be meant as it is, so these are warnings and never errors."""

from __future__ import annotations

import datetime as dt

from seatrial.documents import Catalog, PriceList
from seatrial.errors import Problem
from seatrial.loading.mistakes import closest
from seatrial.loading.reach import Doubts, all_skippable, already_so, beyond_reach

FEWEST_CASES = 5
"""Of which share negative cases are, is asked of suites with at least so many cases."""
LEAST_NEGATIVE = 0.2
"""Share of negative cases below which a suite is told to have few."""


def doubts(catalog: Catalog, today: dt.date, stale_after: int) -> tuple[Problem, ...]:
    """Everything that is doubtful in right documents, in the order of the files.

    Args:
        catalog: the documents.
        today: the day on which reviews are looked at.
        stale_after: days after which a review is stale.
    """
    cases = [(case, case.placed_checks()) for case in catalog.cases.values()]
    found = [
        *_in_no_suite(catalog),
        *_of_no_arm(catalog),
        *_stale_reviews(catalog, today, stale_after),
        *_unused_fixtures(catalog),
        *_few_negative(catalog),
        *already_so(catalog, cases),
        *beyond_reach(catalog, cases),
        *all_skippable(catalog, cases),
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
