"""Which folders are the shards of one run, and what is missing of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from seatrial import plan, sharding, store
from seatrial.documents import Catalog
from seatrial.errors import UsageError
from seatrial.plan import Trial
from seatrial.records import Manifest, Sharding, TrialRecord
from seatrial.store import Shard, Stub, stubs, trial_of

_NAMED = 12
_SAME_PLAN = "run all shards from the same commit, with the same options and the same baseline"


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of a merge."""

    plan: str
    shards: int
    """How many the plan has."""
    there: int
    trials: int
    absent: tuple[str, ...]
    """Shards without a folder."""
    cut_off: tuple[str, ...]
    """Shards whose runner did not end."""
    missing: tuple[Trial, ...]
    """Trials without a record."""

    @property
    def whole(self) -> bool:
        """Exactly the planned trials are there, and every shard has ended."""
        return not (self.absent or self.cut_off or self.missing)

    def lacking(self) -> Iterator[str]:
        """What is missing, a line each."""
        for names, what in ((self.absent, "is not there"), (self.cut_off, "has not ended")):
            yield from (f"shard {name} {what}" for name in names)
        if not self.missing:
            return
        yield f"{len(self.missing)} trials have no record:"
        lines = list(sharding.named(self.missing))
        yield from (f"  {line}" for line in lines[:_NAMED])
        if len(lines) > _NAMED:
            yield f"  … and of {len(lines) - _NAMED} more cases"


def folders(dirs: Sequence[Path]) -> list[Path]:
    """The run folders that are named, or that lie in the folders that are."""
    found: list[Path] = []
    for folder in dirs:
        below = sorted(path.parent for path in folder.glob("*/run.json"))
        if (folder / "run.json").is_file():
            found.append(folder)
        elif below:
            found += below
        else:
            raise UsageError(
                f"neither {folder} nor a folder in it holds a run",
                hint="name the folders that `seatrial run --shard` wrote",
            )
    return found


def merged(dirs: Sequence[Path], out: Path) -> Merged:
    """Put shards together in a new folder.

    Raises:
        UsageError: they are not different shards of one plan.
        StorageError: one was altered or cannot be read, or the new folder cannot be written.
    """
    shards = [Shard(folder) for folder in dirs]
    by_number = _of_one_plan(shards)
    ordered = [by_number[number] for number in sorted(by_number)]
    manifests = [shard.run.manifest for shard in ordered]
    parts = _Parts(manifests[0], by_number)

    def complete() -> bool:
        parts.hold_against_the_plan(lambda: ordered[0].run.catalog)
        every = len(ordered) == parts.plan.of and all(shard.ended for shard in ordered)
        return every and not parts.missing

    whole = sharding.whole(manifests, run=store.new_run_id())
    store.merge(out, whole, ordered, seen=parts.seen, whole=complete)
    shards_of = range(1, parts.plan.of + 1)
    return Merged(
        plan=parts.plan.plan,
        shards=parts.plan.of,
        there=len(ordered),
        trials=sum(shard.records for shard in ordered),
        absent=tuple(f"{n}/{parts.plan.of}" for n in shards_of if n not in by_number),
        cut_off=tuple(str(_sharding(s.run.manifest)) for s in ordered if not s.ended),
        missing=tuple(parts.missing),
    )


class _Parts:
    """Which trials there are, shard by shard."""

    def __init__(self, manifest: Manifest, numbers: Collection[int]) -> None:
        self.plan = _sharding(manifest)
        self.missing: list[Trial] = []
        """Trials without a record, once they were held against the plan."""
        self._manifest = manifest
        self._there: dict[int, set[Stub]] = {number: set() for number in numbers}
        self._telling: dict[int, list[TrialRecord]] = {number: [] for number in numbers}

    def seen(self, shard: Shard, trials: Sequence[Stub], lines: bytes) -> None:
        """Take trials down.

        Raises:
            UsageError: the shard has one trial twice.
        """
        number = _sharding(shard.run.manifest).shard
        there = self._there[number]
        before = len(there)
        there.update(trials)
        if len(there) != before + len(trials):
            counted = Counter(trials)
            twice = next((t for t in trials if counted[t] > 1), trials[0])
            raise UsageError(f"{shard.folder} holds {_told(trial_of(twice))} twice")
        if self._manifest.adding is not None:
            self._telling[number] += map(_slim, lines.splitlines())

    def hold_against_the_plan(self, catalog: Callable[[], Catalog]) -> None:
        """Find what is missing.

        Raises:
            UsageError: a shard holds trials that its plan does not ask for.
        """
        for number in range(1, self.plan.of + 1):
            part = self.plan.model_copy(update={"shard": number})
            own = self._manifest.model_copy(update={"sharding": part})
            there = self._there.get(number, set())
            if own.adding is None and there == _planned(own):
                continue
            keys = {trial_of(begun) for begun in there}
            if strange := sorted(key for key in keys if key[0] not in part.own):
                raise UsageError(
                    f"shard {part} holds {_told(strange[0])}, which is not in its plan",
                    hint="run that shard anew",
                )
            found = sharding.completeness(own, catalog, keys, self._telling.get(number, ()))
            if found.surplus:
                raise UsageError(
                    f"shard {part} holds trials that its plan does not ask for: "
                    f"{'; '.join(sharding.named(found.surplus))}",
                    hint="run that shard anew",
                )
            self.missing += found.missing


def _planned(manifest: Manifest) -> set[Stub]:
    """The trials that a plan sets beforehand."""
    of_each = (stubs(case, arm, range(1, n + 1)) for case, arm, n in plan.counts_of(manifest))
    return set[Stub]().union(*of_each)


def _of_one_plan(shards: Sequence[Shard]) -> dict[int, Shard]:
    """Number → shard."""
    found: dict[int, Shard] = {}
    first = shards[0]
    for shard in shards:
        manifest = shard.run.manifest
        part = _sharding(manifest)
        differing: tuple[str, ...] = ()
        if part.plan != _sharding(first.run.manifest).plan or not shard.ended:
            differing = sharding.apart(first.run.manifest, manifest)
        if first.documents() != shard.documents():
            differing = (*differing, "documents")
        if differing:
            raise UsageError(
                f"{first.folder} and {shard.folder} are not of one plan: {', '.join(differing)} "
                f"differ{'s' * (len(differing) == 1)}",
                hint=_SAME_PLAN,
            )
        if part.shard in found:
            raise UsageError(
                f"{found[part.shard].folder} and {shard.folder} are both shard {part}",
                hint="name each shard once",
            )
        found[part.shard] = shard
    return found


def _sharding(manifest: Manifest) -> Sharding:
    if manifest.sharding is None:
        raise UsageError(
            f"run {manifest.run} is no shard, it is a whole run",
            hint="shards are what `seatrial run --shard I/N` writes",
        )
    return manifest.sharding


def _slim(line: bytes) -> TrialRecord:
    """A record without the findings that decide nothing."""
    record = TrialRecord.model_validate_json(line)
    told = tuple(finding for finding in record.findings if finding.forbidden)
    return record.model_copy(update={"findings": told})


def _told(trial: store.Key) -> str:
    case, arm, number = trial
    return f"trial {number} of {case} by {arm}"
