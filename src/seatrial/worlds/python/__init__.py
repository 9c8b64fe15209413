"""A practice world of kind `python`: functions of the repository over a state."""

from seatrial.worlds.python.copy import PythonCopy, opened
from seatrial.worlds.python.reading import problems

__all__ = ["PythonCopy", "opened", "problems"]
