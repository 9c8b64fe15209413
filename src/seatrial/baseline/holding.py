"""A stored run, held against a baseline: what `compare`, `gate`, `report` and the MCP server begin with."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from seatrial.baseline.resolving import Baseline
from seatrial.compare import BaselineInfo, Comparison, Side, compare, contested
from seatrial.compare.judging import CONFIRMING
from seatrial.documents import Catalog, Policy
from seatrial.gate import stricter
from seatrial.records import Manifest
from seatrial.regrading import passed_by_change, side_graded_by
from seatrial.stats.sequential import Rule
from seatrial.store import Run


@dataclass(frozen=True, slots=True)
class Held:
    """A comparison, and what its gate must know beside it."""

    comparison: Comparison
    loosened: tuple[str, ...]
    """Points of the gate's policy that the candidate's documents would loosen."""


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without garbage collection: a comparison makes millions of objects that all stay, and no cycles.

    Looking through them again and again takes as long as reading the records.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_collector_paused()
def hold(run: Run, arm: str, baseline: Baseline | None) -> Held:
    """Compare one arm of a run with a baseline and its ledger.

    The policy is the strictest of the baseline's, that at the base of the run's selection, and the run's own, point
    by point: a change cannot loosen what it is judged by before somebody has released it. Stored trials of cases in
    which only the checks have changed are graded again by the candidate's.

    Args:
        run: the run.
        arm: the candidate.
        baseline: None where there is none.

    Raises:
        StorageError: the run cannot be read, or was altered.
        BaselineError: the baseline cannot be read.
    """
    own = policy_of(run)
    loosened: tuple[str, ...] = ()
    if run.manifest.base_policy is not None:
        own, loosened = stricter(run.manifest.base_policy, own)
    ended = run.sealed  # asked first: of altered files nothing else is worth saying
    candidate = Side.of(
        run.manifest, run.catalog, arm, run.records(arm), where=run.where, ended=ended
    )
    if baseline is None:
        return Held(compare(None, candidate, own), loosened)
    policy, than_released = stricter(policy_of(baseline.run), own)
    stored, *ledger = (
        side_graded_by(part, of, candidate, run.catalog) for part, of in baseline.parts
    )
    again = _again(run, baseline)
    comparison = compare(
        stored,
        candidate,
        policy,
        ledger=ledger,
        live=again,
        confirm=_confirming(run),
        loosened=_passed_by_change(run, arm, baseline, stored),
        about=_about(run, baseline),
    )
    return Held(comparison, tuple(dict.fromkeys((*loosened, *than_released))))


def foresee(
    manifest: Manifest, catalog: Catalog, arm: str, baseline: Baseline, *, live: bool
) -> tuple[Rule, dict[str, tuple[int, int]]]:
    """By what `hold` will judge the required cases of a run that has not begun.

    Args:
        manifest: the run's, with its plan and fingerprints.
        catalog: its documents.
        arm: the candidate.
        baseline: what it will be held against.
        live: the released arm can be run beside it.

    Returns:
        The rule; case that can be compared → passed and valid trials of the baseline.
    """
    candidate = Side.of(manifest, catalog, arm, ())
    policy = stricter_policy(manifest.suite, catalog, baseline)
    stored, *ledger = (side_graded_by(part, of, candidate, catalog) for part, of in baseline.parts)
    return contested(stored, candidate, policy, ledger=ledger, live=live)


def stricter_policy(suite: str, catalog: Catalog, baseline: Baseline) -> Policy:
    """The policy under which a suite will be held against a baseline."""
    own = catalog.suites[suite].gate if suite in catalog.suites else Policy()
    return stricter(policy_of(baseline.run), own)[0]


def policy_of(run: Run) -> Policy:
    """The gate's policy in the documents of a run."""
    suite = run.catalog.suites.get(run.manifest.suite)
    return suite.gate if suite else Policy()


def _again(run: Run, baseline: Baseline) -> Side | None:
    """The released arm that was run again beside the candidate, if it is of this release."""
    rerun = run.manifest.rerun
    if rerun is None or rerun.release != baseline.info.run or rerun.arm in run.manifest.candidates:
        return None
    return Side.of(run.manifest, run.catalog, rerun.arm, run.records(rerun.arm), where=run.where)


def _confirming(run: Run) -> int:
    """Live trials that must confirm a regression: where their number was set beforehand, no more than those."""
    rerun = run.manifest.rerun
    if rerun is None or not rerun.fixed:
        return CONFIRMING
    planned = [c.trials for c in run.manifest.selected() if c.case not in rerun.left_out]
    return min([CONFIRMING, *planned])


def _passed_by_change(run: Run, arm: str, baseline: Baseline, stored: Side) -> Mapping[str, int]:
    candidate = run.manifest.fingerprints
    released = stored.manifest.fingerprints
    changed = frozenset(
        case
        for case in stored.regraded
        if candidate[f"{case}@{arm}"].get("checks")
        != released[f"{case}@{stored.arm}"].get("checks")
    )
    return passed_by_change(run, arm, baseline.run.catalog, changed)


def _about(run: Run, baseline: Baseline) -> BaselineInfo:
    info, regraded, rerun = baseline.info, baseline.run.manifest.regraded, run.manifest.rerun
    notes = [info.reason] if info.reason else []
    if regraded is not None:
        notes.append(f"its trials are those of run {regraded.run}, graded again")
    if rerun is not None and rerun.release != info.run:
        notes.append(
            f"run {rerun.release}, which was run again beside the candidate, is another release and "
            "was left out"
        )
    return info.model_copy(update={"reason": "; ".join(notes)})
