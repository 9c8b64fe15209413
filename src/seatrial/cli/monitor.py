"""`seatrial monitor`: what many runs of the main branch say against the release."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.errors import ExitCode

if TYPE_CHECKING:
    from seatrial.baseline import Baseline
    from seatrial.git import Repository
    from seatrial.monitor import Decline, Monitoring, Stretch
    from seatrial.store import Run
    from seatrial.workspace import Workspace

_COMMITS_SHOWN = 20
_CASES_SHOWN = 5


@click.command()
@click.argument("runs", nargs=-1)
@click.option(
    "-s",
    "--suite",
    metavar="ID",
    help="Without RUNS: the suite whose kept runs are looked at (`seatrial baseline record --watch`).",
)
@click.option(
    "--agent", metavar="NAME", help="Whose cases, where that suite is for several agents."
)
@click.option(
    "--baseline", "spec", metavar="PATH|REF", help="Hold them against this, not the newest release."
)
@click.option("--arm", metavar="ID", help="The arm to look at, where the runs have several.")
@click.option(
    "--alpha",
    type=click.FloatRange(min=0, max=0.5, min_open=True),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="Chance of a wrong alarm, over all cases and for as long as one release is watched.",
)
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
def monitor(
    runs: tuple[str, ...],
    suite: str | None,
    agent: str | None,
    spec: str | None,
    arm: str | None,
    alpha: float,
    shape: str,
    root: Path | None,
) -> ExitCode:
    """Watch runs of the main branch for slow and small declines.

    RUNS are folders or ids, oldest first; without them the runs are taken that were kept beside the release.
    Their trials are gathered against the release, case by case and for the suite. It may be asked after
    every run: however often one looks, a wrong alarm is as rare as --alpha says. A decline is told with
    the runs it began with and the commits in between.

    Exits with 0 when no decline is shown, 1 when one is, 3 when no trial can be held against the release.
    """
    from seatrial.monitor import night, watch
    from seatrial.workspace import Workspace

    workspace = Workspace.find_or_here(root)
    _refuse_what_clashes(runs, suite, agent, arm)
    found, given = (
        _named(workspace, runs, arm, spec) if runs else _kept(workspace, suite or "", agent, spec)
    )
    release, *ledger = (_side(run, chosen) for run, chosen in found.parts)
    later, left_out = _later_than(found, given)
    nights = [night(release, _side(run, chosen)) for run, chosen in later]
    result = watch(release, nights, ledger=ledger, alpha=alpha)
    commits = [_commits(workspace.repository, decline) for decline in result.declines]
    if shape == "json":
        import json

        click.echo(json.dumps(_data(found, result, commits, left_out), indent=1))
    else:
        _tell(found, result, commits, left_out)
    if result.declines:
        return ExitCode.CLOSED
    return ExitCode.OPEN if result.cases else ExitCode.UNDECIDED


def _refuse_what_clashes(
    runs: tuple[str, ...], suite: str | None, agent: str | None, arm: str | None
) -> None:
    from seatrial.errors import UsageError

    if not runs and suite is None:
        raise UsageError(
            "which runs?", hint="name them, or the suite whose runs are kept: --suite ID"
        )
    if runs and (suite or agent):
        raise UsageError(
            "runs say themselves of which suite and agent they are",
            hint="leave out --suite and --agent, or the runs",
        )
    if not runs and arm:
        raise UsageError("a run that is kept has one arm", hint="leave out --arm")


def _named(
    workspace: Workspace, names: tuple[str, ...], arm: str | None, spec: str | None
) -> tuple[Baseline, list[tuple[Run, str]]]:
    """The baseline of the runs of these names, and the runs with the arms to look at."""
    from seatrial.baseline import resolve
    from seatrial.cli.compared import candidate_of
    from seatrial.store import Run, find

    opened = [Run.open(find(workspace.root, name)) for name in names]
    for run in opened:
        run.demand_end()
    arms = [candidate_of(run, arm) for run in opened]
    suite, agent = _one_subject(opened, arms)
    found = resolve(spec, suite, agent, root=workspace.root, repository=workspace.repository)
    return found, list(zip(opened, arms, strict=True))


def _kept(
    workspace: Workspace, suite: str, agent: str | None, spec: str | None
) -> tuple[Baseline, list[tuple[Run, str]]]:
    """The baseline of a suite, and the later runs that were kept beside it."""
    from seatrial.baseline import resolve
    from seatrial.cli.stored import agent_of
    from seatrial.errors import UsageError

    catalog = workspace.catalog()
    found_suite, _ = workspace.suite_and_arms(catalog, suite, ())
    chosen = agent_of(catalog, found_suite, agent)
    found = resolve(spec, suite, chosen, root=workspace.root, repository=workspace.repository)
    if not found.watched:
        raise UsageError(
            f"no run is kept to be watched beside the release at {found.info.where}",
            hint="seatrial baseline record --run RUN --watch, or name runs",
        )
    return found, [(kept.run, kept.batch.arm) for kept in found.watched]


def _one_subject(runs: list[Run], arms: list[str]) -> tuple[str, str]:
    """The suite and the agent that all runs are of, in the order of time."""
    from seatrial.errors import UsageError

    of = {
        (run.manifest.suite, run.catalog.arms[arm].agent)
        for run, arm in zip(runs, arms, strict=True)
    }
    if len(of) > 1:
        listed = "; ".join(sorted(f"{agent} in suite {suite}" for suite, agent in of))
        raise UsageError(
            f"the runs are of different things: {listed}", hint="give the runs of one suite alone"
        )
    for earlier, run in pairwise(runs):
        if run.manifest.created_at < earlier.manifest.created_at:
            raise UsageError(
                f"run {run.manifest.run} is older than {earlier.manifest.run}, which stands before it",
                hint="give the runs in the order of time, oldest first; their ids sort that way",
            )
        if run.manifest.run == earlier.manifest.run:
            raise UsageError(f"run {run.manifest.run} is given twice", hint="give each run once")
    return of.pop()


def _side(run: Run, arm: str) -> Any:
    from seatrial.compare import Side

    return Side.of(run.manifest, run.catalog, arm, run.records(arm), where=run.where)


def _later_than(
    found: Baseline, given: list[tuple[Run, str]]
) -> tuple[list[tuple[Run, str]], tuple[str, ...]]:
    """The runs made after the released one, and the ids of the others."""
    since = found.run.manifest
    later = [
        (run, arm)
        for run, arm in given
        if run.manifest.run != since.run and run.manifest.created_at >= since.created_at
    ]
    kept = {run.manifest.run for run, _ in later}
    return later, tuple(r.manifest.run for r, _ in given if r.manifest.run not in kept)


def _commits(repository: Repository | None, decline: Decline) -> tuple[list[list[str]], str]:
    """The commits a decline can have come from, newest first, or why they cannot be told."""
    from seatrial.errors import RevisionError

    if repository is None:
        return [], "there is no git repository here"
    if decline.good is None or decline.bad is None:
        return [], "a run was not made from a commit"
    if decline.good == decline.bad:
        return [], "none: both runs are of the same commit, so that something else changed"
    try:
        listed = repository.log(decline.bad, since=decline.good)
    except RevisionError as error:
        return [], f"{error.message} ({error.hint})" if error.hint else error.message
    if not listed:
        return [], "none: the later run is of an older commit"
    return [list(commit) for commit in listed], ""


def _data(
    found: Baseline,
    result: Monitoring,
    commits: list[tuple[list[list[str]], str]],
    left_out: tuple[str, ...],
) -> dict[str, Any]:
    data: dict[str, Any] = result.model_dump(mode="json")
    for decline, (listed, why) in zip(data["declines"], commits, strict=True):
        decline["commits"] = listed
        decline["no_commits"] = why
    return {
        **data,
        "baseline": found.info.model_dump(mode="json"),
        "older_than_the_release": list(left_out),
    }


def _tell(
    found: Baseline,
    result: Monitoring,
    commits: list[tuple[list[list[str]], str]],
    left_out: tuple[str, ...],
) -> None:
    from seatrial.cli.compared import tell

    info, nights = found.info, result.nights
    tell(f"Suite {info.suite} against {info.arm} {info.version} ({info.where})", bold=True)
    span = f", {nights[0].run} to {nights[-1].run}" if nights else ""
    tell(
        f"{len(nights)} runs{span}; a wrong alarm has a chance of at most {100 * result.alpha:g} %, "
        "however often one looks"
    )
    if left_out:
        tell(f"left out, not later than the release: {', '.join(left_out)}")
    apart = sorted({f"{c} ({what})" for n in nights for c, what in n.apart.items()})
    if apart:
        tell(f"left out where it differs from the release: {', '.join(apart)}")
    cut = sorted({f"{c} in {n.run}" for n in nights for c in n.cut_short})
    if cut:
        tell(f"left out, its first batch was not run to its end: {', '.join(cut)}")
    for decline, found_commits in zip(result.declines, commits, strict=True):
        _tell_decline(result, decline, *found_commits)
    if not result.declines:
        tell()
        tell(
            "No decline is shown." if result.cases else "No trial can be held against the release."
        )
    if result.cases:
        tell()
        tell(
            f"Most suspicious now (declined from 1 : {result.needed_case:,.0f}; the suite, "
            f"{_against(result.suite_evidence)}, from 1 : {result.needed_suite:,.0f})"
        )
    for case in result.cases[:_CASES_SHOWN]:
        required = " (required)" if case.required else ""
        tell(
            f"{case.case}{required}: passed {_of(case.runs)}, the release {_of(case.release)}; "
            f"{_against(case.evidence)}",
            indent=2,
        )


def _tell_decline(result: Monitoring, decline: Decline, commits: list[list[str]], why: str) -> None:
    from seatrial.cli.compared import tell
    from seatrial.stats.evidence import against_chance

    nights = result.nights
    tell()
    tell(f"declined: {decline.case or 'the suite as a whole'}", bold=True, color="red")
    before = f", {_of(decline.before)} in runs before" if decline.before.trials else ""
    tell(
        f"passed {_of(decline.since)} since{before}, {_of(decline.release)} at the release; "
        f"{against_chance(decline.evidence)}, noticed after {decline.noticed}",
        indent=2,
    )
    first, last = nights[decline.first], nights[decline.last]
    when = f"with {first.run}" if first == last else f"with one of {first.run} to {last.run}"
    tell(f"it began {when} (chance 90 %); commits in between:", indent=2)
    if why:
        tell(why, indent=4)
    for commit, title in commits[:_COMMITS_SHOWN]:
        tell(f"{commit[:10]} {title}", indent=4)
    if len(commits) > _COMMITS_SHOWN:
        tell(f"and {len(commits) - _COMMITS_SHOWN} more", indent=4)


def _against(evidence: float) -> str:
    from seatrial.stats.evidence import against_chance

    return against_chance(evidence) if evidence >= 1.5 else "nothing speaks for a decline"


def _of(stretch: Stretch) -> str:
    return f"{stretch.passed} of {stretch.trials}"
