"""The change that a job of GitLab CI is about, from its predefined variables.

https://docs.gitlab.com/ci/variables/predefined_variables/. Titles, descriptions and branch names are written by
anybody; none is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from seatrial.errors import UsageError
from seatrial.forge.model import Pipeline, Subject

_PROJECT = re.compile(r"[\w.-]+(?:/[\w.-]+)+", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OUTSIDE = "in GitLab CI it is set; elsewhere name it, or leave the posting to CI"


def merge_request(
    environment: Mapping[str, str], *, commit: str | None = None, number: int | None = None
) -> Subject:
    """The change, by the environment of a job.

    A pipeline of merged results is of a merge that was tried: the change is then its source branch's head. A
    pipeline that runs in a fork can be seen there only: the merge request is the other project's.

    Args:
        environment: has CI_PROJECT_PATH, CI_COMMIT_SHA and what a merge request pipeline adds.
        commit: instead of the pipeline's; the status then stands outside of this pipeline.
        number: of the merge request (its `iid`), instead of the pipeline's; with `commit` alone there is none.

    Raises:
        UsageError: the environment does not say which change.
    """
    project = environment.get("CI_PROJECT_PATH", "")
    if not _PROJECT.fullmatch(project):
        raise UsageError("CI_PROJECT_PATH does not name a project", hint=_OUTSIDE)
    own, target = environment.get("CI_PROJECT_ID"), environment.get("CI_MERGE_REQUEST_PROJECT_ID")
    source = environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
    from_fork = False
    pipeline = None
    if commit is None:
        ran = environment.get("CI_COMMIT_SHA", "")
        commit = environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or ran
        iid, id_ = (
            environment.get("CI_MERGE_REQUEST_IID", ""),
            environment.get("CI_PIPELINE_ID", ""),
        )
        from_fork = target is not None and source != target
        if iid.isdecimal() and own == target:
            number = number or int(iid)
        if id_.isdecimal() and _COMMIT.fullmatch(ran):
            pipeline = Pipeline(int(id_), ran)
    if not _COMMIT.fullmatch(commit):
        raise UsageError(
            f"{commit!r} is not the full name of a commit", hint="name all of it with --commit"
        )
    return Subject(
        repository=project,
        commit=commit,
        pull_request=number,
        from_fork=from_fork,
        run_url=_page(environment.get("CI_PIPELINE_URL", "")),
        web=_page(environment.get("CI_PROJECT_URL", "")),
        server="gitlab",
        pipeline=pipeline,
    )


def _page(url: str) -> str:
    return url.rstrip("/") if url.startswith(("https://", "http://")) else ""
