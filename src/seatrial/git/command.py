"""One call of the `git` program: its environment, its time limit, its failure."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from seatrial.errors import RevisionError, printable

LOCAL_SECONDS = 120.0
"""For a call that only reads or writes the repository."""
NETWORK_SECONDS = 300.0
"""For a fetch or a push."""

_KEPT = frozenset({
    "GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY",
    "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
    "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
})  # fmt: skip
"""Variables that say how to reach a remote, or who commits. All others are dropped: inside a hook
`GIT_DIR` and `GIT_INDEX_FILE` point at another repository than the one that was asked for."""
_KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")

_SETTINGS = (
    "core.hooksPath=/dev/null",  # a hook of the repository is code of the change under test
    "core.fsmonitor=false",  # names a program
    "core.splitIndex=false",  # a temporary index would leave a shared one behind
    "protocol.ext.allow=never",  # a remote of this kind is a shell command
    "user.useConfigOnly=true",  # an identity made up from the host's name identifies nobody
)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables git is started with."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }
    kept |= {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",  # looking at the state must not write the index
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "LC_ALL": "C",  # failures are told apart by their text
        "LANGUAGE": "",
    }
    return kept | dict(extra or {})


def call(
    folder: Path,
    *arguments: str | bytes,
    stdin: bytes | None = None,
    extra: Mapping[str, str] | None = None,
    seconds: float = LOCAL_SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    """Run `git -C folder arguments…` and give back what it wrote, whatever its exit status.

    Raises:
        RevisionError: git is not installed, or did not answer in time.
    """
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *settings, *arguments],
            input=stdin if stdin is not None else b"",
            capture_output=True,
            env=environment(extra),
            timeout=seconds,
            check=False,
            start_new_session=True,  # no terminal on which ssh could ask for a passphrase
        )
    except FileNotFoundError as error:
        raise RevisionError(
            f"{folder} is a git repository, but the program `git` is not installed",
            hint="install git, or put it on PATH",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise RevisionError(
            f"`git {_word(arguments[0])}` did not end within {seconds:.0f} s",
            hint=f"run it by hand in {folder} to see what it waits for",
        ) from error


def demand(
    folder: Path,
    *arguments: str | bytes,
    stdin: bytes | None = None,
    extra: Mapping[str, str] | None = None,
    seconds: float = LOCAL_SECONDS,
) -> bytes:
    """What `git -C folder arguments…` wrote to stdout.

    Raises:
        RevisionError: it ended with anything but 0; the message is git's own.
    """
    done = call(folder, *arguments, stdin=stdin, extra=extra, seconds=seconds)
    if done.returncode:
        raise failure(arguments[0], done.stderr)
    return done.stdout


def failure(command: str | bytes, stderr: bytes) -> RevisionError:
    """Git's own words as an error, with the remedy where it is known."""
    text = printable(stderr.decode("utf-8", "replace").strip(), keep="\n")
    hint = ""
    if "dubious ownership" in text:
        hint = "git config --global --add safe.directory FOLDER, if you trust the folder's owner"
    elif "could not fetch" in text or "promisor" in text:
        hint = "objects are missing from this clone: run `git fetch origin` and try again"
    return RevisionError(f"`git {_word(command)}` failed: {text or 'it gave no reason'}", hint=hint)


def _word(argument: str | bytes) -> str:
    return os.fsdecode(argument)
