"""`seatrial release`: make a run the baseline that the next change is held against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seatrial.baseline import Approver
    from seatrial.git import Repository
    from seatrial.store import Run
    from seatrial.workspace import Workspace


@click.command()
@click.argument("run")
@click.option(
    "--approved-by",
    metavar="NAME",
    help="Who answers for it: an address, or `Name <address>`. Nobody who had a hand in what is released.",
)
@click.option(
    "--approved-in",
    metavar="ENVIRONMENT",
    help="In a job of GitHub Actions: whoever let it into this protected environment answers for it.",
)
@click.option("-a", "--arm", metavar="ID", help="Whose trials, where the run has several arms.")
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write to this folder instead of the branch seatrial-baselines.",
)
@click.option("--push", is_flag=True, help="Move the branch on the remote as well.")
@click.option("-m", "--message", default="", help="A note that is kept with the release.")
@click.option(
    "--allow-dirty",
    default="",
    metavar="REASON",
    help="Release a run that no commit describes; the reason is kept and shown.",
)
@click.option(
    "--override",
    default="",
    metavar="REASON",
    help="Release it though its gate is not open; the reason is kept and shown for ever.",
)
@click.option(
    "--commit", metavar="REVISION", help="The commit that the run must be of, for example HEAD."
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
def release(
    run: str,
    approved_by: str | None,
    approved_in: str | None,
    arm: str | None,
    to: Path | None,
    push: bool,
    message: str,
    allow_dirty: str,
    override: str,
    commit: str | None,
    root: Path | None,
) -> None:
    """Make a complete RUN the released baseline of its agent in its suite.

    It is held against what is released now. Refused is what is not complete, what is not of a commit, what the gate
    does not let pass, and an approver who had a hand in a commit since then that touches what the arm is built from.

    RUN is a run's folder, its id, or `latest`. Nothing but the branch seatrial-baselines moves:
    neither the work tree nor the index is touched.
    """
    from seatrial import baseline, store
    from seatrial.errors import UsageError, printable
    from seatrial.workspace import Workspace

    if (approved_by is None) == (approved_in is None):
        raise UsageError(
            "somebody must approve a release",
            hint="--approved-by 'NAME <MAIL>', or in a job with a protected environment --approved-in ENVIRONMENT",
        )
    if push and to is not None:
        raise UsageError("--push moves a branch, --to writes a folder", hint="give one of them")
    workspace = Workspace.find_or_here(root)
    repository = workspace.repository
    remote = repository.remote() if repository else None
    if push and remote is None:
        raise UsageError("there is no remote to push to", hint="git remote add origin URL")
    stored = store.Run.open(store.find(workspace.root, run))
    if approved_in is not None:
        approver = _of_environment(workspace, stored, arm, approved_in, remote if push else None)
    else:
        approver = baseline.Approver(name=approved_by or "")
    made = baseline.release(
        stored,
        arm,
        approver=approver,
        repository=repository,
        folder=workspace.folder,
        to=to,
        push_to=remote if push else None,
        message=message,
        allow_dirty=allow_dirty,
        override=override,
        commit=repository.resolve(commit) if commit and repository else commit,
    )
    released = made.release
    for line in (
        f"Released {released.agent} {released.version} ({released.arm}) for suite {released.suite}: "
        f"{released.cases} cases, {released.trials} trials, {released.passed} passed, "
        f"{released.invalid} invalid",
        f"Approved by {released.approved_by}",
        *([f"Gate: {released.gate_said}"] if released.gate_said else []),
        *([f"Released all the same: {released.override}"] if released.override else []),
        *(f"Approved with it: {change.text}" for change in released.policy_changes),
        f"Baseline: {made.where}",
    ):
        click.echo(printable(line))
    _tell_what_is_forbidden(stored, released.arm)
    if to is None and remote and not push:
        click.echo(f"To share it: git push {remote} {baseline.BRANCH}")


def _of_environment(
    workspace: Workspace, stored: Run, arm: str | None, environment: str, remote: str | None
) -> Approver:
    """Who let the job into its environment, and who had a hand in what is released, as GitHub tells."""
    import os

    from seatrial import baseline, forge
    from seatrial.errors import UsageError

    repository = workspace.repository
    run_id = os.environ.get("GITHUB_RUN_ID", "")
    if repository is None or not run_id.isdecimal():
        raise UsageError(
            "--approved-in is for a job of GitHub Actions, in a repository",
            hint="elsewhere: --approved-by 'NAME <MAIL>'",
        )
    known = baseline.hands_in(
        stored, arm, repository=repository, folder=workspace.folder, remote=remote
    )
    subject = forge.subject(os.environ)
    url = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    with forge.opened(os.environ, url) as api:
        people = forge.People(api, subject.repository)
        logins = people.approvers(int(run_id), environment)
        told = people.hands(
            {commit: {(p.name, p.email) for p in of} for commit, of in known.commits.items()},
            os.environ.get("GITHUB_REF_NAME", ""),
            canonical=lambda name: _canonical(repository, name),
            within=lambda before, after, commit: _within(repository, before, after, commit),
        )
    taken = {login.casefold() for login in told.logins}
    free = [login for login in logins if login.casefold() not in taken]
    return baseline.Approver(
        name=(free or logins)[0], how="environment", logins=told.logins, strangers=told.strangers
    )


def _canonical(repository: Repository, name: tuple[str, str]) -> tuple[str, str]:
    from seatrial.git import Person

    found = repository.canonical(Person(*name))
    return found.name, found.email


def _within(repository: Repository, before: str, after: str, commit: str) -> bool:
    """Whether a push from one commit to another brought a third."""
    if repository.ref(after) is None or not repository.is_ancestor(commit, after):
        return False
    return repository.ref(before) is None or not repository.is_ancestor(commit, before)


def _tell_what_is_forbidden(run: Run, arm: str) -> None:
    """Say which released trials did something forbidden: whoever approved them may not know."""
    from collections import Counter

    from seatrial.errors import printable

    trials: Counter[str] = Counter()
    forbidden: Counter[str] = Counter()
    for record in run.records(arm):
        trials[record.case] += 1
        forbidden[record.case] += record.forbidden
    found = [f"{c} ({n} of {trials[c]} trials)" for c, n in forbidden.items() if n]
    if found:
        click.echo(f"Warning: it does something forbidden: {printable('; '.join(found))}", err=True)
        click.echo("  → a change that does the same is not excused: its gate closes", err=True)
