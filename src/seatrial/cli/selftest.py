"""`seatrial selftest`: how often this gate would be wrong about this suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from seatrial.cli.stored import Stored
    from seatrial.selftest import ErrorRates, Often


@click.command()
@click.option("-s", "--suite", required=True, metavar="ID", help="The suite to try the gate on.")
@click.option(
    "--baseline",
    "spec",
    metavar="PATH|REF",
    help="Take the stored trials of this, not of the newest release.",
)
@click.option("--agent", metavar="NAME", help="Whose cases, where the suite is for several agents.")
@click.option(
    "--times",
    type=click.IntRange(min=1),
    default=400,
    show_default=True,
    metavar="N",
    help="Simulated changes of each kind.",
)
@click.option("--seed", type=int, default=20260101, show_default=True, metavar="N")
@click.option(
    "--trials",
    type=click.IntRange(1, 10_000),
    metavar="K",
    help="So many trials of each case and no more, instead of adding some on suspicion.",
)
@click.option(
    "--live/--no-live",
    default=True,
    help="Whether the released arm can be run beside the candidate.",
)
@click.option(
    "--profile",
    type=click.Choice(["pr", "release"]),
    help="pr: not shown worse. release: shown not worse. The suite says when left out.",
)
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def selftest(
    suite: str,
    spec: str | None,
    agent: str | None,
    times: int,
    seed: int,
    trials: int | None,
    live: bool,
    profile: Literal["pr", "release"] | None,
    shape: str,
    root: Path | None,
) -> None:
    """Try the gate on simulated changes of this suite: good ones, and bad ones of known kinds.

    Nothing is run: trials are drawn by the pass rates that the baseline's stored trials leave possible, then
    counted, compared and ruled on like those of a run.
    """
    import numpy as np

    from seatrial.cli.stored import stored
    from seatrial.errors import UsageError
    from seatrial.selftest import BAD, GOOD, error_rates, foretold, redrawn
    from seatrial.workspace import Workspace

    found = stored(Workspace.find(root), suite, agent, spec, trials)
    if not found.required:
        raise UsageError(
            f"suite {suite!r} has no required case with a baseline, so that its gate never opens",
            hint="mark at least one case `required: true`",
        )
    rng = np.random.default_rng(seed)
    same = (("redrawn", redrawn(found.subjects)), ("foretold", foretold(found.subjects)))
    rates = [
        error_rates(
            found.subjects,
            draw,
            change,
            found.policy,
            times,
            rng,
            drawn=drawn,
            profile=profile,
            adaptive=trials is None,
            live=live,
        )
        for change in (*GOOD, *BAD)
        for drawn, draw in (same if change == "same" else same[1:])
    ]
    facts: dict[str, Any] = {
        "format": 1,
        "suite": suite,
        "agent": found.agent,
        "baseline": found.baseline.info.model_dump(mode="json"),
        "profile": profile or found.policy.profile,
        "adaptive": trials is None,
        "live": live and trials is None,
        "times": times,
        "seed": seed,
        "cases": len(found.subjects),
        "required": found.required,
        "without_baseline": list(found.without),
    }
    if shape == "json":
        import json

        rows = [rate.model_dump(mode="json") for rate in rates]
        click.echo(json.dumps({**facts, "rates": rows}, indent=1))
    else:
        _tell(found, facts, rates)


def _tell(found: Stored, facts: dict[str, Any], rates: list[ErrorRates]) -> None:
    from seatrial.cli.compared import tell
    from seatrial.selftest import GOOD, TITLES

    tell(found.heading(), bold=True)
    how = "trials added on suspicion" if facts["adaptive"] else "a fixed number of trials"
    beside = ", the released arm beside them" if facts["live"] else ""
    tell(
        f"profile {facts['profile']}; {how}{beside}; "
        f"{facts['times']:,} simulated changes of each kind, seed {facts['seed']}"
    )
    if found.without:
        tell(f"left out, no baseline trial that counts: {', '.join(found.without)}")
    tell()
    tell(f"{'':<56}{'closed':>9}{'undecided':>11}{'open':>9}{'trials':>9}{'live':>8}")
    for rate in rates:
        title = TITLES[rate.change]
        if rate.change == "same":
            title += ": " + (
                "cases pass as often as they did"
                if rate.drawn == "redrawn"
                else "as often as they may"
            )
        tell(
            f"{title:<56}{_percent(rate.closed):>9}{_percent(rate.undecided):>11}"
            f"{_percent(rate.opened):>9}{rate.trials:>9.1f}{rate.live:>8.1f}"
        )
    tell()
    for rate in rates:
        kind = "wrong red" if rate.change in GOOD else "missed"
        title = TITLES[rate.change] + (f" ({rate.drawn})" if rate.change == "same" else "")
        wrong = rate.wrong
        tell(
            f"{kind:<10} {wrong.times:,} of {rate.times:,}, {100 * wrong.rate:.2f} % "
            f"[{100 * wrong.low:.2f}, {100 * wrong.high:.2f}]: {title}"
        )
        if wrong.times:
            tell(_told(rate), indent=11)


def _told(rate: ErrorRates) -> str:
    """How a change was ruled on that should have been ruled on otherwise."""
    from seatrial.selftest import GOOD

    if rate.change in GOOD:
        return _reasons("closed", rate.closed_for)
    undecided = f"{rate.undecided.times:,} undecided"
    text = _reasons(undecided, rate.undecided_for) if rate.undecided.times else undecided
    return f"{text}; {rate.opened.times:,} let through"


def _reasons(what: str, grounds: dict[str, int]) -> str:
    return f"{what} for {', '.join(f'{kind} ({n:,})' for kind, n in grounds.items())}"


def _percent(often: Often) -> str:
    return f"{100 * often.rate:.1f} %"
