"""`seatrial dispatch` and `seatrial status`: a run of the workflow, started, looked at and followed from a desk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from seatrial.errors import ExitCode, ForgeError, UsageError

if TYPE_CHECKING:
    from seatrial.forge import Job, Runs, WorkflowRun, Workflows
    from seatrial.gate import Ruling

_SHIPPED = "seatrial-gate.yml"

_OPTIONS = (
    click.option(
        "--workflow", metavar="FILE",
        help=f"The workflow's file; the one in .github/workflows/ that calls the gate, else {_SHIPPED}, when left out.",
    ),
    click.option(
        "--repository", metavar="OWNER/NAME", help="Instead of the one that git's remote names."
    ),
    click.option(
        "--token-env", metavar="NAME", default="GITHUB_TOKEN", show_default=True,
        help="The variable that holds the token.",
    ),
    click.option("--wait", is_flag=True, help="Follow the run to its end, and end as it does."),
    click.option(
        "--timeout", metavar="MINUTES", type=click.FloatRange(0, min_open=True), default=60.0,
        show_default=True, help="With --wait: so long at most.",
    ),
    click.option(
        "--every", metavar="SECONDS", type=click.FloatRange(0.05, 600), default=10.0, show_default=True,
        help="With --wait: so often it is looked at.",
    ),
)  # fmt: skip


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("dispatch")
@click.option("--suite", metavar="ID", help="The configured one, when left out.")
@click.option("--arm", metavar="ID", help="The configured one, when left out.")
@click.option("--agent-version", metavar="configured|latest|VERSION", help="Who answers.")
@click.option("--trials", metavar="N", type=click.IntRange(min=1), help="So many of each case.")
@click.option("--base", metavar="REVISION", help="Run only what changed since this revision.")
@click.option("--budget", metavar="AMOUNT", help="What the run may spend, as `5 EUR`.")
@click.option(
    "--pull-request", metavar="NUMBER", type=click.IntRange(min=1),
    help="Rule on one from a fork, with the agent's secrets; with --commit.",
)  # fmt: skip
@click.option(
    "--commit", metavar="SHA", help="The whole name of its newest commit, which you have read."
)
@click.option(
    "--ref", metavar="BRANCH", help="Where it runs; the branch you are on, when left out."
)
@_shared
def dispatch(
    suite: str | None,
    arm: str | None,
    agent_version: str | None,
    trials: int | None,
    base: str | None,
    budget: str | None,
    pull_request: int | None,
    commit: str | None,
    ref: str | None,
    workflow: str | None,
    repository: str | None,
    token_env: str,
    wait: bool,
    timeout: float,
    every: float,
) -> ExitCode:
    """Start the gate's workflow at GitHub, as its form does.

    With --wait it is followed, and the exit code is the ruling's: 0 open, 1 closed, 3 undecided or nothing
    ruled, 4 where it ended otherwise or GitHub does not answer; 2 where GitHub refuses what was asked for.
    Stopping the command does not stop the run.
    """
    if (pull_request is None) != (commit is None):
        raise UsageError("--pull-request and --commit belong together")
    form = {
        "suite": suite,
        "arm": arm,
        "agent-version": agent_version,
        "trials": trials,
        "base": base,
        "budget": budget,
        "pull-request": pull_request,
        "commit": commit,
    }
    inputs = {name: str(value) for name, value in form.items() if value is not None}
    at, file = ref or _branch(), workflow or _gate()
    with _workflows(repository, token_env, timeout * 60 if wait else 60) as (workflows, runs):
        started = workflows.start(file, at, inputs, must_tell=wait)
        if started.run is None:
            click.echo("Started; the server does not say which run it is: seatrial status")
            return ExitCode.OPEN
        _tell(f"Started run {started.run} at {at}: {started.url}")
        if not wait:
            click.echo(f"Follow it: seatrial status {started.run} --wait")
            return ExitCode.OPEN
        return _ended(runs, _follow(workflows, started.run, timeout, every))


@click.command("status")
@click.argument("run", type=click.IntRange(min=1), required=False)
@click.option(
    "--pull-request",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    help="The newest run of its head.",
)
@click.option("--commit", metavar="SHA", help="The newest run of this commit; the whole name.")
@_shared
def status(
    run: int | None,
    pull_request: int | None,
    commit: str | None,
    workflow: str | None,
    repository: str | None,
    token_env: str,
    wait: bool,
    timeout: float,
    every: float,
) -> ExitCode:
    """Look at a RUN of the gate's workflow at GitHub (the number in its address), or at the newest.

    Exits as the run did: 0 open, 1 closed, 3 undecided, nothing ruled, or not ended yet, 4 where it ended otherwise.
    """
    if sum(given is not None for given in (run, pull_request, commit)) > 1:
        raise UsageError("name a RUN, --pull-request or --commit, one of them")
    with _workflows(repository, token_env, timeout * 60 if wait else 60) as (workflows, runs):
        if run is None:
            if pull_request is not None:
                commit = workflows.head(pull_request)
            file = workflow or _gate()
            newest = workflows.newest(file, commit)
            if newest is None:
                of = f" of {commit[:12]}" if commit else ""
                raise UsageError(
                    f"{file} has no run{of}", hint="start one: seatrial dispatch --suite ID"
                )
            run = newest.id
        if wait:
            return _ended(runs, _follow(workflows, run, timeout, every))
        found = workflows.run(run)
        if found.ended:
            return _ended(runs, found)
        _show(found, workflows.jobs(run))
        return ExitCode.UNDECIDED


@contextmanager
def _workflows(
    repository: str | None, token_env: str, patience: float
) -> Iterator[tuple[Workflows, Runs]]:
    """The workflows of the repository and what their runs left, with the token."""
    import os
    from pathlib import Path

    from seatrial import forge
    from seatrial.git import Repository

    within = Repository.find(Path.cwd())
    place = forge.place(
        os.environ, repository=repository, remote=within.address() if within else None
    )
    try:
        with forge.opened(os.environ, place.api, token=token_env, patience=patience) as api:
            yield forge.Workflows(api, place.repository), forge.Runs(api, place.repository)
    except ForgeError as error:
        # A wrong token, file, branch, field or number is for whoever typed it; a limit that lasts is not.
        if error.status in {401, 404, 422} or (error.status == 403 and not error.limited):
            raise UsageError(error.message, hint=error.hint) from error
        raise


def _branch() -> str:
    """The branch that is checked out here."""
    from pathlib import Path

    from seatrial.git import Repository

    within = Repository.find(Path.cwd())
    branch = within.branch() if within else None
    if branch is None:
        raise UsageError("no branch is checked out here", hint="name one: --ref BRANCH")
    return branch


def _gate() -> str:
    """The file of the workflow that calls the gate, as the repository here has it.

    Raises:
        UsageError: there are several.
    """
    from pathlib import Path

    from seatrial.git import Repository

    within = Repository.find(Path.cwd())
    folder = (within.root if within else Path.cwd()) / ".github" / "workflows"
    called = f"/{_SHIPPED}@".encode()
    try:
        found = [
            file.name
            for file in sorted([*folder.glob("*.yml"), *folder.glob("*.yaml")])
            if file.name == _SHIPPED or called in file.read_bytes()
        ]
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from error
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} workflows call the gate: {', '.join(found)}",
            hint="name one: --workflow FILE",
        )
    return found[0] if found else _SHIPPED


def _follow(workflows: Workflows, run: int, timeout: float, every: float) -> WorkflowRun:
    return workflows.follow(
        run, told=lambda text: _tell(f"  {text}", err=True), every=every, at_most=timeout * 60
    )


def _ended(runs: Runs, run: WorkflowRun) -> ExitCode:
    """Tell how a run has ended; the exit code of its ruling."""
    from seatrial.verdicts import Gate

    _show(run, ())
    ruling = _ruling(runs, run)
    well = run.conclusion == "success"
    if ruling is None:
        if well:
            _tell("It ruled on nothing: the workflow is not set up, or nothing was to be run.")
            return ExitCode.UNDECIDED
        raise ForgeError(
            f"run {run.id} ended without a ruling: {_words(run.conclusion)}", hint=run.html_url
        )
    _told(ruling)
    if ruling.ruling is Gate.OPEN and not well:
        # Its trials alone are no ruling: a shard or a later job failed.
        raise ForgeError(
            f"what was run would open the gate, but the run ended otherwise: {_words(run.conclusion)}",
            hint=run.html_url,
        )
    return ExitCode[ruling.ruling.name]


def _ruling(runs: Runs, run: WorkflowRun) -> Ruling | None:
    """What the run ruled, by the artifact that it leaves for who posts; None where it left none."""
    from seatrial import forge
    from seatrial.cli.relaying import ARTIFACT, FILE

    try:
        data = runs.file(run.id, f"{ARTIFACT}-{run.run_attempt}", FILE, forge.MOST_BYTES)
        return None if data is None else forge.Packed.read(data, FILE).ruling
    except UsageError as error:
        # Not a mistake of whoever types the command.
        raise ForgeError(f"what run {run.id} left cannot be read: {error.message}") from error


def _show(run: WorkflowRun, jobs: tuple[Job, ...]) -> None:
    state = _words(run.conclusion or run.status)
    _tell(f"Run {run.id} ({run.event} at {run.head_branch or '-'}, {run.head_sha[:12]}): {state}")
    _tell(run.html_url)
    for job in jobs:
        _tell(f"  {job.name}: {job.state}")


def _told(ruling: Ruling) -> None:
    _tell(ruling.headline)
    for ground in ruling.grounds:
        _tell(f"{ground.effect:<10}{ground.text}")


def _words(state: str | None) -> str:
    return (state or "unknown").replace("_", " ")


def _tell(text: str, *, err: bool = False) -> None:
    # Names of jobs and the ruling come from elsewhere.
    from seatrial.errors import printable

    click.echo(printable(text), err=err)
