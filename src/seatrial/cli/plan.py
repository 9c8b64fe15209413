"""`seatrial plan`: which cases a run would run, which not, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from seatrial.cli.dividing import Division
    from seatrial.cli.expected import Expected
    from seatrial.records import PlannedCase
    from seatrial.workspace import Selection, Workspace


@click.command()
@click.option("-s", "--suite", required=True, metavar="ID", help="The suite to plan.")
@click.option(
    "-a",
    "--arm",
    "arms",
    multiple=True,
    metavar="ID",
    help="An arm that would run it; may be repeated. All that fit, when left out.",
)
@click.option(
    "--agent-version",
    "version",
    metavar="VERSION",
    default="configured",
    show_default=True,
    help="Who answers: `configured`, each case the version that it pins, or the arms that are run; `latest`, the "
    "version that is deployed in the case's environment; or a version, drafts too.",
)
@click.option(
    "--base",
    metavar="REV",
    help="Select what changed since HEAD parted from this revision, what the baseline cannot stand for, and "
    "the required cases. Without it every case is selected.",
)
@click.option(
    "--trials",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Trials per case, instead of what cases and suite say.",
)
@click.option(
    "--baseline",
    "spec",
    metavar="PATH|REF",
    help="The baseline to go by, not the newest release.",
)
@click.option(
    "--shards",
    metavar="N|auto",
    help="Divide the run, and write the jobs that carry it out as JSON: a matrix for GitHub Actions and GitLab. "
    "`auto`: so many that none takes longer than ten minutes.",
)
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def plan(
    suite: str,
    arms: tuple[str, ...],
    version: str,
    base: str | None,
    trials: int | None,
    spec: str | None,
    shards: str | None,
    shape: str,
    root: Path | None,
) -> None:
    """Show which cases would run, which would not, and why.

    For a single arm also how many trials a good change takes: those planned to begin with, and those added to
    cases that look suspicious by chance. And what that costs, where the arm carries `prices` and the stored trials of
    the release recorded their tokens.

    With --shards the matrix is all that is written to stdout, and what each shard has to do goes to stderr.
    """
    from seatrial.baseline import recalling
    from seatrial.cli.expected import expected
    from seatrial.cli.timing import timed, told
    from seatrial.runner import room
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    selection = workspace.select(
        suite,
        arms,
        base=base,
        trials=trials,
        recall=recalling(workspace, spec, base),
        version=version,
    )
    good = None
    if trials is None and len(selection.arms) == 1 and selection.selected:
        good = expected(workspace, selection, spec)
        selection = replace(selection, cases=good.cases)
    selection = replace(selection, cases=timed(selection.cases, workspace, selection, spec))
    divided = _divided(selection, shards) if shards is not None else None
    if shape == "json":
        import json

        data = _data(workspace, selection, good)
        if divided is not None:
            data |= {"matrix": divided.matrix, "shards": divided.data()}
        click.echo(json.dumps(data, indent=1))
    elif divided is not None:
        from seatrial.errors import printable

        for line in divided.lines():
            click.echo(printable(line), err=True)
        click.echo(divided.as_json())
    else:
        click.echo("\n".join(_lines(selection, good)))
        if time := told(selection.cases, selection, room(selection.arms)):
            click.echo(time)


def _divided(selection: Selection, shards: str) -> Division:
    """The selection divided over shards."""
    from seatrial.cli.dividing import division
    from seatrial.errors import UsageError

    if shards != "auto" and not (
        shards.isascii() and shards.isdigit() and 0 < int(shards) < 10_000
    ):
        raise UsageError(f"{shards!r} is no number of shards", hint="--shards 8, or --shards auto")
    wanted = None if shards == "auto" else int(shards)
    return division(selection.cases, selection.catalog, selection.arms, wanted)


def _trials(selection: Selection) -> int:
    """Trials of all selected cases by all arms."""
    from seatrial.plan import expand

    return len(expand(selection.cases, selection.catalog, selection.arms))


def _data(workspace: Workspace, selection: Selection, good: Expected | None) -> dict[str, Any]:
    revision, dirty = workspace.revision()
    return {
        "suite": selection.suite.id,
        "arms": [arm.id for arm in selection.arms],
        "revision": revision,
        "dirty": dirty,
        "base": selection.base,
        "trials": _trials(selection),
        "good_change": None if good is None else _numbers(good),
        "cases": [case.model_dump(mode="json") for case in selection.cases],
    }


def _lines(selection: Selection, good: Expected | None) -> list[str]:
    chosen = selection.selected
    others = [c for c in selection.cases if not c.selected]
    removed = [c for c in others if c.removed]
    left_out = [c for c in others if c not in removed]
    arms = ", ".join(arm.id for arm in selection.arms)
    since = f", compared with {selection.base_name}" if selection.base else ""
    total = _trials(selection)
    lines = [f"Suite {selection.suite.id} by {arms}{since}"]
    if not chosen:
        lines += ["", "No case is selected."]
    for title, cases in (
        (f"Selected: {_count(chosen, 'case')}, {total} trials", chosen),
        (f"Left out: {_count(left_out, 'case')}", left_out),
        (f"Removed: {_count(removed, 'case')}", removed),
    ):
        if cases:
            lines += ["", title, *_table(cases)]
    if good is not None:
        lines += ["", _good(good)]
    if budget := _budget(selection, good):
        lines.append(budget)
    return lines


def _budget(selection: Selection, good: Expected | None) -> str:
    """The suite's budget, and whether it suffices as far as that is known; empty where there is none."""
    from seatrial.costs import Budget

    if selection.suite.budget is None:
        return ""
    budget = Budget.read(selection.suite.budget)
    if good is None or good.cost.amount is None or good.cost.currency != budget.unit:
        return f"The budget is {budget}."
    if good.cost.amount <= budget.limit:
        return f"The budget of {budget} suffices for that."
    return f"The budget of {budget} does not suffice for that: trials that no longer fit are not begun."


def _numbers(good: Expected) -> dict[str, Any]:
    if good.unknown:
        return {"trials": None, "live": None, "cost": None, "unknown": good.unknown}
    return {
        "trials": good.trials,
        "live": good.live,
        "cost": good.cost.data(),
        "unknown": "",
    }


def _good(good: Expected) -> str:
    """What a change takes that makes nothing worse."""
    from seatrial.errors import printable

    if good.unknown:
        return f"No trials are added on suspicion: {printable(good.unknown)}."
    return (
        f"A good change takes {good.trials:.1f} trials on average: {good.planned} planned, {good.added:.1f} added "
        f"on suspicion, {good.live:.1f} of these of the released arm. {printable(good.cost.told)}"
    )


def _table(cases: tuple[PlannedCase, ...] | list[PlannedCase]) -> list[str]:
    from seatrial.errors import printable

    width = max(len(c.case) for c in cases)
    return [
        f"  {c.case:<{width}}  {f'×{c.trials}  ' if c.selected else ''}{printable('; '.join(c.reasons))}"
        for c in cases
    ]


def _count(things: tuple[object, ...] | list[Any], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"
