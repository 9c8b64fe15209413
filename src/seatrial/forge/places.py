"""Where a repository lies at GitHub: its API and its name, from the environment or from git's remote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.errors import UsageError

_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_.-]*/(?!\.\.?(?:\.git)?/?$)[A-Za-z0-9_.-]+?"
_REPOSITORY = re.compile(_NAME)
_ADDRESS = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/]*@)?(?P<host>[A-Za-z0-9.-]+)(?::\d+)?/"  # https://host/owner/name
    r"|(?:[A-Za-z0-9._-]+@)?(?P<short>[A-Za-z0-9.-]+):)"  # git@host:owner/name
    rf"(?P<name>{_NAME})(?:\.git)?/?"
)
_HOME = "github.com"


@dataclass(frozen=True, slots=True)
class Place:
    """A repository at a server."""

    api: str
    """The address of the server's API."""
    repository: str
    """`owner/name`."""


def place(
    environment: Mapping[str, str], *, repository: str | None = None, remote: str | None = None
) -> Place:
    """The repository that commands at somebody's desk are about.

    Args:
        environment: GITHUB_REPOSITORY and GITHUB_API_URL, where they are set.
        repository: `owner/name`, instead of what is found.
        remote: the address of git's remote, None where there is none. It is not shown: it may hold a password.

    Raises:
        UsageError: nothing says which repository, or what says it names none.
    """
    found = _ADDRESS.fullmatch(remote) if remote else None
    host = (found["host"] or found["short"]).lower() if found else _HOME
    name = repository or environment.get("GITHUB_REPOSITORY") or (found["name"] if found else "")
    if not name:
        raise UsageError(
            "nothing says which repository at GitHub is meant",
            hint="name it: --repository OWNER/NAME",
        )
    if not _REPOSITORY.fullmatch(name):
        raise UsageError(f"{name!r} is no repository", hint="as in --repository OWNER/NAME")
    # ssh.github.com is github.com behind port 443.
    own = "https://api.github.com" if host.endswith(_HOME) else f"https://{host}/api/v3"
    return Place(environment.get("GITHUB_API_URL") or own, name)
