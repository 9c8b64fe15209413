"""Cases × arms × numbers → trials in the order in which they start, and what makes them comparable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seatrial.documents import Arm, Case, Catalog, Suite, digest
from seatrial.records import PlannedCase

HARNESS = "1"
"""Named in every fingerprint. Raised by a change of Seatrial after which the same agent could act
differently in the same case (what it is told, given, or allowed), never by a release as such."""

_ABOUT_THE_CASE = frozenset({
    "title", "group", "required", "negative", "owner", "tags", "priority", "requirements",
    "provenance", "reviewed", "trials", "checks",
})  # fmt: skip
"""Keys of a case that no agent ever meets. Its checks are a component of their own."""


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """One execution of one case by one arm."""

    case: str
    arm: str
    number: int
    """1..n within its case and arm."""


def expand(
    planned: Iterable[PlannedCase], catalog: Catalog, arms: Sequence[Arm]
) -> tuple[Trial, ...]:
    """Every trial of the selected cases by the arms of their agent, in the order in which they start.

    First trials of all cases come before second ones, so that a drift of the provider or the machine
    hits all alike; among them required cases come first, then by priority, then in the given order;
    the arms take turns.
    """
    selected = [(catalog.cases[entry.case], entry.trials) for entry in planned if entry.selected]
    selected.sort(key=lambda entry: (not entry[0].required, -entry[0].priority))
    return tuple(
        Trial(case.id, arm.id, number)
        for number in range(1, max((trials for _, trials in selected), default=0) + 1)
        for case, trials in selected
        if number <= trials
        for arm in arms
        if arm.agent == case.agent
    )


def fingerprints(
    catalog: Catalog, arms: Iterable[Arm], source_digests: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """`case@arm` → named component → digest, for every case and every arm of its agent.

    `case` is what an agent meets of the case; `checks` what it is graded by, which stored traces can be
    graded by again; `world` and `answers` are its fixtures. `adapter`, `settings`, `model` and
    `source:<name>` are the arm's own.

    Args:
        catalog: the cases, as written, and the fixtures that they lean on.
        arms: the arms.
        source_digests: by arm, a digest for each component of files that it is built from.
    """
    of_fixtures = {id: digest(fixture) for id, fixture in catalog.fixtures.items()}
    of_cases = {case.id: _of_case(case, of_fixtures) for case in catalog.cases.values()}
    return {
        f"{case.id}@{arm.id}": of_cases[case.id] | _of_arm(arm, source_digests.get(arm.id, {}))
        for arm in arms
        for case in catalog.cases.values()
        if case.agent == arm.agent
    }


def differing(
    before: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """What differs between two sets of fingerprints, in words, each once; empty when nothing does.

    Keys that only `now` has are not looked at.
    """
    found: dict[str, None] = {}
    for key, components in before.items():
        case, _, arm = key.rpartition("@")
        if key not in now:
            found[f"case {case} or arm {arm} is gone"] = None
            continue
        for name in sorted(components.keys() | now[key].keys()):
            if components.get(name) != now[key].get(name):
                found[_named(name, case, arm)] = None
    return tuple(found)


def _named(component: str, case: str, arm: str) -> str:
    match component:
        case "case":
            return f"case {case}"
        case "checks":
            return f"checks of case {case}"
        case "world" | "answers":
            return f"{component} of case {case}"
        case "harness":
            return "Seatrial itself"
        case _:
            return f"{component.replace(':', ' ')} of arm {arm}"


def _of_case(case: Case, of_fixtures: Mapping[str, str]) -> dict[str, str]:
    written = case.model_dump(mode="json", by_alias=True, exclude_unset=True)
    met = {key: value for key, value in written.items() if key not in _ABOUT_THE_CASE}
    if case.turns:
        met["turns"] = list(case.messages)
    checks = [written.get("checks"), [t.get("checks") for t in written.get("turns", ())]]
    components = {"case": digest(met), "checks": digest(checks), "world": of_fixtures[case.world]}
    if case.answers is not None:
        components["answers"] = of_fixtures[case.answers]
    return components


def _of_arm(arm: Arm, source_digests: Mapping[str, str]) -> dict[str, str]:
    components = {
        "adapter": digest(arm.adapter),
        "settings": digest(arm.settings),
        "harness": HARNESS,
    }
    if arm.model is not None:
        components["model"] = digest(arm.model)
    return components | {f"source:{name}": value for name, value in source_digests.items()}


def documents_of(catalog: Catalog, suite: Suite, arms: Sequence[str]) -> Catalog:
    """The part of a catalog that a run of this suite by these arms leans on, in the suite's order."""
    cases = {case.id: case for case in catalog.suite_cases(suite)}
    fixtures = {case.world for case in cases.values()}
    fixtures |= {case.answers for case in cases.values() if case.answers is not None}
    kept = {
        *(("case", id) for id in cases),
        *(("fixture", id) for id in fixtures),
        *(("arm", id) for id in arms),
        ("suite", suite.id),
    }
    return Catalog(
        cases,
        {suite.id: suite},
        {id: catalog.arms[id] for id in arms},
        {id: catalog.fixtures[id] for id in sorted(fixtures)},
        {key: source for key, source in catalog.sources.items() if key in kept},
    )
