"""`seatrial approve`: somebody else lets policy changes pass."""

from __future__ import annotations

from pathlib import Path

import click

approvals_option = click.option(
    "--approvals",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Approvals of policy changes that `seatrial approvals` read from the forge.",
)


@click.command("approve")
@click.argument("run")
@click.argument("changes", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Every policy change of the run.")
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
    remote = repository.remote() if repository else None
    if push and remote is None:
        raise UsageError("there is no remote to push to", hint="git remote add origin URL")
    made, where = baseline.approve(
        stored,
        repository,
        [change.id for change in known] if everything else changes,
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
