"""What `git` and `loading` give, joined, so that every command selects by the same rules."""

from seatrial.workspace.arms_apart import OUTSIDE, Change
from seatrial.workspace.folder import Recall, Selection, Workspace

__all__ = ["OUTSIDE", "Change", "Recall", "Selection", "Workspace"]
