"""Objects, rights and actions as data; the exact difference; the operator vocabulary at work."""

from seatrial.state.difference import apply, difference
from seatrial.state.objects import Draft, State, start_state, state_from_json
from seatrial.state.operators import all_fulfilled, explain, fulfils, judged
from seatrial.state.schemas import Unjudged
from seatrial.state.values import MISSING, Missing, freeze, look_up, same, thaw

__all__ = [
    "MISSING",
    "Draft",
    "Missing",
    "State",
    "Unjudged",
    "all_fulfilled",
    "apply",
    "difference",
    "explain",
    "freeze",
    "fulfils",
    "judged",
    "look_up",
    "same",
    "start_state",
    "state_from_json",
    "thaw",
]
