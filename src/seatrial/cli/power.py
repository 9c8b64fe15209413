"""`seatrial power`: which drop a suite can see, at which number of trials."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from seatrial.cli.costing import Costing
    from seatrial.cli.stored import Stored
    from seatrial.stats.power import CasePower, FixedPower, MeanPower

_SHOWN = (0.2, 0.3, 0.5, 0.7, 1.0)
"""Drops of a required case that the table has a column for."""
_PER_CASE = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40)
"""Fixed numbers of trials that the tables have a row for."""


@click.command()
@click.option("-s", "--suite", required=True, metavar="ID", help="The suite to plan for.")
@click.option(
    "--baseline",
    "spec",
    metavar="PATH|REF",
    help="Take the stored trials of this, not of the newest release.",
)
@click.option("--agent", metavar="NAME", help="Whose cases, where the suite is for several agents.")
@click.option(
    "--live/--no-live",
    default=True,
    help="Whether the released arm can be run beside the candidate.",
)
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def power(
    suite: str, spec: str | None, agent: str | None, live: bool, shape: str, root: Path | None
) -> None:
    """Tell before spending what can be seen: which drop, in a case and in the suite, at which number of trials.

    Nothing is run and nothing is drawn at random: every way in which the trials of a case can fall is
    followed through the gate's rule. Money is told where the released arm carries `prices` and its stored trials
    recorded their tokens.
    """
    from seatrial.cli.costing import costing
    from seatrial.cli.stored import stored
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    found = stored(workspace, suite, agent, spec, None)
    costs = costing(workspace.catalog(), found.baseline, [s.case for s in found.subjects])
    facts = _facts(found, live, costs)
    if shape == "json":
        import json

        click.echo(json.dumps(facts, indent=1))
    else:
        _tell(found, facts)


def _facts(found: Stored, live: bool, costs: Costing) -> dict[str, Any]:
    from seatrial.stats.power import case_power, fixed_power, mean_power

    policy, rule = found.policy, found.rule(live=live)
    required = [s for s in found.subjects if s.required]
    records = Counter((s.reference, s.first) for s in required)
    by_record = {(ref, first): case_power(ref, rule, first) for ref, first in records}
    powers = [(by_record[key], n) for key, n in records.items()]
    powers.sort(key=lambda p: (-p[0].rate, -p[1]))
    references = [s.reference for s in required]
    fixed = [fixed_power(references, rule, k) for k in _PER_CASE] if required else []
    means = [
        mean_power(
            [(s.reference, k) for s in found.subjects],
            rule.prior,
            alpha=policy.alpha,
            beta=policy.beta,
            margin=policy.margin,
        )
        for k in _PER_CASE
    ]
    others = sum(s.first for s in found.subjects if not s.required)
    good = sum(n * p.good.trials for p, n in powers) + others
    spent = {s.case: (float(s.first), 0.0) for s in found.subjects}
    for s in required:
        course = by_record[s.reference, s.first].good
        spent[s.case] = course.candidate, course.live
    cost = costs.of(spent)
    each = {k: costs.each(spent, k) for k in _PER_CASE}
    return {
        "format": 1,
        "suite": found.suite.id,
        "agent": found.agent,
        "baseline": found.baseline.info.model_dump(mode="json"),
        "cases": len(found.subjects),
        "required": len(required),
        "without_baseline": list(found.without),
        "alpha": policy.alpha,
        "beta": policy.beta,
        "drop": policy.drop,
        "margin": policy.margin,
        "live": live,
        "good_change": {
            "trials": good,
            "live": sum(n * p.good.live for p, n in powers),
            "first_batches": sum(s.first for s in found.subjects),
            "wrong_red": sum(n * p.good.regressed for p, n in powers),
            "undecided_cases": sum(n * p.good.undecided for p, n in powers),
            "cost": cost.data(),
            "cost_told": cost.told,
        },
        "records": [_record(p, n, policy.beta) for p, n in powers],
        "fixed": [_fixed(f, len(found.subjects), each[f.trials]) for f in fixed],
        "suite_mean": [_mean(k, m, each[k]) for k, m in zip(_PER_CASE, means, strict=True)],
        "recommended": _recommended(found, powers, fixed, means, costs),
    }


def _record(power: CasePower, cases: int, beta: float) -> dict[str, Any]:
    return {
        "passed": power.reference.passed,
        "stored": power.reference.trials,
        "cases": cases,
        "rate": power.rate,
        "good_trials": power.good.trials,
        "good_live": power.good.live,
        "good_regressed": power.good.regressed,
        "closes": {f"{drop:g}": chance for drop, chance in power.drops.items()},
        "smallest_drop_seen": power.seen(1 - beta),
    }


def _fixed(fixed: FixedPower, cases: int, cost: float | None) -> dict[str, Any]:
    return {
        "trials_per_case": fixed.trials,
        "trials": fixed.trials * cases,
        "cost": cost,
        "cleared": fixed.cleared,
        "closes": fixed.closes,
        "let_through": fixed.let_through,
    }


def _mean(per_case: int, mean: MeanPower, cost: float | None) -> dict[str, Any]:
    return {
        "trials_per_case": per_case,
        "trials": mean.trials,
        "cost": cost,
        "smallest_drop_seen": mean.seen,
        "margin_proved": mean.proved,
    }


def _recommended(
    found: Stored,
    powers: list[tuple[CasePower, int]],
    fixed: list[FixedPower],
    means: list[MeanPower],
    costs: Costing,
) -> list[str]:
    """What to do, a sentence each."""
    policy, advice = found.policy, []

    def in_all(per_case: int) -> str:
        cost = costs.told([s.case for s in found.subjects], per_case)
        return f"{per_case * len(found.subjects):,} trials{cost and f' ({cost})'} in all"

    if powers:
        closes = [p.drops[round(policy.drop * 20) / 20] for p, _ in powers]
        least, most = f"{100 * min(closes):.0f}", f"{100 * max(closes):.0f}"
        span = least if least == most else f"{least} to {most}"
        advice.append(
            f"add trials on suspicion, which is the default: a required case that drops by "
            f"{policy.drop:g} closes the gate with a chance of {span} %"
        )
        enough = next((f.trials for f in fixed if f.closes >= 1 - policy.beta), None)
        if enough:
            advice.append(
                f"a fixed number sees it as surely with --trials {enough}, {in_all(enough)}"
            )
        else:
            advice.append(f"no fixed number up to {_PER_CASE[-1]} sees it as surely")
    else:
        advice.append("mark at least one case `required: true`: without one the gate never opens")
    shown = next(
        (k for k, m in zip(_PER_CASE, means, strict=True) if m.proved < policy.margin), None
    )
    points = f"the margin of {100 * policy.margin:g} points"
    if shown:
        advice.append(
            f"{points} is shown for a good change with --trials {shown}, {in_all(shown)} (the release profile asks "
            "for that)"
        )
    else:
        advice.append(
            f"{points} cannot be shown with up to {_PER_CASE[-1]} trials of each case: record the baseline with "
            f"more trials, add cases, or ask for {100 * means[-1].proved:.1f} points"
        )
    thin = sum(s.trials < 20 for s in found.subjects)
    if thin:
        advice.append(
            f"record the baseline with 20 trials of each case ({thin} have fewer): what is not known of the "
            "release is paid for again by every change"
        )
    return advice


def _tell(found: Stored, facts: dict[str, Any]) -> None:
    from seatrial.cli.compared import tell

    tell(found.heading(), bold=True)
    if found.without:
        tell(f"left out, no baseline trial that counts: {', '.join(found.without)}")
    good = facts["good_change"]
    beside = f", {good['live']:.1f} of them of the released arm" if facts["live"] else ""
    tell(
        f"A good change takes {good['trials']:.1f} trials on average: {good['first_batches']} to begin with, the rest "
        f"on suspicion{beside}. {good['cost_told']}"
    )
    if facts["records"]:
        _tell_cases(facts)
    tell()
    tell("The suite's mean, by a fixed number of trials of each case", bold=True)
    money = good["cost"]["currency"]
    tell(
        f"{'trials':>8}{'in all':>9}{f'{money:>12}' if money else ''}{'drop seen':>12}{'margin shown':>15}"
    )
    for row in facts["suite_mean"]:
        tell(
            f"{row['trials_per_case']:>8}{row['trials']:>9,}{_money(row)}"
            f"{_points(row['smallest_drop_seen']):>12}{_points(row['margin_proved']):>15}"
        )
    tell()
    tell("Recommended", bold=True)
    for sentence in facts["recommended"]:
        tell(f"- {sentence}")


def _tell_cases(facts: dict[str, Any]) -> None:
    from seatrial.cli.compared import tell

    chance = f"{100 * (1 - facts['beta']):.0f} %"
    tell()
    tell("Required cases, trials added on suspicion: chance that a drop closes the gate", bold=True)
    heads = "".join(f"{f'−{drop:g}':>8}" for drop in _SHOWN)
    tell(f"{'released':>10}{'cases':>7}{'good change':>13}{heads}{f'seen at {chance}':>15}")
    for row in facts["records"]:
        closes = "".join(_chance(row, drop) for drop in _SHOWN)
        smallest = row["smallest_drop_seen"]
        seen = f"−{smallest:g}" if smallest is not None else "none"
        record = f"{row['passed']}/{row['stored']}"
        trials = f"{row['good_trials']:.1f}"
        tell(f"{record:>10}{row['cases']:>7}{trials:>13}{closes}{seen:>15}")
    tell()
    tell("Required cases, a fixed number of trials of each", bold=True)
    closes, through = f"−{facts['drop']:g} closes", "let through"
    money = facts["good_change"]["cost"]["currency"]
    head = f"{'trials':>8}{'in all':>9}{f'{money:>12}' if money else ''}"
    tell(f"{head}{'cleared if same':>17}{closes:>13}{through:>13}")
    for row in facts["fixed"]:
        tell(
            f"{row['trials_per_case']:>8}{row['trials']:>9,}{_money(row)}{100 * row['cleared']:>15.1f} %"
            f"{100 * row['closes']:>11.1f} %{100 * row['let_through']:>11.1f} %"
        )


def _chance(row: dict[str, Any], drop: float) -> str:
    """A drop below a rate of 0 is no drop by that much."""
    possible = drop <= row["rate"] + 0.025
    return f"{100 * row['closes'][f'{drop:g}']:>6.0f} %" if possible else f"{'–':>8}"


def _money(row: dict[str, Any]) -> str:
    from seatrial.costs import amount

    return "" if row["cost"] is None else f"{amount(row['cost']):>12}"


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"
