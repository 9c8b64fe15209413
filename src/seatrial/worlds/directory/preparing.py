"""The folder that all trials of a world start from: copied, written, or fetched once."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from seatrial.documents.attack import placed_in
from seatrial.documents.world.directory import Written
from seatrial.errors import RevisionError, WorldError
from seatrial.git import command
from seatrial.worlds.histories import OWN_SETTINGS, repositories
from seatrial.worlds.told import without_folder


def prepared(
    top: Path,
    *,
    source: Path | dict[str, str],
    name: str,
    bundle: bool = False,
    repository: bool = False,
    now: dt.datetime,
    written: Sequence[Written] = (),
) -> None:
    """Make a folder that copies can be made of.

    Args:
        top: its path; nothing is there yet.
        source: a folder to copy, files to write, or a git bundle.
        name: the source as the document writes it.
        bundle: the source is a bundle.
        repository: the folder must be a git repository when it is ready.
        now: when its first commit is made, where it needs one.
        written: files written into it once it is copied; a first commit holds them.

    Raises:
        WorldError: it cannot be made, or links or repositories in it lead out of it.
    """
    try:
        if isinstance(source, dict):
            _write(top, source)
        elif bundle:
            _fetch(top, source)
        else:
            shutil.copytree(source, top, symlinks=True)
    except (OSError, shutil.Error, UnicodeEncodeError) as error:
        why = without_folder(error, top.parent)
        raise WorldError(f"{name} cannot be copied: {why}") from error
    except RevisionError as error:
        why = without_folder(error, top.parent)
        raise WorldError(f"{name} is no git bundle that can be used: {why}") from error
    for link in leading_out(top):
        raise WorldError(f"{name}: the link {link} leads out of the folder")
    _part_from_elsewhere(top, name)
    for file in written:
        try:
            _add(top, file)
        except (OSError, UnicodeError) as error:
            why = without_folder(error, top.parent)
            raise WorldError(f"{name}: {file.path} cannot be written: {why}") from error
    if repository and not (top / ".git").is_dir():
        _commit_all(top, now)


def leading_out(top: Path) -> Iterator[str]:
    """The links below a folder that lead out of it."""
    real = top.resolve()
    for here, folders, files in os.walk(top):
        for entry in (*folders, *files):
            path = Path(here) / entry
            if path.is_symlink() and not path.resolve().is_relative_to(real):
                yield path.relative_to(top).as_posix()


def problems(
    source: Path | None, key: str, *, name: str, folder: bool
) -> Iterator[tuple[str, str]]:
    """What is wrong with the source of a folder, without copying it."""
    if source is None:
        return
    if folder != source.is_dir():
        yield key, f"{name} is {'no' if folder else 'a'} folder"
    elif folder:
        for link in leading_out(source):
            yield key, f"the link {link} in {name} leads out of the folder"


def identity(name: str, now: dt.datetime) -> dict[str, str]:
    """Who commits in a world, and when: the same person at the same moment in every trial."""
    email = f"{name.lower()}@example.org"
    when = f"@{int(now.timestamp())} +0000"
    return OWN_SETTINGS | {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
        "GIT_COMMITTER_DATE": when,
    }


def _part_from_elsewhere(top: Path, name: str) -> None:
    """Take care that no git repository below a copied folder is one that lies elsewhere.

    In a submodule and in a further work tree `.git` is a file with the path of the repository: a commit in the copy
    would be one in the original. Such a file is left out; what has its history or its files elsewhere
    by its own settings is refused.
    """
    for here, _, files in os.walk(top):
        if ".git" in files:
            (Path(here) / ".git").unlink()
    real = top.resolve()
    for inside in repositories(top):
        where = command.call(
            top / inside,
            "rev-parse",
            "--path-format=absolute",
            "--git-common-dir",
            extra=OWN_SETTINGS,
        )
        files_at = command.call(
            top / inside, "config", "--get", "core.worktree", extra=OWN_SETTINGS
        ).stdout.strip()
        history = Path(os.fsdecode(where.stdout.rstrip(b"\n"))).resolve()
        if files_at or (where.returncode == 0 and not history.is_relative_to(real)):
            what = "its files" if files_at else "its history"
            raise WorldError(
                f"{name}: the repository {inside or 'that it is'} has {what} elsewhere",
                hint="write a bundle of it (`git bundle create FILE --all`) and name that as `bundle`",
            )


def _write(top: Path, files: dict[str, str]) -> None:
    top.mkdir()
    for path, text in files.items():
        target = top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")


def _add(top: Path, file: Written) -> None:
    target = top / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    # No link leads out of the folder: whatever the file is, it lies inside.
    there = target.read_bytes().decode() if target.exists() and file.how != "replace" else ""
    target.write_text(placed_in(there, file.text, file.how), encoding="utf-8", newline="")


def _fetch(top: Path, bundle: Path) -> None:
    top.mkdir()
    _git(top, "init", "--quiet", "--initial-branch=main", "--template=")
    listed = _git(top, "ls-remote", "--symref", str(bundle.resolve())).decode()
    heads = [line.partition("\trefs/heads/") for line in listed.splitlines()]
    branches = {name: commit for commit, found, name in heads if found}
    at = next((line.split("\t")[0] for line in listed.splitlines() if line.endswith("\tHEAD")), "")
    fitting = [name for name, commit in branches.items() if commit == at] or list(branches)
    if not fitting:
        raise RevisionError("it holds no branch")
    chosen = next((name for name in ("main", "master") if name in fitting), fitting[0])
    _git(
        top, "fetch", "--quiet", "--no-write-fetch-head", "--update-head-ok", str(bundle.resolve()),
        "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*",
    )  # fmt: skip
    _git(top, "symbolic-ref", "HEAD", f"refs/heads/{chosen}")
    _git(top, "reset", "--quiet", "--hard")


def _commit_all(top: Path, now: dt.datetime) -> None:
    _git(top, "init", "--quiet", "--initial-branch=main", "--template=")
    _git(top, "add", "--all", "--force")
    command.demand(
        top, "commit", "--quiet", "--allow-empty", "--message=Start", extra=identity("Start", now)
    )


def _git(top: Path, *words: str) -> bytes:
    return command.demand(top, *words, extra=OWN_SETTINGS)
