"""GitHub's REST API: https://docs.github.com/en/rest/commits/statuses and /issues/comments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from seatrial.errors import ForgeError
from seatrial.escaping import legible
from seatrial.forge.asking import ATTEMPTS, PATIENCE_SECONDS, Api
from seatrial.forge.model import State, Status, Subject
from seatrial.forge.runs import Runs

TOKEN = "GITHUB_TOKEN"
VERSION = "2022-11-28"
AUTHOR = "github-actions[bot]"
"""Who writes with the token that a workflow is given. Brackets make it a name that no person can have."""

_STATES = {
    State.RUNNING: "pending",
    State.OPEN: "success",
    State.CLOSED: "failure",
    # Missing evidence is never a pass and never a fail: `error` blocks a required status without being one.
    State.UNDECIDED: "error",
    State.UNRULED: "error",
}
_READ = {"pending": State.RUNNING, "success": State.OPEN, "failure": State.CLOSED}
_LONGEST_TEXT = 140


@contextmanager
def opened(
    environment: Mapping[str, str],
    url: str,
    *,
    token: str = TOKEN,
    patience: float = PATIENCE_SECONDS,
) -> Iterator[Api]:
    """The API with the token that the environment holds, until the block ends.

    Args:
        environment: has the token.
        url: of the API.
        token: the variable that holds the token; one that holds none is told of with the first request.
        patience: seconds that all requests together may wait to be made again.
    """
    value = environment.get(token, "")
    fault = None
    if not value or not value.isascii() or not value.isprintable():
        fault = ForgeError(
            f"the variable {token} holds no token",
            hint=f"in the step: `env:` with `{token}: ${{{{ github.token }}}}`",
        )
    headers = {
        "Authorization": f"Bearer {value}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": VERSION,
        "User-Agent": "seatrial",
    }
    with Api(url, headers, fault=fault, patience=patience) as api:
        yield api


@contextmanager
def connected(
    environment: Mapping[str, str],
    subject: Subject,
    *,
    token: str = TOKEN,
    author: str = AUTHOR,
    patience: float = PATIENCE_SECONDS,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[GitHub]:
    """A change on the server that the environment of a step names, until the block ends.

    Args:
        environment: has GITHUB_API_URL, where it is not github.com, and the token.
        subject: the change.
        token: as of `opened`.
        author: as of `GitHub`.
        patience: as of `opened`.
        told: as of `GitHub`.
    """
    url = environment.get("GITHUB_API_URL") or "https://api.github.com"
    with opened(environment, url, token=token, patience=patience) as api:
        yield GitHub(api, subject, author=author, told=told)


class GitHub:
    """A commit and its pull request on github.com or a server of one's own."""

    # A comment has 65,536 characters. No character takes fewer bytes of UTF-8 than GitHub counts for it.
    comment_bytes = 60_000

    def __init__(
        self,
        api: Api,
        subject: Subject,
        *,
        author: str = AUTHOR,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Say which change it is about.

        Args:
            api: with the token.
            subject: the change.
            author: the login under which the token's comments are written.
            told: is told what was done and should be known.
        """
        self._api = api
        self._subject = subject
        self._author = author
        self._told = told
        self._path = f"/repos/{subject.repository}"

    def tell(self, status: Status) -> None:
        body = {
            "state": _STATES[status.state],
            "context": status.context,
            "description": _short(legible(status.text)),
        }
        if status.url:
            body["target_url"] = status.url
        self._api.ask("POST", f"{self._path}/statuses/{self._subject.commit}", body=body)

    def told(self, context: str) -> State | None:
        # The newest come first, and the name is read without regard to case.
        for status in self._api.pages(f"{self._path}/commits/{self._subject.commit}/statuses"):
            if str(_get(status, "context")).casefold() == context.casefold():
                return _READ.get(str(_get(status, "state")), State.UNRULED)
        return None

    def is_newest(self) -> bool:
        number = self._subject.pull_request
        if number is None:
            return True
        found = self._api.ask("GET", f"{self._path}/pulls/{number}").value
        return bool(_get(_get(found, "head"), "sha") == self._subject.commit)

    @property
    def runs(self) -> Runs:
        """Runs of workflows in the repository, and the pull requests they are of."""
        return Runs(self._api, self._subject.repository)

    def comment(self, marker: str, body: str) -> None:
        """Replace our comment that begins with `marker`; write it where there is none.

        One that is deleted meanwhile is written anew, and one whose answer was lost is looked for before it
        is written a second time.
        """
        if self._subject.pull_request is None:
            raise ForgeError("there is no pull request to comment on")
        comments = f"{self._path}/issues/{self._subject.pull_request}/comments"
        for attempt in range(1, ATTEMPTS + 1):
            known = self._find(comments, marker)
            try:
                if known is not None:
                    path = f"{self._path}/issues/comments/{known}"
                    self._api.ask("PATCH", path, body={"body": body})
                    return
                made = self._api.ask("POST", comments, body={"body": body}, again=False).value
            except ForgeError as error:
                gone = known is not None and error.status in {404, 410}
                if attempt == ATTEMPTS or not (gone or (known is None and error.passing)):
                    raise
                if not self._api.wait(0.0 if gone else float(attempt)):
                    raise
            else:
                self._compare(_get(_get(made, "user"), "login"))
                return

    def link(self, path: str, line: int) -> str:
        if not self._subject.web:
            return ""
        return f"{self._subject.web}/blob/{self._subject.commit}/{quote(path)}#L{line}"

    def _find(self, comments: str, marker: str) -> int | None:
        """The number of our comment: it has the marker, and nobody else wrote it."""
        for comment in self._api.pages(comments):
            number, text = _get(comment, "id"), _get(comment, "body")
            if (
                isinstance(number, int)
                and isinstance(text, str)
                and text.startswith(marker)
                and _get(_get(comment, "user"), "login") == self._author
            ):
                return number
        return None

    def _compare(self, login: Any) -> None:
        if isinstance(login, str) and login != self._author:
            self._told(
                f"comments with this token are written by {login}, not by {self._author}: without "
                f"--author {login} each run writes a new one"
            )


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _short(text: str) -> str:
    """As much as GitHub takes, however it counts the characters beyond U+FFFF."""
    text = " ".join(text.split())
    if len(text.encode("utf-16-le", "replace")) // 2 <= _LONGEST_TEXT:
        return text
    text = text[:_LONGEST_TEXT]  # whoever wrote it may have written megabytes
    while len(text.encode("utf-16-le", "replace")) // 2 > _LONGEST_TEXT - 1:
        text = text[:-1]
    return text + "…"
