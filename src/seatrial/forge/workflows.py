"""Runs of a workflow of GitHub Actions: started, looked at, followed to their end.

https://docs.github.com/en/rest/actions/workflows (a dispatch tells which run it started where `return_run_details` is
asked for, since February 2026) and /workflow-runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from seatrial.errors import ForgeError
from seatrial.forge.asking import Api

_T = TypeVar("_T", bound=BaseModel)

ENDED = "completed"
_JOBS_SHOWN = 100
_SOON_SECONDS = 60.0
"""So long a run that was just started may not be found yet."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class WorkflowRun(_Part):
    """What GitHub says of a run."""

    id: int
    display_title: str = ""
    event: str = ""
    status: str | None = None
    """`completed` when it has ended; queued, in_progress, waiting, … before."""
    conclusion: str | None = None
    """success, failure, cancelled, timed_out, …; None before its end."""
    head_sha: str = ""
    head_branch: str | None = None
    html_url: str = ""
    run_attempt: int = 1

    @property
    def ended(self) -> bool:
        """Nothing of it runs any more."""
        return self.status == ENDED


class Job(_Part):
    """A job of a run."""

    name: str
    status: str = ""
    conclusion: str | None = None

    @property
    def state(self) -> str:
        """How far it is, in words."""
        return (self.conclusion or self.status or "unknown").replace("_", " ")


@dataclass(frozen=True, slots=True)
class Started:
    """What a dispatch came to."""

    run: int | None
    """Its id; None where the server does not tell."""
    url: str = ""


class Workflows:
    """The workflows of a repository."""

    def __init__(self, api: Api, repository: str) -> None:
        """Say where.

        Args:
            api: with a token that may write actions.
            repository: `owner/name`.
        """
        self._api = api
        self._path = f"/repos/{repository}"

    def start(
        self, workflow: str, ref: str, inputs: Mapping[str, str], *, must_tell: bool
    ) -> Started:
        """Start a workflow by its form.

        It is asked for once: an answer that was lost may hide a run.

        Args:
            workflow: the name of its file.
            ref: branch or tag that it runs at.
            inputs: of the form, those that are not left out.
            must_tell: start nothing where the server does not say which run it is (an older Enterprise Server).

        Raises:
            ForgeError: it was not started, or nobody knows.
        """
        path = f"{self._path}/actions/workflows/{quote(workflow, safe='')}/dispatches"
        body: dict[str, Any] = {"ref": ref, "inputs": dict(inputs)}
        try:
            reply = self._api.ask(
                "POST", path, body={**body, "return_run_details": True}, again=False
            ).value
        except ForgeError as error:
            if error.passing:
                raise ForgeError(
                    f"{error.message}; the run may have been started all the same",
                    hint="look before you start it again: seatrial status",
                    status=error.status,
                ) from error
            if error.status != 422 or "return_run_details" not in error.message:
                raise _explained(error, workflow) from error
            if must_tell:
                raise ForgeError(
                    f"{self._api.host} does not say which run it starts; nothing was started",
                    hint="start it without --wait, then: seatrial status RUN --wait",
                    status=error.status,
                ) from error
            reply = self._api.ask("POST", path, body=body, again=False).value
        number = reply.get("workflow_run_id") if isinstance(reply, dict) else None
        if not isinstance(number, int) or isinstance(number, bool):
            return Started(None)
        url = reply.get("html_url")
        return Started(number, url if isinstance(url, str) else "")

    def run(self, number: int) -> WorkflowRun:
        """A run as it is now.

        Raises:
            ForgeError: there is none, or it cannot be read.
        """
        value = self._api.ask("GET", f"{self._path}/actions/runs/{number}").value
        return self._read(value, WorkflowRun, "run")

    def jobs(self, number: int) -> tuple[Job, ...]:
        """The jobs of a run's newest attempt, the first hundred.

        Raises:
            ForgeError: they cannot be read.
        """
        reply = self._api.ask(
            "GET",
            f"{self._path}/actions/runs/{number}/jobs",
            query={"filter": "latest", "per_page": _JOBS_SHOWN},
        ).value
        return tuple(self._read(job, Job, "job") for job in _list(reply, "jobs"))

    def newest(self, workflow: str, commit: str | None = None) -> WorkflowRun | None:
        """The newest run of a workflow, at a commit where one is named.

        Raises:
            ForgeError: there is no such workflow, or its runs cannot be read.
        """
        query: dict[str, Any] = {"per_page": 1}
        if commit:
            query["head_sha"] = commit
        path = f"{self._path}/actions/workflows/{quote(workflow, safe='')}/runs"
        try:
            reply = self._api.ask("GET", path, query=query).value
        except ForgeError as error:
            raise _explained(error, workflow) from error
        runs = _list(reply, "workflow_runs")
        return self._read(runs[0], WorkflowRun, "run") if runs else None

    def head(self, number: int) -> str:
        """The newest commit of a pull request.

        Raises:
            ForgeError: there is none.
        """
        pull = self._api.ask("GET", f"{self._path}/pulls/{number}").value
        head = pull.get("head") if isinstance(pull, dict) else None
        commit = head.get("sha") if isinstance(head, dict) else None
        if not isinstance(commit, str):
            raise ForgeError(f"{self._api.host} answered with what is no pull request")
        return commit

    def follow(
        self,
        number: int,
        *,
        told: Callable[[str], None],
        every: float,
        at_most: float,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> WorkflowRun:
        """Look at a run until it has ended.

        An API that is down meanwhile is waited for as long as there is time.

        Args:
            number: the run.
            told: is told each job whose state is another one, and an API that does not answer.
            every: seconds between two looks.
            at_most: seconds after which nobody waits any more.
            sleep: waits so many seconds.
            clock: the time, in seconds.

        Raises:
            ForgeError: it has not ended in time, or can never be looked at.
        """
        end = clock() + at_most
        soon = clock() + _SOON_SECONDS
        known: dict[str, str] = {}
        silent: ForgeError | None = None
        while True:
            try:
                run = self.run(number)
                for job in self.jobs(number):
                    if known.get(job.name) != job.state:
                        known[job.name] = job.state
                        told(f"{job.name}: {job.state}")
                if run.ended:
                    return run
                silent = None
            except ForgeError as error:
                fresh = error.status == 404 and not known and clock() < soon
                # A right that is missing does not come by waiting; a limit does.
                if not (error.passing or error.limited or fresh):
                    raise
                if silent is None:
                    told(f"{error.message}; still waiting")
                silent = error
            if clock() + every > end:
                why = f": {silent.message}" if silent else ""
                raise ForgeError(
                    f"run {number} has not ended after {at_most / 60:,.0f} minutes{why}",
                    hint=f"seatrial status {number} --wait",
                )
            sleep(every)

    def _read(self, value: Any, kind: type[_T], what: str) -> _T:
        try:
            return kind.model_validate(value)
        except ValidationError as error:
            raise ForgeError(f"{self._api.host} answered with what is no {what}") from error


def _list(reply: Any, name: str) -> list[Any]:
    found = reply.get(name) if isinstance(reply, dict) else None
    return found if isinstance(found, list) else []


def _explained(error: ForgeError, workflow: str) -> ForgeError:
    hint = error.hint
    if error.status == 404:
        hint = (
            f"is {workflow} in .github/workflows/ of the default branch? Name another with --workflow; "
            "or the token may not see the repository"
        )
    elif error.status == 403 and not error.limited:
        hint = "the token needs `actions: write`"
    elif error.status == 422:
        hint = f"its form is the one of {workflow} at the ref: does it have `workflow_dispatch` and these inputs?"
    return ForgeError(
        error.message,
        hint=hint,
        status=error.status,
        passing=error.passing,
        limited=error.limited,
    )
