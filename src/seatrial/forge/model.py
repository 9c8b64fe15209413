"""What is told to a forge, and what a forge must be able to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from seatrial.verdicts import Gate


class State(StrEnum):
    """How far the gate is."""

    RUNNING = "running"
    OPEN = "open"
    CLOSED = "closed"
    UNDECIDED = "undecided"
    UNRULED = "unruled"
    """It ended without a ruling: a crash, a wrong option, a job that was cancelled."""

    @classmethod
    def of(cls, ruling: Gate) -> State:
        """The state that a ruling leaves behind."""
        return cls(ruling.value)


@dataclass(frozen=True, slots=True)
class Status:
    """One line beside a commit."""

    context: str
    """Its name: a forge keeps one status of each name, and one can be required."""
    state: State
    text: str
    """What matters first; a forge shows no more than the beginning."""
    url: str = ""
    """Where it leads."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline of GitLab CI, and the commit that it is of."""

    id: int
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The change that is told about."""

    repository: str
    """`owner/name`, at GitLab the whole path of the project."""
    commit: str
    """The full name of the head commit of the change: not of the merge that was tried."""
    pull_request: int | None = None
    """Its number; None where the change has none (a push, a merge queue)."""
    from_fork: bool = False
    """The change comes from another repository, so that nothing may be written."""
    run_url: str = ""
    """The page of the workflow's run."""
    web: str = ""
    """The repository's page."""
    server: Literal["github", "gitlab"] = "github"
    """What kind of forge it is at."""
    pipeline: Pipeline | None = None
    """At GitLab, the pipeline that it is told from: the status is put into it and stands at its commit, which of a
    merge that is tried is not the head. Without one GitLab puts the status into the newest pipeline of the
    commit, or into one of its own, which holds no merge request."""


class Forge(Protocol):
    """Where changes are reviewed: GitHub or GitLab.

    Every method raises `ForgeError` where the forge does not do what it is asked.
    """

    comment_bytes: int
    """The longest comment it takes, in bytes of UTF-8, with some room left."""

    def tell(self, status: Status) -> None:
        """Set the status of the subject's commit."""

    def told(self, context: str) -> State | None:
        """The state of the commit's newest status of that name; None where there is none.

        As far as the forge tells states apart: RUNNING while it is pending, another one when it has ended.
        """

    def is_newest(self) -> bool:
        """Whether the subject's commit is still the head of its pull request."""

    def comment(self, marker: str, body: str) -> None:
        """Replace our comment that begins with `marker`; write it where there is none."""

    def link(self, path: str, line: int) -> str:
        """The address of a line of a file of the repository at the subject's commit."""
