"""A ruling told where the change is reviewed: a commit status, and one comment that is kept up to date."""

from seatrial.forge.comments import Told, marker, ruled, started, unruled
from seatrial.forge.github import GitHub, connected
from seatrial.forge.model import Forge, State, Status, Subject
from seatrial.forge.posting import post
from seatrial.forge.workflow import subject

__all__ = [
    "Forge",
    "GitHub",
    "State",
    "Status",
    "Subject",
    "Told",
    "connected",
    "marker",
    "post",
    "ruled",
    "started",
    "subject",
    "unruled",
]
