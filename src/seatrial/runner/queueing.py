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
        self._of_case: dict[str, dict[int, Trial]] = {}
        """Case → what waits of it, in its place of the order. What is missing here has been withdrawn."""
        self._added = 0
        self.running = 0

    def add(self, trials: Iterable[Trial]) -> None:
        """Let trials wait behind those that wait already."""
        for trial in trials:
            self._waiting[trial.arm].append((self._added, trial))
            self._of_case.setdefault(trial.case, {})[self._added] = trial
            self._added += 1

    def withdraw(self, case: str) -> tuple[Trial, ...]:
        """Let the trials of a case no longer wait; gives those that did."""
        return tuple(self._of_case.pop(case, {}).values())

    def startable(self) -> Iterator[Trial]:
        """Take trials out for as long as there is room for one; each counts as running from then on."""
        while self._room:
            heads = [
                (place, arm)
                for arm in self._waiting
                if self._room_by_arm[arm] and (place := self._first(arm)) is not None
            ]
            if not heads:
                return
            place, arm = min(heads)
            self._room -= 1
            self._room_by_arm[arm] -= 1
            self.running += 1
            _, trial = self._waiting[arm].popleft()
            del self._of_case[trial.case][place]
            yield trial

    def _first(self, arm: str) -> int | None:
        """The place of the first trial of an arm that still waits."""
        waiting = self._waiting[arm]
        while waiting:
            place, trial = waiting[0]
            if place in self._of_case.get(trial.case, ()):
                return place
            waiting.popleft()
        return None

    def ended(self, trial: Trial) -> None:
        """Give the room of a running trial back."""
        self.running -= 1
        self._room += 1
        self._room_by_arm[trial.arm] += 1
