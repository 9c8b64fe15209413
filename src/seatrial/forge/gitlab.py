"""GitLab's REST API: https://docs.gitlab.com/api/commits/ (commit status) and https://docs.gitlab.com/api/notes/."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from seatrial.errors import ForgeError
from seatrial.escaping import legible
from seatrial.forge.asking import ATTEMPTS, PATIENCE_SECONDS, Api
from seatrial.forge.model import State, Status, Subject

TOKEN = "GITLAB_TOKEN"

_STATES = {
    State.RUNNING: "running",
    State.OPEN: "success",
    State.CLOSED: "failed",
    # Missing evidence is never a pass and never a fail; GitLab has no state for an error, and a pipeline with
    # a cancelled status does not succeed, so that "pipelines must succeed" holds the merge.
    State.UNDECIDED: "canceled",
    State.UNRULED: "canceled",
}
_READ = {
    "created": State.RUNNING,
    "pending": State.RUNNING,
    "running": State.RUNNING,
    "success": State.OPEN,
    "failed": State.CLOSED,
}
_LONGEST_TEXT = 255
_HINTS = {
    401: "the token is wrong, has expired, or belongs to another server",
    403: "the token needs the scope `api` and the role Developer; a protected branch needs Maintainer",
    404: "the commit or the merge request is not there, or the token may not see the project",
}


@contextmanager
def connected(
    environment: Mapping[str, str],
    subject: Subject,
    *,
    token: str = TOKEN,
    author: str = "",
    patience: float = PATIENCE_SECONDS,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[GitLab]:
    """A change on the server that the environment of a job names, until the block ends.

    Args:
        environment: has CI_API_V4_URL, where it is not gitlab.com, and the token.
        subject: the change.
        token: the variable that holds the token; one that holds none is told of with the first request.
        author: as of `GitLab`.
        patience: seconds that all requests together may wait to be made again.
        told: is told what was done and should be known.
    """
    value = environment.get(token, "")
    fault = None
    if not value or not value.isascii() or not value.isprintable():
        fault = ForgeError(
            f"the variable {token} holds no token",
            hint="a project access token with the scope `api`: CI_JOB_TOKEN may neither set a status nor comment",
        )
    headers = {"PRIVATE-TOKEN": value, "Accept": "application/json", "User-Agent": "seatrial"}
    url = environment.get("CI_API_V4_URL") or "https://gitlab.com/api/v4"
    with Api(url, headers, fault=fault, patience=patience, hints=_HINTS) as api:
        yield GitLab(api, subject, author=author, told=told)


class GitLab:
    """A commit and its merge request on gitlab.com or a server of one's own."""

    # A note has 1,000,000 characters; nobody reads a quarter of that.
    comment_bytes = 250_000

    def __init__(
        self,
        api: Api,
        subject: Subject,
        *,
        author: str = "",
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Say which change it is about.

        Args:
            api: with the token.
            subject: the change.
            author: the username under which the token's notes are written; GitLab is asked when empty.
            told: is told what was done and should be known.
        """
        self._api = api
        self._subject = subject
        self._pipeline = pipeline = subject.pipeline
        self._author = author
        self._told = told
        self._path = f"/projects/{quote(subject.repository, safe='')}"
        self._commit = pipeline.commit if pipeline else subject.commit

    def tell(self, status: Status) -> None:
        state = _STATES[status.state]
        body: dict[str, Any] = {
            "state": state,
            "name": status.context,
            "description": _short(legible(status.text)),
        }
        if status.url:
            body["target_url"] = status.url
        if self._pipeline is not None:
            body["pipeline_id"] = self._pipeline.id
        try:
            self._api.ask("POST", f"{self._path}/statuses/{self._commit}", body=body)
        except ForgeError as error:
            # A status cannot become what it is: an answer that was lost, or a job that is run again.
            if error.status != 400 or "Cannot transition status" not in error.message:
                raise
            if self._current(status.context) != state:
                raise

    def told(self, context: str) -> State | None:
        current = self._current(context)
        return None if current is None else _READ.get(current, State.UNRULED)

    def is_newest(self) -> bool:
        number = self._subject.pull_request
        if number is None:
            return True
        found = self._api.ask("GET", f"{self._path}/merge_requests/{number}").value
        return bool(_get(found, "sha") == self._subject.commit)

    def comment(self, marker: str, body: str) -> None:
        """Replace our note that begins with `marker`; write it where there is none.

        One that is deleted meanwhile is written anew, and one whose answer was lost is looked for before it
        is written a second time.
        """
        if self._subject.pull_request is None:
            raise ForgeError("there is no merge request to comment on")
        notes = f"{self._path}/merge_requests/{self._subject.pull_request}/notes"
        author = self._author or self._login()
        for attempt in range(1, ATTEMPTS + 1):
            known = self._find(notes, marker, author)
            try:
                if known is not None:
                    self._api.ask("PUT", f"{notes}/{known}", body={"body": body})
                    return
                made = self._api.ask("POST", notes, body={"body": body}, again=False).value
            except ForgeError as error:
                gone = known is not None and error.status == 404
                if attempt == ATTEMPTS or not (gone or (known is None and error.passing)):
                    raise
                if not self._api.wait(0.0 if gone else float(attempt)):
                    raise
            else:
                self._compare(_get(_get(made, "author"), "username"), author)
                return

    def link(self, path: str, line: int) -> str:
        if not self._subject.web:
            return ""
        return f"{self._subject.web}/-/blob/{self._subject.commit}/{quote(path)}#L{line}"

    def _current(self, context: str) -> str | None:
        """The state of the newest status of that name, as GitLab calls it."""
        newest, state = -1, None
        for status in self._api.pages(
            f"{self._path}/repository/commits/{self._commit}/statuses", name=context
        ):
            number = _get(status, "id")
            of_pipeline = self._pipeline is None or _get(status, "pipeline_id") in {
                None,
                self._pipeline.id,
            }
            if (
                _get(status, "name") == context
                and isinstance(number, int)
                and number > newest
                and of_pipeline
            ):
                newest, state = number, str(_get(status, "status"))
        return state

    def _login(self) -> str:
        """Who the token belongs to: a marker alone could be anybody's."""
        found = _get(self._api.ask("GET", "/user").value, "username")
        if not isinstance(found, str) or not found:
            raise ForgeError(f"{self._api.host} does not say who the token belongs to")
        return found

    def _find(self, notes: str, marker: str, author: str) -> int | None:
        """The number of our note: it has the marker, and nobody else wrote it."""
        for note in self._api.pages(notes, sort="asc", order_by="created_at"):
            number, text = _get(note, "id"), _get(note, "body")
            if (
                isinstance(number, int)
                and isinstance(text, str)
                and text.startswith(marker)
                and _get(note, "system") is not True
                and _get(_get(note, "author"), "username") == author
            ):
                return number
        return None

    def _compare(self, login: Any, author: str) -> None:
        if isinstance(login, str) and login != author:
            self._told(
                f"notes with this token are written by {login}, not by {author}: without "
                f"--author {login} each run writes a new one"
            )


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
