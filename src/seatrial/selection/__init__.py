"""Documents now + documents at the base + changed files + dependency record → which cases run, and why.

Content is compared, not text: a comment or another order of keys selects nothing. A case is left out
only where nothing it leans on changed *and* the baseline has trials that can stand for it. Whatever cannot
be compared is run: missing history leads to more trials, never to fewer.
"""

from seatrial.selection.known import Base, Dependencies, Known, Used
from seatrial.selection.selecting import select

__all__ = ["Base", "Dependencies", "Known", "Used", "select"]
