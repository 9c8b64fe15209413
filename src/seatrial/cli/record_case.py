"""`seatrial record`: what real servers answer in a case becomes a fixture that answers in their place."""

from __future__ import annotations

from pathlib import Path

import click

from seatrial.errors import ExitCode


@click.command("record")
@click.argument("case")
@click.option(
    "-a",
    "--arm",
    metavar="ID",
    help="The arm that carries the case out. Left out: the case's solution is carried out.",
)
@click.option(
    "--environment",
    metavar="NAME",
    help="Record in this environment instead of the case's own; its servers must not be `mock` there.",
)
@click.option(
    "--id",
    "fixture",
    metavar="ID",
    help="The id of the fixture, written to fixtures/ID.yaml; CASE-recorded when left out.",
)
@click.option(
    "--replay",
    type=click.Choice(["strict", "fall_through"]),
    default="strict",
    show_default=True,
    help="What becomes of a call that was not recorded: an error that names the nearest rule, or the real server.",
)
@click.option(
    "--ids",
    type=click.Choice(["replace", "keep"]),
    help="Whether ids are replaced. Left out: replaced, but kept with --replay fall_through, where the "
    "real server must know them.",
)
@click.option(
    "--allow-undeclared",
    metavar="REASON",
    help="Record tools too that do not say whether they only read, for this reason.",
)
@click.option(
    "--declare",
    is_flag=True,
    help="Print what the servers declare of the recorded tools, for `tools` of their fixtures (target `mock`).",
)
@click.option("--again", is_flag=True, help="Overwrite what was recorded before.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and fixtures/; the nearest one above, when left out.",
)
def record(
    case: str,
    arm: str | None,
    environment: str | None,
    fixture: str | None,
    replay: str,
    ids: str | None,
    allow_undeclared: str | None,
    declare: bool,
    again: bool,
    root: Path | None,
) -> ExitCode:
    """Carry CASE out once against its real servers and write what reading tools answered as mocked answers.

    Secrets, personal data and ids are replaced by invented values of the same form; what was replaced is listed, by
    kind and place. With the same key the same value gets the same stand-in in every recording: it lies in
    .seatrial/stand-ins.key, or is the variable SEATRIAL_STAND_INS_KEY.

    Exit codes: 0 written; 2 nothing can be recorded; 3 the trial was invalid, nothing is written.
    """
    from seatrial.cli import recording
    from seatrial.workspace import Workspace

    wishes = recording.Wishes(
        arm=arm,
        environment=environment,
        fixture=fixture,
        replay=replay,
        ids=replay == "strict" if ids is None else ids == "replace",
        undeclared=allow_undeclared,
        declare=declare,
        again=again,
    )
    return recording.record(Workspace.find(root), case, wishes)
