"""A practice world of kind `directory`: a copy of a folder for each trial, and tools for its files."""

from seatrial.worlds.directory.copy import DirectoryCopy, opened
from seatrial.worlds.directory.preparing import prepared, problems

__all__ = ["DirectoryCopy", "opened", "prepared", "problems"]
