"""What trials will cost: by the prices of the arm that runs them and the tokens that the release's trials used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from seatrial.baseline import Baseline
from seatrial.costs import TrialCosts, amount, trial_costs
from seatrial.documents import Catalog, Prices
from seatrial.records import TrialRecord


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount, or why there is none."""

    amount: float | None = None
    currency: str = ""
    why: str = ""
    """Why it is not known."""
    told: str = ""
    """A sentence about it."""

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {"amount": self.amount, "currency": self.currency, "why": self.why}


@dataclass(frozen=True, slots=True)
class Costing:
    """What one trial of each case costs."""

    candidate: TrialCosts | None = None
    live: TrialCosts | None = None
    """The same of the released arm beside it; None where it has the candidate's prices."""
    why: str = ""
    """Why nothing is known."""

    def of(self, trials: Mapping[str, tuple[float, float]]) -> Cost:
        """So many trials of the candidate and of the released arm, by case."""
        if self.candidate is None:
            return Cost(why=self.why, told=f"What that costs is not known: {self.why}.")
        beside = self.live or self.candidate
        total = self.candidate.total({case: own for case, (own, _) in trials.items()})
        total += beside.total({case: live for case, (_, live) in trials.items()})
        told = f"That costs about {amount(total)} {self.candidate.currency}, by the tokens of the stored trials"
        if unknown := [case for case in self.candidate.unknown if case in trials]:
            told += (
                f" ({len(unknown)} of {len(trials)} cases recorded none and are taken for average)"
            )
        return Cost(total, self.candidate.currency, told=f"{told}.")

    def each(self, cases: Collection[str], trials: int) -> float | None:
        """So many trials of the candidate in each case; None where nothing is known."""
        if self.candidate is None:
            return None
        return self.candidate.total(dict.fromkeys(cases, float(trials)))

    def told(self, cases: Collection[str], trials: int) -> str:
        """The same as text: an amount and its currency, or nothing."""
        cost = self.each(cases, trials)
        return (
            ""
            if cost is None or not self.candidate
            else f"{amount(cost)} {self.candidate.currency}"
        )


def costing(catalog: Catalog, found: Baseline, cases: Collection[str], arm: str = "") -> Costing:
    """What a trial of each case costs.

    Args:
        catalog: the documents as they are now.
        found: the release, whose trials say how many tokens a trial uses.
        cases: the cases of interest.
        arm: the candidate; empty for the released arm itself.
    """
    released = found.info.arm
    now, then = _prices(catalog, released), _prices(found.run.catalog, released)
    own = _prices(catalog, arm) if arm else now or then
    if own is None:
        return Costing(why=f"arm {arm or released} carries no `prices`")
    candidate = trial_costs(_records(found), cases, own)
    if candidate is None:
        return Costing(why="no stored trial recorded how many tokens it used")
    # What runs beside the candidate is the release as it was, perhaps with another model than the arm has now.
    beside = (then or now or own) if arm else own
    if beside == own:
        return Costing(candidate)
    if beside.currency != own.currency:
        return Costing(why=f"arm {arm} is paid in {own.currency}, the release in {beside.currency}")
    return Costing(candidate, trial_costs(_records(found), cases, beside))


def _prices(catalog: Catalog, arm: str) -> Prices | None:
    return catalog.arms[arm].prices if arm in catalog.arms else None


def _records(found: Baseline) -> Iterator[TrialRecord]:
    """The stored trials of the release and its ledger."""
    for run, arm in found.parts:
        yield from run.records(arm)
