"""What a change would loosen of that by which it is judged, told as data: the documents at its base against its own.

What cannot be shown to be at least as strict as before is told too, as *changed*. What only alters the situation of a
case (its message, its objects) is left to the comparison, which calls such a case incomparable.
"""

from seatrial.loosening.looking import changes, itself, unreadable
from seatrial.loosening.sides import Allowances

__all__ = ["Allowances", "changes", "itself", "unreadable"]
