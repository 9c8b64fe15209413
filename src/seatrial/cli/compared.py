"""A run held against its baseline: what `compare`, `gate`, `report` and the MCP server begin with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import TypeAdapter, ValidationError

from seatrial.baseline import Baseline, hold, judged, other_arm, resolve
from seatrial.compare import CaseComparison, Comparison
from seatrial.errors import NothingReleased, UsageError, printable
from seatrial.gate import Profile, RuledChange, Ruling, rule
from seatrial.records import Approval
from seatrial.store import Run, find
from seatrial.workspace import Workspace

if TYPE_CHECKING:
    from seatrial.report import Evidence


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with the runs it was made from."""

    run: Run
    arm: str
    """The candidate."""
    baseline: Baseline | None
    """None where nothing is released yet."""
    comparison: Comparison
    loosened: tuple[str, ...]
    """Points of the gate's policy that the candidate's documents would loosen."""
    why_no_baseline: str = ""
    changes: tuple[RuledChange, ...] = ()
    """In what the change would be judged less strictly than its base says, and who approved it."""

    def rule(self, profile: Profile | None = None) -> Ruling:
        """The ruling on it.

        Args:
            profile: instead of the policy's.
        """
        return rule(self.comparison, profile=profile, loosened=self.loosened, changes=self.changes)

    def evidence(self, ruling: Ruling) -> Evidence:
        """What faces are made from."""
        from seatrial.report import Evidence

        return Evidence(
            comparison=self.comparison,
            ruling=ruling,
            candidate=self.run,
            baseline=self.baseline.run if self.baseline else None,
            why_no_baseline=self.why_no_baseline,
        )


def compared(
    name: str,
    baseline: str | None,
    arm: str | None,
    *,
    root: Path | None = None,
    approvals: Path | None = None,
) -> Compared:
    """Compare a stored run with a baseline.

    Args:
        name: path or id of a run, or `latest`.
        baseline: a folder, a run or a git ref; None for the newest release.
        arm: the candidate, where the run has several arms.
        root: the folder with `.seatrial/`; the nearest one above, when left out.
        approvals: a file that `seatrial approvals` wrote.

    Raises:
        UsageError: there is no such run or arm, or the file of approvals cannot be read.
        BaselineError: the named baseline does not exist or cannot be read.
        StorageError: the run cannot be read.
    """
    workspace = Workspace.find_or_here(root)
    run = Run.open(find(workspace.root, name))
    chosen = candidate_of(run, arm)
    suite, agent = run.manifest.suite, run.catalog.arms[chosen].agent
    missing = ""
    try:
        found = resolve(
            baseline, suite, agent, root=workspace.root, repository=workspace.repository,
            since=run.manifest.base or run.manifest.revision,
        )  # fmt: skip
    except NothingReleased as error:
        found, missing = None, error.render()
    held = hold(run, chosen, found)
    given = read_approvals(approvals) if approvals else ()
    changes = judged(run, workspace.repository, given)
    return Compared(run, chosen, found, held.comparison, held.loosened, missing, changes)


def read_approvals(file: Path) -> tuple[Approval, ...]:
    """The approvals in a file that `seatrial approvals` wrote.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return tuple(TypeAdapter(tuple[Approval, ...]).validate_json(file.read_bytes()))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{file} holds no approvals: {at}: {first['msg']}", hint="seatrial approvals --help"
        ) from error


def of_two_arms(name: str, arm: str | None, against: str, *, root: Path | None = None) -> Compared:
    """Compare two arms of one run, whose trials took turns.

    Args:
        name: path or id of a run, or `latest`.
        arm: the candidate; the only other arm, when left out.
        against: the arm that it is held against.
        root: the folder with `.seatrial/`; the nearest one above, when left out.

    Raises:
        UsageError: there is no such run or arm, or the run has not ended.
        StorageError: the run cannot be read.
    """
    run = Run.open(find(Workspace.find_or_here(root).root, name))
    arms = run.manifest.candidates
    for named in (against, arm):
        if named is not None and named not in arms:
            raise UsageError(
                f"run {run.manifest.run} has no arm {named!r}", hint=f"it has {', '.join(arms)}"
            )
    others = [id for id in arms if id != against]
    if arm == against or not others:
        raise UsageError(
            f"{against} cannot be held against itself",
            hint=f"--arm, with one of {', '.join(others)}"
            if others
            else "run several arms: seatrial run --arm ID --arm ID",
        )
    if arm is None and len(others) > 1:
        raise UsageError(
            f"run {run.manifest.run} has {len(others)} arms beside {against}; one of them is the candidate",
            hint=f"--arm, with one of {', '.join(others)}",
        )
    chosen = arm or others[0]
    agents = {run.catalog.arms[id].agent for id in (chosen, against)}
    if len(agents) > 1:
        raise UsageError(
            f"{chosen} and {against} are of different agents: {', '.join(sorted(agents))}"
        )
    found = other_arm(run, against)
    held = hold(run, chosen, found)
    return Compared(run, chosen, found, held.comparison, held.loosened)


def candidate_of(run: Run, arm: str | None) -> str:
    """The arm of a run that is looked at: the one named, or the only one that is not the released arm run again.

    Raises:
        UsageError: there is none of that name, or there are several.
    """
    arms = run.manifest.candidates
    if arm is None and len(arms) == 1:
        return arms[0]
    if arm in arms:
        return arm
    what = f"no arm {arm!r}" if arm else f"{len(arms)} arms; one of them is the candidate"
    raise UsageError(
        f"run {run.manifest.run} has {what}", hint=f"--arm, with one of {', '.join(arms)}"
    )


def heading(comparison: Comparison) -> str:
    """What is compared with what."""
    text = f"Suite {comparison.suite}: {comparison.candidate_arm} {comparison.candidate_version}"
    baseline = comparison.baseline
    made = f", graded again from {comparison.regraded_from}" if comparison.regraded_from else ""
    text = f"{text} (run {comparison.run}{made})"
    if baseline is None:
        return f"{text}, no baseline"
    approved = f", approved by {baseline.approved_by}" if baseline.approved_by else ""
    if baseline.override:
        approved += f", though its gate was not open: {baseline.override}"
    return f"{text} against {baseline.arm} {baseline.version} ({baseline.where}{approved})"


def tell(text: str = "", *, indent: int = 0, bold: bool = False, color: str | None = None) -> None:
    """A line on the terminal; what could steer it is written out."""
    click.secho(" " * indent + printable(text), bold=bold or None, fg=color)


def tell_case(case: CaseComparison, number: int) -> None:
    """A case in which the candidate went wrong: how often, at which step, and where the expectation stands."""
    required = ", required" if case.required else ""
    tell(f"{number}. {case.case} ({case.outcome.value}{required})", indent=2, bold=True)
    if case.title:
        tell(case.title, indent=5)
    tell(case.sentence, indent=5)
    worst = case.worst
    if worst is None:
        return
    step = f"trial {worst.trial}"
    step += f", turn {worst.turn}" if worst.turn is not None else ""
    step += f", call {worst.call}" if worst.call is not None else ""
    tell(f"{step}: {worst.check}: {worst.reason}", indent=5)
    if worst.place:
        tell(worst.place, indent=5)
