"""What is to run: the plan as it grows and shrinks, and which of its trials may start now.

Its own cost is linear in the number of trials, whatever ends when (`benchmarks/bench_scheduler.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from seatrial.plan import Halt, Trial
from seatrial.records import TrialRecord
from seatrial.runner.events import Event, Halted, Planned
from seatrial.runner.queueing import Queue
from seatrial.store import Key

NextTrials = Callable[[tuple[TrialRecord, ...]], Iterable[Trial | Halt]]
"""Which trials are to run, given those that have ended since it was last asked.

It is asked first with none, then after every end. A trial that it names and that is stored, waits or runs
already is not run again: in a run that is resumed it names the whole plan as before. Where it names a halt,
what runs goes on, and what waits is not run.
"""


class Schedule:
    """The trials of a run that are still to come."""

    def __init__(
        self,
        queue: Queue,
        next_trials: NextTrials,
        *,
        stored: Iterable[Key] = (),
        tell: Callable[[Event], None] = lambda _: None,
    ) -> None:
        """Begin with nothing planned but what is stored.

        Args:
            queue: where trials wait.
            next_trials: says which trials are to run.
            stored: those that are not to be run again.
            tell: told how the plan changes.
        """
        self._queue = queue
        self._next_trials = next_trials
        self._known = set(stored)
        self._tell = tell
        self.total = len(self._known)
        """Trials planned in all, stored ones included."""

    @property
    def running(self) -> int:
        """How many run now."""
        return self._queue.running

    def plan(self, records: tuple[TrialRecord, ...] = ()) -> None:
        """Take in what has ended, and ask what is to run next."""
        new = []
        for step in self._next_trials(records):
            if isinstance(step, Halt):
                left_out = len(self._queue.withdraw(step.case))
                self.total -= left_out
                self._tell(Halted(step.case, left_out, self.total))
                continue
            key = (step.case, step.arm, step.number)
            if key not in self._known:
                self._known.add(key)
                new.append(step)
        if new:
            self._queue.add(new)
            self.total += len(new)
            self._tell(Planned(tuple(new), self.total))

    def startable(self) -> Iterator[Trial]:
        """Take out what may start; each counts as running from then on."""
        return self._queue.startable()

    def ended(self, trial: Trial, record: TrialRecord) -> None:
        """A running trial has ended and is stored."""
        self._queue.ended(trial)
        self.plan((record,))
