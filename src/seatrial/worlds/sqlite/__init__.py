"""A practice world of kind `sqlite`: a copy of a database for each trial, and SQL as its tools."""

from seatrial.worlds.sqlite.copy import SqliteCopy, opened
from seatrial.worlds.sqlite.sources import problems

__all__ = ["SqliteCopy", "opened", "problems"]
