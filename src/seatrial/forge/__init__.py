"""A ruling told where the change is reviewed: a commit status, and one comment that is kept up to date."""

from seatrial.forge.comments import Told, marker, ruled, self_reported, started, unruled
from seatrial.forge.github import GitHub, connected
from seatrial.forge.gitlab import GitLab
from seatrial.forge.gitlab import connected as connected_to_gitlab
from seatrial.forge.model import Forge, State, Status, Subject
from seatrial.forge.packing import MOST_BYTES, Packed
from seatrial.forge.pipeline import Pipeline, merge_request
from seatrial.forge.posting import post
from seatrial.forge.runs import EndedRun, Runs
from seatrial.forge.workflow import subject

__all__ = [
    "MOST_BYTES",
    "EndedRun",
    "Forge",
    "GitHub",
    "GitLab",
    "Packed",
    "Pipeline",
    "Runs",
    "State",
    "Status",
    "Subject",
    "Told",
    "connected",
    "connected_to_gitlab",
    "marker",
    "merge_request",
    "post",
    "ruled",
    "self_reported",
    "started",
    "subject",
    "unruled",
]
