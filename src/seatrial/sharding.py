"""A run divided over several machines: which cases run where, and what the parts must have in common.

A case lives in one shard, with all its trials and all its arms. So trials are added to a suspicious case, or the case
is halted, by what its own shard knows, and the shards decide together what one machine would have decided. Only
`--max-trials` joins the cases: each shard has its first batches and its share of what may be added.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from seatrial.adaptive import Pursuit
from seatrial.documents import Catalog, digest
from seatrial.plan import Halt, Trial, expand, keys_of, trials_of
from seatrial.records import Manifest, PlannedCase, TrialRecord

ASSUMED_MS = 30_000
"""How long a trial is taken to last where no stored trial tells, in milliseconds."""
AIMED_AT_MS = 600_000
"""How long the longest shard may take where their number is found: ten minutes."""
MOST = 256
"""Shards, at most: GitHub starts no more jobs of one matrix."""

_OF_ONE_SHARD = {"run", "created_at", "merged"}


@dataclass(frozen=True, slots=True)
class Load:
    """What a shard has to do."""

    cases: tuple[str, ...]
    """In the order of the plan."""
    trials: int
    expected_ms: int
    """All its trials one after the other, in milliseconds."""

    def takes_ms(self, at_once: int) -> int:
        """How long it takes with so many trials side by side, at best."""
        return math.ceil(self.expected_ms / at_once)


def loads(
    planned: Iterable[PlannedCase],
    catalog: Catalog,
    arms: Sequence[str],
    shards: int,
) -> tuple[Load, ...]:
    """The selected cases, divided so that all shards are expected to take about as long.

    The longest case first, each to the shard that has the least to do so far (Graham's rule: the fullest shard takes
    at most 4/3 of what the best division takes). The same plan gives the same division.

    Args:
        planned: the cases of a run; those of which nobody knows how long a trial takes are taken for average.
        catalog: its documents.
        arms: ids of its arms.
        shards: how many; those beyond the number of cases stay empty.
    """
    trials, takes = _takes(planned, catalog, arms)
    return tuple(
        Load(cases, sum(trials[case] for case in cases), sum(takes[case] for case in cases))
        for cases in _divided(takes, shards)
    )


def enough(
    planned: Iterable[PlannedCase],
    catalog: Catalog,
    arms: Sequence[str],
    at_once: int,
) -> int:
    """The fewest shards of which none is expected to take longer than `AIMED_AT_MS`, or than the longest case.

    Args:
        planned: the cases of a run.
        catalog: its documents.
        arms: ids of its arms.
        at_once: trials side by side in each.
    """
    _, takes = _takes(planned, catalog, arms)
    if not takes:
        return 1
    aim = max(AIMED_AT_MS * at_once, *takes.values())
    for shards in range(max(1, sum(takes.values()) // aim), min(MOST, len(takes))):
        fullest = max(sum(takes[case] for case in cases) for cases in _divided(takes, shards))
        if fullest <= aim:
            return shards
    return min(MOST, len(takes))


def _takes(
    planned: Iterable[PlannedCase],
    catalog: Catalog,
    arms: Sequence[str],
) -> tuple[dict[str, int], dict[str, int]]:
    """Selected case → its trials, and how long all of them take one after the other."""
    entries = [entry for entry in planned if entry.selected]
    trials = {entry.case: 0 for entry in entries}
    for trial in expand(entries, catalog, [catalog.arms[id] for id in arms]):
        trials[trial.case] += 1
    # Whole milliseconds: sums of these do not depend on their order.
    known = {entry.case: math.ceil(entry.expected_ms) for entry in entries if entry.expected_ms}
    usual = sum(known.values()) // len(known) if known else ASSUMED_MS
    return trials, {case: count * known.get(case, usual) for case, count in trials.items()}


def _divided(takes: Mapping[str, int], shards: int) -> list[tuple[str, ...]]:
    piles = [(0, 0, shard) for shard in range(shards)]
    chosen: dict[str, int] = {}
    for case in sorted(takes, key=lambda case: (-takes[case], case)):
        expected, cases, shard = piles[0]
        chosen[case] = shard
        heapq.heapreplace(piles, (expected + takes[case], cases + 1, shard))
    parts: list[list[str]] = [[] for _ in range(shards)]
    for case in takes:
        parts[chosen[case]].append(case)
    return [tuple(part) for part in parts]


def plan_digest(manifest: Manifest) -> str:
    """A digest of what the shards of one run have in common.

    Which of its cases are weak is no part of it: each shard tries its own.
    """
    return digest(_common(manifest))


def seed_of(manifest: Manifest) -> int:
    """What chance starts from where nobody says: the same for all shards of one plan."""
    common = _common(manifest)
    del common["seed"]
    return int(digest(common)[:8], 16)


def apart(one: Manifest, other: Manifest) -> tuple[str, ...]:
    """What differs between the plans of two shards, by the names of `run.json`; empty where nothing does."""
    here, there = _common(one), _common(other)
    return tuple(name for name in here if here[name] != there.get(name))


def whole(shards: Sequence[Manifest], *, run: str) -> Manifest:
    """The manifest of the run that shards of one plan make up.

    Args:
        shards: the manifests of those that are there, at least one.
        run: its id.
    """
    first = shards[0]
    assert first.sharding is not None
    weak: dict[str, bool | None] = {}
    for shard in shards:
        own = shard.sharding.own if shard.sharding is not None else frozenset()
        weak |= {entry.case: entry.weak for entry in shard.plan if entry.case in own}
    return first.model_copy(
        update={
            "run": run,
            "created_at": min(shard.created_at for shard in shards),
            "plan": tuple(
                entry.model_copy(update={"weak": weak.get(entry.case)}) for entry in first.plan
            ),
            "sharding": None,
            "merged": tuple(shard.run for shard in shards),
        }
    )


def pursuit(
    manifest: Manifest, catalog: Catalog, first: Sequence[Trial], stored: Iterable[TrialRecord]
) -> Pursuit | None:
    """What adds trials to a run or to a shard of one; None where their number is fixed.

    Args:
        manifest: the run's.
        catalog: its documents.
        first: the first batches that are run here.
        stored: the records that there are.
    """
    said, rerun = manifest.adding, manifest.rerun
    if said is None:
        return None
    if said.most is not None and manifest.sharding is not None:
        every = trials_of(manifest.model_copy(update={"sharding": None}), catalog)
        most = len(first) + manifest.sharding.share(said.most - len(every))
        said = said.model_copy(update={"most": most})
    (candidate,) = manifest.candidates
    live = rerun.arm if rerun else None
    return Pursuit(
        said,
        first,
        candidate=candidate,
        live=live,
        alone=rerun.left_out if rerun else (),
        stored=stored,
    )


@dataclass(frozen=True, slots=True)
class Completeness:
    """What a run's plan asks for, and what is there of it."""

    missing: tuple[Trial, ...]
    """Planned, or added by the rule, without a record."""
    surplus: tuple[Trial, ...]
    """Recorded, and neither planned nor added by the rule."""


def completeness(
    manifest: Manifest,
    catalog: Callable[[], Catalog],
    keys: Set[tuple[str, str, int]],
    telling: Iterable[TrialRecord],
) -> Completeness:
    """Hold the trials that are there against the plan and the rule by which trials are added.

    Args:
        manifest: that of the shard.
        catalog: gives its documents; asked only where trials are added.
        keys: case, arm and number of the trials that have a record.
        telling: the records; looked at only where trials are added.
    """
    wanted = keys_of(manifest)
    halted: frozenset[str] = frozenset()
    if manifest.adding is not None:
        documents = catalog()
        rule = pursuit(manifest, documents, trials_of(manifest, documents), telling)
        assert rule is not None
        halted = rule.halted
        # A batch that was granted and of which nothing is stored yet is among what it names now.
        steps = [step for step in rule(()) if not isinstance(step, Halt)]
        wanted.update((step.case, step.arm, step.number) for step in steps)
    if wanted == keys:
        return Completeness((), ())
    missing = (Trial(*key) for key in wanted - keys if key[0] not in halted)
    surplus = (Trial(*key) for key in keys - wanted if key[0] not in halted)
    return Completeness(tuple(sorted(missing)), tuple(sorted(surplus)))


def _common(manifest: Manifest) -> dict[str, Any]:
    written = manifest.model_dump(mode="json", exclude=_OF_ONE_SHARD)
    for entry in written["plan"]:
        del entry["weak"]
    sharding = written.pop("sharding")
    written["shards"] = sharding["cases"] if sharding else None
    return written


def named(trials: Iterable[Trial]) -> Iterator[str]:
    """Trials in words, case by case."""
    by_case: dict[tuple[str, str], list[int]] = {}
    for trial in trials:
        by_case.setdefault((trial.case, trial.arm), []).append(trial.number)
    for (case, arm), numbers in by_case.items():
        yield f"{case} by {arm}: {_ranges(sorted(numbers))}"


def _ranges(numbers: Sequence[int]) -> str:
    """`1-3, 7`."""
    told: list[tuple[int, int]] = []
    for number in numbers:
        if told and number == told[-1][1] + 1:
            told[-1] = (told[-1][0], number)
        else:
            told.append((number, number))
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in told)
