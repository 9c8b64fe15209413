"""What to say of a revision that is not here: what there is, and what to fetch."""

from __future__ import annotations

import difflib
import re
import shlex
from typing import TYPE_CHECKING

from seatrial.errors import RevisionError

if TYPE_CHECKING:
    from seatrial.git.repository import Repository

_HEX = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_FULL_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.IGNORECASE)
_ANCESTRY = re.compile(r"[\^~]")
_STEP = re.compile(r"([\^~])(\d*)")
_NO_BRANCH = re.compile(r"^$|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/$|\.lock$|\.$")


def can_be_revision(text: str) -> bool:
    """Whether a text may be handed to git as a revision."""
    return bool(text) and text.isprintable() and not text.startswith("-")


def missing(repository: Repository, revision: str) -> RevisionError:
    """What to say of a revision that is not here: what there is, and what to fetch."""
    if not can_be_revision(revision):
        return RevisionError(
            f"{revision!r} is no revision", hint="name a branch, a tag or a commit"
        )
    if repository.head() is None and revision.startswith("HEAD"):
        return RevisionError("this repository has no commit yet", hint="git commit first")
    start = _ANCESTRY.split(revision)[0]
    known = repository.ref(start) if start and start != revision else None
    if known is not None:
        return _ancestor(repository, revision, start, known)
    if _HEX.fullmatch(start):
        return _commit(repository, start)
    return _name(repository, revision, start)


def _ancestor(repository: Repository, revision: str, start: str, known: str) -> RevisionError:
    if repository.is_shallow:
        steps = sum(int(n or 1) if way == "~" else 1 for way, n in _STEP.findall(revision))
        return RevisionError(
            f"{revision!r} lies beyond the history that this shallow clone has",
            hint=f"git fetch --deepen={min(max(steps, 1), 1000)} {repository.remote() or 'origin'} "
            f"{known} (in GitHub Actions: actions/checkout with fetch-depth: 2 or more)",
        )
    return RevisionError(
        f"{start!r} is here, but it has no ancestor {revision!r}",
        hint=f"git log --oneline {shlex.quote(start)} shows what it has",
    )


def _commit(repository: Repository, revision: str) -> RevisionError:
    message = f"the commit {revision} is not in this clone"
    remote = repository.remote()
    if remote is None:
        return RevisionError(message, hint="and there is no remote to fetch it from")
    if _FULL_SHA.fullmatch(revision):
        return RevisionError(message, hint=f"git fetch {remote} {revision}")
    deeper = f"git fetch --unshallow {remote}" if repository.is_shallow else f"git fetch {remote}"
    return RevisionError(message, hint=f"{deeper}, or give all 40 characters of its name")


def _name(repository: Repository, revision: str, start: str) -> RevisionError:
    message = f"there is no branch, tag or commit {revision!r} in this clone"
    names, remote = repository.names(), repository.remote()
    if remote and f"{remote}/{start}" in names:
        return RevisionError(message, hint=f"there is {remote}/{revision}; name that")
    near = difflib.get_close_matches(start, names, n=3, cutoff=0.6)
    hints = [f"did you mean {', '.join(near)}?"] if near else []
    branch = start.removeprefix(f"{remote}/")
    if remote and not _NO_BRANCH.search(branch):
        refspec = shlex.quote(f"{branch}:refs/remotes/{remote}/{branch}")
        hints.append(f"To fetch it: git fetch {remote} {refspec}, then name {remote}/{branch}")
    return RevisionError(
        message,
        hint=" ".join(hints) or "`git branch --all` and `git tag` list what there is",
    )
