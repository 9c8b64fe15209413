"""What a run leaves on disk: its manifest, and a record of each trial."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seatrial.trace import Usage
from seatrial.verdicts import Cause, Finding, Verdict


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TrialRecord(_Record):
    """One line of the journal, written the moment a trial ends."""

    format: Literal[1] = 1
    case: str
    arm: str
    number: int
    """1..n within its case and arm."""
    verdict: Verdict
    cause: Cause | None = None
    """Set exactly when the verdict is invalid."""
    detail: str = ""
    """A sentence about the cause, for a person."""
    findings: tuple[Finding, ...] = ()
    calls: int = 0
    violations: int = 0
    """Attempts beyond the role's rights, refused or not."""
    tools_used: tuple[str, ...] = ()
    """Tools called, `server/tool`, sorted: part of the dependency record."""
    tools_listed: tuple[str, ...] = ()
    served_model: str | None = None
    usage: Usage | None = None
    started_at: str = ""
    duration_ms: float = 0.0
    reply_digest: str = ""
    """Digest of all replies, so that identical trials can be counted."""
    trace_at: tuple[int, int] | None = None
    """Offset and length of the trace in `traces.jsonl`."""

    @property
    def forbidden(self) -> bool:
        """A forbidden action happened: a violation, or a failed finding that is one."""
        return self.violations > 0 or any(
            f.forbidden and f.status == "failed" for f in self.findings
        )


class PlannedCase(_Record):
    """One case of a plan, selected or left out, with the reason."""

    case: str
    selected: bool
    reasons: tuple[str, ...]
    """Why, in words: `required`, `case changed`, `fixture helpdesk changed`, `arm changed`, …"""
    required: bool = False
    trials: int = 0


class Manifest(_Record):
    """`run.json`: what was planned, of what, and where it came from."""

    format: Literal[1] = 1
    run: str
    """The run's id; the name of its folder, unless it was put elsewhere (`--out`)."""
    suite: str
    arms: tuple[str, ...]
    trials: int
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
    plan: tuple[PlannedCase, ...] = ()
    fingerprints: dict[str, dict[str, str]] = Field(default_factory=dict)
    """`case@arm` → named component → digest."""

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
    released_at: str
    message: str = ""
    cases: int
    trials: int
    """Trials with a record, the invalid ones among them."""
    passed: int
    invalid: int = 0
    files: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each file of the run, by its path beside this one."""
