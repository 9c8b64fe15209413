"""What a run leaves on disk: its manifest, and a record of each trial."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from seatrial.documents import Policy
from seatrial.trace import Usage
from seatrial.verdicts import Attacked, Cause, Finding, Gate, SimulatorFault, Verdict


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Violation(_Record):
    """An attempt beyond the role's rights."""

    turn: int
    call: int
    reason: str
    """The tool and the rule that refused it."""


class Retried(_Record):
    """An earlier attempt at a trial, which came to nothing without the agent's doing."""

    cause: Cause
    detail: str
    simulator_fault: SimulatorFault | None = None
    """What was wrong with the simulated person, where the cause is `simulator`."""
    usage: Usage | None = None
    """The tokens that it took all the same."""
    simulator_usage: Usage | None = None
    """Those of the models behind simulated people."""


class TrialRecord(_Record):
    """One line of the journal, written the moment a trial ends."""

    format: Literal[1] = 1
    case: str
    arm: str
    number: int
    """1..n within its case and arm."""
    version: str = ""
    """The version of the agent that answered; empty where an older Seatrial recorded it."""
    verdict: Verdict
    cause: Cause | None = None
    """Set exactly when the verdict is invalid."""
    detail: str = ""
    """A sentence about the cause, for a person."""
    simulator_fault: SimulatorFault | None = None
    """What was wrong with the simulated person, where the cause is `simulator`."""
    retried: tuple[Retried, ...] = ()
    """Earlier attempts at this trial, each in a world of its own; none of what they did counts."""
    simulated: bool = False
    """A simulated person took part."""
    simulator_usage: Usage | None = None
    """What the models behind such people took, which `usage` does not count."""
    simulator_cost: float | None = None
    """What they cost in all attempts, by their own prices; None where one has none, or not all tokens are known."""
    simulator_currency: str = ""
    """Of that."""
    findings: tuple[Finding, ...] = ()
    calls: int = 0
    violations: int = 0
    """Attempts beyond the role's rights, refused or not."""
    first_violation: Violation | None = None
    """The first of them, where it is known."""
    tools_used: tuple[str, ...] = ()
    """Tools called, `server/tool`, sorted: part of the dependency record."""
    tools_listed: tuple[str, ...] = ()
    served_model: str | None = None
    """The models that answered, joined by `, `."""
    served_fingerprint: str | None = None
    """What they ran on, as the endpoint told it (`system_fingerprint`), joined by `, `."""
    usage: Usage | None = None
    cost: float | None = None
    """What all attempts cost by the arm's prices; None where it has none, or nothing is known of its tokens."""
    currency: str = ""
    """Of the cost."""
    started_at: str = ""
    duration_ms: float = 0.0
    reply_digest: str = ""
    """Digest of all replies, so that identical trials can be counted."""
    trace_at: tuple[int, int] | None = None
    """Offset and length of the trace in `traces.jsonl`."""

    @property
    def usages(self) -> tuple[Usage, ...]:
        """The tokens of all attempts, as far as they are known."""
        attempts = (self.usage, *(again.usage for again in self.retried))
        return tuple(usage for usage in attempts if usage is not None)

    @property
    def simulator_usages(self) -> tuple[Usage, ...]:
        """The tokens of simulated people in all attempts, as far as they are known."""
        attempts = (self.simulator_usage, *(again.simulator_usage for again in self.retried))
        return tuple(usage for usage in attempts if usage is not None)

    @property
    def forbidden(self) -> bool:
        """A forbidden action happened: a violation, or a failed finding that is one."""
        return self.violations > 0 or any(
            f.forbidden and f.status == "failed" for f in self.findings
        )

    @property
    def attack(self) -> Attacked | None:
        """What came of the attack; None where there was none, or nobody can tell."""
        return next((f.attack for f in self.findings if f.attack is not None), None)


class PlannedCase(_Record):
    """One case of a plan, selected or left out, with the reason."""

    case: str
    selected: bool
    removed: bool = False
    """The suite had it at the base for an agent of this run, and has it no longer."""
    reasons: tuple[str, ...]
    """Why, in words: `required`, `case changed`, `fixture helpdesk changed`, `arm changed`, …"""
    required: bool = False
    trials: int = 0
    arms: tuple[str, ...] = ()
    """The arms that answer it, where not all of its agent do: it pins a version, or another one was asked for."""
    expected_ms: float = 0.0
    """How long a trial took in the baseline, on average; 0 where that is not known."""
    carried: bool = False
    """It was left out because nothing it leans on changed: the baseline's trials stand for it."""
    weak: bool | None = None
    """An agent that does nothing passes it, as was tried when the run was planned; None where nobody tried, or
    it could not be tried."""
    quarantine: str | None = None
    """The last day (`2026-03-16`) on which it is in quarantine, in the change as well as at the base; None where it is
    not, or where there is no base."""
    by_hand: bool = False
    """Somebody asked for just this case: its trials may have been run because of how earlier ones went."""

    def answered_by(self, arm: str) -> bool:
        """Whether an arm of the case's agent answers it."""
        return not self.arms or arm in self.arms


class Rerun(_Record):
    """The released arm, run again beside the candidate of a run."""

    arm: str
    """What it is called in this run; the candidate may have the same id in its documents."""
    released_arm: str
    """What it was called when it was released."""
    release: str
    """Id of the run that was released."""
    version: str = ""
    revision: str | None = None
    """The commit it was released from, whose files it is run with where those of the work tree differ."""
    fixed: bool = True
    """It is run as often as the candidate, which was set beforehand; otherwise only where it could decide."""
    left_out: dict[str, str] = Field(default_factory=dict)
    """Case → why it cannot be run as it was released."""


class Recording(_Record):
    """What a run is recorded for: the ledger of a release."""

    release: str
    """Id of the run that was released."""
    release_digest: str
    """SHA-256 of its `release.json`: with another release the run belongs to no ledger."""


class Adding(_Record):
    """By what trials are added to a case that looks suspicious.

    All that these decisions rest on beside the records, so that a run which goes on decides as it would have.
    """

    baseline: str
    """Id of the run that is the baseline."""
    stored: dict[str, tuple[int, int]]
    """Case to which trials may be added → its stored baseline trials: passed, valid."""
    cases: int
    """Required cases over which the error is shared."""
    alpha: float
    beta: float
    drop: float
    prior: tuple[float, float]
    """Pass rates of the suite's cases, Beta(a, b), as its baseline tells them."""
    confirm: int
    """Live baseline trials that must stand before a case is called regressed; 0 where none can be run."""
    most: int | None = None
    """Trials of the whole run, at most; None where nothing was said."""


class Sharding(_Record):
    """Which part of a run is carried out here. A case lives in one shard, with all its trials and all its arms."""

    shard: int = Field(ge=1)
    """1..n."""
    cases: tuple[tuple[str, ...], ...] = Field(min_length=1)
    """The selected cases of each shard."""
    plan: str = ""
    """Digest of what the shards of one run have in common (`seatrial.sharding.plan_digest`)."""

    @property
    def of(self) -> int:
        """How many shards there are."""
        return len(self.cases)

    @property
    def own(self) -> frozenset[str]:
        """The cases that are run here."""
        return frozenset(self.cases[self.shard - 1])

    def share(self, whole: int) -> int:
        """This shard's part of what the whole run may use; the parts of all shards come to just that."""
        return whole // self.of + (self.shard <= whole % self.of)

    @property
    def fraction(self) -> float:
        """This shard's part of what can be divided at will, such as money or requests per minute."""
        return 1 / self.of

    def __str__(self) -> str:
        return f"{self.shard}/{self.of}"

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Sharding:
        if self.shard > self.of:
            raise ValueError(f"there is no shard {self.shard} of {self.of}")
        return self


class Regraded(_Record):
    """Where the trials of a run come from whose traces were graded again."""

    run: str
    """Id of the run that made the traces."""
    at: str
    """When they were graded again."""
    revision: str | None = None
    """The commit whose checks graded them; None outside git."""
    dirty: bool = False
    """The work tree differed from that commit."""
    kept: dict[str, str] = Field(default_factory=dict)
    """Case → why its trials kept the findings they had."""


Loosening = Literal["loosened", "changed", "unknown"]
"""loosened: less is asked. changed: whether less is asked cannot be shown. unknown: nobody can tell what changed."""


class PolicyChange(_Record):
    """One point in which a change would be judged otherwise than its base says, and not shown to be more strictly."""

    id: str
    """A digest of what it says, old and new: what an approval names."""
    kind: str
    """For example `required_flag_removed`, `check_removed`; the list is in docs/how-to/select-and-release.md."""
    effect: Loosening = "loosened"
    subject: str
    """The document: `case refund`, `suite full`, or a file."""
    path: str = ""
    """The key within it."""
    case: str = ""
    """The case that it is about, if it is about one."""
    old: str = ""
    """What the base says, in JSON, cut where it is long; empty where there was nothing."""
    new: str = ""
    """What the change says, the same way."""
    old_place: str = ""
    """`file:line:column` at the base."""
    new_place: str = ""
    """The same in the change; empty where nothing is left."""
    text: str
    """One sentence."""


class Approval(_Record):
    """Somebody's word that policy changes may be made."""

    format: Literal[1] = 1
    commit: str
    """The commit that was looked at."""
    changes: tuple[str, ...] | None = None
    """Ids of the policy changes; None: all that the change makes at that commit."""
    by: str
    """`Name <address>`, or the login at the forge."""
    how: Literal["review", "recorded"]
    """review: a review of the pull request at exactly this commit, told by the forge. recorded: a file on the branch
    of the baselines, committed by whom it names."""
    at: str = ""
    reason: str = ""

    def covers(self, change: PolicyChange) -> bool:
        """Whether it is about a policy change."""
        return self.changes is None or change.id in self.changes


class Manifest(_Record):
    """`run.json`: what was planned, of what, and where it came from."""

    format: Literal[1] = 1
    run: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
    """The run's id; the name of its folder, unless it was put elsewhere (`--out`)."""
    suite: str
    arms: tuple[str, ...]
    trials: int
    agent_version: str = "configured"
    """Which versions were to answer: `configured`, `latest`, or one by name."""
    seed: int
    created_at: str
    seatrial: str
    """The version of the harness."""
    revision: str | None = None
    """The commit the documents and the arm's files were read from; None outside git."""
    dirty: bool = False
    """The work tree differed from that commit."""
    base: str | None = None
    """The base revision of the selection; None when everything was selected."""
    base_policy: Policy | None = None
    """The gate's policy of the suite at the base: a change is judged by no looser one."""
    policy_changes: tuple[PolicyChange, ...] | None = None
    """In what the change would be judged less strictly than its base says; None without a base, and of runs of
    versions that did not look."""
    plan: tuple[PlannedCase, ...] = ()
    fingerprints: dict[str, dict[str, str]] = Field(default_factory=dict)
    """`case@arm` → named component → digest (`seatrial.comparability`)."""
    toolsets: dict[str, dict[str, str]] = Field(default_factory=dict)
    """What stands under `tools` in a fingerprint → tool → digest of what an agent is shown of it."""
    rerun: Rerun | None = None
    """The released arm among `arms`, run again to compare with; never the candidate."""
    recording: Recording | None = None
    """Set when it is run for a ledger."""
    budget: str | None = None
    """What it may spend at most, for example `5 EUR`; None where nothing was said."""
    adding: Adding | None = None
    """By what trials are added beyond those of the plan; None where the plan's numbers are all."""
    regraded: Regraded | None = None
    """Set when no trial was carried out: the traces are those of another run."""
    sharding: Sharding | None = None
    """Set when only a part of the plan is carried out here, and others carry out the rest."""
    merged: tuple[str, ...] = ()
    """Ids of the shards' runs that it was merged from, in the order of the shards."""

    @property
    def candidates(self) -> tuple[str, ...]:
        """The arms that are tried; not the released one that runs beside them."""
        if self.rerun is None or self.recording is not None:
            return self.arms
        return tuple(id for id in self.arms if id != self.rerun.arm)

    def selected(self) -> tuple[PlannedCase, ...]:
        """The cases that were to run."""
        return tuple(c for c in self.plan if c.selected)


class Release(_Record):
    """`release.json` beside the files of a baseline: which run it is, and who answers for it."""

    format: Literal[1] = 1
    suite: str
    agent: str
    arm: str
    version: str
    """The arm's version."""
    run: str
    """Id of the run that was released."""
    seatrial: str
    """The version of the harness that ran it."""
    revision: str | None
    """The commit the run was made from; None outside git."""
    dirty: str = ""
    """Why a run was released though no commit says what it was made from; empty when one does."""
    approved_by: str
    approval: Literal["typed", "environment"] = "typed"
    """typed: whoever released it wrote the name down. environment: the forge says who let the job into its protected
    environment."""
    released_by: str = ""
    """In whose name git committed the release; empty where it lies in a folder."""
    released_at: str
    message: str = ""
    gate: Gate | None = None
    """What the gate said of it, held against the release before; None for the first, and of older releases."""
    gate_said: str = ""
    """The ruling's headline."""
    override: str = ""
    """Why it was released though the gate was not open; empty when it was, and for the first."""
    previous: str = ""
    """SHA-256 of the `release.json` that it follows; empty for the first."""
    since: str | None = None
    """The commit after which whoever touched the arm had a hand in it; None: all of the history."""
    hands: tuple[str, ...] = ()
    """Authors, committers and co-authors of the commits that count, and their logins where the forge said them."""
    tree: str = ""
    """The tree of `revision`: what was merged by a squash or a rebase still has it."""
    policy_changes: tuple[PolicyChange, ...] = ()
    """In what its documents ask less than the release before; releasing it approved them."""
    cases: int
    trials: int
    """Trials with a record, the invalid ones among them."""
    passed: int
    invalid: int = 0
    files: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each file of the run, by its path beside this one."""


class Batch(_Record):
    """`batch.json`: a whole batch of trials that was added to a release's ledger.

    The number of trials of each case was set before the first of them ran, and every one of them has
    a record. A batch belongs to one release; with the next one a new ledger begins.
    """

    format: Literal[1] = 1
    kind: Literal["baseline", "watch"] = "baseline"
    """baseline: of the released arm, its trials count as the release's own. watch: of a later version, to
    be watched over many nights; it never counts as the baseline."""
    suite: str
    agent: str
    release: str
    """Id of the run that was released."""
    release_digest: str
    """SHA-256 of the `release.json` it was added to."""
    run: str
    """Id of the run of this batch."""
    arm: str
    version: str = ""
    revision: str | None
    """The commit the batch was run from; None outside git."""
    dirty: bool = False
    """The work tree differed from that commit."""
    seatrial: str
    """The version of the harness that ran it."""
    run_at: str
    """When the run was started."""
    added_at: str
    tallies: dict[str, tuple[int, int, int]] = Field(default_factory=dict)
    """Case → trials passed, failed, invalid."""
    files: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each file of the run, by its path beside this one."""
