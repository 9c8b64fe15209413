"""`seatrial post relay` and `post head`: what a trusted workflow does about runs and commits that others control."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from seatrial.cli.desk import Desk, say, shared
from seatrial.errors import ExitCode, ForgeError, UsageError

if TYPE_CHECKING:
    from seatrial.forge import EndedRun, Forge, GitHub, Packed

ARTIFACT, FILE = "seatrial-told", "told.json"
"""Of the run that is relayed; behind the artifact's name stands the number of the attempt."""
SELF_REPORTED = " (self-reported)"
"""Behind the name of the status that an untrusted run's ruling is told in."""


@click.command("relay")
@shared
def relay(**options: Any) -> ExitCode:
    """Tell of a workflow's run that has ended what it could not tell itself.

    For a workflow with `on: workflow_run`. The run of a fork has no right to post: what it found is told as
    self-reported, in a status of its own name, and the gate's own status becomes undecided, whatever the
    run says of itself. Of any other run that ended and left the gate's status pending or unset, because it was
    killed, had no right to post or the forge was down, what it ruled is told, or that there is no ruling.

    The pull request is asked for at the forge by the run's commit and repository. Of the run's artifact one file
    is read, by its schema and within bounds.
    """
    import os

    from seatrial import forge

    if options["commit"] is not None or options["pull_request"] is not None:
        raise UsageError("commit and pull request are not chosen here: GitHub says them")
    run = forge.EndedRun.read(os.environ)
    options |= {"commit": run.head_sha, "pull_request": None}
    desk = Desk.of(**options)
    if not run.of_head:
        say("notice", f"nothing is relayed of a run that began with {run.event}")
        return ExitCode.OPEN
    desk = replace(desk, url=options["url"] or f"{desk.subject.web}/actions/runs/{run.id}")
    try:
        with desk.connected() as github:
            numbers = github.runs.pull_requests(run) if run.event == "pull_request" else []
    except ForgeError as error:
        return desk.failed([error])
    if len(numbers) == 1 and not options["no_comment"]:
        desk = desk.about(numbers[0])
    if run.from_fork:
        if not numbers:
            say("notice", "no open pull request has the commit of this run: nothing is relayed")
            return ExitCode.OPEN
        return _of_fork(desk, run, options)
    return _of_own(desk, run, options)


def _of_own(desk: Desk, run: EndedRun, options: dict[str, Any]) -> ExitCode:
    """End a status that the run left pending or unset: it was killed, had no right to post, or the forge was down."""
    from seatrial import forge
    from seatrial.verdicts import Gate

    over = {forge.State.RUNNING, None}
    packed: Packed | None = None
    try:
        with desk.connected() as github:
            before = github.told(desk.context)
            if before not in over:
                return ExitCode.OPEN
            packed = _packed(github, run)
    except (UsageError, ForgeError) as error:
        say("warning", f"what the run left is not read: {error.message}")
        before = forge.State.RUNNING
    if packed is None:
        if run.conclusion == "success" and before is None:
            say(
                "notice", "the run told nothing and failed at nothing: Seatrial is not set up there"
            )
            return ExitCode.OPEN
        return desk.no_ruling(
            f"the workflow's run ended ({run.conclusion}) and told nothing", over=over
        )
    ruling = packed.ruling.ruling
    if (ruling is Gate.OPEN) != (run.conclusion == "success"):
        return desk.no_ruling(
            f"the trials say {ruling.value}, but the workflow's run ended ({run.conclusion})", over=over
        )  # fmt: skip
    told = packed.told(options.get("report") or "")
    return desk.post(
        forge.State.of(ruling),
        packed.ruling.headline,
        lambda github: forge.ruled(told, github, desk.subject, desk.marker, desk.url),
        over=over,
    )


def _packed(github: GitHub, run: EndedRun) -> Packed | None:
    """What the run left to be told; None where it left nothing.

    Raises:
        UsageError: it is something else.
        ForgeError: the forge does not give it.
    """
    from seatrial import forge

    data = github.runs.file(run.id, f"{ARTIFACT}-{run.run_attempt}", FILE, forge.MOST_BYTES)
    return None if data is None else forge.Packed.read(data, FILE)


def _of_fork(desk: Desk, run: EndedRun, options: dict[str, Any]) -> ExitCode:
    """Tell what the run of a fork says of itself, and that it opens nothing."""
    from seatrial import forge

    packed: Packed | None = None
    why = f"the run of the fork ended ({run.conclusion}) without one"
    try:
        with desk.connected() as github:
            packed = _packed(github, run)
        if packed is None and run.conclusion == "success":
            say(
                "notice", "the run of the fork told nothing and failed at nothing: it is not set up"
            )
            return ExitCode.OPEN
    except UsageError as error:
        why = f"what the run of the fork left is nothing that is read: {error.message}"
    except ForgeError as error:
        why = f"what the run of the fork left could not be had: {error.message}"
    said = packed.ruling.ruling.value if packed else "no ruling"
    gate = desk.post(
        forge.State.UNDECIDED,
        f"Undecided: from a fork, which says of itself: {said}. A maintainer runs the commit by hand",
        None,
        over={forge.State.RUNNING, None},
    )
    reported = desk.named(desk.context + SELF_REPORTED)
    if packed is None:
        told = reported.no_ruling(why)
    else:
        body = packed.told(options.get("report") or "", trusted=False)

        def comment(server: Forge) -> str:
            return forge.ruled(
                body, server, desk.subject, reported.marker, desk.url,
                caution=forge.self_reported(desk.subject),
            )  # fmt: skip

        told = reported.post(
            forge.State.of(packed.ruling.ruling),
            f"Self-reported, untrusted: {packed.ruling.headline}",
            comment,
        )
    return ExitCode(max(gate, told))


@click.command("head")
@shared
def head(**options: Any) -> ExitCode:
    """Make sure that --commit is the newest of the open --pull-request.

    Exit codes: 0 it is; 3 it is not, or nobody can tell.
    """
    if options["commit"] is None or options["pull_request"] is None:
        raise UsageError("name --commit SHA and --pull-request NUMBER")
    desk = Desk.of(**options)
    number = options["pull_request"]
    try:
        with desk.connected() as github:
            if github.runs.is_head(number, desk.subject.commit):
                click.echo(f"{desk.subject.commit} is the newest commit of pull request {number}.")
                return ExitCode.OPEN
    except ForgeError as error:
        say("warning", error.message)
        return ExitCode.UNDECIDED
    say(
        "warning",
        f"{desk.subject.commit} is not the newest commit of pull request {number}, or that is closed: "
        "read what was pushed since, and name the commit that you have read",
    )
    return ExitCode.UNDECIDED
