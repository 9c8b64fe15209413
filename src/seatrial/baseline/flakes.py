"""How often the release fails each case, over all trials that are known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from seatrial.baseline.resolving import Baseline
from seatrial.compare import Side, Trials, count
from seatrial.compare.pooling import differences
from seatrial.stats.intervals import interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Flakes:
    """What is known of one case."""

    case: str
    required: bool
    valid: int
    """Trials that count, over all batches under the conditions of the newest."""
    failed: int
    """Of these."""
    invalid: int
    batches: int
    """The release itself and the batches of its ledger that these trials are from."""
    elsewhere: int
    """Valid trials under other conditions (another world, another instruction), which do not count here."""
    last: str
    """When the newest batch with this case was run."""

    @property
    def rate(self) -> float | None:
        """Share of the trials that failed; None where no trial counts."""
        return self.failed / self.valid if self.valid else None

    @property
    def bounds(self) -> tuple[float, float]:
        """95 % interval of the rate (Wilson: the number of trials was set beforehand)."""
        low, high = interval(self.valid - self.failed, self.valid, "wilson")
        return 1 - high, 1 - low


def flakes(found: Baseline) -> tuple[Flakes, ...]:
    """Every case of a release and its ledger, in the suite's order, those of the ledger alone last."""
    parts: list[tuple[Side, dict[str, Trials]]] = []
    for run, arm in found.parts:
        side = Side.of(run.manifest, run.catalog, arm, run.records(arm), where=run.where)
        # Where only the checks changed, traces can be graded again: the trials are of one kind.
        side = replace(side, regraded=frozenset(side.concerned()))
        parts.append((side, count(side)[0]))
    facts = {case: known for side, _ in parts for case, known in side.concerned().items()}
    cases = dict.fromkeys(case for _, counted in parts for case in counted)
    order = {case: place for place, case in enumerate(facts)}
    return tuple(
        _of_case(case, facts[case].required if case in facts else False, parts)
        for case in sorted(cases, key=lambda case: order.get(case, len(order)))
    )


def _of_case(case: str, required: bool, parts: list[tuple[Side, dict[str, Trials]]]) -> Flakes:
    holding = [(side, counted[case]) for side, counted in parts if case in counted]
    newest = max((side for side, _ in holding), key=lambda side: side.manifest.created_at)
    alike = [trials for side, trials in holding if not differences(side, newest, case)]
    valid = sum(trials.batch_valid for trials in alike)
    return Flakes(
        case=case,
        required=required,
        valid=valid,
        failed=valid - sum(trials.batch_passed for trials in alike),
        invalid=sum(trials.invalid.total() for trials in alike),
        batches=len(alike),
        elsewhere=sum(trials.batch_valid for _, trials in holding) - valid,
        last=newest.manifest.created_at,
    )
