"""What the models behind simulated people take in a trial, and what that costs: apart from what the agent takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from seatrial.costs import price
from seatrial.documents import Persona, Prices
from seatrial.runner.purse import Allotment
from seatrial.trace import Usage


@dataclass(slots=True)
class Bill:
    """What they take in one attempt at a trial."""

    allowance: Allotment | None = None
    """What the trial may spend; None for anything."""
    took: list[tuple[Prices | None, Usage | None]] = field(default_factory=list)
    """Of each request: at which prices, and what; None where nobody counted."""

    def afford(self, persona: Persona, most: Usage) -> str:
        """Set aside what a request may take at most; why it does not fit, or nothing."""
        return "" if self.allowance is None else self.allowance.afford(most, _prices(persona))

    def spend(self, persona: Persona, used: Usage | None, most: Usage) -> None:
        """A request has taken this; where nobody counted, it is taken to have cost what it can at most."""
        self.took.append((_prices(persona), used))
        if self.allowance is not None:
            self.allowance.spend(used or most, _prices(persona))

    @property
    def usages(self) -> list[Usage]:
        """Tokens, request by request, as far as they were counted."""
        return [used for _, used in self.took if used is not None]


def cost(bills: Iterable[Bill]) -> tuple[float, str] | None:
    """What people cost, and in which currency.

    None where some have no prices, their currencies differ, or a request was not counted: less than all of it
    would look like all of it.
    """
    amounts = []
    currencies = set()
    for bill in bills:
        for prices, used in bill.took:
            if prices is None or used is None:
                return None
            amounts.append(price(used, prices))
            currencies.add(prices.currency)
    if len(currencies) != 1:
        return None
    return math.fsum(amounts), currencies.pop()


def _prices(persona: Persona) -> Prices | None:
    return persona.model.prices if persona.model is not None else None
