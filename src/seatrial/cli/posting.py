"""`seatrial post`: tell the forge that the gate is at work, what it ruled, or that there is no ruling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from seatrial.cli.approvals import approvals_option
from seatrial.cli.desk import Desk, shared
from seatrial.cli.relaying import head, relay
from seatrial.errors import Error, ExitCode, UsageError

if TYPE_CHECKING:
    from seatrial.forge import Told


@click.group("post")
def post() -> None:
    """Tell GitHub or GitLab about the gate: a commit status and one comment on the pull or merge request.

    For a step of GitHub Actions or a job of GitLab CI, whose environment says which change it is about. What the forge
    does not take is a warning and changes no ruling; the exit code is 0 then, unless --strict is given.
    """


@post.command("start")
@shared
def start(**options: Any) -> ExitCode:
    """Say that the trials are running."""
    from seatrial import forge

    desk = Desk.of(**options)
    return desk.post(
        forge.State.RUNNING,
        "Trials are running",
        lambda _: forge.started(desk.subject, desk.marker, desk.url),
    )


@post.command("result")
@click.argument("run", required=False)
@click.option(
    "--ruling",
    "file",
    type=click.Path(path_type=Path),
    help="A ruling that `gate --json` wrote, instead of a RUN; the comment then has no cases.",
)
@click.option(
    "--packed",
    type=click.Path(path_type=Path),
    help="What `post pack` wrote, instead of a RUN: nothing else of the run is needed then.",
)
@click.option(
    "--expect",
    type=click.Choice(["open", "closed", "undecided"]),
    help="What is ruled must be this, as another job has said; anything else is told as no ruling.",
)
@click.option(
    "--baseline", metavar="PATH|REF", help="Hold it against this, not the newest release."
)
@click.option("--arm", metavar="ID", help="The candidate, where the run has several arms.")
@click.option(
    "--profile",
    type=click.Choice(["pr", "release"]),
    help="pr: not shown worse. release: shown not worse. The suite says when left out.",
)
@click.option(
    "--report",
    metavar="URL",
    help="Where the report is served; the status leads there, and cases too.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
@approvals_option
@shared
def result(
    run: str | None,
    file: Path | None,
    packed: Path | None,
    expect: str | None,
    baseline: str | None,
    arm: str | None,
    profile: Literal["pr", "release"] | None,
    report: str | None,
    root: Path | None,
    approvals: Path | None,
    **options: Any,
) -> ExitCode:
    """Say what is ruled on a RUN (a folder, an id, or `latest`).

    A run on which nothing can be ruled is told as such, and the command ends with that error.
    """
    from seatrial import forge

    if [run, file, packed].count(None) != 2:
        raise UsageError("name a RUN or a file with --ruling or --packed, one of them")
    desk = Desk.of(report, **options)
    try:
        if file is not None:
            told = _of_file(file, report)
        elif packed is not None:
            told = forge.Packed.read(_content(packed), str(packed)).told(report or "")
        else:
            assert run is not None
            told = _of_run(run, baseline, arm, profile, report, root, approvals)
        if expect not in (None, told.ruling.ruling.value):
            raise UsageError(f"it says {told.ruling.ruling.value}, where {expect} is expected")
    except Error as error:
        desk.no_ruling(f"Nothing can be ruled on the run: {error.message}")
        raise
    desk.compare(told.revision)
    return desk.post(
        forge.State.of(told.ruling.ruling),
        told.ruling.headline,
        lambda server: forge.ruled(told, server, desk.subject, desk.marker, desk.url),
    )


@post.command("pack")
@click.argument("run")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file."
)
@click.option(
    "--baseline", metavar="PATH|REF", help="Hold it against this, not the newest release."
)
@click.option("--arm", metavar="ID", help="The candidate, where the run has several arms.")
@click.option(
    "--profile",
    type=click.Choice(["pr", "release"]),
    help="pr: not shown worse. release: shown not worse. The suite says when left out.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
@approvals_option
def pack(
    run: str,
    out: Path,
    baseline: str | None,
    arm: str | None,
    profile: Literal["pr", "release"] | None,
    root: Path | None,
    approvals: Path | None,
) -> None:
    """Write all that is told of a RUN into one file, and post nothing.

    `post result --packed` then tells it from a job that has the token, and neither the run nor a checkout.
    """
    from seatrial import forge

    packed = forge.Packed.of(_of_run(run, baseline, arm, profile, None, root, approvals))
    data = packed.model_dump_json().encode()
    if len(data) > forge.MOST_BYTES:
        raise UsageError(
            f"what is told of {run} has more than {forge.MOST_BYTES:,} bytes, which nobody would read"
        )
    try:
        out.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    click.echo(packed.ruling.headline)


@post.command("no-ruling")
@click.argument("why")
@click.option(
    "--if-running",
    is_flag=True,
    help="Only where the status says that trials are running: for a last step that always runs.",
)
@shared
def no_ruling(why: str, if_running: bool, **options: Any) -> ExitCode:
    """Say that it ended without a ruling, and WHY: a crash, a wrong option, a cancelled job."""
    from seatrial.forge import State

    return Desk.of(**options).no_ruling(why, over={State.RUNNING} if if_running else None)


post.add_command(relay)
post.add_command(head)


def _of_run(
    name: str,
    baseline: str | None,
    arm: str | None,
    profile: Literal["pr", "release"] | None,
    report: str | None,
    root: Path | None,
    approvals: Path | None,
) -> Told:
    from seatrial.cli.compared import compared
    from seatrial.forge import Told
    from seatrial.workspace import Workspace

    found = compared(name, baseline, arm, root=root, approvals=approvals)
    ruling = found.rule(profile)
    evidence = found.evidence(ruling)
    cases = [case for case in evidence.worst_first() if evidence.concern(case)]
    return Told(
        ruling=ruling,
        comparison=found.comparison,
        cases=cases,
        commands={case.case: evidence.reproduction(case.case) for case in cases},
        report=report or "",
        revision=evidence.revision(),
        folder=Workspace.find_or_here(root).folder,
    )


def _of_file(file: Path, report: str | None) -> Told:
    from pydantic import ValidationError

    from seatrial.forge import Told
    from seatrial.gate import Ruling

    try:
        return Told(ruling=Ruling.model_validate_json(_content(file)), report=report or "")
    except ValidationError as error:
        raise UsageError(
            f"{file} is no ruling", hint=f"write one: seatrial gate RUN --json {file}"
        ) from error


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
