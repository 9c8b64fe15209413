"""The conductor: carries the trials of a plan side by side, each in its own world, and stores each as it ends.

It prints nothing: what happens is told to a plain callback as it happens (`runner.events`). Which
trials come next is asked of a policy (`NextTrials`), so that a plan can grow while it is being run.
"""

from seatrial.runner.events import Began, Ended, Event, Halted, Planned
from seatrial.runner.playing import BY_HAND, by_hand, play
from seatrial.runner.proving import Proof, prove, weaknesses
from seatrial.runner.purse import Purse
from seatrial.runner.recording import Recording, record, reference_arm
from seatrial.runner.running import Outcome, equip, fixed, room, run
from seatrial.runner.scheduling import NextTrials
from seatrial.runner.trials import Equipment

__all__ = [
    "BY_HAND",
    "Began",
    "Ended",
    "Equipment",
    "Event",
    "Halted",
    "NextTrials",
    "Outcome",
    "Planned",
    "Proof",
    "Purse",
    "Recording",
    "by_hand",
    "equip",
    "fixed",
    "play",
    "prove",
    "record",
    "reference_arm",
    "room",
    "run",
    "weaknesses",
]
