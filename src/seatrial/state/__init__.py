"""Objects, rights and actions as data; the exact difference; the operator vocabulary at work."""

from seatrial.state.operators import all_fulfilled, explain, fulfils
from seatrial.state.values import MISSING, Missing, freeze, look_up, same, thaw

__all__ = [
    "MISSING",
    "Missing",
    "all_fulfilled",
    "explain",
    "freeze",
    "fulfils",
    "look_up",
    "same",
    "thaw",
]
