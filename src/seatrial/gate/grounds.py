"""Every ground that a comparison gives for a ruling, in the order in which people want to read them."""

from __future__ import annotations

from seatrial.gate import missing, remarks, shown
from seatrial.gate.matter import Brief, Matter
from seatrial.gate.model import Effect

_ORDER: tuple[Effect, ...] = ("closed", "undecided", "warning", "note")

_QUESTIONS = (*shown.QUESTIONS, *missing.QUESTIONS, *remarks.QUESTIONS)


def all_of(matter: Matter) -> list[Brief]:
    """Every ground, those with the strongest effect first."""
    found = [brief for question in _QUESTIONS for brief in question(matter)]
    return sorted(found, key=lambda f: _ORDER.index(f[0].effect))
