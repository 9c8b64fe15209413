"""Recorded values that may not be kept, replaced by invented ones of the same form: secrets, personal data, ids.

What is found is told by kind and place, and never shown. A name in the middle of prose is found only where the
same recording has it under a key that says so; nobody should take what is left for anonymous without reading it.
"""

from seatrial.stand_ins.finding import Kind
from seatrial.stand_ins.replacing import Replaced, StandIns

__all__ = ["Kind", "Replaced", "StandIns"]
