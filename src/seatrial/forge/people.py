"""What GitHub knows of people: who approved a job or a change, and who wrote, proposed and pushed commits.

https://docs.github.com/en/rest/actions/workflow-runs (approvals of environments), /pulls/reviews, /commits/commits,
/repos/repos#list-repository-activities. A mail address is somebody's where GitHub says so of a commit, or where it is
GitHub's own (`1234+login@users.noreply.github.com`). Whom it does not know may be anybody, and is named as such.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from seatrial.errors import ForgeError, printable
from seatrial.forge.asking import Api

MOST_COMMITS = 400
"""Of which GitHub is asked, in one command."""
_NOREPLY = re.compile(
    r"(?:\d+\+)?([A-Za-z0-9](?:[A-Za-z0-9-]*)(?:\[bot\])?)@users\.noreply\.[\w.-]+"
)
_RIGHTS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Associations of those whose review is somebody's of the repository."""

Name = tuple[str, str]
"""Of a person in a commit: name and address."""


@dataclass(frozen=True, slots=True)
class Known:
    """Who had a hand in commits, as far as GitHub knows."""

    logins: frozenset[str]
    """Authors, committers, co-authors, authors of pull requests and those who pushed last."""
    strangers: tuple[str, ...] = ()
    """A sentence for each that it does not know."""


@dataclass(slots=True)
class People:
    """The people of one repository at GitHub."""

    api: Api
    repository: str
    _logins: dict[str, str] = field(default_factory=dict)
    """Address → login."""

    def approvers(self, run: int, environment: str) -> tuple[str, ...]:
        """Who let the jobs of a workflow's run into a protected environment, the last one first.

        Raises:
            ForgeError: GitHub does not say, or nobody did.
        """
        found = self.api.ask("GET", f"/repos/{self.repository}/actions/runs/{run}/approvals").value
        logins = [
            login
            for review in (found if isinstance(found, list) else ())
            if _get(review, "state") == "approved"
            and any(_get(e, "name") == environment for e in _get(review, "environments") or ())
            and isinstance(login := _get(_get(review, "user"), "login"), str)
        ]
        if not logins:
            raise ForgeError(
                f"nobody approved run {run} for the environment {environment!r}",
                hint=f"give the environment {environment} required reviewers, and the job `environment: {environment}`",
            )
        return tuple(dict.fromkeys(reversed(logins)))

    def pull_request_of(self, commit: str) -> tuple[int, str] | None:
        """Number and head commit of the merged pull request that brought a commit; None where there is none."""
        for pull in self._pulls(commit):
            number, head = _get(pull, "number"), _get(_get(pull, "head"), "sha")
            if _get(pull, "merged_at") and isinstance(number, int) and isinstance(head, str):
                return number, head
        return None

    def head_of(self, number: int) -> str:
        """The head commit of a pull request.

        Raises:
            ForgeError: GitHub does not say.
        """
        found = self.api.ask("GET", f"/repos/{self.repository}/pulls/{number}").value
        return str(_get(_get(found, "head"), "sha"))

    def reviewers(self, number: int, head: str) -> Iterator[tuple[str, str]]:
        """Who approved a pull request at exactly this head commit, and when; not who had a hand in it.

        Counted are people (no machines) of the repository whose last word is an approval of this very commit. Whose
        identity is not known for certain (somebody unknown wrote or pushed the change) approves nothing.

        Raises:
            ForgeError: GitHub does not say.
        """
        pull = self.api.ask("GET", f"/repos/{self.repository}/pulls/{number}").value
        if _get(_get(pull, "head"), "sha") != head:
            return
        last: dict[str, Any] = {}
        for review in self.api.pages(f"/repos/{self.repository}/pulls/{number}/reviews"):
            login = _get(_get(review, "user"), "login")
            if isinstance(login, str) and _get(review, "state") != "COMMENTED":
                last[login] = review
        approving = {
            login: str(_get(review, "submitted_at") or "")
            for login, review in last.items()
            if _get(review, "state") == "APPROVED"
            and _get(review, "commit_id") == head
            and _get(review, "author_association") in _RIGHTS
            # A workflow's own token may approve, and a workflow is what a change can bring.
            and not login.endswith("[bot]")
        }
        if not approving:
            return
        hands, unknown = self._of_pull(pull)
        commits = list(self.api.pages(f"/repos/{self.repository}/pulls/{number}/commits"))
        if len(commits) != _get(pull, "commits"):
            unknown.append("GitHub does not list all of its commits")
        for commit in commits:
            hands |= self._of_commit(commit, unknown)
        if unknown:
            return
        for login, when in approving.items():
            if login.casefold() not in {hand.casefold() for hand in hands}:
                yield login, when

    def hands(
        self,
        commits: Mapping[str, Iterable[Name]],
        branch: str,
        *,
        canonical: Callable[[Name], Name],
        within: Callable[[str, str, str], bool],
    ) -> Known:
        """Who had a hand in commits.

        Args:
            commits: each with the names that git gives: its author, committer and co-authors.
            branch: where they were pushed, where no pull request brought them.
            canonical: a name as `.mailmap` has it.
            within: asked for the commit before a push, the one after it and another: whether the push brought that.

        Raises:
            ForgeError: GitHub does not answer, or would be asked too much.
        """
        if len(commits) > MOST_COMMITS:
            raise ForgeError(
                f"{len(commits)} commits touch what is released; GitHub is asked of {MOST_COMMITS} at most",
                hint="release from the command line: seatrial release RUN --approved-by 'NAME <MAIL>'",
            )
        logins: set[str] = set()
        unknown: list[str] = []
        pulls: dict[int, Any] = {}
        pushed: list[str] = []
        for commit in commits:
            found = self.api.ask("GET", f"/repos/{self.repository}/commits/{commit}").value
            logins |= self._of_commit(found, unknown)
            merged = [pull for pull in self._pulls(commit) if _get(pull, "merged_at")]
            pulls |= {number: p for p in merged if isinstance(number := _get(p, "number"), int)}
            if not merged:
                pushed.append(commit)
        for pull in pulls.values():
            of, more = self._of_pull(pull)
            logins |= of
            unknown += more
        logins |= self._of_pushes(pushed, branch, within, unknown)
        for name in dict.fromkeys(name for names in commits.values() for name in names):
            login = self._login(name[1]) or self._login(canonical(name)[1])
            if login is None:
                unknown.append(
                    f"GitHub does not know who {printable(name[0])} <{printable(name[1])}> is, who had a hand in "
                    "what is released; map the address to `login@users.noreply.github.com` in .mailmap"
                )
            else:
                logins.add(login)
        return Known(frozenset(logins), tuple(dict.fromkeys(unknown)))

    def _pulls(self, commit: str) -> list[Any]:
        return list(self.api.pages(f"/repos/{self.repository}/commits/{commit}/pulls"))

    def _of_commit(self, commit: Any, unknown: list[str]) -> set[str]:
        """Author and committer of a commit; with their addresses, which co-authors may have too."""
        logins = set()
        for role in ("author", "committer"):
            address = _get(_get(_get(commit, "commit"), role), "email")
            login = _get(_get(commit, role), "login") or self._login(str(address or ""))
            if isinstance(login, str):
                logins.add(login)
                self._logins.setdefault(str(address or "").casefold(), login)
            else:
                sha = str(_get(commit, "sha"))[:10]
                unknown.append(f"GitHub does not know who the {role} of {printable(sha)} is")
        message = str(_get(_get(commit, "commit"), "message") or "")
        for address in _CO_AUTHOR.findall(message):
            login = self._login(address)
            if login is not None:
                logins.add(login)
            else:
                unknown.append(f"GitHub does not know who the co-author {printable(address)} is")
        return logins

    def _of_pull(self, pull: Any) -> tuple[set[str], list[str]]:
        """Who proposed it, and who pushed its head commit."""
        number, head = _get(pull, "number"), _get(pull, "head")
        author, sha, ref = _get(_get(pull, "user"), "login"), _get(head, "sha"), _get(head, "ref")
        home = _get(_get(head, "repo"), "full_name")
        if not isinstance(author, str) or not isinstance(sha, str):
            return set(), [f"GitHub does not know who proposed pull request {number}"]
        pushers = set()
        if isinstance(home, str) and isinstance(ref, str):
            pushers = {
                login
                for entry in self._activity(home, ref)
                if _get(entry, "after") == sha
                and isinstance(login := _get(_get(entry, "actor"), "login"), str)
            }
        if not pushers:  # the branch or the fork is gone, or may not be seen
            query = {"head_sha": sha, "event": "pull_request", "per_page": 100}
            runs = self._seen(f"/repos/{self.repository}/actions/runs", query)
            pushers = {
                login
                for run in _get(runs, "workflow_runs") or ()
                if isinstance(login := _get(_get(run, "actor"), "login"), str)
            }
        unknown = [] if pushers else [f"GitHub does not say who pushed pull request {number} last"]
        return {author, *pushers}, unknown

    def _of_pushes(
        self,
        commits: list[str],
        branch: str,
        within: Callable[[str, str, str], bool],
        unknown: list[str],
    ) -> set[str]:
        """Who pushed commits that no pull request brought."""
        if not commits:
            return set()
        logins, left = set(), list(commits)
        for entry in self._activity(self.repository, branch):
            before, after = _get(entry, "before"), _get(entry, "after")
            login = _get(_get(entry, "actor"), "login")
            if not (isinstance(before, str) and isinstance(after, str) and isinstance(login, str)):
                continue
            brought = [c for c in left if c == after or within(before, after, c)]
            if brought:
                logins.add(login)
                left = [commit for commit in left if commit not in brought]
        unknown += [f"GitHub does not say who pushed {commit[:10]} to {branch}" for commit in left]
        return logins

    def _activity(self, repository: str, branch: str) -> list[Any]:
        """The last pushes to a branch; none where they may not be seen."""
        query = {"ref": f"refs/heads/{branch}", "per_page": 100}
        found = self._seen(f"/repos/{quote(repository)}/activity", query)
        return found if isinstance(found, list) else []

    def _seen(self, path: str, query: Mapping[str, Any]) -> Any:
        """What GitHub answers; None where the token may not see it."""
        try:
            return self.api.ask("GET", path, query=query).value
        except ForgeError as error:
            if error.status in {403, 404}:
                return None
            raise

    def _login(self, address: str) -> str | None:
        own = _NOREPLY.fullmatch(address)
        return own[1] if own else self._logins.get(address.casefold())


_CO_AUTHOR = re.compile(r"^\s*co-authored-by:.*?<([^<>\s]+)>\s*$", re.IGNORECASE | re.MULTILINE)


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
