"""Which trial may start now."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from seatrial.plan import Trial


class Queue:
    """Trials that wait: they start in order, but never more at once than there is room, in all and by arm."""

    def __init__(self, at_once: int, by_arm: Mapping[str, int]) -> None:
        self._room = at_once
        self._room_by_arm = {arm: min(room, at_once) for arm, room in by_arm.items()}
        self._waiting: dict[str, deque[tuple[int, Trial]]] = {arm: deque() for arm in by_arm}
        self._added = 0
        self.running = 0

    def add(self, trials: Iterable[Trial]) -> None:
        """Let trials wait behind those that wait already."""
        for trial in trials:
            self._waiting[trial.arm].append((self._added, trial))
            self._added += 1

    def withdraw(self, case: str) -> tuple[Trial, ...]:
        """Let the trials of a case no longer wait; gives those that did."""
        withdrawn: list[Trial] = []
        for arm, waiting in self._waiting.items():
            withdrawn += (trial for _, trial in waiting if trial.case == case)
            self._waiting[arm] = deque(entry for entry in waiting if entry[1].case != case)
        return tuple(withdrawn)

    def startable(self) -> Iterator[Trial]:
        """Take trials out for as long as there is room for one; each counts as running from then on."""
        while self._room:
            heads = [
                (waiting[0][0], arm)
                for arm, waiting in self._waiting.items()
                if waiting and self._room_by_arm[arm]
            ]
            if not heads:
                return
            _, arm = min(heads)
            self._room -= 1
            self._room_by_arm[arm] -= 1
            self.running += 1
            yield self._waiting[arm].popleft()[1]

    def ended(self, trial: Trial) -> None:
        """Give the room of a running trial back."""
        self.running -= 1
        self._room += 1
        self._room_by_arm[trial.arm] += 1
