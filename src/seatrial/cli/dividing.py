"""How a run is divided over shards: what `plan --shards` shows, and which part `run --shard` carries out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seatrial import sharding
from seatrial.cli.timing import spoken
from seatrial.documents import Arm, Catalog
from seatrial.errors import UsageError
from seatrial.records import Manifest, PlannedCase, Sharding
from seatrial.runner import room

_SHARD = re.compile(r"([1-9]\d{0,3})/([1-9]\d{0,3})")


@dataclass(frozen=True, slots=True)
class Division:
    """A plan divided over shards."""

    loads: tuple[sharding.Load, ...]
    at_once: int
    known: bool
    """A baseline tells how long trials take."""

    @property
    def matrix(self) -> dict[str, list[str]]:
        """The jobs that carry it out: a matrix for GitHub Actions, and an entry of GitLab's `parallel: matrix`."""
        return {"shard": [f"{n}/{len(self.loads)}" for n in range(1, len(self.loads) + 1)]}

    def as_json(self) -> str:
        """The matrix on one line."""
        return json.dumps(self.matrix)

    def data(self) -> list[dict[str, Any]]:
        """Every shard with its cases, for programs."""
        return [
            {
                "shard": name,
                "cases": list(load.cases),
                "trials": load.trials,
                "expected_seconds": load.takes_ms(self.at_once) / 1000 if self.known else None,
            }
            for name, load in zip(self.matrix["shard"], self.loads, strict=True)
        ]

    def lines(self) -> list[str]:
        """Every shard, for people."""
        lines = [_count(len(self.loads), "shard")]
        for name, load in zip(self.matrix["shard"], self.loads, strict=True):
            seconds = load.takes_ms(self.at_once) / 1000
            took = f", about {spoken(seconds)}, {self.at_once} at once" if self.known else ""
            lines.append(
                f"  {name}  {_count(len(load.cases), 'case')}, {_count(load.trials, 'trial')}{took}"
            )
        if not self.known:
            each = sharding.ASSUMED_MS // 1000
            lines.append(f"No baseline tells how long trials take: each is taken for {each} s.")
        return lines


def division(
    planned: Sequence[PlannedCase], catalog: Catalog, arms: Sequence[Arm], shards: int | None
) -> Division:
    """A plan divided over so many shards, or over as many as it takes (None).

    Args:
        planned: the cases of the suite.
        catalog: the documents.
        arms: the arms that run them.
        shards: how many.
    """
    ids = [arm.id for arm in arms]
    chosen = [entry for entry in planned if entry.selected]
    at_once = room(arms)
    if shards is None:
        shards = sharding.enough(planned, catalog, ids, at_once)
    shards = max(1, min(shards, len(chosen)))
    known = any(entry.expected_ms for entry in chosen)
    return Division(sharding.loads(planned, catalog, ids, shards), at_once, known)


def shard_of(text: str) -> tuple[int, int]:
    """Which of how many, from `3/8`.

    Raises:
        UsageError: it is nothing of the kind.
    """
    found = _SHARD.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(
            f"{text!r} is no shard", hint="for example --shard 3/8, the third of eight"
        )
    return int(found[1]), int(found[2])


def part(
    planned: Sequence[PlannedCase], catalog: Catalog, arms: Sequence[Arm], shard: tuple[int, int]
) -> Sharding:
    """The part of a plan that one shard carries out; its digest is still to be made."""
    number, shards = shard
    loads = sharding.loads(planned, catalog, [arm.id for arm in arms], shards)
    return Sharding(shard=number, cases=tuple(load.cases for load in loads))


def sharded(manifest: Manifest, divided: Sharding, *, seeded: bool) -> Manifest:
    """The manifest of a shard, which is the same for all of them but for its number.

    Args:
        manifest: that of the whole run.
        divided: which part of it.
        seeded: somebody said what chance starts from; otherwise the plan says it, since no shard may draw it.
    """
    manifest = manifest.model_copy(update={"sharding": divided})
    if not seeded:
        manifest = manifest.model_copy(update={"seed": sharding.seed_of(manifest)})
    digest = sharding.plan_digest(manifest)
    return manifest.model_copy(update={"sharding": divided.model_copy(update={"plan": digest})})


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
