"""One module per kind of practice world: copy it for a trial, serve its tools, capture its state.

`staged` holds what the worlds of a run share; each trial opens its own copy there. `open_world` is the
short way for worlds of kind `objects`, which need nothing but themselves.
"""

from seatrial.worlds.copies import WorldCopy
from seatrial.worlds.objects import ObjectsCopy, open_world
from seatrial.worlds.problems import file_problems
from seatrial.worlds.stage import Stage, staged

__all__ = ["ObjectsCopy", "Stage", "WorldCopy", "file_problems", "open_world", "staged"]
