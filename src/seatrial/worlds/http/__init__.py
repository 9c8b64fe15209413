"""A practice world of kind `http`: a service that is reset and read by URLs."""

from seatrial.worlds.http.copy import HttpCopy, opened
from seatrial.worlds.http.services import Services

__all__ = ["HttpCopy", "Services", "opened"]
