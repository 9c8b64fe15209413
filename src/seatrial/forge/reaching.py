"""Which forge a job's environment is of, the change that the job is about, and the way to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from seatrial.forge import github, gitlab, workflow
from seatrial.forge.asking import PATIENCE_SECONDS
from seatrial.forge.model import Forge, Subject
from seatrial.forge.pipeline import merge_request


def subject(
    environment: Mapping[str, str], *, commit: str | None = None, pull_request: int | None = None
) -> Subject:
    """The change, by the environment of a job: of GitLab CI where it says so, else of GitHub Actions.

    Args:
        environment: of the job.
        commit: instead of the one that it names.
        pull_request: instead of the one that it names; with `commit` alone there is none.

    Raises:
        UsageError: it does not say which change.
    """
    if environment.get("GITLAB_CI") == "true" and environment.get("GITHUB_ACTIONS") != "true":
        return merge_request(environment, commit=commit, number=pull_request)
    return workflow.subject(environment, commit=commit, pull_request=pull_request)


@contextmanager
def reached(
    environment: Mapping[str, str],
    subject: Subject,
    *,
    token: str | None = None,
    author: str | None = None,
    patience: float = PATIENCE_SECONDS,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[Forge]:
    """The forge that the change is at, until the block ends.

    Args:
        environment: has the API's address, where it is not the usual one, and the token.
        subject: the change.
        token: the variable that holds the token; GITHUB_TOKEN or GITLAB_TOKEN when left out.
        author: who writes with it; at GitHub the workflow's own, at GitLab whoever GitLab says, when left out.
        patience: seconds that all requests together may wait to be made again.
        told: is told what was done and should be known.
    """
    if subject.server == "gitlab":
        with gitlab.connected(
            environment,
            subject,
            token=token or gitlab.TOKEN,
            author=author or "",
            patience=patience,
            told=told,
        ) as lab:
            yield lab
    else:
        with github.connected(
            environment,
            subject,
            token=token or github.TOKEN,
            author=author or github.AUTHOR,
            patience=patience,
            told=told,
        ) as hub:
            yield hub
