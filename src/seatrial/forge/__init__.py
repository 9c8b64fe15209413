"""A ruling told where the change is reviewed: a commit status, and one comment that is kept up to date."""

from seatrial.forge.comments import Told, marker, ruled, self_reported, started, unruled
from seatrial.forge.github import GitHub, connected, opened
from seatrial.forge.gitlab import GitLab
from seatrial.forge.model import Forge, Pipeline, State, Status, Subject
from seatrial.forge.packing import MOST_BYTES, Packed
from seatrial.forge.people import Known, People
from seatrial.forge.pipeline import merge_request
from seatrial.forge.places import Place, place
from seatrial.forge.posting import post
from seatrial.forge.reaching import reached, subject
from seatrial.forge.runs import EndedRun, Runs
from seatrial.forge.workflows import Job, Started, WorkflowRun, Workflows

__all__ = [
    "MOST_BYTES",
    "EndedRun",
    "Forge",
    "GitHub",
    "GitLab",
    "Job",
    "Known",
    "Packed",
    "People",
    "Pipeline",
    "Place",
    "Runs",
    "Started",
    "State",
    "Status",
    "Subject",
    "Told",
    "WorkflowRun",
    "Workflows",
    "connected",
    "marker",
    "merge_request",
    "opened",
    "place",
    "post",
    "reached",
    "ruled",
    "self_reported",
    "started",
    "subject",
    "unruled",
]
