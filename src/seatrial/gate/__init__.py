"""Comparison + policy → ruling, with its grounds."""

from seatrial.gate.model import Ground, Profile, RuledChange, Ruling
from seatrial.gate.policies import stricter
from seatrial.gate.ruling import rule

__all__ = ["Ground", "Profile", "RuledChange", "Ruling", "rule", "stricter"]
