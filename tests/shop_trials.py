"""Trials of the bike rental, carried out and stored by the real runner."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio

from seatrial import plan, runner, store
from seatrial.costs import Budget
from seatrial.documents import Catalog
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.trace import Trace


def carried_out(
    root: Path,
    catalog: Catalog,
    *,
    trials: int = 1,
    environ: Mapping[str, str] | None = None,
    at_once: int | None = None,
    folder: str = ".trials",
    budget: str | None = None,
) -> list[tuple[TrialRecord, Trace]]:
    """Every case by every arm, with the agents under `root`; what was stored, in the order of the trials."""
    planned = tuple(
        PlannedCase(case=id, selected=True, reasons=("all",), trials=trials) for id in catalog.cases
    )
    manifest = Manifest(
        run=store.new_run_id(),
        suite="all",
        arms=tuple(catalog.arms),
        trials=trials,
        seed=7,
        created_at="2026-04-01T10:00:00Z",
        seatrial="0.1.0",
        plan=planned,
    )
    arms = tuple(catalog.arms.values())
    environ = os.environ if environ is None else environ
    equipment = runner.equip(arms, root, dict(environ), fixtures=(*catalog.built, *catalog.people))

    async def carry_out(writer: store.Writer, expanded: Iterable[plan.Trial]) -> None:
        with anyio.fail_after(60):
            await runner.run(
                writer,
                catalog,
                runner.fixed(tuple(expanded)),
                equipment=equipment,
                at_once=at_once,
                purse=runner.Purse(Budget.read(budget), catalog.arms) if budget else None,
            )

    with store.Writer.create(root / folder, manifest, catalog) as writer:
        anyio.run(carry_out, writer, plan.expand(planned, catalog, arms))
    run = store.Run.open(root / folder)
    ended = [(record, run.trace(record)) for record in run.records()]
    return sorted(ended, key=lambda one: (one[0].case, one[0].arm, one[0].number))
