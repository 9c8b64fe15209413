"""Tools for the git repository that a folder is."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path

from seatrial.git import command
from seatrial.trace import Json
from seatrial.worlds.directory.preparing import identity
from seatrial.worlds.told import Told


class Commits:
    """A repository as an agent works on it."""

    def __init__(self, top: Path, now: dt.datetime) -> None:
        self._top = top
        self._now = now

    def log(self, branch: str | None = None, limit: int = 20) -> Json:
        """The last commits of a branch, newest first."""
        revision = self._branch(branch) if branch is not None else "HEAD"
        listed = self._git(
            "log", "-z", f"--max-count={limit}", "--no-show-signature",
            "--format=%H%x00%an <%ae>%x00%at%x00%B", revision, "--",
        )  # fmt: skip
        words = listed.split("\0")
        return {"commits": [_about(*words[at : at + 4]) for at in range(0, len(words) - 3, 4)]}

    def status(self) -> Json:
        """The branch that is checked out, all branches, and the files that are not as committed."""
        listed = self._git(
            "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"
        )
        kinds = {"??": "new", "A": "new", "D": "deleted"}
        changed = {
            line[3:]: kinds.get(line[:2], kinds.get(line[:2].strip(), "changed"))
            for line in listed.split("\0")
            if line
        }
        branches = self._git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
        current = self._git("branch", "--show-current").strip()
        return {"branch": current or None, "branches": branches.split(), "changed": changed}

    def commit(self, message: str) -> Json:
        """Commit everything that is not as committed."""
        if "\0" in message or not message.strip():
            raise Told("a commit needs a message")
        self._git("add", "--all")
        if not self._git("status", "--porcelain=v1", "-z"):
            raise Told("there is nothing to commit")
        try:
            text = message.encode("utf-8")
        except UnicodeEncodeError:
            raise Told("the message has characters that no commit can hold") from None
        self._git(
            "commit", "--quiet", "--no-gpg-sign", "--cleanup=whitespace", "--file=-", stdin=text
        )  # fmt: skip
        return {"commit": self._git("rev-parse", "HEAD").strip()}

    def create_branch(self, name: str) -> None:
        """Make a branch from where we are, and switch to it."""
        if self._call("check-ref-format", "--branch", name).returncode or name.startswith("-"):
            raise Told(f"{name[:80]!r} is no name for a branch")
        if self._has(name):
            raise Told(f"there is a branch {name} already")
        self._git("switch", "--quiet", "--create", name)

    def switch(self, branch: str) -> None:
        """Check a branch out; files that are not committed are kept, or stand in the way."""
        self._branch(branch)
        done = self._call("switch", "--quiet", branch)
        if done.returncode:
            raise Told(
                f"cannot switch to {branch}: changes that are not committed stand in the way"
            )

    def _branch(self, name: str) -> str:
        if not self._has(name):
            raise Told(f"there is no branch {name[:80]!r}")
        return f"refs/heads/{name}"

    def _has(self, name: str) -> bool:
        if self._call("check-ref-format", f"refs/heads/{name}").returncode:
            return False
        found = self._call("show-ref", "--verify", "--quiet", f"refs/heads/{name}")
        return found.returncode == 0

    def _git(self, *words: str, stdin: bytes | None = None) -> str:
        done = self._call(*words, stdin=stdin)
        if done.returncode:
            said = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
            # What an agent wrote (attributes, names) can make git refuse; that is no fault of the world.
            why = said[0].replace(str(self._top), ".") if said else "it gave no reason"
            raise Told(f"git refuses: {why}")
        return done.stdout.decode("utf-8", "backslashreplace")

    def _call(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        if any("\0" in word for word in words):
            raise Told("no name has a NUL in it")
        try:
            return command.call(self._top, *words, stdin=stdin, extra=identity("Agent", self._now))
        except UnicodeEncodeError:
            raise Told("the name has characters that git cannot write") from None


def _about(commit: str, author: str, at: str, message: str) -> Json:
    moment = dt.datetime.fromtimestamp(int(at), dt.UTC)
    return {
        "commit": commit,
        "author": author,
        "date": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "message": message.strip(),
    }
