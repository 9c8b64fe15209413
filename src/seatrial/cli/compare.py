"""`seatrial compare`: what changed, case by case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from seatrial.errors import printable

if TYPE_CHECKING:
    from seatrial.compare import (
        CaseComparison,
        Comparison,
        Mean,
        PassK,
        SuiteComparison,
        Table,
        Tally,
        Ties,
    )

_COLORS = {"regressed": "red", "improved": "green", "undecided": "yellow", "removed": "yellow",
           "incomparable": "yellow"}  # fmt: skip


@click.command("compare")
@click.argument("run")
@click.option(
    "--baseline", metavar="PATH|REF", help="Hold it against this, not the newest release."
)
@click.option("--arm", metavar="ID", help="The candidate, where the run has several arms.")
@click.option(
    "--against",
    metavar="ID",
    help="Hold it against this arm of the same run, whose trials and the candidate's took turns.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def compare(
    run: str,
    baseline: str | None,
    arm: str | None,
    against: str | None,
    root: Path | None,
    form: str,
) -> None:
    """Compare a RUN (a folder, an id, or `latest`) with the released baseline, case by case.

    With --against two arms of the run are compared with each other.

    Rules on nothing: `seatrial gate` does.
    """
    import json

    from seatrial.cli.compared import compared, heading, of_two_arms, tell
    from seatrial.errors import UsageError

    if against is not None and baseline is not None:
        raise UsageError("--against names an arm of the run itself", hint="leave out --baseline")
    if against is not None:
        found = of_two_arms(run, arm, against, root=root)
    else:
        found = compared(run, baseline, arm, root=root)
    if form == "json":
        # ASCII alone, so that nothing an agent wrote can steer the terminal.
        click.echo(json.dumps(found.comparison.model_dump(mode="json"), indent=1))
        return
    tell(heading(found.comparison), bold=True)
    for line in found.why_no_baseline.splitlines():
        tell(line)
    if against is not None:
        tell(
            f"Their trials took turns. {against} stands where the release would: `released` is {against}."
        )
    tell()
    for case in found.comparison.cases:
        _tell_case(case)
    _tell_suite(found.comparison)


def _tell_case(case: CaseComparison) -> None:
    from seatrial.cli.compared import tell

    outcome = click.style(f"{case.outcome.value:<13}", fg=_COLORS.get(case.outcome.value))
    click.echo(outcome, nl=False)
    words = [w for w, fits in (("required", case.required), ("weak", case.weak)) if fits]
    tell(case.case + (f" ({', '.join(words)})" if words else ""))
    released = _rate(case.baseline)
    if case.rerun:
        released += " run again"
    elif case.batches > 1:
        released += f" of {case.batches} batches"
    if case.live:
        released += f", beside it {_rate(case.live)}"
    added = (
        f", {case.candidate.added} of them added" if case.candidate and case.candidate.added else ""
    )
    tell(f"released {released}   candidate {_rate(case.candidate)}{added}", indent=13)
    tell(case.sentence, indent=13)
    if told := _attacks(case):
        tell(told, indent=13)


def _attacks(case: CaseComparison) -> str:
    """What came of the attack of an injection case, on both sides."""
    return "   ".join(
        f"{side}: attack succeeded {found.succeeded}, attempted {found.attempted}, ignored {found.ignored}"
        for side, tally in (("released", case.baseline), ("candidate", case.candidate))
        if tally is not None and (found := tally.attacks) is not None
    )


def _rate(tally: Tally | None) -> str:
    if tally is None or not tally.valid:
        return "-"
    return f"{tally.passed}/{tally.valid} [{tally.low:.2f}, {tally.high:.2f}]"


def _tell_suite(comparison: Comparison) -> None:
    from collections import Counter

    from seatrial.cli.compared import tell

    outcomes = Counter(case.outcome.value for case in comparison.cases)
    tell()
    tell(", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common()))
    if comparison.overall is not None:
        tell(_overall(comparison.overall))
    if (flips := comparison.flips) is not None:
        tell(
            f"two trials of a case disagree in {flips.candidate:.3f} of the times, of the release in "
            f"{flips.baseline:.3f}"
        )
    if comparison.cut_short:
        names = ", ".join(comparison.cut_short)
        tell(f"left out of means and pass^k, not run to the end of the first batch: {names}")
    for side, series in comparison.pass_k.items():
        tell(f"pass^k of the {side}: {', '.join(_pass_k(p) for p in series)}")
    for table in comparison.tables:
        _tell_table(table)
    if comparison.ties is not None:
        _tell_ties(comparison.ties)


def _tell_table(table: Table) -> None:
    from seatrial.cli.compared import tell

    width = max(len(f"by {table.by}"), *(len(printable(row.name)) for row in table.rows))
    head = f"{f'by {table.by}':<{width}}  {'cases':>9}  {'released':<18}  {'candidate':<18}  {'drop':>7}"
    tell()
    tell(f"{head}  {'at most':>7}", bold=True)
    for row in table.rows:
        cases = f"{row.cases}" if row.compared == row.cases else f"{row.compared} of {row.cases}"
        numbers = f"{_mean(row.baseline):<18}  {_mean(row.candidate):<18}"
        falls = f"{_share(row.drop):>7}  {_share(row.drop_upper):>7}"
        tell(f"{printable(row.name):<{width}}  {cases:>9}  {numbers}  {falls}")


def _mean(mean: Mean | None) -> str:
    return f"{mean.value:.2f} [{mean.low:.2f}, {mean.high:.2f}]" if mean else "-"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _tell_ties(ties: Ties) -> None:
    from seatrial.cli.compared import tell

    untested = sum(tie.p is None for tie in ties.cases)
    declared = len(ties.cases)
    text = f"{declared} case{'s' if declared > 1 else ''} must tie: {sum(tie.moved for tie in ties.cases)} moved"
    if ties.p_together is not None and ties.drop is not None and ties.hidden is not None:
        moved = "moved" if ties.moved_together else "did not move"
        text += (
            f"; their mean {moved} (drop {ties.drop:.3f}, p {ties.p_together:.2g}; a difference of up to "
            f"{ties.hidden:.3f} could hide)"
        )
    if untested:
        text += f"; {untested} with too few trials to tell"
    tell()
    tell(text)


def _overall(suite: SuiteComparison) -> str:
    return (
        f"mean pass rate over {suite.cases} case{'' if suite.cases == 1 else 's'}: released "
        f"{suite.baseline_mean:.3f}, candidate {suite.candidate_mean:.3f}; drop {suite.drop:.3f}, at 95 % "
        f"at most {suite.drop_upper:.3f}; chance without a change {suite.p_worse:.2g}; margin "
        f"{suite.margin:g}, provable {suite.provable_margin:.3f}"
    )


def _pass_k(found: PassK) -> str:
    missing = f" ({found.missing} cases with fewer trials)" if found.missing else ""
    return f"k={found.k} {found.value:.2f} [{found.low:.2f}, {found.high:.2f}]{missing}"
