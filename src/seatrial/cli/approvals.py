"""`seatrial approve` and `seatrial approvals`: somebody else lets policy changes pass, here or at the forge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seatrial.forge import People

approvals_option = click.option(
    "--approvals",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Approvals of policy changes that `seatrial approvals` read from the forge.",
)


@click.command("approve")
@click.argument("run")
@click.argument("changes", nargs=-1, metavar="[ID]...")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every policy change of the run that is not approved yet.",
)
@click.option(
    "--reason", required=True, metavar="TEXT", help="Why; kept with the approval and shown."
)
@click.option("--push", is_flag=True, help="Move the branch on the remote as well.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
def approve(
    run: str, changes: tuple[str, ...], everything: bool, reason: str, push: bool, root: Path | None
) -> None:
    """Approve policy changes of a RUN in the name that git commits for.

    ID is what `seatrial gate` shows of a policy change. The approval is of the commit that was run and of no other;
    whoever wrote, committed or co-authored a commit of the change is refused. It is kept on the branch
    seatrial-baselines.
    """
    from seatrial import baseline, store
    from seatrial.errors import UsageError, printable
    from seatrial.workspace import Workspace

    workspace = Workspace.find_or_here(root)
    repository = workspace.repository
    stored = store.Run.open(store.find(workspace.root, run))
    known = stored.manifest.policy_changes or ()
    if everything == bool(changes):
        raise UsageError(
            "name the policy changes that are approved, or all of them",
            hint=f"seatrial gate {run} shows their ids; --all approves every one",
        )
    pending = [
        ruled.change.id for ruled in baseline.judged(stored, repository) if not ruled.approved_by
    ]
    if everything and known and not pending:
        raise UsageError(
            f"every policy change of run {stored.manifest.run} is approved already",
            hint=f"seatrial gate {run} shows by whom; give an id to approve it once more",
        )
    remote = repository.remote() if repository else None
    if push and remote is None:
        raise UsageError("there is no remote to push to", hint="git remote add origin URL")
    made, where = baseline.approve(
        stored,
        repository,
        pending if everything else changes,
        reason=reason,
        push_to=remote if push else None,
    )
    named = set(made.changes or ())
    for change in known:
        if change.id in named:
            click.echo(printable(f"Approved: {change.text}"))
    click.echo(printable(f"By {made.by}, of commit {made.commit[:12]}, in {where}"))
    if remote and not push:
        click.echo(f"To share it: git push {remote} {baseline.BRANCH}")


@click.command("approvals")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--commit", metavar="SHA", help="Instead of the event's; the whole name.")
@click.option(
    "--pull-request", metavar="NUMBER", type=click.IntRange(min=1), help="Instead of the event's."
)
@click.option(
    "--patience", metavar="SECONDS", type=click.IntRange(0, 3600), default=60, show_default=True,
    help="So long is waited altogether for a forge that is busy or broken.",
)  # fmt: skip
def approvals(file: Path, commit: str | None, pull_request: int | None, patience: int) -> None:
    """Write the approvals of policy changes that GitHub knows of to FILE, for `--approvals FILE`.

    For a step of GitHub Actions. An approving review of the pull request counts, at exactly its head commit, by
    somebody of the repository who neither wrote, committed, co-authored, proposed nor pushed any of it. On a push it
    is the pull request that the commit came with, in a merge queue the one that is tried. What GitHub does not tell is
    no approval, and a warning.
    """
    import json
    import os

    from seatrial import forge
    from seatrial.errors import ForgeError, StorageError, printable
    from seatrial.records import Approval

    subject = forge.subject(os.environ, commit=commit, pull_request=pull_request)
    found: list[Approval] = []
    url = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    try:
        with forge.opened(os.environ, url, patience=float(patience)) as api:
            people = forge.People(api, subject.repository)
            change = (subject.pull_request, subject.commit) if subject.pull_request else None
            change = change or _queued(os.environ, people) or people.pull_request_of(subject.commit)
            for login, when in people.reviewers(*change) if change else ():
                found.append(
                    Approval(commit=subject.commit, by=login, how="review", at=when, reason="")
                )
    except ForgeError as error:
        click.echo(f"Warning: {printable(error.render(), keep=chr(10))}", err=True)
        found = []
    try:
        file.write_text(
            json.dumps([one.model_dump(mode="json") for one in found], indent=1) + "\n", "utf-8"
        )
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}") from error
    who = ", ".join(one.by for one in found)
    click.echo(
        printable(
            f"Approved at {subject.commit[:12]} by {who}" if who else "Nobody else approved it yet"
        )
    )


def _queued(environment: Mapping[str, str], people: People) -> tuple[int, str] | None:
    """The pull request that a merge queue tries, which GitHub names in the branch that it made for it."""
    import re

    found = re.fullmatch(
        r"refs/heads/gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{40,64}",
        environment.get("GITHUB_REF", ""),
    )
    if environment.get("GITHUB_EVENT_NAME") != "merge_group" or found is None:
        return None
    number = int(found[1])
    return number, people.head_of(number)
