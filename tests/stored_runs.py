"""Run folders on disk whose trials are given as a few characters each (see `tests.sides`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests import bike_shop, sides

from seatrial.records import Manifest, PlannedCase
from seatrial.store import Run, Writer
from seatrial.trace import Trace, Usage

CASES = ("rent", "refuse", "return")
"""Required but the last."""


def stored(
    folder: Path | str,
    trials: Mapping[str, str],
    *arms: str,
    gate: Mapping[str, object] | None = None,
    title: str = "A bike is handed out",
    reason: str | None = None,
    must_tie: tuple[str, ...] = (),
    weak: tuple[str, ...] | None = None,
    created_at: str = "2026-04-01T10:00:00+00:00",
    revision: str | None = None,
    usage: Usage | None = None,
    prices: Mapping[str, object] | None = None,
) -> Run:
    """A run folder with these trials of each arm."""
    arms = arms or ("clerk-2",)
    ids = tuple(dict.fromkeys((*CASES, *trials)))
    cases = [bike_shop.case(id, required=id != "return", title=title) for id in ids]
    documents = bike_shop.catalog(
        *cases,
        *(bike_shop.arm(arm, version=arm[-1], prices=prices) for arm in arms),
        bike_shop.suite(cases, gate=dict(gate or {}), must_tie=must_tie),
    )
    folder = Path(folder)
    manifest = Manifest(
        run=folder.name,
        suite="all",
        arms=arms,
        trials=5,
        seed=1,
        created_at=created_at,
        revision=revision,
        seatrial="0.1.0",
        plan=tuple(
            PlannedCase(
                case=case.id,
                selected=True,
                reasons=("no base given",),
                required=case.required,
                weak=None if weak is None else case.id in weak,
                trials=len(trials.get(case.id, "p")),
            )
            for case in cases
        ),
        fingerprints={f"{id}@{arm}": sides.FINGERPRINT for id in ids for arm in arms},
    )
    with Writer.create(folder, manifest, documents) as writer:
        for arm in arms:
            for record in sides.records(trials, arm):
                if reason is not None:
                    found = tuple(f.model_copy(update={"reason": reason}) for f in record.findings)
                    record = record.model_copy(update={"findings": found})
                record = record.model_copy(update={"usage": usage})
                writer.add(record, Trace(case=record.case, arm=arm, number=record.number))
    return Run.open(folder)
