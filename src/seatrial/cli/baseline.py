"""`seatrial baseline`: what is released now and how steady it is, and what was before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.cli.record import record

if TYPE_CHECKING:
    from seatrial.baseline import Baseline, CaseApart, Flakes
    from seatrial.errors import ExitCode
    from seatrial.records import Release

_root = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder in whose repository the branch is; the nearest one above, when left out.",
)
_suite = click.option("-s", "--suite", metavar="ID", help="Only this suite.")
_shape = click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")


@click.group()
def baseline() -> None:
    """Look at the released baselines, and record more trials of them."""


baseline.add_command(record)


@baseline.command()
@click.option(
    "--baseline",
    "spec",
    metavar="SPEC",
    help="A folder, ref or commit to look at, instead of the branch seatrial-baselines.",
)
@_suite
@_shape
@_root
def show(spec: str | None, suite: str | None, shape: str, root: Path | None) -> None:
    """Show the baselines in force: who approved them, how often each case was run, and how often it fails."""
    from seatrial import baseline as baselines
    from seatrial.errors import BaselineError
    from seatrial.workspace import Workspace

    workspace = Workspace.find_or_here(root)
    repository = workspace.repository
    found = [
        (
            where,
            release,
            baselines.resolve(
                spec, release.suite, release.agent, root=workspace.root, repository=repository
            ),
        )
        for release, where in baselines.released(spec, repository=repository)
        if suite in (None, release.suite)
    ]
    if not found:
        raise BaselineError(
            f"nothing is released for suite {suite!r}", hint="seatrial baseline show lists all"
        )
    if shape == "json":
        import json

        listed = [{**_data(where, release), **_history(held)} for where, release, held in found]
        click.echo(json.dumps(listed, indent=1))
        return
    for number, (where, release, held) in enumerate(found):
        head = ("\n" if number else "") + "\n".join(_lines(where, release))
        click.echo("\n".join([head, *_ledger(held), "", *_table(baselines.flakes(held))]))


@baseline.command()
@_suite
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="At most so many.",
)
@_shape
@_root
def log(suite: str | None, limit: int, shape: str, root: Path | None) -> None:
    """List the releases on the branch seatrial-baselines, newest first."""
    from itertools import islice

    from seatrial import baseline as baselines
    from seatrial.workspace import Workspace

    repository = Workspace.find_or_here(root).repository
    _print(list(islice(baselines.history(repository, suite=suite), limit)), shape)


@baseline.command()
@click.argument("specs", nargs=-1, metavar="[OLD] [NEW]")
@_suite
@click.option("--agent", metavar="ID", help="Only this agent.")
@_shape
@_root
def diff(
    specs: tuple[str, ...], suite: str | None, agent: str | None, shape: str, root: Path | None
) -> None:
    """Compare two released baselines: each case's passes of its trials, and which components differ.

    OLD and NEW are folders, refs or commits of the branch; what is in force is NEW where it is left out, and the
    release before it is OLD.
    """
    from seatrial import baseline as baselines
    from seatrial.errors import UsageError

    if len(specs) > 2:
        raise UsageError("a difference has two sides", hint="seatrial baseline diff OLD NEW")
    pairs = [
        (old, new, baselines.apart(old, new)) for old, new in _pairs(specs, suite, agent, root)
    ]
    if shape == "json":
        import json

        click.echo(json.dumps([_apart_data(*pair) for pair in pairs], indent=1))
        return
    for number, pair in enumerate(pairs):
        click.echo(("\n" if number else "") + "\n".join(_apart_lines(*pair)))


@baseline.command()
@click.option(
    "--baseline", "place", metavar="DIR", help="A folder, instead of the branch seatrial-baselines."
)
@_shape
@_root
def verify(place: str | None, shape: str, root: Path | None) -> ExitCode:
    """Verify every release: its files, what it follows, its commit, and that its approver had no hand in it.

    Exits with 1 where something is wrong, with 3 where something cannot be verified here.
    """
    from seatrial import baseline as baselines
    from seatrial.errors import ExitCode, printable
    from seatrial.workspace import Workspace

    workspace = Workspace.find_or_here(root)
    found = baselines.verify(workspace.repository, folder=workspace.folder, place=place)
    if shape == "json":
        import json

        listed = [
            {
                **_data(one.where, one.release),
                "wrong": list(one.wrong),
                "unknown": list(one.unknown),
            }
            for one in found
        ]
        click.echo(json.dumps(listed, indent=1))
    else:
        for one in found:
            of = one.release
            state = "WRONG" if one.wrong else "not verified" if one.unknown else "verified"
            head = f"{state}: {of.agent} {of.version}, suite {of.suite}, run {of.run} ({one.where})"
            click.echo(printable(head))
            for said in (*one.wrong, *one.unknown):
                click.echo(printable(f"  {said}"))
    if any(one.wrong for one in found):
        return ExitCode.CLOSED
    return ExitCode.UNDECIDED if any(one.unknown for one in found) else ExitCode.OPEN


def _pairs(
    specs: tuple[str, ...], suite: str | None, agent: str | None, root: Path | None
) -> list[tuple[Baseline, Baseline]]:
    """What is compared: for each agent in a suite that the newer side holds, the older side's."""
    from seatrial import baseline as baselines
    from seatrial.errors import BaselineError
    from seatrial.workspace import Workspace

    workspace = Workspace.find_or_here(root)
    repository = workspace.repository
    newer = specs[1] if len(specs) == 2 else None
    pairs = []
    for release, where in baselines.released(newer, repository=repository):
        if suite not in (None, release.suite) or agent not in (None, release.agent):
            continue
        older = specs[0] if specs else baselines.superseded(release, repository)
        if older is None:
            raise BaselineError(
                f"{where} is the first release of {release.agent} in suite {release.suite}",
                hint="name two: seatrial baseline diff OLD NEW",
            )
        named = (older, newer or baselines.tip_of_branch(repository))
        old, new = (
            baselines.resolve(
                spec, release.suite, release.agent, root=workspace.root, repository=repository
            )
            for spec in named
        )
        pairs.append((old, new))
    if not pairs:
        raise BaselineError(
            "nothing is released that fits", hint="seatrial baseline show lists all"
        )
    return pairs


def _apart_data(old: Baseline, new: Baseline, cases: tuple[CaseApart, ...]) -> dict[str, Any]:
    import dataclasses

    return {
        "suite": new.info.suite,
        "old": old.info.model_dump(mode="json"),
        "new": new.info.model_dump(mode="json"),
        "cases": [{**dataclasses.asdict(case), "differs": case.differs} for case in cases],
    }


def _apart_lines(old: Baseline, new: Baseline, cases: tuple[CaseApart, ...]) -> list[str]:
    from seatrial.errors import printable

    differing = [case for case in cases if case.differs]
    wide = max((len(case.case) for case in differing), default=0)
    lines = [
        f"{side}: {held.info.arm} {held.info.version}, run {held.info.run} ({held.info.where})"
        for side, held in (("old", old), ("new", new))
    ]
    for case in differing:
        old_rate, new_rate = (
            "-" if tally is None else f"{tally[0]}/{tally[1]}" for tally in (case.old, case.new)
        )
        what = ", ".join(case.components) or "the same components"
        if case.old is None or case.new is None:
            what = "not there before" if case.old is None else "no longer there"
        lines.append(f"  {case.case:<{wide}}  {old_rate:>7} → {new_rate:<7}  {what}")
    same = len(cases) - len(differing)
    lines.append(f"  {same} case{'' if same == 1 else 's'} the same")
    return [printable(line) for line in lines]


def _print(found: list[tuple[str, Release]], shape: str) -> None:
    if shape == "json":
        import json

        listed = [_data(where, release) for where, release in found]
        click.echo(json.dumps(listed, indent=1))
        return
    for number, (where, release) in enumerate(found):
        click.echo(("\n" if number else "") + "\n".join(_lines(where, release)))


def _data(where: str, release: Release) -> dict[str, Any]:
    return {"where": where, **release.model_dump(mode="json", exclude={"files"})}


def _history(held: Baseline) -> dict[str, Any]:
    """The batches of a release, and what is known of each case."""
    import dataclasses

    from seatrial import baseline as baselines

    leaned_on = baselines.dependencies(held).cases
    return {
        "batches": [
            recorded.batch.model_dump(mode="json", exclude={"files", "format"})
            for recorded in held.batches
        ],
        "cases": [
            {
                **dataclasses.asdict(case),
                "rate": case.rate,
                "bounds": case.bounds,
                "called": sorted({tool for used in leaned_on[case.case] for tool in used.called}),
                "listed": sorted({tool for used in leaned_on[case.case] for tool in used.listed}),
                "components": leaned_on[case.case][-1].conditions,
            }
            for case in baselines.flakes(held)
        ],
    }


def _ledger(held: Baseline) -> list[str]:
    rows = []
    for name, batches in (("ledger", held.ledger), ("watched", held.watched)):
        if batches:
            last = batches[-1].batch
            count = f"{len(batches)} batch{'' if len(batches) == 1 else 'es'}"
            rows.append(f"  {name:<12} {count}, the last one run {last.run_at} ({last.run})")
    return rows


def _table(cases: tuple[Flakes, ...]) -> list[str]:
    """A line per case: how often it was run, how often it failed, and when last."""
    from seatrial.errors import printable

    wide = max((len(case.case) for case in cases), default=0)
    rows = [f"  {'case':<{wide}}  trials  failed  flake rate, 95 % interval  last run"]
    for case in cases:
        low, high = case.bounds
        rate = "-" if case.rate is None else f"{case.rate:.3f} [{low:.3f}, {high:.3f}]"
        notes = f", {case.invalid} invalid" if case.invalid else ""
        notes += f", {case.elsewhere} under other conditions" if case.elsewhere else ""
        rows.append(
            f"  {printable(case.case):<{wide}}  {case.valid:>6}  {case.failed:>6}  {rate:<25}  "
            f"{case.last[:10]}{' (required)' if case.required else ''}{notes}"
        )
    return rows


def _approval(release: Release) -> str:
    """How it is known who approved it."""
    if release.approval == "environment":
        return "told by the forge: its protected environment"
    return f"typed by {release.released_by}" if release.released_by else ""


def _lines(where: str, release: Release) -> list[str]:
    from seatrial.errors import printable

    rows = [
        ("run", release.run),
        ("commit", release.revision or "none"),
        ("approved by", f"{release.approved_by}, {release.released_at}"),
        ("approval", _approval(release)),
        ("gate", release.gate_said),
        ("override", release.override),
        *(("approved too", change.text) for change in release.policy_changes),
        (
            "trials",
            f"{release.trials} over {release.cases} cases, {release.passed} passed, "
            f"{release.invalid} invalid",
        ),
        ("not of a commit", release.dirty),
        ("message", release.message.replace("\n", " ")),
        ("where", where),
    ]
    head = f"{release.agent} {release.version} ({release.arm}), suite {release.suite}"
    return [printable(head), *(f"  {name:<12} {printable(text)}" for name, text in rows if text)]
