"""Cases × arms × numbers → trials in the order in which they start."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from seatrial.documents import Arm, Catalog, Suite
from seatrial.records import Manifest, PlannedCase


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """One execution of one case by one arm."""

    case: str
    arm: str
    number: int
    """1..n within its case and arm."""


@dataclass(frozen=True, slots=True)
class Halt:
    """No further trial of a case, whoever's: those that have not begun are not run."""

    case: str


def expand(
    planned: Iterable[PlannedCase], catalog: Catalog, arms: Sequence[Arm]
) -> tuple[Trial, ...]:
    """Every trial of the selected cases by the arms that answer them, in the order in which they start.

    First trials of all cases come before second ones, so that a drift of the provider or the machine
    hits all alike; among them required cases come first, then by priority, then those that are expected to
    take longest, then in the given order; the arms take turns.
    """
    chosen = [(catalog.cases[entry.case], entry) for entry in planned if entry.selected]
    chosen.sort(key=lambda one: (not one[0].required, -one[0].priority, -one[1].expected_ms))
    return tuple(
        Trial(case.id, arm.id, number)
        for number in range(1, max((entry.trials for _, entry in chosen), default=0) + 1)
        for case, entry in chosen
        if number <= entry.trials
        for arm in arms
        if arm.agent == case.agent and entry.answered_by(arm.id)
    )


def makespan(durations: Iterable[float], at_once: int) -> float:
    """How long trials take together that start in this order, so many side by side.

    Args:
        durations: of each, in any unit.
        at_once: trials side by side.
    """
    ends: list[float] = []
    for duration in durations:
        if len(ends) < at_once:
            heapq.heappush(ends, duration)
        else:
            heapq.heapreplace(ends, ends[0] + duration)
    return max(ends, default=0.0)


def trials_of(manifest: Manifest, catalog: Catalog) -> tuple[Trial, ...]:
    """Every trial that a run's plan sets beforehand; of a shard, those of its own cases.

    The released arm runs beside the candidate as often as it, but for the cases that it cannot run as it was
    released; where it only runs on demand, none of its trials is among them.
    """
    rerun = manifest.rerun
    arms = [
        catalog.arms[id] for id in manifest.arms if rerun is None or rerun.fixed or id != rerun.arm
    ]
    planned = manifest.plan
    if manifest.sharding is not None:
        own = manifest.sharding.own
        planned = tuple(entry for entry in planned if entry.case in own)
    return tuple(
        trial
        for trial in expand(planned, catalog, arms)
        if rerun is None or trial.arm != rerun.arm or trial.case not in rerun.left_out
    )


def keys_of(manifest: Manifest) -> set[tuple[str, str, int]]:
    """Case, arm and number of the same trials, told from the manifest alone."""
    return {
        (case, arm, number)
        for case, arm, trials in counts_of(manifest)
        for number in range(1, trials + 1)
    }


def counts_of(manifest: Manifest) -> Iterator[tuple[str, str, int]]:
    """Each case and arm of a run's plan, or of a shard's, with how many trials are set beforehand.

    Told from the manifest alone: its fingerprints say who runs what.
    """
    rerun, part = manifest.rerun, manifest.sharding
    own = part.own if part is not None else None
    for entry in manifest.plan:
        if not entry.selected or (own is not None and entry.case not in own):
            continue
        for arm in manifest.arms:
            if not entry.answered_by(arm) or f"{entry.case}@{arm}" not in manifest.fingerprints:
                continue
            if (
                rerun is not None
                and arm == rerun.arm
                and (not rerun.fixed or entry.case in rerun.left_out)
            ):
                continue
            yield entry.case, arm, entry.trials


def documents_of(catalog: Catalog, suite: Suite, arms: Sequence[str]) -> Catalog:
    """The part of a catalog that a run of this suite by these arms leans on, in the suite's order."""
    cases = {case.id: case for case in catalog.suite_cases(suite)}
    fixtures = {id for case in cases.values() for id in case.fixtures}
    fixtures |= {id for arm in arms for id in catalog.arms[arm].servers}
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
