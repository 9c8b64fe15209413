"""A run carried out, with its progress, its end and its summary: what `run` and `baseline record` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seatrial.errors import ExitCode, UsageError, printable

if TYPE_CHECKING:
    from collections import Counter

    from seatrial.baseline import Beside
    from seatrial.documents import Catalog, Policy
    from seatrial.records import Manifest, PlannedCase, PolicyChange, Sharding, TrialRecord
    from seatrial.runner import Equipment
    from seatrial.store import Writer
    from seatrial.workspace import Workspace


FORBIDDEN = "with a forbidden action"
"""Trials that are counted so are counted by their verdict as well."""


def manifest_of(
    workspace: Workspace,
    catalog: Catalog,
    suite: str,
    planned: tuple[PlannedCase, ...],
    *,
    trials: int,
    seed: int | None = None,
    base: str | None = None,
    base_policy: Policy | None = None,
    policy_changes: tuple[PolicyChange, ...] | None = None,
    beside: Beside | None = None,
    budget: str | None = None,
    version: str = "configured",
) -> Manifest:
    """What a new run says of itself before its first trial.

    Args:
        workspace: where its files lie.
        catalog: its documents, its arms among them.
        suite: id of the suite.
        planned: every case of the suite, selected or left out.
        trials: trials per case where nothing else is said.
        seed: drawn when None.
        base: the commit of the selection.
        base_policy: the gate's policy of the suite there.
        policy_changes: in what it asks less than the base does.
        beside: the released arm among its arms.
        budget: what it may spend at most.
        version: which versions of the agents answer.
    """
    import datetime as dt
    import secrets

    from seatrial import __version__, store
    from seatrial.records import Manifest

    revision, dirty = workspace.revision()
    known = {beside.arm.id: beside.sources} if beside else {}
    prints = workspace.fingerprints(catalog, known)
    return Manifest(
        run=store.new_run_id(),
        suite=suite,
        arms=tuple(catalog.arms),
        trials=trials,
        agent_version=version,
        seed=secrets.randbits(32) if seed is None else seed,
        created_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        seatrial=__version__,
        revision=revision,
        dirty=dirty,
        base=base,
        base_policy=base_policy,
        policy_changes=policy_changes,
        plan=planned,
        fingerprints=prints.by_case,
        toolsets=prints.toolsets,
        rerun=beside.rerun if beside else None,
        budget=budget,
    )


def affordable(text: str | None, catalog: Catalog) -> str | None:
    """The budget as it is kept; money needs the prices of every arm that is executed, and of people with a model.

    Raises:
        UsageError: it is no budget, or somebody has no prices in its currency.
    """
    from seatrial.costs import Budget
    from seatrial.documents import Persona, Recorded

    if text is None:
        return None
    try:
        budget = Budget.read(text)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if budget.unit == "tokens":
        return text
    asked = {
        arm.id: arm.prices for arm in catalog.arms.values() if not isinstance(arm.adapter, Recorded)
    }
    talking = {id for case in catalog.cases.values() for id in case.persona} if asked else set()
    people = {
        f"persona {fixture.id}": fixture.model.prices
        for fixture in catalog.fixtures.values()
        if isinstance(fixture, Persona) and fixture.id in talking and fixture.model is not None
    }
    lacking = [
        f"{id} ({'no prices' if prices is None else prices.currency})"
        for id, prices in (asked | people).items()
        if prices is None or prices.currency != budget.unit
    ]
    if lacking:
        of_people = " and of each person with a model" if people else ""
        or_theirs = " or the person's `model`" if people else ""
        raise UsageError(
            f"a budget in {budget.unit} needs the prices of each arm{of_people} in {budget.unit}: "
            f"{', '.join(lacking)}",
            hint=f"write `prices: {{currency: {budget.unit}, input: …, output: …}}` into the arm"
            f"{or_theirs}, or give tokens",
        )
    return text


def carried_out(
    writer: Writer,
    catalog: Catalog,
    stored: Sequence[TrialRecord],
    equipment: Equipment,
    at_once: int | None,
    baseline: str | None = None,
) -> ExitCode:
    """Run what is missing, tell how it goes, and sum it up; the command's exit code.

    Args:
        writer: the run's folder.
        catalog: its documents.
        stored: the records that it holds already.
        equipment: what its arms need.
        at_once: trials side by side.
        baseline: what it is to be held against, where that was named.
    """
    import shlex
    import signal

    import anyio

    from seatrial import plan, runner, sharding, store
    from seatrial.cli import adding, progress
    from seatrial.costs import Budget

    manifest = writer.manifest
    trials = plan.trials_of(manifest, catalog)
    if manifest.sharding is not None:
        _tell_which_part(manifest.sharding)
    elif not trials:
        _say_why_nothing_runs(manifest)
    pursuit = sharding.pursuit(manifest, catalog, trials, stored)
    purse = None
    if manifest.budget is not None:
        whole = Budget.read(manifest.budget)
        own = whole.part(manifest.sharding.fraction) if manifest.sharding else whole
        purse = runner.Purse(own, catalog.arms, stored)
    with progress.shown(len(trials), (record.verdict for record in stored)) as tell:
        outcome = anyio.run(
            lambda: runner.run(
                writer,
                catalog,
                pursuit or runner.fixed(trials),
                equipment=equipment,
                stored=[(record.case, record.arm, record.number) for record in stored],
                purse=purse,
                at_once=at_once,
                tell=tell,
                stop_on=(signal.SIGINT, signal.SIGTERM),
            )
        )
    if outcome.interrupted:
        click.echo(f"Stopped: {outcome.stored} of {outcome.total} trials are stored.", err=True)
        click.echo(f"  → seatrial run --resume {store.resume_name(writer.folder)}", err=True)
        click.echo(f"Run: {writer.folder}")
        return ExitCode.INTERRUPTED
    valid, wrong = _summarize(writer.folder)
    if purse is not None:
        click.echo(f"Spent {purse.budget.told(purse.spent)} of a budget of {purse.budget}.")
    if pursuit is not None:
        adding.tell_what_was_short(pursuit, manifest)
    click.echo(f"Run: {writer.folder}")
    if wrong:
        name = store.resume_name(writer.folder)
        against = "" if baseline is None else f" --baseline {shlex.quote(baseline)}"
        click.echo(
            printable(
                f"  → what went wrong: seatrial gate {name}{against}, seatrial report {name}{against}"
            ),
            err=True,
        )
    return ExitCode.UNDECIDED if trials and not valid else ExitCode.OPEN


def _tell_which_part(part: Sharding) -> None:
    own, whole = len(part.own), sum(map(len, part.cases))
    click.echo(f"Shard {part} of plan {part.plan}: {own} of {whole} cases.", err=True)


def _say_why_nothing_runs(manifest: Manifest) -> None:
    click.echo("No case is selected, so nothing is run.")
    width = max((len(entry.case) for entry in manifest.plan), default=0)
    for entry in manifest.plan:
        click.echo(printable(f"  {entry.case:<{width}}  {'; '.join(entry.reasons)}"))


def _summarize(folder: Path) -> tuple[int, int]:
    """A line per case and arm, then why trials are invalid.

    Gives the numbers of trials that are valid, and of those in which something went wrong.
    """
    from collections import Counter

    from seatrial.cli.progress import shown_safely
    from seatrial.costs import amount
    from seatrial.store import Run
    from seatrial.verdicts import Verdict

    stored = Run.open(folder)
    first = {entry.case: entry.trials for entry in stored.manifest.plan}
    rerun = stored.manifest.rerun
    on_demand = rerun.arm if rerun is not None and not rerun.fixed else None
    batches: dict[tuple[str, str], dict[bool, Counter[str]]] = {}
    spent: dict[tuple[str, str], float] = {}
    of_people: dict[tuple[str, str], dict[str, float]] = {}
    strays: dict[str, set[str]] = {}
    pins = {id: arm.model for id, arm in stored.catalog.arms.items()}
    prices = {id: arm.prices for id, arm in stored.catalog.arms.items() if arm.prices is not None}
    details: Counter[tuple[str, str]] = Counter()
    valid_in_all = wrong = conversations = spoilt = uncounted = 0
    for record in stored.records():
        added = record.arm != on_demand and record.number > first.get(record.case, record.number)
        counts = batches.setdefault((record.case, record.arm), {}).setdefault(added, Counter())
        pin = pins.get(record.arm)
        if pin is not None and record.served_model is not None:
            names = record.served_model.split(", ")
            strays.setdefault(record.arm, set()).update(n for n in names if not pin.is_named(n))
        if record.cost is not None and record.arm in prices:
            so_far = spent.get((record.case, record.arm), 0.0)
            spent[record.case, record.arm] = so_far + record.cost
        if record.simulator_cost is not None:
            theirs = of_people.setdefault((record.case, record.arm), {})
            currency = record.simulator_currency
            theirs[currency] = theirs.get(currency, 0.0) + record.simulator_cost
        elif record.simulator_usages:
            uncounted += 1
        if record.cause is None:
            counts[record.verdict] += 1
            valid_in_all += 1
        else:
            counts[f"invalid ({record.cause})"] += 1
            details[record.cause, record.detail] += 1
        if record.forbidden:
            counts[FORBIDDEN] += 1
        if record.simulated:
            conversations += 1 + len(record.retried)
            faults = (record.simulator_fault, *(again.simulator_fault for again in record.retried))
            spoilt += sum(fault is not None for fault in faults)
        wrong += record.forbidden or record.verdict is not Verdict.PASSED
    wide = max((len(case) for case, _ in batches), default=0)
    wide_arm = max((len(arm) for _, arm in batches), default=0)
    order = {case: place for place, case in enumerate(first)}
    for (case, arm), by_batch in sorted(
        batches.items(),
        key=lambda item: (order.get(item[0][0], len(order)), item[0][1] == on_demand, item[0]),
    ):
        told = _counted(by_batch.get(False, Counter()))
        if True in by_batch:
            told += f", then {_counted(by_batch[True])}"
        if (case, arm) in spent:
            told += f", {amount(spent[case, arm])} {prices[arm].currency}"
        for currency, paid in of_people.get((case, arm), {}).items():
            told += f", people {amount(paid)} {printable(currency)}"
        beside = ", beside it" if arm == on_demand else ""
        click.echo(f"{case:<{wide}}  {arm:<{wide_arm}}  {told}{beside}")
    if spoilt:
        click.echo(
            f"Simulated people spoilt {spoilt} of {conversations} conversations "
            f"({100 * spoilt / conversations:.0f} %); spoilt trials were run again, twice at most."
        )
    for arm, names_served in strays.items():
        if names_served:
            click.echo(
                f"{arm} was served {shown_safely(', '.join(sorted(names_served)[:4]))}, which is not its pinned "
                "model: these trials can be compared with nothing (see `model.served`)."
            )
    for arm, asked in prices.items():
        if costs := [cost for (_, of), cost in spent.items() if of == arm]:
            click.echo(f"Cost of {arm}: {amount(sum(costs))} {asked.currency}")
    for currency in sorted({currency for theirs in of_people.values() for currency in theirs}):
        whole = sum(theirs.get(currency, 0.0) for theirs in of_people.values())
        lacking = (
            f", without that of {uncounted} trial{'s' if uncounted > 1 else ''}, of which not all is known"
            if uncounted
            else ""
        )
        click.echo(f"Cost of the simulated people: {amount(whole)} {printable(currency)}{lacking}")
    if any(entry.arms for entry in stored.manifest.plan):
        versions = {arm: stored.catalog.arms[arm].version for _, arm in batches}
        told = ", ".join(f"{arm} {version}" for arm, version in sorted(versions.items()))
        click.echo(printable(f"Answered by {told or 'nobody'}."))
    for (cause, detail), count in details.most_common(5):
        click.echo(f"{count} × {cause}: {shown_safely(detail)}")
    if len(details) > 5:
        click.echo(f"… and {len(details) - 5} more reasons, in {folder / 'journal.jsonl'}")
    return valid_in_all, wrong


def _counted(counts: Counter[str]) -> str:
    from seatrial.verdicts import Verdict

    others = dict(counts)
    passed, failed = others.pop(Verdict.PASSED, 0), others.pop(Verdict.FAILED, 0)
    rest = "".join(f", {count} {what}" for what, count in sorted(others.items()))
    return f"{passed}/{passed + failed} passed{rest}"
