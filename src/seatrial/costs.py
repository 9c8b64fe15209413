"""What trials cost: the tokens that they used, by the prices of the arm that used them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from seatrial.documents import Prices
from seatrial.documents.suite import BUDGET
from seatrial.records import TrialRecord
from seatrial.trace import Usage
from seatrial.verdicts import Verdict

_MILLION = 1_000_000


def price(usage: Usage, prices: Prices) -> float:
    """What these tokens cost, in the currency of the prices.

    Cached tokens are a part of the input and reasoning tokens a part of the output; without a price of their
    own they cost what the others do.
    """
    cached, reasoning = usage.cached_input_tokens, usage.reasoning_tokens
    of_cached = prices.input if prices.cached_input is None else prices.cached_input
    of_reasoning = prices.output if prices.reasoning is None else prices.reasoning
    return (
        (usage.input_tokens - cached) * prices.input
        + cached * of_cached
        + (usage.output_tokens - reasoning) * prices.output
        + reasoning * of_reasoning
    ) / _MILLION


def spent(usages: Iterable[Usage], prices: Prices | None, currency: str) -> float | None:
    """What these tokens cost in a currency; None where nothing was reported, or no prices in it are known."""
    told = list(usages)
    if not told or prices is None or prices.currency != currency:
        return None
    return math.fsum(price(used, prices) for used in told)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend at most: money in one currency, or tokens read and written."""

    limit: float
    unit: str
    """A currency, or `tokens`."""

    @classmethod
    def read(cls, text: str) -> Budget:
        """A budget as it is written: `5 EUR`, `0.50 USD`, `200000 tokens`.

        Raises:
            ValueError: it is none.
        """
        found = re.fullmatch(BUDGET, text)
        if found is None:
            raise ValueError(f"{text!r} is no budget; write for example `5 EUR` or `200000 tokens`")
        return cls(float(found[1]), found[2])

    def part(self, fraction: float) -> Budget:
        """What one shard may spend of it."""
        return Budget(self.limit * fraction, self.unit)

    def worth(self, used: Usage, prices: Prices | None) -> float:
        """What tokens count for, in the budget's unit; money needs prices in its currency."""
        if self.unit == "tokens":
            return used.input_tokens + used.output_tokens
        assert prices is not None
        assert prices.currency == self.unit
        return price(used, prices)

    def told(self, worth: float) -> str:
        """An amount of the budget's unit, for people."""
        shown = f"{worth:,.0f}" if self.unit == "tokens" else amount(worth)
        return f"{shown} {self.unit}"

    def __str__(self) -> str:
        return self.told(self.limit)


@dataclass(frozen=True, slots=True)
class TrialCosts:
    """What one trial of each case costs on average, as far as stored trials tell."""

    currency: str
    known: Mapping[str, float]
    """Case → the mean over its stored trials that recorded their tokens."""
    unknown: tuple[str, ...] = ()
    """Cases of which none did."""

    def of(self, case: str) -> float:
        """One trial of a case; where it is unknown, the mean over the cases in which it is known."""
        found = self.known.get(case)
        return math.fsum(self.known.values()) / len(self.known) if found is None else found

    def total(self, trials: Mapping[str, float]) -> float:
        """So many trials of each case."""
        return math.fsum(often * self.of(case) for case, often in trials.items())


def amount(cost: float) -> str:
    """An amount for people: two digits behind the point, or two that count where it is less than 1."""
    if cost >= 1 or cost == 0:
        return f"{cost:,.2f}"
    return f"{cost:.{max(2, 1 - math.floor(math.log10(cost)))}f}"


def trial_costs(
    records: Iterable[TrialRecord], cases: Collection[str], prices: Prices
) -> TrialCosts | None:
    """What one trial of each case costs by the stored trials; None where none of them recorded tokens.

    Args:
        records: stored trials of one arm. Invalid ones do not count: they may have ended early.
        cases: the cases of interest.
        prices: of a million tokens.
    """
    found: dict[str, list[float]] = {case: [] for case in cases}
    for record in records:
        used = record.usage
        counted = used is not None and (used.input_tokens or used.output_tokens)
        if record.case in found and used and counted and record.verdict is not Verdict.INVALID:
            # Simulated people are paid for as well, where that is in the same currency.
            paid = record.simulator_currency == prices.currency
            of_people = record.simulator_cost if paid and record.simulator_cost else 0.0
            found[record.case].append(price(used, prices) + of_people)
    known = {case: math.fsum(each) / len(each) for case, each in found.items() if each}
    if not known:
        return None
    return TrialCosts(prices.currency, known, tuple(c for c, each in found.items() if not each))
