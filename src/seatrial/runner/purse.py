"""The money, or the tokens, that a run may spend: set aside before a trial or a request is made, never after.

A trial that asks a model through Seatrial (an `openai` arm) sets aside what each request can cost at most before
it is made, and so do simulated people whom a model plays. Of other agents it is only known afterwards what a trial
took: there as much is set aside as the dearest trial so far took, and as long as nobody knows, one trial goes alone.
What does not fit is not begun, and after it nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import anyio

from seatrial.costs import Budget
from seatrial.documents import Arm, OpenAI, Prices
from seatrial.plan import Trial
from seatrial.records import TrialRecord
from seatrial.trace import Usage


class Purse:
    """What a run may spend, and what it has spent."""

    def __init__(
        self, budget: Budget, arms: Mapping[str, Arm], stored: Iterable[TrialRecord] = ()
    ) -> None:
        """Begin with what stored trials have spent.

        Args:
            budget: the limit.
            arms: by id; a budget of money needs their prices.
            stored: trials that have ended, where the run goes on.
        """
        self.budget = budget
        self.spent = 0.0
        self.refused = ""
        """Why nothing more is begun; empty while there is enough."""
        self._arms = arms
        self._open: set[Allotment] = set()
        self._dearest: dict[tuple[str, str], float] = {}
        self._dearest_of_arm: dict[str, float] = {}
        self._changed = anyio.Event()
        for record in stored:
            worth = self._account(record.arm, record.usages) + self._of_people(record)
            if worth:
                self._learn(record.case, record.arm, worth)

    @property
    def left(self) -> float:
        """What is neither spent nor set aside."""
        return self.budget.limit - self.spent - sum(one.aside for one in self._open)

    async def admit(self, trial: Trial) -> Allotment | None:
        """Set aside what a trial may take; None where it does not fit, and `refused` says why."""
        arm = self._arms[trial.arm]
        metered = isinstance(arm.adapter, OpenAI)
        while not self.refused:
            wanted = self._expected(trial)
            if wanted is None and metered:
                wanted = 0.0
            if wanted is None and not self._open:
                wanted = self.left
            if wanted is not None and self.left > 0 and wanted <= self.left:
                allotment = Allotment(self, trial, metered, wanted)
                self._open.add(allotment)
                return allotment
            if not self._open:
                self.refused = self._why(wanted or 0.0)
            else:
                # What others have set aside may not be needed.
                await self._changed.wait()
        return None

    def close(self, allotment: Allotment, used: tuple[Usage, ...]) -> None:
        """A trial is over; what it had set aside and did not take is there for others."""
        self._open.discard(allotment)
        trial = allotment.trial
        if not allotment.metered:
            if used:
                allotment.spent += self._account(trial.arm, used)
            elif not self.refused:
                self.refused = (
                    f"agent {trial.arm} reported no tokens in trial {trial.number} of {trial.case}, so that a "
                    f"budget of {self.budget} cannot be held"
                )
        if allotment.spent:
            self._learn(trial.case, trial.arm, allotment.spent)
        self._changed.set()
        self._changed = anyio.Event()

    def beside(self, one: Allotment) -> str:
        """What all trials but this one have set aside, in words; nothing where that is nothing."""
        aside = sum(other.aside for other in self._open if other is not one)
        return f", {self.budget.told(aside)} set aside by trials beside it" if aside else ""

    def worth(self, arm: str, used: Usage, prices: Prices | None = None) -> float:
        """What tokens count for, in the budget's unit: an arm's, where no other prices are given."""
        return self.budget.worth(used, prices or self._arms[arm].prices)

    def _of_people(self, record: TrialRecord) -> float:
        """What the simulated people of a stored trial have spent."""
        if self.budget.unit == "tokens":
            worth = sum(self.budget.worth(used, None) for used in record.simulator_usages)
        elif record.simulator_currency == self.budget.unit:
            worth = record.simulator_cost or 0.0
        else:
            worth = 0.0
        self.spent += worth
        return worth

    def _account(self, arm: str, used: Iterable[Usage]) -> float:
        worth = sum(self.worth(arm, one) for one in used)
        self.spent += worth
        return worth

    def _expected(self, trial: Trial) -> float | None:
        """What the dearest trial took: of the case, or of any case of the arm where none has ended."""
        return self._dearest.get((trial.case, trial.arm), self._dearest_of_arm.get(trial.arm))

    def _learn(self, case: str, arm: str, worth: float) -> None:
        self._dearest[case, arm] = max(worth, self._dearest.get((case, arm), 0.0))
        self._dearest_of_arm[arm] = max(worth, self._dearest_of_arm.get(arm, 0.0))

    def _why(self, wanted: float) -> str:
        spent = self.budget.told(self.spent)
        if self.left <= 0:
            return f"the budget of {self.budget} is spent ({spent})"
        return f"of the budget of {self.budget}, {spent} are spent, and a trial may take {self.budget.told(wanted)}"


@dataclass(slots=True, eq=False)
class Allotment:
    """What one trial has set aside, and has taken of it."""

    purse: Purse
    trial: Trial
    metered: bool
    """Each request of it is set aside and accounted by itself."""
    reserved: float
    spent: float = 0.0

    @property
    def aside(self) -> float:
        """What is set aside beyond what is spent."""
        return max(0.0, self.reserved - self.spent)

    def afford(self, most: Usage, prices: Prices | None = None) -> str:
        """Set aside what a request may take at most; why it does not fit, or nothing.

        Args:
            most: tokens.
            prices: what they cost, where they are not the arm's.
        """
        purse = self.purse
        wanted = self.spent + purse.worth(self.trial.arm, most, prices)
        if wanted - self.reserved > purse.left:
            told = purse.budget.told
            purse.refused = purse.refused or (
                f"the budget of {purse.budget} does not suffice for another request, which may take "
                f"{told(wanted - self.spent)} ({told(purse.spent)} are spent{purse.beside(self)})"
            )
            return purse.refused
        self.reserved = max(self.reserved, wanted)
        return ""

    def spend(self, used: Usage, prices: Prices | None = None) -> None:
        """A request has taken this."""
        worth = self.purse.worth(self.trial.arm, used, prices)
        self.spent += worth
        self.purse.spent += worth
