"""A suite and what its baseline says of each case: what `selftest`, `power` and `plan` begin with."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.baseline import Baseline, resolve, stricter_policy
from seatrial.compare import Side, recorded, rule_for
from seatrial.documents import Catalog, Policy, Suite
from seatrial.errors import UsageError
from seatrial.selftest import Subject
from seatrial.stats.sequential import Rule, screen_size
from seatrial.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Stored:
    """A suite as it lies in the folder, held against its baseline."""

    suite: Suite
    policy: Policy
    """The stricter of its own and the baseline's, point by point."""
    agent: str
    baseline: Baseline
    subjects: tuple[Subject, ...]
    """Its cases that have valid baseline trials, in the suite's order."""
    without: tuple[str, ...]
    """Those that have none."""

    @property
    def required(self) -> int:
        """How many of the subjects are required."""
        return sum(s.required for s in self.subjects)

    def rule(self, *, live: bool) -> Rule:
        """The rule for its required cases; `live`: the released arm can be run beside the candidate."""
        stored = [(s.passed, s.trials) for s in self.subjects]
        return rule_for(self.policy, self.required, stored, live=live)

    def heading(self) -> str:
        """What is looked at."""
        info, several = self.baseline.info, sorted({s.trials for s in self.subjects})
        span = f"{several[0]} to {several[-1]}" if len(several) > 1 else f"{several[0]}"
        return (
            f"Suite {self.suite.id} of {self.agent}: {len(self.subjects)} cases, {self.required} required; "
            f"{span} stored trials each of {info.arm} {info.version} ({info.where})"
        )


def stored(
    workspace: Workspace, suite: str, agent: str | None, spec: str | None, trials: int | None
) -> Stored:
    """The suite's cases with their stored baseline trials.

    Args:
        workspace: where the documents lie.
        suite: id of the suite.
        agent: whose cases; may be left out where all are of one agent.
        spec: the baseline, as `--baseline` names it; None for the newest release.
        trials: candidate trials of each case, instead of what cases and suite say.

    Raises:
        UsageError: there is no such suite, or it is not clear which agent is meant.
        BaselineError: there is no such baseline, or it has no valid trial of any case.
    """
    catalog = workspace.catalog()
    found, _ = workspace.suite_and_arms(catalog, suite, ())
    chosen = agent_of(catalog, found, agent)
    baseline = resolve(spec, suite, chosen, root=workspace.root, repository=workspace.repository)
    policy = stricter_policy(suite, catalog, baseline)
    counted = records(baseline)
    subjects, without = [], []
    for case in catalog.suite_cases(found):
        if case.agent != chosen:
            continue
        passed, valid = counted.get(case.id, (0, 0))
        if not valid:
            without.append(case.id)
            continue
        first = trials or case.trials or found.trials
        if case.required and trials is None:
            first = max(first, screen_size(policy.beta, policy.drop))
        subjects.append(Subject(case.id, case.required, passed, valid, first))
    if not subjects:
        raise UsageError(
            f"the baseline {baseline.info.where} has no valid trial of any case of suite {suite!r}",
            hint="record one: seatrial run, then seatrial release",
        )
    return Stored(found, policy, chosen, baseline, tuple(subjects), tuple(without))


def records(baseline: Baseline) -> dict[str, tuple[int, int]]:
    """Case → stored trials of the release and its ledger that passed, and all that count."""
    release, *ledger = (
        Side.of(run.manifest, run.catalog, arm, run.records(arm)) for run, arm in baseline.parts
    )
    return recorded(release, ledger)


def agent_of(catalog: Catalog, suite: Suite, agent: str | None) -> str:
    """The agent that is meant: the one named, or the only one that the suite has cases for.

    Raises:
        UsageError: it has none for the one named, or it is for several.
    """
    agents = sorted({case.agent for case in catalog.suite_cases(suite)})
    if agent is None and len(agents) == 1:
        return agents[0]
    if agent in agents:
        return agent
    has = f"has no case for agent {agent!r}" if agent else f"is for {len(agents)} agents"
    raise UsageError(f"suite {suite.id!r} {has}", hint=f"--agent, with one of {', '.join(agents)}")
