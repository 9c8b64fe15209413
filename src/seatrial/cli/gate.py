"""`seatrial gate`: may this change be merged or released?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from seatrial.cli.approvals import approvals_option
from seatrial.cli.steering import steer
from seatrial.errors import ExitCode

if TYPE_CHECKING:
    from seatrial.cli.compared import Compared
    from seatrial.gate import Ruling

_COLORS = {"open": "green", "closed": "red", "undecided": "yellow", "warning": "yellow"}


@click.command("gate")
@click.argument("run")
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
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--json",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the ruling to this file as well.",
)
@click.option(
    "--annotations",
    type=click.Choice(["github"]),
    help="Tell a step of GitHub Actions the lines of the expectations that failed, on stderr.",
)
def gate(
    run: str,
    baseline: str | None,
    arm: str | None,
    profile: Literal["pr", "release"] | None,
    root: Path | None,
    approvals: Path | None,
    form: str,
    file: Path | None,
    annotations: Literal["github"] | None,
) -> ExitCode:
    """Rule on a RUN (a folder, an id, or `latest`): open, closed or undecided.

    Exits with 0 when the gate is open, 1 when it is closed, 3 when it is undecided.
    """
    from seatrial.cli.compared import compared

    found = compared(run, baseline, arm, root=root, approvals=approvals)
    ruling = found.rule(profile)
    if file:
        _write(file, ruling)
    if form == "json":
        click.echo(_json(ruling))
    else:
        _tell(found, ruling, run)
    if annotations:
        for line in _annotations(found, ruling, root).splitlines():
            steer(line, err=True)
    return ExitCode[ruling.ruling.name]


def _tell(found: Compared, ruling: Ruling, run: str) -> None:
    """The ruling, its grounds, then the three worst cases."""
    from seatrial.cli.compared import heading, tell, tell_case
    from seatrial.compare import worst_first

    tell(ruling.headline, bold=True, color=_COLORS[ruling.ruling.value])
    tell(heading(found.comparison))
    if found.why_no_baseline:
        for line in found.why_no_baseline.splitlines():
            tell(line)
    tell()
    for ground in ruling.grounds:
        effect = click.style(f"{ground.effect:<10}", fg=_COLORS.get(ground.effect))
        click.echo(effect, nl=False)
        tell(ground.text)
    if ruling.policy_changes:
        _tell_policy_changes(ruling, run)
    wrong = worst_first(found.comparison)
    worst = wrong[:3]
    if worst:
        tell()
        tell("Where the candidate went wrong", bold=True)
    for number, case in enumerate(worst, 1):
        tell_case(case, number)
    if more := len(wrong) - len(worst):
        tell(f"and {more} more: `seatrial report {run}` shows them all", indent=2)
    if found.comparison.invalid.get("candidate"):
        _tell_invalid_trials(found, run)


def _tell_invalid_trials(found: Compared, run: str) -> None:
    """Why trials of the candidate count for nothing, the reasons that most of them have first."""
    from collections import Counter

    from seatrial.cli.compared import tell
    from seatrial.cli.progress import shown_safely

    reasons = Counter(
        (record.cause, record.detail)
        for record in found.run.records(found.arm)
        if record.cause is not None
    )
    tell()
    tell("Invalid trials", bold=True)
    for (cause, detail), count in reasons.most_common(3):
        why = f": {shown_safely(detail)}" if detail else ""
        tell(f"{count} × {cause}{why}", indent=2)
    if (more := len(reasons) - 3) > 0:
        tell(f"and {more} more reasons: `seatrial report {run}` shows them all", indent=2)


def _annotations(found: Compared, ruling: Ruling, root: Path | None) -> str:
    from seatrial import report
    from seatrial.workspace import Workspace

    marks = report.marks(found.evidence(ruling), folder=Workspace.find_or_here(root).folder)
    return report.annotated(ruling, marks)


def _tell_policy_changes(ruling: Ruling, run: str) -> None:
    """Each with what it was, what it is, where it stands on both sides, and who approved it."""
    from seatrial.cli.compared import tell

    tell()
    tell("Policy changes", bold=True)
    for ruled in ruling.policy_changes:
        change = ruled.change
        tell(f"{change.id}  {change.text}", indent=2)
        values = f"{change.old or 'nothing'} → {change.new or 'nothing'}"
        tell(f"{change.subject} {change.path}: {values}".replace(" :", ":"), indent=4)
        tell(f"{change.old_place or 'nowhere'} → {change.new_place or 'nowhere'}", indent=4)
        if ruled.approved_by:
            why = f": {ruled.reason}" if ruled.reason else ""
            tell(f"approved by {ruled.approved_by}{why}", indent=4, color="green")
        for refusal in ruled.refused:
            tell(refusal, indent=4, color="yellow")
    if any(not ruled.approved_by for ruled in ruling.policy_changes):
        tell(f"Somebody else approves them: seatrial approve {run} --reason TEXT ID…", indent=2)


def _json(ruling: Ruling) -> str:
    import json

    # ASCII alone, so that nothing an agent wrote can steer the terminal.
    return json.dumps(ruling.model_dump(mode="json"), indent=1)


def _write(file: Path, ruling: Ruling) -> None:
    from seatrial.errors import StorageError

    try:
        file.write_text(_json(ruling) + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}") from error
