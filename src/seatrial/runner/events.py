"""What a run tells while it goes on."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.plan import Trial
from seatrial.records import TrialRecord


@dataclass(frozen=True, slots=True)
class Planned:
    """Trials were added to those that are to run."""

    trials: tuple[Trial, ...]
    """Which ones, this time."""
    total: int
    """How many there are now in all, stored ones included."""


@dataclass(frozen=True, slots=True)
class Halted:
    """A case is over before all its trials were run."""

    case: str
    left_out: int
    """Trials that were planned and are not run."""
    total: int
    """How many there are now in all, stored ones included."""


@dataclass(frozen=True, slots=True)
class Began:
    """A trial has begun."""

    trial: Trial


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial has ended and is stored."""

    record: TrialRecord
    stored: int
    """How many are stored now."""
    total: int
    """How many there are in all, so far."""


Event = Planned | Halted | Began | Ended
