"""The change that a workflow of GitHub Actions is about, from the variables and the event it is given.

https://docs.github.com/en/actions/reference/workflows-and-actions/variables and events-that-trigger-workflows.
Titles and branch names in an event are written by anybody; none is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from seatrial.errors import UsageError
from seatrial.forge.model import Subject

Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
_REPOSITORY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*/(?!\.\.?$)[A-Za-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OUTSIDE = "in GitHub Actions it is set; elsewhere name it, or leave the posting to CI"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Repository(_Part):
    id: int


class _End(_Part):
    sha: Commit
    repo: _Repository | None = None
    """None where the fork was deleted."""


class _PullRequest(_Part):
    number: Annotated[int, Field(gt=0)]
    head: _End
    base: _End


class _MergeGroup(_Part):
    head_sha: Commit


class _Event(_Part):
    pull_request: _PullRequest | None = None
    merge_group: _MergeGroup | None = None


def subject(
    environment: Mapping[str, str], *, commit: str | None = None, pull_request: int | None = None
) -> Subject:
    """The change, by the environment of a step.

    Args:
        environment: has GITHUB_REPOSITORY, and GITHUB_EVENT_PATH or GITHUB_SHA.
        commit: instead of the event's.
        pull_request: instead of the event's; with `commit` alone there is none.

    Raises:
        UsageError: the environment does not say which change, or its event cannot be read.
    """
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not _REPOSITORY.fullmatch(repository):
        raise UsageError("GITHUB_REPOSITORY does not name a repository", hint=_OUTSIDE)
    web = f"{environment.get('GITHUB_SERVER_URL', 'https://github.com').rstrip('/')}/{repository}"
    run = environment.get("GITHUB_RUN_ID", "")
    run_url = f"{web}/actions/runs/{run}" if run.isdecimal() else ""
    from_fork = False
    if commit is None:
        event = _event(environment.get("GITHUB_EVENT_PATH", ""))
        if (change := event.pull_request) is not None:
            commit = change.head.sha
            pull_request = pull_request or change.number
            from_fork = change.head.repo is None or change.head.repo != change.base.repo
        elif event.merge_group is not None:
            commit = event.merge_group.head_sha
        else:
            commit = environment.get("GITHUB_SHA", "")
    if not _COMMIT.fullmatch(commit):
        raise UsageError(
            f"{commit!r} is not the full name of a commit", hint="name all of it with --commit"
        )
    return Subject(
        repository=repository,
        commit=commit,
        pull_request=pull_request,
        from_fork=from_fork,
        run_url=run_url,
        web=web,
    )


def _event(path: str) -> _Event:
    if not path:
        return _Event()
    try:
        return _Event.model_validate(json.loads(Path(path).read_bytes()))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint=_OUTSIDE) from error
    except (ValueError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        where = ".".join(map(str, first["loc"])) + ": " + first["msg"] if first else str(error)
        raise UsageError(f"{path} is no event of GitHub's: {where}") from error
